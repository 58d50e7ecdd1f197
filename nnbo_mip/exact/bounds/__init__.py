"""Bounds: intervals, linear relaxations, linear programs."""
