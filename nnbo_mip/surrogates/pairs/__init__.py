"""Sparse models of main effects and interactions of two."""
