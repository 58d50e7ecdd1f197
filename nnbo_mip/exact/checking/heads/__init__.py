"""The re-proof of claims about heads, by code that made none."""
