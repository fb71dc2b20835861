"""Refresh: look, choose, bind, run, apply, commit."""
