"""Maintenance: files merged, rewritten, clustered; snapshots expired; leftovers removed."""
