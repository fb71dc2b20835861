"""Benchmarks of refreshes: differential against full recomputation and against Spark's floor, in one run."""
