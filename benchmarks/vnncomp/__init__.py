"""Public verification instances: what is decided, and whether rightly."""
