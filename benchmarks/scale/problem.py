"""A problem whose evaluation takes a given time and no work, for `benchmarks.scale`."""

from __future__ import annotations

import time

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray


@nm.problems.register("sleeping")
def sleeping(seconds: float) -> nm.problems.Problem:
    """Sleep at every point."""

    def function(X: FloatArray) -> FloatArray:
        time.sleep(seconds * len(X))
        return X[:, 0] ** 2

    return nm.problems.Problem("sleeping", nm.Space.box([-1.0], [2.0]), function, optimum=0.0)
