"""One step: fit, scale, maximize, avoid duplicates."""
