"""Bayesian networks on the figures of their source."""
