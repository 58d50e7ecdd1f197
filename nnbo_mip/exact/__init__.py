"""Proofs: the exact maximum of a network over a domain. Knows networks and spaces only."""
