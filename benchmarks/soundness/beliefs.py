"""Random beliefs and questions about them, with everything in the data that breaks proofs.

A case is a function of (seed, index) alone: observations, a family that learns them, an acquisition
and where it is to be maximized.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.space.domain import Domain

FAMILIES = (
    "gp",
    "gp:kernel=rbf,ard=True,alpha=1e-9",
    "gp:kernel=matern,nu=1.5",
    "gp:kernel=matern,ard=True,length_scale_prior=dimension,alpha=1e-9,amplitude_bounds=(1e-5,100)",
    "brvfl:n_hidden=30",
    "brvfl:n_hidden=100",
    "brvfl:n_hidden=20,activation=tanh",
    "brvfl:n_hidden=20,direct_link=True",
    "nomu:hidden=(8,),epochs=60",
    "nomu:hidden=(8,8),epochs=60",
    "deep_ensemble:hidden=(6,),epochs=60",
    "deep_ensemble:hidden=(6,),epochs=60,spread=variance",
    "mc_dropout:hidden=(8,),epochs=60",
    "random_forest:n_trees=5",
    "spherical_linear",
    "spherical_linear:most_steps=0,noise=1e-6",
    "sparse_quadratic",
    "neural_linear",
    "ervfl:n_members=3,n_hidden=20",
    "elm:n_hidden=20",
)

ACQUISITIONS: tuple[str | Mapping[str, Any], ...] = (
    "ei",
    "logei",
    "pi",
    "ucb",
    "mean",
    {"name": "ei", "xi": 0.01},
    {"name": "pi", "xi": 0.01},
    "aei",
    "mes",
    "empirical_ei",
    "empirical_pi",
    "ts",
)

RATIOS = ("tpe", "bore", "boggn")
"""Families of density ratios, whose acquisition is the ratio."""

SIZES = (1, 2, 3, 5, 8, 15, 25)
PLACES = ("plain", "clusters", "edges", "line", "grid")
SHAPES = ("quadratic", "sine", "linear", "noise", "constant", "step", "peak")
UNITS = ("plain", "offset", "large", "small", "outlier", "narrow", "heavy")
WHERE = ("box", "box", "region", "rows", "holes", "holed region")

NOISE = 0.1
"""Deviation that is told where an acquisition reads one, as a part of the values'."""


@dataclass(frozen=True, eq=False)
class BeliefCase:
    """What is learned by whom, and the question; `traits` say what is odd.

    Outcomes (n, k), where there are some, must not exceed 0.
    """

    index: int
    X: FloatArray
    y: FloatArray
    family: str
    acquisition: str | Mapping[str, Any]
    domain: Domain
    limits: Mapping[str, Any] = field(default_factory=dict)
    c: float = 1.0
    gap: float = 1e-4
    traits: tuple[str, ...] = ()
    outcomes: FloatArray | None = None

    @property
    def noise(self) -> float | None:
        """Deviation of an observation, where one is read."""
        return max(NOISE * float(np.std(self.y)), 1e-12) if self.acquisition == "aei" else None

    def __str__(self) -> str:
        scale = "" if self.c == 1.0 else f", c={self.c:g}"
        size = f"{len(self.X)} values in {self.X.shape[1]} inputs ({' '.join(self.traits)})"
        return f"case {self.index}: {self.family}, {self.acquisition}{scale}, {size}"


def draw(seed: int, index: int) -> BeliefCase:
    """Return case `index` of a seed."""
    rng = np.random.default_rng([seed, index])
    d = int(rng.choice([1, 1, 2, 2, 3]))
    places, shape, units, where = (
        str(rng.choice(names)) for names in (PLACES, SHAPES, UNITS, WHERE)
    )
    X = _points(rng, places, int(rng.choice(SIZES)), d)
    y = _in_units(rng, units, _values(rng, shape, X))
    domain, limits = _question(rng, where, X, y)
    family = str(rng.choice((*FAMILIES, *RATIOS)))
    acquisition = ACQUISITIONS[rng.integers(len(ACQUISITIONS))]
    c = 10.0 ** float(rng.integers(-6, 7)) if rng.random() < 0.2 else 1.0
    gap = float(rng.choice([1e-4, 1e-2]))
    outcomes = None
    if acquisition in ("ei", "logei") and family not in RATIOS and rng.random() < 0.5:
        columns = [
            _in_units(rng, units, _values(rng, str(rng.choice(SHAPES)), X) - rng.normal())
            for _ in range(int(rng.integers(1, 3)))
        ]
        outcomes = np.stack(columns, axis=1)
    return BeliefCase(
        index=index,
        X=X,
        y=y,
        family=family,
        acquisition="ratio" if family in RATIOS else acquisition,
        domain=domain,
        limits=limits,
        c=c,
        gap=gap,
        traits=(places, shape, units, where, *(() if outcomes is None else ("constrained",))),
        outcomes=outcomes,
    )


def _points(rng: np.random.Generator, places: str, n: int, d: int) -> FloatArray:
    X = rng.uniform(-1.0, 1.0, (n, d))
    if places == "clusters":
        near = 10.0 ** -float(rng.integers(3, 13)) * rng.standard_normal((n - n // 2, d))
        X[n // 2 :] = X[rng.integers(max(n // 2, 1), size=n - n // 2)] + near
    elif places == "edges":
        X = np.where(rng.random(X.shape) < 0.6, np.sign(X), X)
    elif places == "line":
        X[:, 1:] = 0.0
    elif places == "grid":
        X = np.round(2.0 * X) / 2.0
    return np.clip(X, -1.0, 1.0)


def _values(rng: np.random.Generator, shape: str, X: FloatArray) -> FloatArray:
    n, d = X.shape
    toward = rng.standard_normal(d)
    square = np.square(X - 0.3).sum(axis=1)
    made = {
        "quadratic": -square,
        "sine": np.sin(5.0 * (X @ toward)),
        "linear": X @ toward,
        "noise": rng.standard_normal(n),
        "constant": np.full(n, 2.5),
        "step": np.where(X[:, 0] > 0.0, 1.0, 0.0),
        "peak": np.exp(-200.0 * square),
    }
    return np.asarray(made[shape])


def _in_units(rng: np.random.Generator, units: str, y: FloatArray) -> FloatArray:
    if units == "offset":
        return y + float(10.0 ** float(rng.integers(2, 13)))
    if units in ("large", "small"):
        exponent = float(rng.integers(3, 41))
        return y * float(10.0 ** (exponent if units == "large" else -exponent))
    if units == "outlier":
        return np.append(y[1:], y[0] - 10.0 ** float(rng.integers(2, 12)))
    if units == "narrow":
        return 1.0 + 1e-9 * y
    if units == "heavy":
        return np.sinh(8.0 * rng.standard_normal(len(y)))
    return y


def _question(
    rng: np.random.Generator, where: str, X: FloatArray, y: FloatArray
) -> tuple[Domain, dict[str, Any]]:
    """Return a domain, and how `nm.maximize` is to limit it."""
    d = X.shape[1]
    box = Domain(np.full(d, -1.0), np.full(d, 1.0))
    if where == "region":
        center = X[rng.integers(len(X))] if rng.random() < 0.7 else rng.uniform(-0.9, 0.9, d)
        half = 10.0 ** -float(rng.integers(1, 10))
        return box, {"within": (center - half, center + half)}
    if where == "rows":
        row, most = rng.standard_normal((1, d)), float(rng.uniform(0.0, 0.5))
        return Domain(np.full(d, -1.0), np.full(d, 1.0), A=row, b=[most]), {}
    if where == "holes":
        return box, {"away_from": X, "eps": 10.0 ** -float(rng.integers(1, 5))}
    if where == "holed region":
        center, half = X[int(np.argmax(y))], 10.0 ** -float(rng.integers(0, 5))
        region = (center - half, center + half)
        return box, {"within": region, "away_from": X, "eps": 0.1 * half}
    return box, {}
