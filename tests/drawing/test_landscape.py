"""The acquisition in the user's units: values, observations, points found, what is left out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.drawing.marks import marks
from nnbo_mip.maximizers import landscape as module
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.comparison import Comparison
from nnbo_mip.surrogates.base.abstract import Belief
from tests.drawing.figures import marked, panels


@pytest.fixture(autouse=True)
def _few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POINTS_OF_ONE_SIDE", 11)
    monkeypatch.setattr(module, "POINTS_OF_TWO_SIDES", 5)


def learned(space: nm.Space, n: int = 6) -> tuple[Belief, Any, Any]:
    """Return a belief, and the observations that it was fitted to."""
    X = space.model().sample(n, np.random.default_rng(3))
    y = np.sin(3.0 * X.sum(axis=1))
    return nm.surrogates.create("brvfl", n_hidden=12, seed=0).fit(X, y), X, y


def drawn(
    space: nm.Space, acquisition: object, monkeypatch: pytest.MonkeyPatch
) -> tuple[Any, Comparison, Target, Any]:
    belief, X, y = learned(space)
    domain = space.model()
    table = nm.compare(belief, acquisition, domain, ["bab", "random:evaluations=3"], y=y)
    target = Target(nm.acquisitions.create(acquisition).scorer(belief, X, y), domain)
    found = panels(monkeypatch, table, module.landscape_of(table, target, space, X))
    return found, table, target, X


def test_a_line_over_one_dimension(monkeypatch: pytest.MonkeyPatch) -> None:
    space = nm.Space([nm.Real("rate", 1e-3, 10.0, log=True)])
    found, table, target, X = drawn(space, "ucb", monkeypatch)
    axes = found["landscape"]
    curve, dashed, ticks, *points = axes.get_lines()
    x = np.logspace(-3.0, 1.0, 11)
    assert curve.get_xdata() == pytest.approx(x)
    assert curve.get_ydata() == pytest.approx(target.score(np.linspace(-1, 1, 11)[:, None]))
    assert list(dashed.get_ydata()) == [table.bound] * 2
    assert ticks.get_xdata() == pytest.approx(10.0 ** (2.0 * X[:, 0] - 1.0))
    for line, row in zip(points, table, strict=True):
        assert row.proposal is not None
        assert row.proposal.x is not None
        at = 10.0 ** (2.0 * row.proposal.x[0] - 1.0)
        assert line.get_xydata()[0] == pytest.approx([at, row.value])
    assert (axes.get_xscale(), axes.get_xlabel(), axes.get_ylabel()) == ("log", "rate", "ucb")


def test_only_admissible_values_of_an_integer(monkeypatch: pytest.MonkeyPatch) -> None:
    space = nm.Space([nm.Integer("n", 2, 5)])
    found, *_ = drawn(space, "ucb", monkeypatch)
    assert found["landscape"].get_lines()[0].get_xdata().tolist() == [2.0, 3.0, 4.0, 5.0]


def test_a_map_over_two_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    constraint = nm.LinearConstraint({"x0": 1.0, "x1": 1.0}, "<=", 3.0)
    space = nm.Space.box([-1.0, 0.0], [3.0, 2.0], [constraint])
    found, table, target, X = drawn(space, "ucb", monkeypatch)
    axes = found["landscape"]
    (mesh,) = axes.collections
    values = mesh.get_array()
    across, up = np.linspace(-1.0, 3.0, 5), np.linspace(0.0, 2.0, 5)
    for i, j in np.ndindex(5, 5):
        admissible = across[i] + up[j] <= 3.0
        assert np.ma.is_masked(values[j, i]) != admissible
        if admissible:
            z = space.encode([across[i], up[j]])
            assert values[j, i] == pytest.approx(target.score(z)[0], rel=1e-9)
    dots = axes.get_lines()[0].get_xydata()
    assert dots == pytest.approx(np.asarray(space.decode(X)))
    mark = marks(1)[0]
    (best,) = marked(axes, mark.color)
    assert table.rows[0].proposal is not None
    assert best.get_xydata()[0] == pytest.approx(space.decode(table.rows[0].proposal.x))
    assert best.get_marker() == mark.shape


def test_logarithms_are_cut_off_below(monkeypatch: pytest.MonkeyPatch) -> None:
    space = nm.Space.box([0.0], [1.0])
    acquisition = nm.acquisitions.create("ei", incumbent=500.0)
    found, table, *_ = drawn(space, acquisition, monkeypatch)
    assert table.head == "logei"
    heights = found["landscape"].get_lines()[0].get_ydata()
    assert np.isfinite(heights).all()
    assert heights.min() == heights.max() - module.SHOWN_LOGARITHMS
    assert heights.max() <= table.bound
    assert math.isfinite(table.bound)


@pytest.mark.parametrize(
    "dimensions",
    [
        [nm.Categorical("kind", ["a", "b"])],
        [nm.Real("a", 0.0, 1.0), nm.Categorical("kind", ["a", "b"])],
        [nm.Real(name, 0.0, 1.0) for name in "abc"],
    ],
)
def test_what_has_no_picture_is_left_out(
    dimensions: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, *_ = drawn(nm.Space(dimensions), "ucb", monkeypatch)
    assert set(found) == {"values", "distances", "figure"}
