"""Gaussian processes that are linear on the sphere."""
