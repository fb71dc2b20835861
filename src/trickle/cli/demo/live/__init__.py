"""The live demo: a shop that never stands still, and six stream tables that follow it."""
