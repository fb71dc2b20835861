"""`trickle watch`: stream tables in the terminal, read from the catalog; Spark is started only to refresh."""
