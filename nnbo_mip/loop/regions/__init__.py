"""Boxes to which the search for the next point is limited."""
