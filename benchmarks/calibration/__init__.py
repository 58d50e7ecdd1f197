"""Calibration of beliefs."""
