"""Joint densities of x and y, and their conditionals."""
