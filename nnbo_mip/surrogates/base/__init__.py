"""What every surrogate and belief is, and what they share."""
