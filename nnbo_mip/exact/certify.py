"""`certify`: the maximum or minimum of a network over a space, with a certificate."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.budget import DEFAULT_MEMORY, as_memory_limit, budget_kept
from nnbo_mip.core.checks import (
    as_direction,
    as_gap,
    as_real,
    as_seed,
    as_time_limit,
    check_choice,
)
from nnbo_mip.core.control import ProgressOption, interruptible, reporting
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.terms import Direction, Output
from nnbo_mip.core.version import __version__
from nnbo_mip.exact.backends.base import DEFAULT
from nnbo_mip.exact.backends.catalogue import check_solver
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.certify_result import CertifyResult
from nnbo_mip.exact.infeasibility import why_empty
from nnbo_mip.exact.methods import METHODS, run
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.options import EngineOptions
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.exact.search.rounding import LARGEST_MAGNITUDE
from nnbo_mip.network.inputs import as_network, as_output
from nnbo_mip.space.domain import ROW_SLACK, Domain
from nnbo_mip.space.space import Space


def certify(
    network: object,
    space: object,
    *,
    output: str | int | Mapping[str, float] | Mapping[int, float] | None = None,
    direction: Direction = "maximize",
    method: str = "auto",
    solver: str = "highs",
    formulation: str = "bigm",
    gap: float = 1e-4,
    time_limit: float = 60.0,
    seed: int = 0,
    progress: ProgressOption = None,
    threshold: float | None = None,
    memory_limit: float = DEFAULT_MEMORY,
) -> CertifyResult:
    """Find the maximum (or minimum) of a network over a space and prove it.

    Parameters
    ----------
    network : Network, path, torch.nn.Module or scikit-learn estimator
        The function; a path names an .onnx, .npz or .json file. A model is imported as
        `Network.from_torch` or `Network.from_sklearn` do with their defaults.
    space : Space, Domain, or what ``Space.coerce`` takes
        ``[(lo, hi), …]``, ``{"name": (lo, hi), …}``, ``scipy.optimize.Bounds``, …. The
        network reads raw coordinates: numbers as they are, categories one-hot, in the order
        of the dimensions.
    output : str, int or mapping of either to weights, optional
        The output to optimize, or a weighted sum; left out where there is only one.
    direction : {"maximize", "minimize"}
        Under ``minimize`` the result's bound is a lower bound.
    method : {"auto", "bab", "boxes", "phases", "mip", "enumerate"}
        ``auto`` chooses and combines; ``bab`` is branch and bound over ``boxes`` of the
        input and over ``phases`` of the ReLUs; ``mip`` hands a mixed-integer program to
        `solver`; ``enumerate`` sweeps one or two inputs exactly.
    solver : str
        For ``mip``, and for ``auto`` where it needs one: a name that ``nnbo-mip list backends``
        shows, or ``"pyomo:<name>"``.
    formulation : {"bigm", "sos1", "partition", "naive"}
        For ``mip``; ``naive`` is there for comparison and never certifies.
    gap : float
        Stop when value and bound differ by at most ``gap * max(1, |value|)``.
    time_limit : float
        Wall seconds; when they are over, the best value and bound so far are returned.
    seed : int
        Seed of the random starts.
    progress : callable, bool or "live", optional
        A callable receives a `Progress` a few times a second, in the user's direction. True
        or "live" shows a line on standard error.
    threshold : float, optional
        Decide whether any admissible point scores above it (below it, under ``minimize``),
        rather than look for the maximum: the search ends with the first such point, or with
        the proof that there is none, and the result's `decided` says which. `gap` ends nothing.
    memory_limit : float
        GiB that the search may take beyond what the process holds before it, infinity for no
        limit. A search that reaches it ends with the best value and bound so far, and engines
        that would need more are not begun; the result's `message` says so. Solvers that run as
        processes of their own are not watched.

    Returns
    -------
    CertifyResult

    Notes
    -----
    In the main thread, Ctrl-C ends the search and returns the best value and bound so far;
    a second Ctrl-C raises KeyboardInterrupt.

    Examples
    --------
    >>> tent = Network.from_layers([([[1.0], [1.0]], [-2.0, -3.0]), ([[1.0, -2.0]], [0.5])])
    >>> result = certify(tent, [(1.0, 7.0)])
    >>> result.status, round(result.value, 3), result.x.round(3).tolist()
    ('optimal', 1.5, [3.0])
    >>> certify(tent, [(1.0, 7.0)], threshold=2.0).decided
    'holds'
    """
    request = _Request(network, space, output, direction)
    method = check_choice("method", method, METHODS)
    if method == "mip" or solver != DEFAULT:  # which may be missing where no program needs it
        check_solver(solver)
    options = EngineOptions(seed=as_seed(seed), solver=solver, formulation=formulation)
    limit, wanted_gap = as_time_limit(time_limit), as_gap(gap)
    _check_formulation(formulation)
    threshold = _as_threshold(threshold)
    level = None if threshold is None else request.sign * threshold
    memory = as_memory_limit(memory_limit)
    with reporting(progress, request.sign) as callback, budget_kept(memory, limit):
        monitor = Monitor(request.problem, wanted_gap, limit, callback, threshold=level)
        with interruptible(monitor.interrupt):
            result, complaint = run(method, request.problem, options, monitor)
    return _assemble(request, options.seed, monitor, monitor.settled(result), complaint)


class _Request:
    """The question in the user's terms and in the engines'."""

    def __init__(
        self,
        network: object,
        space: object,
        output: str | int | Mapping[str, float] | Mapping[int, float] | None,
        direction: str,
    ) -> None:
        self.direction: Direction = as_direction(direction)
        self.sign = 1.0 if self.direction == "maximize" else -1.0
        self.network = as_network(network)
        self.space = Space.coerce(space)
        self.output: Output = None
        if output is not None or self.network.n_outputs > 1:
            self.output = as_output(self.network, output)
        self.objective = self.network.objective(self.output)
        maximized = self.objective if self.sign > 0.0 else self.objective.negated()
        self.domain = self.space if isinstance(self.space, Domain) else self.space.numeric()
        self.problem = Problem(maximized, self.domain)
        if not self.problem.rounding.is_useful:
            raise InputError(
                f"values inside the network must stay below {LARGEST_MAGNITUDE:g} over the space, "
                f"so that float64 can bound them; got up to {self.problem.rounding.largest:g}; "
                "rescale the weights or the space."
            )

    def user_value(self, value: float) -> float:
        """Undo the sign; no negative zero."""
        return self.sign * value + 0.0

    def user_point(self, x: FloatArray | None) -> Any:
        """Return raw coordinates as the user writes points."""
        if x is None:
            return None
        return x.copy() if isinstance(self.space, Domain) else self.space.from_numeric(x)


def _as_threshold(given: object) -> float | None:
    if given is None:
        return None
    threshold = as_real(given, "threshold")
    if math.isinf(threshold):
        raise InputError(
            f"threshold must be finite; got {given!r}; leave it out to ask for the maximum itself."
        )
    return threshold


def _check_formulation(formulation: str) -> None:
    from nnbo_mip.exact.formulation import FORMULATIONS

    check_choice("formulation", formulation, FORMULATIONS)


def _assemble(
    request: _Request, seed: int, monitor: Monitor, result: SearchResult, complaint: str
) -> CertifyResult:
    """Turn the answer of a search into the user's direction, with its certificate."""
    message = _message(request, monitor, result, complaint)
    found = replace(
        result,
        value=request.user_value(result.value),
        bound=request.user_value(result.bound),
        counters={name: int(count) for name, count in result.counters.items()},
        message=message,
    )
    seconds = monitor.seconds()
    solver, solver_version = found.proof.solved_by
    certificate = Certificate(
        direction=request.direction,
        status=found.status,
        kind=found.kind,
        value=found.value,
        bound=found.bound,
        gap=found.gap,
        x=None if found.x is None else tuple(found.x.tolist()),
        requested_gap=monitor.gap,
        row_slack=ROW_SLACK,
        output=request.output,
        engine=found.proof.way,
        solver=solver,
        solver_version=solver_version,
        nnbo_mip_version=__version__,
        network_fingerprint=request.network.fingerprint,
        objective_fingerprint=request.objective.fingerprint,
        space=request.space.to_dict(),
        space_fingerprint=request.domain.fingerprint,
        float32_difference=request.network.float32_difference,
        seed=seed,
        seconds=seconds,
        counters=found.counters,
        unverified=request.network.unverified or None,
        threshold=None if monitor.threshold is None else request.user_value(monitor.threshold),
    )
    return CertifyResult(
        x=request.user_point(found.x),
        found=found,
        direction=request.direction,
        certificate=certificate,
        seconds=seconds,
    )


def _message(request: _Request, monitor: Monitor, result: SearchResult, complaint: str) -> str:
    if result.status == "infeasible":
        sentence = why_empty(request.space, request.domain)
    elif monitor.threshold is not None and monitor.settles(result.bound):
        sentence = "the threshold is decided, and the search ended there."
    elif result.status == "optimal":
        relative = " times |value|" if result.gap > monitor.gap else ""
        sentence = f"value and bound agree within the gap of {monitor.gap:g}{relative}."
    else:
        reason = "the search ended"
        if monitor.interrupted:
            reason = "interrupted by the user"
        elif monitor.is_full:
            reason = "the memory limit was reached (memory_limit)"
        elif monitor.remaining() == 0.0 or result.time_limited:
            reason = "the time limit was reached"
        what = (
            "the gap is open, but value and bound hold."
            if result.status == "feasible"
            else "no bound was proven."
        )
        sentence = f"{reason}; {what}"
    return " ".join(part for part in (sentence, result.message, complaint) if part)
