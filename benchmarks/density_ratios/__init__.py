"""Density ratios on toys and runs."""
