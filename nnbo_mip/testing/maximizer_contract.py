"""What every maximizer promises, as tests that a plug-in's author inherits.

    class TestMine(MaximizerContract):
        def make(self, **options):
            return Mine(**options)

Needs pytest. `make` must accept `time_limit`, and `evaluations` if the maximizer has that option.
What a maximizer cannot serve it must refuse, with the remedy; the contract then asks no more.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from functools import cache
from typing import Any

import numpy as np
import pytest

from nnbo_mip.acquisitions import create as create_acquisition
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import NnboError, UnsupportedError
from nnbo_mip.exact.scores.problem import SMALLEST_SCORE
from nnbo_mip.maximizers import Abilities, Maximizer, Proposal, Request, Target, create
from nnbo_mip.scores.base.abstract import Shape
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid
from nnbo_mip.surrogates import Belief, Capability
from nnbo_mip.surrogates import create as create_surrogate
from nnbo_mip.testing.analytic_belief import ALL, AnalyticBelief
from nnbo_mip.testing.contract import Contract, needs

SECONDS = 20.0
"""Wall time of one search; what takes longer must end by then."""

READOUT_ERROR = 1e-9
"""Posteriors equal beliefs up to rounding: the value of a prover is that of the posterior."""

DOMAINS = {
    "a box": Domain([-1.0, -1.0], [1.0, 1.0]),
    "integers": Domain([-1.0, -1.0], [1.0, 1.0], [Grid.uniform(-1.0, 0.25, 9), None]),
    "whole numbers only": Domain([-1.0, -1.0], [1.0, 1.0], [Grid.uniform(-1.0, 0.5, 5)] * 2),
    "a category": Domain([0.0, 0.0], [1.0, 1.0], one_hot=[(0, 1)]),
    "a row": Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 1.0]], b=[-0.4]),
    "an equality": Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 2.0], [-1.0, -2.0]], b=[0.3, -0.3]),
    "a trust region": Domain([-1.0, -1.0], [1.0, 1.0]).restrict([0.2, -0.7], [0.21, 0.1]),
    "exclusions": Domain([-1.0, -1.0], [1.0, 1.0]).away_from([[0.9, 0.8], [-0.8, 0.9]], 0.4),
    "exclusions among integers": Domain(
        [-1.0, -1.0], [1.0, 1.0], [Grid.uniform(-1.0, 0.25, 9), None]
    ).away_from([[0.0, 0.0]], 0.3),
    "a degenerate side": Domain([0.25, -1.0], [0.25, 1.0]),
    "a single point": Domain([0.25, -0.5], [0.25, -0.5]),
}

ACQUISITIONS = ("ucb", "ei")


@cache
def members(d: int = 2, n_members: int = 3) -> Belief:
    """Return a belief of few ReLUs that every maximizer can serve."""
    options = {"activation": "relu", "n_hidden": 6, "spread": "mad", "weight_range": 2.0}
    return create_surrogate("elm", n_members=n_members, seed=0, **options).fit(*data(d))


def data(d: int = 2) -> tuple[FloatArray, FloatArray]:
    """Return evaluated points (n, d) and their values."""
    X = np.random.default_rng(5).uniform(-1.0, 1.0, (7, d))
    return X, np.sin(3.0 * X).sum(axis=1)


class MaximizerContract(Contract):
    """Subclass it under a name that pytest collects, and say how to make the maximizer."""

    @abc.abstractmethod
    def make(self, **options: Any) -> Maximizer:
        """Return the maximizer with these options."""

    def offers(self) -> frozenset[object]:
        """Return the options that not every maximizer has: `evaluations`, or none."""
        return frozenset({"evaluations"} if hasattr(self.make(), "evaluations") else ())

    # -- options ------------------------------------------------------------------------

    def test_it_is_a_frozen_dataclass_that_declares_its_abilities(self) -> None:
        made = self.make()
        assert dataclasses.is_dataclass(made)
        assert made.name
        assert isinstance(made.abilities, Abilities)
        assert create(made) is made
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.time_limit = 1.0

    def test_equal_options_make_equal_maximizers(self) -> None:
        assert self.make(time_limit=3.0) == self.make(time_limit=3.0)
        assert hash(self.make(time_limit=3.0)) == hash(self.make(time_limit=3.0))
        assert self.make(time_limit=3.0) != self.make(time_limit=4.0)

    @pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, "long", None])
    def test_time_limits_that_are_none_are_refused(self, bad: Any) -> None:
        with pytest.raises(NnboError, match="time_limit"):
            self.make(time_limit=bad)

    @needs("evaluations")
    def test_budgets_that_are_none_are_refused(self) -> None:
        for bad in (0, -5, 1.5, "many", True):
            with pytest.raises(NnboError, match="evaluations"):
                self.make(evaluations=bad)

    # -- where ----------------------------------------------------------------------------

    @pytest.mark.parametrize("name", ACQUISITIONS)
    @pytest.mark.parametrize("where", DOMAINS)
    def test_the_point_is_admissible_and_its_value_is_its_score(
        self, where: str, name: str
    ) -> None:
        self.judge(self.target(DOMAINS[where], name))

    def test_one_input(self) -> None:
        target = self.target(Domain([-1.0], [0.5]), "ei", belief=members(1), d=1)
        proposal = self.judge(target)
        points = np.linspace(-1.0, 0.5, 3001)[:, None]
        if proposal is not None and proposal.status == "optimal":
            assert target.score(points).max() <= proposal.bound * (1.0 + READOUT_ERROR)

    @pytest.mark.parametrize(
        "domain",
        [
            Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 1.0]], b=[-3.0]),
            Domain([0.0, 0.0], [1.0, 1.0], [Grid.uniform(0.0, 1.0, 2)] * 2, A=[[1.0, 1.0]], b=[-1]),
            Domain([-1.0, -1.0], [1.0, 1.0]).away_from([[0.0, 0.0]], 1.5),
        ],
        ids=["rows", "rows over integers", "exclusions"],
    )
    def test_where_nothing_is_admissible_nothing_is_proposed(self, domain: Domain) -> None:
        target = self.target(domain, "ucb")
        if self.refuses(target):
            return
        proposal = self.run(target)
        assert proposal.x is None
        assert proposal.status in ("infeasible", "heuristic")
        assert str(proposal)

    # -- scores -----------------------------------------------------------------------------

    def test_flat_scores(self) -> None:
        certain = self.target(DOMAINS["a box"], "pi", incumbent=-1e6)
        proposal = self.judge(certain)
        if proposal is not None:
            assert proposal.value == 1.0

    def test_scores_too_small_for_their_digits_are_answered_as_logarithms(self) -> None:
        for name in ("ei", "pi"):
            proposal = self.judge(self.target(DOMAINS["a box"], name, incumbent=1e3))
            if proposal is not None:
                assert proposal.head == f"log{name}"
                assert -1e9 <= proposal.value < math.log(SMALLEST_SCORE)

    @pytest.mark.parametrize("name", ["ei", "logei", "pi"])
    def test_scores_of_nothing(self, name: str) -> None:
        # One member has no spread, so that no point can exceed the incumbent.
        target = self.target(DOMAINS["a box"], name, belief=members(2, 1), incumbent=1e3)
        proposal = self.judge(target)
        if proposal is not None:
            assert proposal.x is not None

    def test_members_are_scored(self) -> None:
        self.judge(self.target(DOMAINS["a box"], "empirical_ei"))

    # -- what is asked ------------------------------------------------------------------------

    def test_the_same_seed_proposes_the_same_bits(self) -> None:
        for where in ("a box", "integers", "a row"):
            target = self.target(DOMAINS[where], "ei")
            if not self.refuses(target):
                first, second = self.run(target, seed=3), self.run(target, seed=3)
                assert np.array_equal(np.asarray(first.x), np.asarray(second.x))
                assert first.value == second.value
                assert first.evaluations == second.evaluations

    def test_global_randomness_is_left_alone(self) -> None:
        state = np.random.get_state(legacy=False)["state"]["key"].copy()  # noqa: NPY002
        self.judge(self.target(DOMAINS["a box"], "ucb"))
        after = np.random.get_state(legacy=False)["state"]["key"]  # noqa: NPY002
        assert np.array_equal(state, after)

    def test_no_start_is_better_than_the_answer(self) -> None:
        target = self.target(DOMAINS["a row"], "ucb")
        points = target.domain.sample(2000, np.random.default_rng(0))
        best = points[[target.score(points).argmax()]]
        for options in ({"evaluations": 1}, {}):
            if options.keys() <= self.offers() and not self.refuses(target, **options):
                proposal = self.run(target, starts=best, **options)
                assert proposal.value >= target.score(best)[0] - READOUT_ERROR

    @needs("evaluations")
    @pytest.mark.parametrize("most", [1, 7, 300])
    def test_evaluations_are_counted_and_limited(self, most: int) -> None:
        for where in ("a box", "integers", "a row", "exclusions"):
            target = self.target(DOMAINS[where], "ei")
            if not self.refuses(target, evaluations=most):
                proposal = self.run(target, evaluations=most)
                assert proposal.x is not None
                assert target.domain.admissible(proposal.x[None, :])[0]
                assert 0 <= proposal.evaluations <= most

    def test_a_short_time_ends_the_search_with_a_valid_answer(self) -> None:
        target = self.target(DOMAINS["a box"], "ei")
        if self.refuses(target):
            return
        proposal = self.run(target, time_limit=1e-6)
        self.check(target, proposal)
        limited = self.make().maximize(target, Request(time_limit=1e-6))
        self.check(target, limited)

    def test_what_is_missing_is_refused_with_the_remedy(self) -> None:
        lacking = AnalyticBelief(offered=ALL - {Capability.GRADIENT})
        target = Target(create_acquisition("ei", incumbent=0.5).scorer(lacking), DOMAINS["a box"])
        if self.make().abilities.needs_gradient:
            assert self.refuses(target)
        elif not self.make().abilities.proves:
            self.judge(target)

    @pytest.mark.parametrize(
        ("ability", "where"),
        [("integers", "integers"), ("constraints", "a row"), ("exclusions", "exclusions")],
    )
    def test_what_it_says_that_it_does_not_respect_is_refused(
        self, ability: str, where: str
    ) -> None:
        if not getattr(self.make().abilities, ability):
            assert self.refuses(self.target(DOMAINS[where], "ei"))

    # -- helpers --------------------------------------------------------------------------

    def target(
        self,
        domain: Domain,
        name: str,
        belief: Belief | None = None,
        d: int = 2,
        **options: Any,
    ) -> Target:
        """Return an acquisition over a domain."""
        acquisition = create_acquisition(name, **options)
        return Target(acquisition.scorer(belief or members(), *data(d)), domain)

    def run(
        self, target: Target, seed: int = 0, starts: FloatArray | None = None, **options: Any
    ) -> Proposal:
        """Maximize."""
        none = np.empty((0, target.dimension))
        request = Request(time_limit=SECONDS, seed=seed, starts=none if starts is None else starts)
        return self.make(**options).maximize(target, request)

    def judge(self, target: Target) -> Proposal | None:
        """Maximize and check the answer; None where the target is refused."""
        if self.refuses(target):
            return None
        proposal = self.run(target)
        self.check(target, proposal)
        return proposal

    def refuses(self, target: Target, **options: Any) -> bool:
        """Return whether the target is refused; if so, in a sentence with a remedy."""
        made = self.make(**options)
        reason = made.why_not(target)
        if reason:
            assert reason.endswith(".")
            with pytest.raises(UnsupportedError, match=made.name):
                made.maximize(target, Request())
        return bool(reason)

    @staticmethod
    def check(target: Target, proposal: Proposal) -> None:
        """Check what holds of every proposal where something is admissible."""
        assert proposal.x is not None
        assert target.domain.admissible(proposal.x[None, :])[0]
        score, head = float(target.score(proposal.x[None, :])[0]), target.scorer.head
        searched = head.searched
        if searched.is_logarithm and proposal.head == searched.name:
            assert head.is_logarithm or score < SMALLEST_SCORE * (1.0 + READOUT_ERROR)
            score = max(float(searched.score_at(target.scorer, proposal.x[None, :])[0]), -1e9)
        error = READOUT_ERROR if proposal.objective is not None else 0.0
        assert abs(proposal.value - score) <= error * max(1.0, abs(score))
        assert not math.isnan(proposal.gap)
        assert proposal.bound >= proposal.value
        if proposal.kind == "none":
            assert (proposal.status, proposal.bound) == ("heuristic", math.inf)
            assert proposal.certificate is None
        else:
            assert proposal.status in ("optimal", "feasible")
            assert proposal.bound <= head.largest_score or head.shape is Shape.EMPIRICAL
        assert proposal.seconds >= 0.0
        assert str(proposal)
