"""Bounds of heads over boxes of the input."""
