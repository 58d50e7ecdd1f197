"""Families whose uncertainty is the spread of member networks."""
