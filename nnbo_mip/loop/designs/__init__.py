"""Initial designs: points before any model."""
