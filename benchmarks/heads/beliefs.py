"""Beliefs as they are fitted, for the benchmarks of heads: none is selected.

Observations are uniform points of a test function in model coordinates, their values brought to
mean 0 and deviation 1, so that a score and a miss have the same meaning everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates import Belief

FAMILIES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "nomu clip": ("nomu", {"hidden": (32, 32), "bounding": "clip"}),
    "nomu smooth": ("nomu", {"hidden": (32, 32), "bounding": "smooth"}),
    "nomu (16,)": ("nomu", {"hidden": (16,)}),
    "ensemble": ("deep_ensemble", {"hidden": (16, 16), "n_members": 5}),
    "ensemble mad": ("deep_ensemble", {"hidden": (16, 16), "n_members": 5, "spread": "mad"}),
    "dropout": ("mc_dropout", {"hidden": (32, 32), "passes": 10}),
    "ervfl": ("ervfl", {"n_hidden": 30, "n_members": 5}),
    "elm": ("elm", {"n_hidden": 30, "n_members": 5, "activation": "relu"}),
    "brvfl 100": ("brvfl", {"n_hidden": 100}),
    "brvfl 300": ("brvfl", {"n_hidden": 300}),
    "brvfl tanh 100": ("brvfl", {"n_hidden": 100, "activation": "tanh"}),
    "gp": ("gp", {}),
}

FUNCTIONS: Mapping[int, tuple[str, ...]] = {
    2: ("branin", "camelback", "levy:dimension=2", "ackley:dimension=2"),
    3: ("hartmann3", "levy:dimension=3", "ackley:dimension=3"),
    5: ("levy:dimension=5", "rosenbrock:dimension=5", "ackley:dimension=5"),
    10: ("levy:dimension=10", "rosenbrock:dimension=10", "ackley:dimension=10"),
}

POINTS_PER_INPUT = 10


@dataclass(frozen=True, eq=False)
class Fitted:
    """A belief and what it was fitted on.

    Parameters
    ----------
    belief : Belief
    X : (n, d) array
    y : (n,) array
    """

    belief: Belief
    X: FloatArray
    y: FloatArray

    @property
    def domain(self) -> nm.Domain:
        """The box [-1, 1]^d."""
        d = self.X.shape[1]
        return nm.Domain(-np.ones(d), np.ones(d))


def fitted(family: str, function: str, seed: int) -> Fitted:
    """Return the belief of a family on a function."""
    problem = nm.problems.create(function).scaled()
    d = problem.problem.dimension
    rng = np.random.default_rng([seed, d])
    X = rng.uniform(-1.0, 1.0, (POINTS_PER_INPUT * d, d))
    score = problem.score(X)
    y = (score - score.mean()) / score.std()
    name, options = FAMILIES[family]
    return Fitted(nm.surrogates.create(name, seed=seed, **options).fit(X, y), X, y)
