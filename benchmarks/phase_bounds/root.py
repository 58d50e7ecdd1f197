"""What the node-bounding methods of `benchmarks.phase_bounds` share: the root and the count.

All of them search the same linear program over the same undecided ReLUs, with the same
pre-activation bounds, start from the same incumbent and stop at the same cut-off.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.flat import flatten, undecided_system, with_flat_bounds
from nnbo_mip.exact.bounds.lp_bounds import tighten_layers
from nnbo_mip.exact.bounds.program import Program, build_program
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.primal import climb, climb_regions
from nnbo_mip.exact.search.problem import Problem


@dataclass(frozen=True)
class Outcome:
    """What one method proved on one network.

    Parameters
    ----------
    bound : float
        Largest bound left, at least the cut-off.
    nodes, simplex_steps : int
        Nodes bounded, and dual simplex steps in all of them.
    """

    bound: float
    nodes: int
    simplex_steps: int


class CpuMonitor(Monitor):
    """A monitor whose limit counts CPU seconds, because the machine may be busy."""

    def __init__(self, problem: Problem, gap: float, limit: float) -> None:
        super().__init__(problem, gap)
        self._end = time.process_time() + limit

    def should_stop(self) -> bool:
        """Whether the limit is reached."""
        return time.process_time() >= self._end


@dataclass(frozen=True, eq=False)
class Root:
    """A problem with its incumbent and its linear program."""

    problem: Problem
    monitor: Monitor
    program: Program

    @property
    def cutoff(self) -> float:
        """A node whose bound is not above this level is done."""
        return self.monitor.cutoff

    def offer(self, points: FloatArray) -> None:
        """Offer relaxed points (n, d) in the program's units; a new best one climbs."""
        if len(points) == 0:
            return
        domain = self.problem.domain
        x = np.clip(
            self.program.lower + self.program.width * points[:, : self.program.n_inputs],
            domain.lower,
            domain.upper,
        )
        values = self.problem.values(x)
        best = int(values.argmax())
        if values[best] > self.monitor.best_value:
            self.monitor.offer(x[best][None, :])
            climb_regions(self.problem, self.monitor, x[best], np.random.default_rng(0))


def prepare(problem: Problem, monitor: Monitor) -> Root:
    """Find an incumbent and bound the pre-activations, as the phase engine does."""
    lower, upper = problem.domain.lower, problem.domain.upper
    climb(problem, monitor)
    flat, bounds = undecided_system(problem, lower, upper)
    flat = tighten_layers(problem, flat, lower, upper, monitor)
    flat = flatten(problem.network, with_flat_bounds(bounds, flat))
    return Root(problem, monitor, build_program(problem, flat, lower, upper))
