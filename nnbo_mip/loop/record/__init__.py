"""What happened in a run, and the file that keeps it."""
