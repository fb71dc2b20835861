"""From text to meaning: statements, the tables a query names, the plan it stands for, and back to Spark SQL."""
