"""Certificates: the claim, its file, its gap."""
