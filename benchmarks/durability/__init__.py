"""Journals under kills."""
