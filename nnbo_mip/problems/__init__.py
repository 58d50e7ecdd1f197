"""Functions to optimize, with their optima and the scaled view that the sources use.

>>> import nnbo_mip as nm
>>> branin = nm.problems.create("branin")
>>> round(branin([9.42478, 2.475]), 6)
0.397887
>>> scaled = nm.problems.create("levy:dimension=5,source=004").scaled()
>>> scaled.score([[0.1, 0.1, 0.1, 0.1, 0.1]]).round(9).tolist()
[1.0]
>>> noisy = nm.problems.create("noisy", problem="forrester", sd=0.1, seed=3)
>>> noisy([0.5]) == noisy([0.5])  # the noise belongs to the point …
True
>>> noisy([0.5]) == noisy.evaluate([[0.5]], seed=1).item()  # … unless fresh noise is asked for
False
"""

from __future__ import annotations

from nnbo_mip.problems.catalogue import registry
from nnbo_mip.problems.noise import GaussianNoise, Noise
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.scaled import ScaledProblem
from nnbo_mip.problems.sources import SOURCES

__all__ = [
    "GaussianNoise",
    "Noise",
    "Problem",
    "SOURCES",
    "ScaledProblem",
    "available",
    "create",
    "register",
    "unregister",
]

available = registry.available
create = registry.create
register = registry.register
unregister = registry.unregister
