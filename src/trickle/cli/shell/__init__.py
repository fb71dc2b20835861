"""`trickle sql` without a statement, at a terminal: an interactive shell."""
