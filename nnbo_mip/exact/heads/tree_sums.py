r"""Heads that are sums over trees, as one mixed-integer program each (`exact.trees.program`).

    a mean + c                           the leaves score a value
    (1 / T) sum_t max(f_t - tau, 0)      they score max(value - tau, 0)      (empirical EI)
    (1 / T) #{t : f_t >= tau}            they score 1 or 0                   (empirical PI)

Other heads of trees are left to boxes (`exact.trees.search`). Of a solver its bound is taken, with
its tolerances; a claimant's answer is a point like any other, and the default solver proves.
"""

from __future__ import annotations

import math
from functools import singledispatch

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.core.terms import Kind
from nnbo_mip.exact.backends import get_backend
from nnbo_mip.exact.backends.base import DEFAULT, Backend, Hooks, SolverAnswer, SolveRequest
from nnbo_mip.exact.backends.selftest import ensure_sound
from nnbo_mip.exact.formulation.tolerance import model_inflation
from nnbo_mip.exact.heads.linear import allowance_of
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.mip.emptiness import is_empty
from nnbo_mip.exact.mip.judge import WITNESS_TOLERANCE
from nnbo_mip.exact.mip.mip import CLAIM_SHARE, proof_of
from nnbo_mip.exact.scores.problem import HeadProblem, assemble
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import Proof, SearchResult, Step
from nnbo_mip.exact.search.rounding import sum_above
from nnbo_mip.exact.trees.cells import TreeCells
from nnbo_mip.exact.trees.program import TreeProgram, tree_program
from nnbo_mip.exact.trees.search import climb, point_in
from nnbo_mip.scores.base.abstract import Head, Shape
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.posteriors.tree_readout import TreeReadout

WAY = "trees"

LARGEST_SCORE = 1e100
"""Beyond it something overflows between a program and a solver."""


def why_not(problem: HeadProblem) -> str:
    """Return why this way does not apply, in a sentence; empty where it does."""
    parts = problem.parts(Head, TreeReadout)
    if parts is None:
        return "the readout has no trees."
    head, readout = parts
    if not float(np.abs(readout.trees.value).max()) < LARGEST_SCORE:
        return "the values of the trees are too large for a program."
    if head.shape is Shape.LINEAR and not head.reads_std:
        return ""
    if head.shape is not Shape.EMPIRICAL:
        return "the head is no sum over trees; take boxes."
    if readout.reach == 1.0:
        return ""
    return "members that are moved apart by a scale are no trees; take boxes."


def solve(problem: HeadProblem, options: SequenceOptions, monitor: Monitor) -> SearchResult:
    """Maximize a sum over trees; see the module."""
    reason = why_not(problem)
    if reason:
        raise UnsupportedError(f"one program must give the head; {reason}")
    if options.formulation != "bigm":
        raise UnsupportedError(
            "trees have one formulation, which the default stands for; got "
            f"formulation={options.formulation!r}; leave it out."
        )
    return _Solve(problem, options, monitor).run()


@singledispatch
def leaf_scores(head: Head, value: FloatArray) -> tuple[FloatArray, float]:
    """Return what nodes of values (N,) score, and a constant that is added to their average."""
    raise UnsupportedError(f"a {type(head).__name__} is no sum over trees; take boxes.")


@leaf_scores.register
def _of_linear(head: LinearHead, value: FloatArray) -> tuple[FloatArray, float]:
    return head.mean_weight * value, head.constant


@leaf_scores.register
def _of_members(head: EmpiricalImprovement, value: FloatArray) -> tuple[FloatArray, float]:
    if head.kind == "pi":
        return (value >= head.threshold).astype(np.float64), 0.0
    return np.maximum(value - head.threshold, 0.0), 0.0


class _Solve:
    """One program, asked of one solver or two."""

    def __init__(self, problem: HeadProblem, options: SequenceOptions, monitor: Monitor) -> None:
        forest = problem.readout.forest
        assert forest is not None
        self.scores, self.constant = leaf_scores(problem.head, forest.value)
        self.problem, self.options, self.monitor = problem, options, monitor
        self.cells = TreeCells(forest, problem.domain)
        self.complaints: list[str] = []
        self.nodes = 0
        self.steps: list[Step] = []

    def run(self) -> SearchResult:
        problem, monitor = self.problem, self.monitor
        domain = problem.domain
        backend = get_backend(self.options.solver)
        ensure_sound(backend)
        if not domain.tighten(domain.lower, domain.upper)[2]:
            return self._answered(-math.inf, Proof("propagation"), "rigorous")
        if monitor.best_x is None:
            climb(problem, self.cells, monitor, self.options.seed)
        program = tree_program(self.cells, self.scores)
        if not backend.proves:
            self._ask(backend, program, True, CLAIM_SHARE * monitor.remaining())
            backend = get_backend(DEFAULT)
            ensure_sound(backend)
        for presolve in (True, False):
            bound = self._bound(backend, program, presolve)
            if bound is not None:
                return self._answered(sum_above(bound, self.constant), proof_of(backend), "solver")
            if monitor.should_stop():
                break
        return assemble(WAY, problem, monitor, self.steps, " ".join(self.complaints))

    def _bound(self, backend: Backend, program: TreeProgram, presolve: bool) -> float | None:
        """Return a bound on the average of the scores; None where an answer is thrown away."""
        monitor = self.monitor
        if monitor.best_x is not None:
            witness = program.complete(monitor.best_x)
            if program.model.violation(witness) > WITNESS_TOLERANCE:
                self.complaints.append("the program excludes a known point; it proves nothing.")
                return None
        answer = self._ask(backend, program, presolve, monitor.remaining())
        if answer.status == "failed" or answer.bound == math.inf:
            self.complaints.append(f"{backend.name} gave no bound ({answer.native_status}).")
            return None
        if answer.status == "infeasible":
            empty = monitor.best_x is None and is_empty(self.problem.domain, backend, monitor)
            if not empty:
                self.complaints.append(f"{backend.name} calls a feasible problem infeasible.")
            return -math.inf if empty else None
        inflation = model_inflation(program.model, program.error, backend.tolerances)
        bound = sum_above(answer.bound, inflation)
        if sum_above(bound, self.constant) < monitor.best_value:
            known = f"{bound:.9g} below a known value"
            self.complaints.append(f"{backend.name} claims a bound {known}.")
            return None
        return bound

    def _ask(
        self, backend: Backend, program: TreeProgram, presolve: bool, seconds: float
    ) -> SolverAnswer:
        monitor = self.monitor

        def offer(columns: FloatArray) -> None:
            if np.isfinite(columns).all():
                found = point_in(self.cells, *program.box_of(columns))
                if found is not None:
                    monitor.offer(found[None, :])

        hooks = Hooks(should_stop=monitor.should_stop, interrupt=monitor.interrupt, incumbent=offer)
        constant = self.constant
        value = monitor.best_value - constant if monitor.best_x is not None else 0.0
        inflation = model_inflation(program.model, program.error, backend.tolerances)
        asked = 0.5 * (allowance_of(monitor, constant)(value) - inflation)
        request = SolveRequest(
            time_limit=seconds,
            absolute_gap=max(asked, 0.0),
            start=None if monitor.best_x is None else program.complete(monitor.best_x),
            seed=self.options.seed,
            presolve=presolve,
            hooks=hooks,
        )
        answer = backend.solve(program.model, request)
        if answer.columns is not None:
            offer(answer.columns)
        self.nodes += answer.nodes
        return answer

    def _answered(self, bound: float, proof: Proof, kind: Kind) -> SearchResult:
        monitor = self.monitor
        found = SearchResult(
            x=monitor.best_x,
            value=monitor.best_value,
            bound=bound,
            kind=kind,
            proof=proof,
            counters={} if bound == -math.inf else {"nodes": self.nodes},
            time_limited=monitor.should_stop(),
            message=" ".join(self.complaints),
        )
        step = Step({"score": 1.0}, found)
        self.steps.append(step)
        if math.isfinite(bound):
            monitor.tighten(max(bound, monitor.best_value), step.kind, step.proof)
        return assemble(WAY, self.problem, monitor, self.steps)
