"""What every solver backend promises, as tests that a plug-in's author inherits.

    class TestMine(ProverContract):      # or ClaimantContract, if its bounds do not count
        def make(self):
            return Mine()

Needs pytest. The programs are small: the largest has 102 columns. Of a backend whose extra is
missing, skip the whole class.
"""

from __future__ import annotations

import abc
import math
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.exact.backends.base import Backend, Hooks, SolveRequest
from nnbo_mip.exact.backends.selftest import cases, first_failure
from nnbo_mip.exact.bounds.interval import interval_bounds
from nnbo_mip.exact.formulation import Encoding, bound_inflation, encode
from nnbo_mip.exact.formulation.model import MARGIN
from nnbo_mip.exact.formulation.tolerance import Tolerances, claim_allowance
from nnbo_mip.exact.mip.judge import OBJECTIVE_TOLERANCE
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid
from nnbo_mip.testing.exact_maximum import exact_maximum
from nnbo_mip.testing.programs import OPTIMUM, hard, infeasible, knapsack

PATIENCE = 20.0
"""Wall seconds within which a solver that should stop has stopped."""

TOO_LONG = 1.25 * PATIENCE
"""The time limit of a solve that should be stopped before: one that cannot be ends by it."""

DOMAINS = {
    "a box": Domain([-1.5, 0.5], [2.0, 3.0]),
    "integers": Domain([-2.0, 0.5], [3.0, 3.0], [Grid.uniform(-2.0, 1.0, 6), None]),
    "a row": Domain([-1.5, 0.5], [2.0, 3.0], A=[[1.0, 1.0]], b=[1.5]),
}

SHAPES = ((4, 2), (2, 4), (1, 2))
"""Of the layers' weights."""

SCALES = (1e-3, 1.0, 1e3)
"""By these the weights of the first layer are multiplied."""


def network(scale: float) -> Network:
    """Return a network of two inputs and six ReLUs."""
    rng = np.random.default_rng(11)
    layers = [(rng.normal(size=shape), rng.normal(size=shape[0])) for shape in SHAPES]
    return Network.from_layers([(scale * layers[0][0], layers[0][1]), *layers[1:]])


class BackendContract(abc.ABC):
    """Subclass it under a name that pytest collects, and say how to make the backend."""

    @abc.abstractmethod
    def make(self) -> Backend:
        """Return the backend."""

    # -- what it says of itself ---------------------------------------------------------

    def test_its_data(self) -> None:
        backend = self.make()
        assert backend.name
        assert backend.version()
        assert isinstance(backend.tolerances, Tolerances)
        assert backend.formulation in self.formulations(backend)

    def test_it_passes_the_start_up_test(self) -> None:
        assert first_failure(self.make(), cases()) == ""

    # -- answers ------------------------------------------------------------------------

    @pytest.mark.parametrize("presolve", [True, False])
    def test_the_optimum_in_the_units_of_the_model(self, presolve: bool) -> None:
        answer = self.make().solve(knapsack(), SolveRequest(presolve=presolve))
        assert answer.status == "optimal"
        assert answer.columns is not None
        assert answer.objective == pytest.approx(OPTIMUM, abs=1e-4)
        np.testing.assert_allclose(answer.columns, [1.0, 1.0, 0.5], atol=1e-6)
        assert answer.bound >= answer.objective

    def test_a_program_without_whole_columns(self) -> None:
        model = replace(knapsack(), integer=np.zeros(3, dtype=bool))
        answer = self.make().solve(model, SolveRequest())
        assert answer.status == "optimal"
        assert answer.objective == pytest.approx(OPTIMUM, abs=1e-4)

    def test_infeasible(self) -> None:
        answer = self.make().solve(infeasible(), SolveRequest())
        assert answer.status == "infeasible"
        assert answer.columns is None
        assert answer.bound == -math.inf

    def test_a_program_without_limits_never_reaches_it(self) -> None:
        model = replace(knapsack(), column_upper=np.array([1.0, 1.0, np.inf]))
        with pytest.raises(InputError, match="finite bounds"):
            self.make().solve(model, SolveRequest())

    def test_a_program_without_columns(self) -> None:
        empty = replace(
            knapsack(),
            objective=np.zeros(0),
            matrix=knapsack().matrix[:, :0],
            column_lower=np.zeros(0),
            column_upper=np.zeros(0),
            integer=np.zeros(0, dtype=bool),
            column_names=(),
        )
        answer = self.make().solve(empty, SolveRequest())
        assert (answer.status, answer.objective, answer.bound) == ("optimal", -551.0, -551.0)
        broken = replace(empty, row_upper=np.array([-1.0]))
        assert self.make().solve(broken, SolveRequest()).status == "infeasible"

    def test_special_ordered_sets_are_obeyed_or_refused(self) -> None:
        backend = self.make()
        model = replace(knapsack(), sos1=((0, 2),), column_lower=np.zeros(3))
        if backend.supports_sos1:
            answer = backend.solve(model, SolveRequest())
            assert answer.objective == pytest.approx(300.0 + 200.0 - 551.0)
        else:
            with pytest.raises(UnsupportedError, match="special ordered sets"):
                backend.solve(model, SolveRequest())

    @pytest.mark.parametrize("where", DOMAINS)
    @pytest.mark.parametrize("scale", SCALES)
    def test_networks(self, scale: float, where: str) -> None:
        backend = self.make()
        for encoding in self.encodings(backend, scale, where):
            model = encoding.model
            answer = backend.solve(model, SolveRequest(time_limit=PATIENCE))
            best = float(self.maximum(encoding))
            assert answer.status == "optimal"
            assert answer.columns is not None
            reach = claim_allowance(encoding, backend.tolerances)
            reach += OBJECTIVE_TOLERANCE * max(1.0, abs(best))
            assert best - reach <= answer.objective <= best + reach
            assert answer.objective == pytest.approx(model.value(answer.columns), abs=reach)

    # -- what is asked for --------------------------------------------------------------

    def test_nothing_reaches_the_cutoff(self) -> None:
        answer = self.make().solve(knapsack(), SolveRequest(cutoff=OPTIMUM + 3.0))
        assert answer.status == "infeasible"

    def test_a_cutoff_below_the_optimum_changes_nothing(self) -> None:
        answer = self.make().solve(knapsack(), SolveRequest(cutoff=OPTIMUM - 3.0))
        assert answer.status == "optimal"
        assert answer.objective == pytest.approx(OPTIMUM, abs=1e-4)

    @pytest.mark.parametrize("start", [[1.0, 1.0, 0.5], [0.0, 1.0, 0.75]])
    def test_a_start_point_is_taken(self, start: list[float]) -> None:
        answer = self.make().solve(knapsack(), SolveRequest(start=np.array(start)))
        assert answer.status == "optimal"
        assert answer.objective == pytest.approx(OPTIMUM, abs=1e-4)

    def test_the_same_seed_gives_the_same_answer(self) -> None:
        request = SolveRequest(seed=7)
        first, second = (self.make().solve(knapsack(), request) for _ in range(2))
        assert first.columns is not None
        assert second.columns is not None
        np.testing.assert_array_equal(first.columns, second.columns)

    def test_out_of_time_there_is_no_optimum_and_no_junk(self) -> None:
        started = time.perf_counter()
        answer = self.make().solve(hard(), SolveRequest(time_limit=0.3))
        assert time.perf_counter() - started < PATIENCE
        assert answer.status == "stopped"
        if answer.columns is not None:
            assert hard().violation(answer.columns) < 1e-5
        assert answer.bound >= answer.objective

    # -- hooks --------------------------------------------------------------------------

    def test_somebody_else_can_stop_it(self) -> None:
        started = time.perf_counter()
        hooks = Hooks(should_stop=lambda: time.perf_counter() - started > 0.4)
        answer = self.make().solve(hard(), SolveRequest(time_limit=TOO_LONG, hooks=hooks))
        self._is_quick(started)
        assert answer.status in ("stopped", "failed")
        assert answer.bound == math.inf or answer.bound >= answer.objective

    def test_the_waiting_thread_ticks(self) -> None:
        threads: set[threading.Thread] = set()
        hooks = Hooks(tick=lambda: threads.add(threading.current_thread()))
        self.make().solve(hard(), SolveRequest(time_limit=0.3, hooks=hooks))
        assert threads == {threading.current_thread()}

    @pytest.mark.parametrize("hook", ["tick", "should_stop"])
    def test_an_error_in_a_hook_stops_the_solve_and_is_raised(self, hook: str) -> None:
        def broken() -> NoReturn:
            raise ZeroDivisionError("in the hook")

        hooks = Hooks(tick=broken) if hook == "tick" else Hooks(should_stop=broken)
        started = time.perf_counter()
        with pytest.raises(ZeroDivisionError, match="in the hook"):
            self.make().solve(hard(), SolveRequest(time_limit=TOO_LONG, hooks=hooks))
        self._is_quick(started)

    # -- tools --------------------------------------------------------------------------

    @staticmethod
    def formulations(backend: Backend) -> tuple[str, ...]:
        """Return the formulations that it can solve and that certify."""
        return ("bigm", "partition", *(("sos1",) if backend.supports_sos1 else ()))

    def encodings(self, backend: Backend, scale: float, where: str) -> Iterator[Encoding]:
        """Yield a problem in all formulations that the backend can solve."""
        problem = Problem(network(scale), DOMAINS[where])
        bounds = interval_bounds(problem.network, problem.domain.lower, problem.domain.upper)
        for formulation in self.formulations(backend):
            yield encode(problem, bounds, formulation)

    @staticmethod
    def _is_quick(started: float) -> None:
        """Check that a solve that was asked to stop did not go on until its time limit."""
        seconds = time.perf_counter() - started
        assert seconds < PATIENCE, (
            f"a solver must return within {PATIENCE:g} s once hooks.should_stop() is true or a "
            f"hook fails; it went on for {seconds:.0f} s; let `stop` of run_stoppable end it. One "
            "that cannot be stopped is run in a process of its own, or for a few seconds at a time."
        )

    @staticmethod
    def maximum(encoding: Encoding) -> Fraction:
        """Return the exact maximum of the network that a program stands for."""
        problem = encoding.problem
        exact = exact_maximum(problem.network, problem.domain).value
        assert exact is not None
        return exact


class ProverContract(BackendContract):
    """The same of a backend whose bounds count."""

    def test_it_is_a_prover_within_the_margin_of_the_programs(self) -> None:
        backend = self.make()
        assert backend.proves
        stated = backend.tolerances.feasibility
        assert 0.0 < stated < MARGIN, (
            f"a prover must run with a feasibility tolerance below {MARGIN:g}; got {stated:g}; "
            "tighten it, or leave out `proves` and take the ClaimantContract."
        )

    @pytest.mark.parametrize("presolve", [True, False])
    @pytest.mark.parametrize("where", DOMAINS)
    @pytest.mark.parametrize("scale", SCALES)
    def test_with_its_tolerances_added_its_bound_holds(
        self, scale: float, where: str, presolve: bool
    ) -> None:
        backend = self.make()
        for encoding in self.encodings(backend, scale, where):
            request = SolveRequest(time_limit=PATIENCE, presolve=presolve)
            bound = backend.solve(encoding.model, request).bound
            assert math.isfinite(bound), (
                f"a prover that solved a program must answer with its bound; got {bound}; pass "
                "bound=… to SolverAnswer, or leave out `proves`: then no bound is asked for."
            )
            bound += bound_inflation(encoding, backend.tolerances)
            assert self.maximum(encoding) <= Fraction(bound)

    @pytest.mark.parametrize("presolve", [True, False])
    def test_its_bound_is_the_optimum(self, presolve: bool) -> None:
        answer = self.make().solve(knapsack(), SolveRequest(presolve=presolve))
        assert answer.bound == pytest.approx(OPTIMUM, abs=1e-4)

    def test_the_bound_covers_what_a_wide_gap_leaves_open(self) -> None:
        answer = self.make().solve(knapsack(), SolveRequest(absolute_gap=120.0))
        assert answer.status == "optimal"
        assert answer.bound >= OPTIMUM - 1e-6
        assert answer.bound - answer.objective <= 120.0 + 1e-6

    def test_the_bound_of_a_cutoff_is_the_cutoff(self) -> None:
        answer = self.make().solve(knapsack(), SolveRequest(cutoff=OPTIMUM + 3.0))
        assert answer.bound == pytest.approx(OPTIMUM + 3.0)

    def test_a_start_point_survives_a_solve_without_time(self) -> None:
        model = hard()
        start = np.zeros(model.n_columns)
        start[-12:-6] = model.row_upper  # the slacks take it all
        answer = self.make().solve(model, SolveRequest(time_limit=0.05, start=start))
        assert answer.status == "stopped"
        assert answer.objective >= model.value(start) - 1e-6


class ClaimantContract(BackendContract):
    """The same of a backend whose bounds are never read."""

    def test_it_gives_no_bound(self) -> None:
        backend = self.make()
        assert not backend.proves
        assert backend.solve(knapsack(), SolveRequest()).bound == math.inf
