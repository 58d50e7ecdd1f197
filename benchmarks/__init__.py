"""Measurements: `python -m benchmarks.certify` (speed) and `python -m benchmarks.soundness`."""
