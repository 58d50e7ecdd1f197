r"""Enumeration: exact maxima over at most two continuous coordinates, at any width and depth.

Discrete coordinates are listed; what is left of each combination (a point, an interval or
a polygon, in parts where there are exclusions) is covered by simplices, and simplices are cut where
the function bends, until it is affine on every simplex that could hold the maximum: in one
dimension a sweep over the breakpoints, in two the arrangement of the ReLUs' zero lines. Bounds
on simplices
(`forms`, `planes`) spare all pieces that cannot hold the maximum, which are nearly all.
"""

from __future__ import annotations

from nnbo_mip.exact.enumeration.plan import MAX_FREE, EnumerateOptions, estimate_cost
from nnbo_mip.exact.enumeration.search import ENGINE, solve

__all__ = ["ENGINE", "MAX_FREE", "EnumerateOptions", "estimate_cost", "solve"]
