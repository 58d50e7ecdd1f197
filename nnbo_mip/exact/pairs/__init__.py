"""Proofs about sums of terms of one and of two inputs."""
