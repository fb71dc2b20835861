"""The commands, one function each; what they need of Spark is imported when they run."""
