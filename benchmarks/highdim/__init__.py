"""Runs in many dimensions."""
