"""The grammar of statements: one file per family, each a set of functions from a cursor to a statement."""
