"""From text to meaning: statements, the tables a query names, its plan, and back to Spark SQL."""
