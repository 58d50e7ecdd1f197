"""Fuzzing for false bounds."""
