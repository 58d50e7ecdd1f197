"""What steers a run beside model and acquisition: batches, restarts, duplicate avoidance."""
