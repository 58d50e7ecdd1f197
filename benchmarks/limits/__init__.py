"""How far searches pass their limits of time and memory, on problems that are too large."""
