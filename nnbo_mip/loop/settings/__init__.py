"""The options of a run, checked at its start, and its defaults."""
