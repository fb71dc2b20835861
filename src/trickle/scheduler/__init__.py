"""When stream tables are refreshed: `decide` says it, `loop` sleeps and acts."""
