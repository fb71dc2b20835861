"""Statements carried out: what each means for tables, views, rows and transactions."""
