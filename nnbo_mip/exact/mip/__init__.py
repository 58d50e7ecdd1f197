"""The engine that gives the problem to a mixed-integer solver and distrusts it."""
