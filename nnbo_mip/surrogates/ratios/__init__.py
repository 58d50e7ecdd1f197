"""Density ratios of good and bad points: labels, estimators, and the belief they share."""
