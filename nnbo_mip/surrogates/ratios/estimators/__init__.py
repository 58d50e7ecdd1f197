"""Estimators of density ratios, and the odds they return."""
