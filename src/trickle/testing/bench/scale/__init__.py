"""Benchmarks of size: what a refresh costs in a catalog of thousands of stream tables and a million files."""
