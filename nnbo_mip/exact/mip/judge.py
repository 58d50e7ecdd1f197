"""Nothing that a solver says is believed: what becomes of its answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.backends.base import Backend, SolverAnswer
from nnbo_mip.exact.formulation import Encoding, bound_inflation
from nnbo_mip.exact.formulation.tolerance import claim_allowance
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.primal import climb_regions
from nnbo_mip.exact.search.rounding import sum_above

OBJECTIVE_TOLERANCE = 1e-6
"""A claimed objective may exceed the forward pass by this, relative to max(1, |f|), beyond
what the tolerances and the margin of the rows explain."""

WITNESS_TOLERANCE = 1e-7
"""The columns of a known admissible point may break a row of order 1 by this much."""


@dataclass(frozen=True)
class Verdict:
    """What is left of an answer.

    Parameters
    ----------
    bound : float or None
        A bound on f over the admissible points, tolerances included; None when the answer
        was thrown away.
    complaint : str
        Why it was thrown away.
    """

    bound: float | None
    complaint: str = ""


class Judge:
    """Checks answers on one encoding against forward passes and against each other.

    Parameters
    ----------
    encoding : Encoding
    monitor : Monitor
        Receives every candidate; its best value refutes bounds below it.
    seed : int
        Of the local search that tries to save a candidate.
    """

    def __init__(self, encoding: Encoding, monitor: Monitor, seed: int) -> None:
        self.encoding, self.monitor, self.seed = encoding, monitor, seed
        self.problem = encoding.problem

    def inflation(self, backend: Backend) -> float:
        """Return what is added to this backend's bounds."""
        return bound_inflation(self.encoding, backend.tolerances)

    def offer(self, columns: FloatArray) -> FloatArray | None:
        """Round a solution to the domain and offer it; return the admissible point (d,)."""
        point = self.encoding.model.point(columns)
        if not np.isfinite(point).all():
            return None
        repaired = self.problem.domain.repair(point)
        if repaired is not None:
            self.monitor.offer(repaired[None, :])
        return repaired

    def excludes_witness(self) -> bool:
        """Whether the program forbids the best known point, which would void any bound."""
        if self.monitor.best_x is None:
            return False
        columns = self.encoding.complete(self.monitor.best_x)
        return self.encoding.model.violation(columns) > WITNESS_TOLERANCE

    def verdict(self, backend: Backend, answer: SolverAnswer, cutoff: float | None) -> Verdict:
        """Say what an answer of a solver that proves is worth."""
        attained = self._attains(answer, backend)
        if answer.status == "failed":
            return Verdict(None, f"{backend.name} failed ({answer.native_status})")
        if not attained:
            return Verdict(
                None,
                f"{backend.name} claims {answer.objective:.9g}, which no forward pass confirms "
                f"(best {self.monitor.best_value:.9g})",
            )
        if answer.status == "infeasible" and cutoff is None and self.monitor.best_x is not None:
            return Verdict(None, f"{backend.name} calls a feasible problem infeasible")
        bound = answer.bound if cutoff is None else max(answer.bound, cutoff)
        bound = sum_above(bound, self.inflation(backend)) if math.isfinite(bound) else bound
        if bound < self.monitor.best_value - self.problem.rounding.output:
            return Verdict(
                None,
                f"{backend.name} claims the bound {bound:.9g} below the known value "
                f"{self.monitor.best_value:.9g}",
            )
        return Verdict(bound)

    def _attains(self, answer: SolverAnswer, backend: Backend) -> bool:
        """Whether a forward pass confirms the claimed objective, if need be after repair.

        Repair keeps the solver's activation pattern, and looks for the best admissible
        point of its region and of the neighbouring ones by linear programs.
        """
        if answer.columns is None:
            return True
        point = self.offer(answer.columns)
        if self._confirms(answer, backend):
            return True
        if point is not None and not self.monitor.should_stop():
            rng = np.random.default_rng(self.seed)
            climb_regions(self.problem, self.monitor, point, rng)
        return self._confirms(answer, backend)

    def _confirms(self, answer: SolverAnswer, backend: Backend) -> bool:
        value = self.monitor.best_value
        allowed = claim_allowance(self.encoding, backend.tolerances)
        allowed += OBJECTIVE_TOLERANCE * max(1.0, abs(value))
        return answer.objective <= value + allowed
