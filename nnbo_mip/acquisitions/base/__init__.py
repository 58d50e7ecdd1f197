"""What every acquisition and criterion is, and their registry."""
