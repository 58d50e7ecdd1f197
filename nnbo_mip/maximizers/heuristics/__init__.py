"""Maximizers that search without a proof: one a module."""
