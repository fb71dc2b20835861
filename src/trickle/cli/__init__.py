"""The command `trickle`: what a terminal, a script or a container says to a lake."""
