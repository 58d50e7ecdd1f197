"""Every acquisition on every family, through `maximize`: dense grids, and engine against engine."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.maximizers import Proposal, Target
from nnbo_mip.surrogates import Belief

FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "clip": ("nomu", {"hidden": (8, 8), "n_augmented": 40, "epochs": 60, "bounding": "clip"}),
    "smooth": ("nomu", {"hidden": (8, 8), "n_augmented": 40, "epochs": 60, "bounding": "smooth"}),
    "ensemble": ("deep_ensemble", {"hidden": (6, 6), "n_members": 3, "epochs": 60}),
    "mad": ("deep_ensemble", {"hidden": (6,), "n_members": 3, "epochs": 60, "spread": "mad"}),
    "dropout": ("mc_dropout", {"hidden": (12,), "passes": 4, "epochs": 60}),
    "ervfl": ("ervfl", {"n_hidden": 12, "n_members": 3}),
    "elm": ("elm", {"n_hidden": 8, "n_members": 3, "activation": "relu"}),
    "brvfl": ("brvfl", {"n_hidden": 24}),
}
MOMENTS = ("mean", "ucb", "ei", "logei", "pi:xi=0.05", "mes", "aei", "eqi")
MEMBERS = ("empirical_ei", "empirical_pi:xi=0.05")
DRAWN = ("empirical_ei:n_draws=4", "empirical_pi:n_draws=4,xi=0.05")
CELLS = [
    (family, acquisition)
    for family in FAMILIES
    for acquisition in (
        *MOMENTS,
        *(() if family in ("clip", "smooth", "brvfl") else MEMBERS),
        *(() if family in ("clip", "smooth") else ("ts", *DRAWN)),
    )
]
GAP = 1e-4


@cache
def data() -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(11)
    X = rng.uniform(-1.0, 1.0, (14, 2))
    return X, 3.0 + np.sin(3.0 * X[:, 0]) - X[:, 1] ** 2


@cache
def belief(family: str) -> Belief:
    name, options = FAMILIES[family]
    learned = nm.surrogates.create(name, seed=2, **options).fit(*data())
    # A loop scales the std of a NOMU; as it is, improvements are exp(-3000).
    return learned.scaled(20.0) if name == "nomu" else learned


def maximize(family: str, acquisition: str, domain: nm.Domain, **options: Any) -> Proposal:
    X, y = data()
    options = {"X": X, "y": y, "gap": GAP, **options}
    return nm.maximize(belief(family), acquisition, domain, **options)


def scores(family: str, acquisition: str, proposal: Proposal, points: FloatArray) -> FloatArray:
    """Return what the belief itself says, in the proposal's terms."""
    X, y = data()
    scorer = nm.acquisitions.create(acquisition).scorer(belief(family), X, y)
    if proposal.head in ("logei", "logpi") and acquisition != "logei":
        mean, std = belief(family).predict(points, return_std=True)
        return np.asarray(scorer.head.log_score(mean, std))  # type: ignore[attr-defined]
    return scorer.score(points)


def grid(domain: nm.Domain, count: int = 81) -> FloatArray:
    axes = [
        np.linspace(low, high, count) for low, high in zip(domain.lower, domain.upper, strict=True)
    ]
    points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, domain.dimension)
    return np.asarray(points[domain.admissible(points)])


def check(family: str, acquisition: str, proposal: Proposal, domain: nm.Domain) -> None:
    """Demand a closed gap, and that the belief's own scores agree with it."""
    assert proposal.status == "optimal", proposal
    assert proposal.x is not None
    assert domain.admissible(proposal.x[None, :])[0]
    seen = scores(family, acquisition, proposal, grid(domain))
    # The compiled network and the belief differ by rounding.
    rounding = 1e-9 * max(1.0, abs(proposal.bound))
    assert seen.max() <= proposal.bound + rounding
    at_x = float(scores(family, acquisition, proposal, proposal.x[None, :])[0])
    assert at_x == pytest.approx(proposal.value, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize(("family", "acquisition"), CELLS)
def test_a_cell_by_auto_and_bab_and_mip(family: str, acquisition: str) -> None:
    domain = nm.Domain([-1.0, -1.0], [1.0, 1.0])
    X, y = data()
    target = Target(nm.acquisitions.create(acquisition).scorer(belief(family), X, y), domain)
    found = []
    for name in ("auto", "bab", "mip", "enumerate"):
        maximizer = nm.maximizers.create(name)
        if maximizer.why_not(target):
            assert name in ("mip", "enumerate"), name
            continue
        found.append(maximize(family, acquisition, domain, maximizer=name, time_limit=30.0))
        check(family, acquisition, found[-1], domain)
    assert max(one.value for one in found) <= min(one.bound for one in found)


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("acquisition", ["ucb", "ei"])
def test_a_trust_region_grids_and_rows(family: str, acquisition: str) -> None:
    domain = nm.Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 1.0]], b=[0.3])
    region = ([-0.5, -0.9], [0.9, 0.4])
    proposal = maximize(family, acquisition, domain, within=region)
    check(family, acquisition, proposal, domain.restrict(*region))
