"""Bounds of phase searches: our kernels against HiGHS."""
