"""Statistics of plain arrays: intervals, ranks, tests, profiles; findings from results."""
