"""Spaces that are seen through fewer coordinates."""
