"""Units at work: processes that may die, here or on a cluster."""
