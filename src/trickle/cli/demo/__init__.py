"""`trickle demo`: a small shop, from an empty directory to maintained files."""
