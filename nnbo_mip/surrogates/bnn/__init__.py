"""Bayesian neural networks, by sampling and by variational inference."""
