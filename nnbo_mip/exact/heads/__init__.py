"""Exact maximization of heads: acquisitions as functions of a network's outputs."""
