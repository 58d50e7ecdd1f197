"""The score functions: one family a module."""
