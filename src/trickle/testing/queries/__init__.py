"""Random queries as SQL text, over a random schema with random changes: a seed is all three."""
