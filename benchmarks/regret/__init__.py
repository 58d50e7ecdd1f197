"""Regret of whole runs, beside peers."""
