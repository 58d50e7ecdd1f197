"""Pilots: ways of making a run, compared on tasks by which no default is judged."""
