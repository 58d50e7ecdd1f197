"""Branch and bound, over boxes of the input and over ReLU phases."""
