"""Tools for judging this package, and plug-ins to it, from outside."""

from __future__ import annotations

from nnbo_mip.testing.exact_maximum import ExactMaximum, TooLargeError, exact_maximum

__all__ = ["ExactMaximum", "TooLargeError", "exact_maximum"]
