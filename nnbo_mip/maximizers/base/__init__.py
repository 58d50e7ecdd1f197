"""What every maximizer is asked and answers."""
