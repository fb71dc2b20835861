"""Operations on stream tables: created, altered, dropped, refreshed, guarded, explained."""
