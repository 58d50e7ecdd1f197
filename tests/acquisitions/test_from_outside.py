"""An acquisition of somebody else, in one file and by one entry: certified, under its own name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.evidence import Evidence
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.surrogates.base.abstract import Belief, Capability

SPACE = nm.Space.box([-1.0], [1.0])
X = np.linspace(-0.9, 0.5, 6)[:, None]
Y = np.sin(3.0 * X[:, 0])


@dataclass(frozen=True)
class Std(Acquisition):
    """The standard deviation alone: where the model knows least."""

    name: ClassVar[str] = "own_std"

    @property
    def needs(self) -> frozenset[Capability]:
        """A standard deviation."""
        return frozenset({Capability.MEAN, Capability.STD})

    def head(self, belief: Belief, evidence: Evidence) -> LinearHead:
        """Return the head ``std``."""
        return LinearHead(0.0, 1.0, called=self.name)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    nm.acquisitions.register("own_std")(Std)
    yield
    nm.acquisitions.unregister("own_std")


SURROGATES: list[dict[str, Any]] = [
    {"name": "brvfl", "n_hidden": 8, "seed": 0},
    {"name": "gp"},
    {"name": "nomu", "hidden": (4,), "epochs": 5, "seed": 0},
    {"name": "deep_ensemble", "hidden": (4,), "n_members": 2, "epochs": 5, "seed": 0},
    {"name": "random_forest", "n_trees": 3, "seed": 0},
]


@pytest.mark.parametrize("surrogate", SURROGATES, ids=lambda options: str(options["name"]))
def test_it_is_certified_under_its_own_name(surrogate: dict[str, Any]) -> None:
    belief = nm.surrogates.create(surrogate).fit(X, Y)
    proposal = nm.maximize(belief, "own_std", SPACE.model(), X=X, y=Y, gap=1e-2)
    assert (proposal.head, proposal.status) == ("own_std", "optimal")
    places = np.linspace(-1.0, 1.0, 201)[:, None]
    assert belief.std(places).max() <= proposal.bound * (1.0 + 1e-9)
    assert proposal.check().verdict == "confirmed"
    # The name is no number of the head: a certificate of it is one of the same sum elsewhere.
    assert proposal.objective is not None
    assert proposal.objective.head == LinearHead(0.0, 1.0)


def test_it_steers_a_loop() -> None:
    optimizer = nm.BayesianOptimizer(
        SPACE, surrogate=SURROGATES[0], acquisition="own_std", initial=3, seed=0
    )
    for _ in range(4):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, float(suggestion.x[0]))
    assert suggestion.head == "own_std"
    assert suggestion.certificate is not None
