"""Proving a claim again, by code that shares nothing with whatever made it."""
