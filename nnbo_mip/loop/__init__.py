"""The loop: which point to evaluate next, and what becomes of its value."""
