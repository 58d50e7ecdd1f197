"""What every criterion that chooses its point promises, as tests that a plug-in's author inherits.

    class TestMine(CriterionContract):
        def make(self, **options):
            return Mine(**options)

Needs pytest. `make` must accept `incumbent`; let it choose sizes that fit in a second.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from nnbo_mip.acquisitions import Criterion, create
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.maximizers.maximize import maximize
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid
from nnbo_mip.surrogates import Belief, Capability
from nnbo_mip.testing.analytic_belief import AnalyticBelief


class CriterionContract(abc.ABC):
    """Subclass it under a name that pytest collects, and say how to make the criterion."""

    @abc.abstractmethod
    def make(self, **options: Any) -> Criterion:
        """Return the criterion with these options (at least `incumbent`)."""

    def belief(self) -> Belief:
        """Return a belief of two inputs that offers what is needed."""
        return AnalyticBelief()

    def data(self) -> tuple[FloatArray, FloatArray]:
        """Return evaluated points and their values."""
        X = np.random.default_rng(5).uniform(-1.0, 1.0, (7, self.belief().n_inputs))
        return X, np.sin(3.0 * X).sum(axis=1)

    @staticmethod
    def domains() -> dict[str, Domain]:
        """Return domains of two inputs with everything that can be asked of a point."""
        grids = [Grid.uniform(-1.0, 1.0, 3), None]
        A, b = np.array([[1.0, 2.0]]), np.array([-0.9])
        box = Domain([-1.0, -0.75], [0.5, 1.0])
        return {
            "box": box,
            "integers": Domain([-1.0, -0.75], [1.0, 1.0], grids),
            "categories": Domain([0.0, 0.0], [1.0, 1.0], one_hot=[(0, 1)]),
            "rows": Domain([-1.0, -0.75], [0.5, 1.0], A=A, b=b),
            "exclusions": box.away_from([[-0.5, 0.0], [0.3, 0.4]], 0.5),
            "a point": Domain([0.25, -0.5], [0.25, -0.5]),
        }

    # -- what it declares ---------------------------------------------------------------

    def test_it_is_a_frozen_dataclass_that_chooses(self) -> None:
        made = self.make()
        assert dataclasses.is_dataclass(made)
        assert made.name
        assert made.proposes
        assert create(made) is made
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.name = "other"

    def test_equal_options_make_equal_criteria(self) -> None:
        assert self.make(incumbent=0.5) == self.make(incumbent=0.5)
        assert hash(self.make(incumbent=0.5)) == hash(self.make(incumbent=0.5))
        assert self.make(incumbent=0.5) != self.make(incumbent=0.25)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, "high", True])
    def test_an_incumbent_that_is_no_number_is_refused(self, bad: Any) -> None:
        with pytest.raises(InputError, match="incumbent"):
            self.make(incumbent=bad)

    def test_it_has_no_score_and_says_so(self) -> None:
        made, belief = self.make(), self.belief()
        with pytest.raises(UnsupportedError, match="chooses a point"):
            made.resolve(belief, *self.data())
        with pytest.raises(UnsupportedError, match="chooses a point"):
            made.score(belief, self.data()[0])

    def test_what_a_belief_lacks_is_said_in_a_sentence(self) -> None:
        needs = self.make().needs
        assert all(isinstance(need, Capability) for need in needs)
        for need in needs:
            belief = AnalyticBelief(offered=self.belief().capabilities - {need})
            with pytest.raises(UnsupportedError, match=need.value):
                self._proposed(self.domains()["box"], belief)

    # -- what it chooses ----------------------------------------------------------------

    @pytest.mark.parametrize(
        "kind", ["box", "integers", "categories", "rows", "exclusions", "a point"]
    )
    def test_the_point_is_admissible_and_nothing_is_claimed(self, kind: str) -> None:
        domain = self.domains()[kind]
        proposal = self._proposed(domain)
        assert proposal.x is not None
        assert domain.admissible(proposal.x[None, :])[0]
        assert (proposal.status, proposal.kind) == ("heuristic", "none")
        assert proposal.bound == math.inf
        assert proposal.head == self.make().name
        assert proposal.certificate is None
        assert not math.isnan(proposal.value)

    def test_where_nothing_is_admissible_that_is_the_answer(self) -> None:
        nowhere = self.domains()["box"].away_from([[0.0, 0.0]], 5.0)
        proposal = self._proposed(nowhere)
        assert proposal.status == "infeasible"
        assert proposal.x is None

    def test_the_same_seed_chooses_the_same_and_global_randomness_is_left_alone(self) -> None:
        domain, points = self.domains()["box"], []
        for state in (1, 2):
            np.random.seed(state)  # noqa: NPY002 - the global state is what this is about
            before = np.random.get_state(legacy=False)["state"]["pos"]  # noqa: NPY002
            points.append(self._proposed(domain).x)
            assert np.random.get_state(legacy=False)["state"]["pos"] == before  # noqa: NPY002
        assert points[0] is not None
        assert points[1] is not None
        assert np.array_equal(points[0], points[1])

    def test_data_are_left_alone(self) -> None:
        X, y = self.data()
        kept = X.copy(), y.copy()
        maximize(self.belief(), self.make(), self.domains()["box"], X=X, y=y)
        assert np.array_equal(X, kept[0])
        assert np.array_equal(y, kept[1])

    # -- bad input ----------------------------------------------------------------------

    def test_observations_are_needed(self) -> None:
        X, y = self.data()
        domain = self.domains()["box"]
        for given in ({}, {"X": X}, {"y": y}, {"X": X[:1], "y": y[:1]}):
            with pytest.raises(InputError, match="give X and y"):
                maximize(self.belief(), self.make(), domain, **given)  # type: ignore[arg-type]
        y[2] = np.nan
        with pytest.raises(InputError, match="y must be finite"):
            maximize(self.belief(), self.make(), domain, X=X, y=y)

    def test_constant_values_are_no_obstacle(self) -> None:
        X, y = self.data()
        proposal = maximize(
            self.belief(), self.make(), self.domains()["box"], X=X, y=np.full_like(y, 2.0)
        )
        assert proposal.x is not None

    def test_maximizers_of_a_score_are_refused(self) -> None:
        X, y = self.data()
        for maximizer in ("bab", "lbfgs", "random"):
            with pytest.raises(UnsupportedError, match="chooses its point itself"):
                maximize(
                    *(self.belief(), self.make(), self.domains()["box"]),
                    X=X,
                    y=y,
                    maximizer=maximizer,
                )

    def test_a_domain_of_another_dimension_is_refused(self) -> None:
        with pytest.raises(InputError, match="coordinates"):
            self._proposed(Domain([0.0], [1.0]))

    # -- helpers ------------------------------------------------------------------------

    def _proposed(self, domain: Domain, belief: Belief | None = None) -> Any:
        X, y = self.data()
        return maximize(belief or self.belief(), self.make(), domain, X=X, y=y, seed=3)
