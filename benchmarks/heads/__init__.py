"""Exact maximizers of acquisitions, and how often heuristics miss."""
