"""Proofs about linear models on the sphere."""
