"""The registry: stream tables, what they read, how far they are, what was done; in the catalog's own database."""
