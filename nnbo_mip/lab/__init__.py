"""Experiments: run from one file, kept in one store."""
