"""TPC-H as stream tables: its eight tables, its 22 queries, changes of its rows, and DuckDB's own answers."""
