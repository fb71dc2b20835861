"""The scheduler as a process: a shop that changes all the time, and a judge of every state it was seen in."""
