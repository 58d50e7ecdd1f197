"""What every acquisition promises, as tests that a plug-in's author inherits.

    class TestMine(AcquisitionContract):
        def make(self, **options):
            return Mine(**options)

Needs pytest. `make` must accept `incumbent`, whether the score reads one or not: users give it to
any acquisition by that name, and a run converts it as it converts y. The head that comes out is
judged by what it declares: shape, trends, bounds and levels. What declares that it `proposes`
points instead of scoring them keeps the contract of `criterion_contract`.
"""

from __future__ import annotations

import abc
import dataclasses
from typing import Any

import numpy as np
import pytest

from nnbo_mip.acquisitions import (
    Acquisition,
    Head,
    MemberHead,
    MixtureHead,
    MomentHead,
    Shape,
    Trend,
    create,
)
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.scores.base.abstract import RatioHead
from nnbo_mip.surrogates import Belief, Capability
from nnbo_mip.testing.analytic_belief import AnalyticBelief
from nnbo_mip.testing.contract import Contract, needs

ROUNDING = 1e-12
"""By how much a score may break a declared order, relative to its size."""


class AcquisitionContract(Contract):
    """Subclass it under a name that pytest collects, and say how to make the acquisition."""

    @abc.abstractmethod
    def make(self, **options: Any) -> Acquisition:
        """Return the acquisition with these options (at least `incumbent`)."""

    def shown_as(self) -> str:
        """Return the name that proposals show; another than the acquisition's only on purpose."""
        return self.make().name

    def offers(self) -> frozenset[object]:
        """Return the kinds of head that the head is."""
        return frozenset(type(self.head()).__mro__)

    def belief(self) -> Belief:
        """Return what the acquisition is tried on; it must offer what is needed."""
        return AnalyticBelief()

    def data(self) -> tuple[FloatArray, FloatArray]:
        """Return evaluated points and their values."""
        X = np.random.default_rng(5).uniform(-1.0, 1.0, (7, self.belief().n_inputs))
        return X, np.sin(3.0 * X).sum(axis=1)

    def head(self) -> Head:
        """Return the head of the data."""
        return self.make().resolve(self.belief(), *self.data())

    def probes(self, n: int = 50) -> FloatArray:
        """Return points of the box."""
        return np.random.default_rng(1).uniform(-1.0, 1.0, (n, self.belief().n_inputs))

    @staticmethod
    def moments(head: MomentHead, n: int = 400) -> tuple[FloatArray, FloatArray]:
        """Return means on both sides of the threshold, and stds, some of them zero."""
        rng = np.random.default_rng(2)
        std = 10.0 ** rng.uniform(-3.0, 1.0, n)
        std[:: n // 8] = 0.0
        return getattr(head, "threshold", 0.0) + 2.0 * rng.standard_normal(n), std

    @staticmethod
    def mixtures(head: Head, n: int = 60) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return weights, means on both sides of the threshold, and stds, each (n, 4)."""
        rng = np.random.default_rng(6)
        weights = rng.uniform(0.1, 1.0, (n, 4))
        means = getattr(head, "threshold", 0.0) + 2.0 * rng.standard_normal((n, 4))
        return (weights / weights.sum(axis=1, keepdims=True), means, rng.uniform(0.1, 2.0, (n, 4)))

    # -- options ------------------------------------------------------------------------

    def test_it_is_a_frozen_dataclass_with_a_name(self) -> None:
        made = self.make()
        assert dataclasses.is_dataclass(made)
        assert made.name
        assert not made.proposes
        assert create(made) is made
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.name = "other"

    def test_equal_options_make_equal_acquisitions(self) -> None:
        assert self._with(incumbent=0.5) == self._with(incumbent=0.5)
        assert hash(self._with(incumbent=0.5)) == hash(self._with(incumbent=0.5))
        assert self._with(incumbent=0.5) != self._with(incumbent=0.25)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, "high", True])
    def test_an_incumbent_that_is_no_number_is_refused(self, bad: Any) -> None:
        self._with(incumbent=0.5)
        with pytest.raises(InputError, match="incumbent"):
            self.make(incumbent=bad)

    # -- resolving ----------------------------------------------------------------------

    def test_what_a_belief_lacks_is_said_in_a_sentence(self) -> None:
        needs = self.make().needs
        assert needs
        assert all(isinstance(need, Capability) for need in needs)
        for need in needs:
            belief = AnalyticBelief(offered=self.belief().capabilities - {need})
            with pytest.raises(UnsupportedError, match=need.value):
                self._with(incumbent=0.0).resolve(belief, *self.data())

    def test_a_belief_that_offers_what_is_needed_and_nothing_else_is_enough(self) -> None:
        made = self.make()
        belief = AnalyticBelief(offered=made.needs)
        try:
            made.scorer(belief, *self.data()).score(self.probes())
        except UnsupportedError as refused:
            pytest.fail(
                f"needs must name all that the score of {made.name} reads; it names "
                f"{', '.join(sorted(made.needs))}, but {refused} Add what is missing to needs."
            )

    def test_a_proposal_shows_the_name_of_the_acquisition(self) -> None:
        head, name = self.head(), self.shown_as()
        assert head.name == name, (
            f"the head of {self.make().name} must be called {name!r}; got {head.name!r}; pass "
            "called=self.name to the LinearHead, or give the head's class that name."
        )

    def test_the_head_is_frozen_numbers_and_the_same_for_the_same_data(self) -> None:
        head = self.head()
        assert isinstance(head, MomentHead | MemberHead | MixtureHead)
        assert dataclasses.is_dataclass(head)
        assert head == self.head()
        for field in dataclasses.fields(head):
            value = getattr(head, field.name)
            numbers = value if isinstance(value, tuple) else (value,)
            assert all(isinstance(one, bool | int | float | str) for one in numbers)
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(head, field.name, 0.0)

    def test_resolving_leaves_data_and_global_randomness_alone(self) -> None:
        X, y = self.data()
        kept, state = (X.copy(), y.copy()), self._state()
        self.make().scorer(self.belief(), X, y, noise=0.1, step=3).score(self.probes())
        assert np.array_equal(X, kept[0])
        assert np.array_equal(y, kept[1])
        assert self._state() == state

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_observations_that_are_not_finite_are_refused(self, bad: float) -> None:
        X, y = self.data()
        y[2] = bad
        with pytest.raises(InputError, match="y must be finite"):
            self.make().resolve(self.belief(), X, y)
        X[2, 0], y[2] = bad, 0.0
        with pytest.raises(InputError, match="X must be finite"):
            self.make().resolve(self.belief(), X, y)

    def test_other_bad_data_are_refused(self) -> None:
        made, belief, (X, y) = self.make(), self.belief(), self.data()
        with pytest.raises(InputError, match="one row an observation"):
            made.resolve(belief, X, y[:-1])
        with pytest.raises(InputError, match="shape"):
            made.resolve(belief, X[:, :1], y)
        for noise in (np.array([-0.1]), np.array([np.nan]), np.empty(0)):
            with pytest.raises(InputError, match="noise"):
                made.resolve(belief, X, y, noise=noise)
        for step in (-1, 0.5):
            with pytest.raises(InputError, match="step"):
                made.resolve(belief, X, y, step=step)  # type: ignore[arg-type]

    # -- scores and gradients -------------------------------------------------------------

    def test_scores_are_one_number_a_point(self) -> None:
        scorer, X = self.make().scorer(self.belief(), *self.data()), self.probes()
        scores = scorer.score(X)
        assert scores.shape == (len(X),)
        assert scores.dtype == np.float64
        assert not np.isnan(scores).any()
        assert scorer.score(X[:0]).shape == (0,)
        np.testing.assert_allclose(scorer.score(X[3])[0], scores[3], rtol=1e-9)

    def test_without_data_an_incumbent_is_enough(self) -> None:
        belief, X = self.belief(), self.probes()
        made = self._with(incumbent=0.5)
        if getattr(made, "noise", 0.0) is None:
            made = self._with(incumbent=0.5, noise=0.1)
        assert np.array_equal(made.score(belief, X), made.scorer(belief).score(X))
        assert made.gradient(belief, X).shape == X.shape

    def test_gradients_are_those_of_the_scores(self) -> None:
        scorer, X, step = self.make().scorer(self.belief(), *self.data()), self.probes(), 1e-6
        gradient = scorer.gradient(X)
        assert gradient.shape == X.shape
        agreeing = np.zeros(X.shape, dtype=bool)
        for axis, unit in enumerate(np.eye(X.shape[1])):
            slope = (scorer.score(X + step * unit) - scorer.score(X - step * unit)) / (2.0 * step)
            agreeing[:, axis] = np.isclose(gradient[:, axis], slope, rtol=1e-4, atol=1e-7)
        # Within a step of a kink, or a jump, the difference quotient is no derivative.
        assert agreeing.all(axis=1).mean() >= 0.9

    @needs(MixtureHead)
    def test_a_mixture_head_knows_its_slopes(self) -> None:
        head = self.head()
        assert isinstance(head, MixtureHead)
        parts, step = self.mixtures(head), 1e-6
        slopes = head.gradient(*parts)
        assert all(slope.shape == parts[0].shape for slope in slopes)
        agreeing = np.ones(len(parts[0]), dtype=bool)
        for place, slope in enumerate(slopes):
            for column in range(parts[0].shape[1]):
                ends = []
                for sign in (1.0, -1.0):
                    moved = [part.copy() for part in parts]
                    moved[place][:, column] += sign * step
                    ends.append(head.score(*moved))
                quotient = (ends[0] - ends[1]) / (2.0 * step)
                agreeing &= np.isclose(slope[:, column], quotient, rtol=1e-4, atol=1e-6)
        # Within a step of a kink the difference quotient is no derivative.
        assert agreeing.mean() >= 0.9

    # -- what the head declares -------------------------------------------------------------

    @needs(MomentHead)
    def test_the_score_moves_as_its_trends_say(self) -> None:
        head = self._moment_head()
        mean, std = self.moments(head)
        more = np.random.default_rng(3).uniform(0.0, 1.0, len(mean))
        self._moves(head.mean_trend, head.score(mean, std), head.score(mean + more, std))
        wider = head.score(mean, std + more)
        if head.std_trend is Trend.TURNING:
            below = mean <= getattr(head, "threshold", 0.0)
            self._moves(Trend.RISING, head.score(mean, std)[below], wider[below])
            self._moves(Trend.FALLING, head.score(mean, std)[~below], wider[~below])
        else:
            self._moves(head.std_trend, head.score(mean, std), wider)

    @needs(MomentHead)
    def test_largest_bounds_every_score_of_its_range(self) -> None:
        head = self._moment_head()
        mean, low = self.moments(head)
        rng = np.random.default_rng(4)
        high = low + rng.uniform(0.0, 2.0, len(low))
        bound = head.largest(mean, low, high)
        found = np.full(len(mean), -np.inf)
        for share in np.linspace(0.0, 1.0, 9):
            std = np.minimum(low + share * (high - low), high)
            for drop in (0.0, *rng.uniform(0.0, 1.0, 3)):
                found = np.maximum(found, head.score(mean - drop, std))
        self._moves(Trend.RISING, found, bound)
        if head.std_trend is not Trend.MIXED:
            np.testing.assert_allclose(found, bound, rtol=1e-9)

    @needs(MomentHead)
    def test_levels_are_reached_from_their_means_on(self) -> None:
        head = self._moment_head()
        mean, std = self.moments(head)
        mean, std = mean[std > 0.0], std[std > 0.0]
        score = head.score(mean, std)
        clear = np.isfinite(score) & (head.gradient(mean, std)[0] > 1e-6)
        mean, std, score = mean[clear][:60], std[clear][:60], score[clear][:60]
        np.testing.assert_allclose(head.mean_at_level(std, score), mean, rtol=1e-6, atol=1e-6)
        assert (head.mean_at_level(std, -np.inf) == -np.inf).all()

    @needs(RatioHead)
    def test_a_ratio_head_is_a_half_plane_at_every_level(self) -> None:
        head = self._moment_head()
        assert isinstance(head, RatioHead)
        mean, std = self.moments(head)
        for level in np.unique(head.score(mean, std))[5:-5:40]:
            t = head.ratio_at_level(float(level))
            margin = mean - head.threshold - t * std
            clear = np.abs(margin) > 1e-6 * (1.0 + np.abs(t) * std)
            assert clear.mean() > 0.9
            assert np.array_equal((head.score(mean, std) >= level)[clear], (margin >= 0.0)[clear])

    def test_the_score_has_the_declared_shape(self) -> None:
        head = self.head()
        if isinstance(head, MemberHead):
            assert head.shape is Shape.EMPIRICAL
            members = np.random.default_rng(6).normal(size=(30, 5))
            raised = members + np.random.default_rng(7).uniform(0.0, 1.0, members.shape)
            self._moves(Trend.RISING, head.score(members), head.score(raised))
            return
        if isinstance(head, MixtureHead):
            assert head.shape is Shape.MIXTURE
            weights, means, stds = self.mixtures(head)
            raised = means + np.random.default_rng(7).uniform(0.0, 1.0, means.shape)
            self._moves(
                Trend.RISING, head.score(weights, means, stds), head.score(weights, raised, stds)
            )
            return
        head = self._moment_head()
        assert isinstance(head, RatioHead) is (head.shape is Shape.RATIO)
        (mean, std), order = self.moments(head), np.random.default_rng(8).permutation(400)
        ends = head.score(mean, std), head.score(mean[order], std[order])
        middle = head.score(0.5 * (mean + mean[order]), 0.5 * (std + std[order]))
        if head.shape is Shape.LINEAR:
            np.testing.assert_allclose(middle, 0.5 * ends[0] + 0.5 * ends[1], rtol=1e-9, atol=1e-9)
        if head.shape is Shape.CONVEX:
            assert head.mean_trend is head.std_trend is Trend.RISING
            self._moves(Trend.RISING, middle, np.maximum(*ends))

    def test_numbers_that_are_none_are_refused(self) -> None:
        head = self.head()
        if isinstance(head, MemberHead):
            for members in (np.array([[np.nan]]), np.zeros(3), np.zeros((3, 0))):
                with pytest.raises(InputError, match="members"):
                    head.score(members)
            return
        if isinstance(head, MixtureHead):
            one = np.ones((1, 2))
            for bad in (np.array([[np.nan, 1.0]]), -one, np.zeros(2)):
                with pytest.raises(InputError, match="mixture"):
                    head.score(bad, one, one)
            for bad in (np.array([[np.nan, 1.0]]), -one):
                with pytest.raises(InputError, match="stds >= 0"):
                    head.score(one, one, bad)
            return
        for mean, std in ((np.nan, 1.0), (0.0, np.nan), (0.0, -1.0)):
            with pytest.raises(InputError, match="stds >= 0"):
                self._moment_head().score([mean], [std])

    # -- helpers --------------------------------------------------------------------------

    def _with(self, **options: float) -> Acquisition:
        """Return it with an incumbent, which every acquisition must accept."""
        made: Any = self.make()
        assert "incumbent" in {field.name for field in dataclasses.fields(made)}, (
            f"every acquisition must have the option incumbent; {made.name} has none; add the "
            "field `incumbent: float | None = None`, and call check_incumbent in __post_init__."
        )
        return self.make(**options)

    def _moment_head(self) -> MomentHead:
        head = self.head()
        assert isinstance(head, MomentHead)
        return head

    @staticmethod
    def _moves(trend: Trend, before: FloatArray, after: FloatArray) -> None:
        """Check that nothing moved against the trend by more than rounding."""
        finite = np.isfinite(before) & np.isfinite(after)
        slack = ROUNDING * (1.0 + np.maximum(np.abs(before), np.abs(after)))
        rise = np.where(finite, np.where(finite, after, 0.0) - np.where(finite, before, 0.0), 0.0)
        if trend in (Trend.RISING, Trend.CONSTANT):
            assert (rise >= -slack)[finite].all()
            assert (before[~finite] <= after[~finite]).all()
        if trend in (Trend.FALLING, Trend.CONSTANT):
            assert (rise <= slack)[finite].all()
            assert (before[~finite] >= after[~finite]).all()

    @staticmethod
    def _state() -> bytes:
        state = np.random.get_state(legacy=False)["state"]  # noqa: NPY002 - the global one
        return bytes(state["key"].tobytes()) + int(state["pos"]).to_bytes(8, "little")
