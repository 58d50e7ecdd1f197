"""The highest point of a function of one variable: parts of separable problems."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nnbo_mip.core.arrays import FloatArray

N_GRID = 20001
"""Fine enough for a hundred peaks: some two hundred points each."""


def highest(
    f: Callable[[FloatArray], FloatArray], lower: float, upper: float
) -> tuple[float, float]:
    """Return where f is largest on [lower, upper], and its value there.

    The best point of a grid, then a bounded search between its neighbours.
    """
    from scipy.optimize import minimize_scalar

    grid = np.linspace(lower, upper, N_GRID)
    values = f(grid)
    best = int(values.argmax())
    ends = grid[max(best - 1, 0)], grid[min(best + 1, N_GRID - 1)]
    polished = minimize_scalar(
        lambda x: -f(np.array([x]))[0], bounds=ends, method="bounded", options={"xatol": 1e-12}
    )
    if -polished.fun > values[best]:
        return float(polished.x), float(-polished.fun)
    return float(grid[best]), float(values[best])
