"""The lake: DuckLake catalogs and Parquet files, read and written through Spark."""
