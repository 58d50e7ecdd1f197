"""A start-up test of a solver on small models whose optimum is known.

Releases of solvers have answered ``Optimal`` with wrong optima on models of three columns.
Before a solver is believed, it solves such models once a process, with presolve and
without, and one that it must call infeasible. All are written for maximization.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.sparse import csr_array

from nnbo_mip.core.errors import SolverError
from nnbo_mip.exact.backends.base import Backend, SolveRequest
from nnbo_mip.exact.backends.catalogue import get_backend
from nnbo_mip.exact.formulation.model import MilpModel

INF = float("inf")
SECONDS = 20.0
LEAK_CONSTANT = 1e7


@dataclass(frozen=True)
class Case:
    """A model and its optimum.

    Parameters
    ----------
    name : str
        Where it was published, or what it is about.
    model : MilpModel
    optimum : float or None
        None when it is infeasible.
    leak : float
        How much more a solver may claim for every unit of its integrality tolerance.
    """

    name: str
    model: MilpModel
    optimum: float | None
    leak: float = 0.0


def ensure_sound(backend: Backend) -> None:
    """Raise `SolverError` unless the installed version passes; tested once a process."""
    failure = _failure(type(backend), backend.name, backend.version())
    if failure:
        ours = type(backend).__module__.startswith("nnbo_mip.")
        remedy = "install the version that constraints.txt pins" if ours else "mend the backend"
        raise SolverError(
            f"solver {backend.name!r} must solve its self-test; version {backend.version()} failed "
            f"{failure}; {remedy}, or use another solver."
        )


@cache
def _failure(kind: type[Backend], name: str, version: str) -> str:
    """Return what failed, empty if nothing did; `kind` and `version` keep answers apart."""
    return first_failure(get_backend(name), cases())


def first_failure(backend: Backend, tests: Sequence[Case]) -> str:
    """Return a description of the first case that a backend fails, empty if there is none."""
    for case in tests:
        if case.model.sos1 and not backend.supports_sos1:
            continue
        for presolve in (True, False):
            request = SolveRequest(time_limit=SECONDS, presolve=presolve)
            answer = backend.solve(case.model, request)
            claim = answer.objective if answer.status == "optimal" else None
            if not _agrees(case, answer.status, claim, backend):
                where = "with presolve" if presolve else "without presolve"
                return f"{case.name} {where} (expected {case.optimum}, got {answer.status} {claim})"
    return ""


def _agrees(case: Case, status: str, claim: float | None, backend: Backend) -> bool:
    if case.optimum is None:
        return status == "infeasible"
    if claim is None:
        return False
    slack = 1e-5 * max(1.0, abs(case.optimum))
    leak = case.leak * backend.tolerances.integrality
    return case.optimum - slack <= claim <= case.optimum + slack + leak


def cases() -> list[Case]:
    """Return the models of the self-test."""
    return [
        Case(
            "HiGHS issue 3043 (highs-js issue 53)",
            _model([-2, -3], [[1, 1]], [4.5], [INF], [10, 10], [1]),
            -9.0,
        ),
        Case(
            "HiGHS issue 3094",
            _model(
                [0, 0, 0, 0, -10, -8],
                [
                    [-1000, 0, 1, 0, 0, 0],
                    [0, -1000, 0, 1, 0, 0],
                    [0, 0, 1, 0, 1, 0],
                    [0, 0, 0, 1, 0, 1],
                    [1, 1, 0, 0, 0, 0],
                ],
                [-INF, -INF, 1000, 1000, -INF],
                [0, 0, 1000, 1000, 1],
                [1, 1, 1000, 1000, 1000, 1000],
                [0, 1],
            ),
            -8000.0,
        ),
        Case(
            "HiGHS issue 3073",
            _model(
                [-100, -0.01, 0],
                [[1, 0, 1], [0, -1, 1], [0, -1, -1], [0, 0, -1]],
                [3, -INF, -INF, -INF],
                [3, 0, 0, -0.45],
                [10, 10, 3],
                [2],
            ),
            -0.03,
        ),
        Case(
            "HiGHS issue 2975",
            _model(
                [0, -2, -99999], [[1, 1, 0], [1, 0, -100]], [10, -INF], [10, 0], [10, 10, 1], [2]
            ),
            -20.0,
        ),
        Case(
            "trickle flow x <= 1e7 z",
            _model([1, -3], [[1, -LEAK_CONSTANT]], [-INF], [0], [10, 1], [1]),
            7.0,
            leak=LEAK_CONSTANT,
        ),
        Case(
            "an infeasible parity",
            _model([1, 1], [[2, -2]], [1], [1], [7, 5], [0, 1]),
            None,
        ),
        Case(
            "two special ordered pairs",
            _model([3, 2, 1, 4], [[1, 1, 1, 1]], [-INF], [3], [1, 2, 3, 1], [], [(0, 3), (1, 2)]),
            8.0,
        ),
    ]


def _model(
    objective: Sequence[float],
    matrix: Sequence[Sequence[float]],
    row_lower: Sequence[float],
    row_upper: Sequence[float],
    column_upper: Sequence[float],
    integer: Sequence[int],
    sos1: Sequence[tuple[int, ...]] = (),
) -> MilpModel:
    """Return a model whose columns start at 0."""
    n_columns, n_rows = len(objective), len(matrix)
    whole = np.zeros(n_columns, dtype=bool)
    whole[list(integer)] = True
    return MilpModel(
        objective=np.array(objective, dtype=np.float64),
        offset=0.0,
        matrix=csr_array(np.array(matrix, dtype=np.float64)),
        row_lower=np.array(row_lower, dtype=np.float64),
        row_upper=np.array(row_upper, dtype=np.float64),
        column_lower=np.zeros(n_columns),
        column_upper=np.array(column_upper, dtype=np.float64),
        integer=whole,
        sos1=tuple(sos1),
        column_names=tuple(f"c{j}" for j in range(n_columns)),
        row_names=tuple(f"r{i}" for i in range(n_rows)),
        input_matrix=csr_array((0, n_columns)),
        input_constants=np.zeros(0),
    )
