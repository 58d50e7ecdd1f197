"""Maximizing acquisitions over beliefs."""
