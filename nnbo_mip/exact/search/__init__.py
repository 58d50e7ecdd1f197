"""What every engine stands on: problem, monitor, result, rounding, first points."""
