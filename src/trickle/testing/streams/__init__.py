"""Stream tables put to the test: queries, changes of their sources, and the other engine's answer."""
