"""From the file of an experiment to the list of its units."""
