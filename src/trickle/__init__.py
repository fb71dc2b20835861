"""Trickle keeps tables fresh."""
