"""The known range of y, an option of some families: in the user's units and direction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm

AVERAGE = {
    "name": "average",
    "members": ["brvfl:n_hidden=10", {"name": "kde", "y_range": [0.0, 4.0]}],
}
FAMILIES = [
    "nomu:hidden=(8,),epochs=20,y_range=(0,4)",
    "brvfl:n_hidden=20,y_range=(0,4)",
    "gp:n_restarts=0,y_range=(0,4)",
    AVERAGE,
]


def run(surrogate: object, sign: float, warp: object = None, pending: int = 1) -> list[Any]:
    """Return where three steps of a run ask for points; values times `sign`."""
    optimizer = nm.BayesianOptimizer(
        [(0.0, 1.0), (0.0, 1.0)],
        surrogate,
        maximizer="lbfgs",
        direction="minimize" if sign > 0.0 else "maximize",
        initial=5,
        warp=warp,
        escape=None,
        seed=0,
    )
    places = []
    for _ in range(5 + 3):
        asked = optimizer.ask(pending)
        for one in asked:
            y = 2.0 + np.sin(5.0 * one.x[0]) + one.x[1] ** 2
            optimizer.tell(one, float(sign * y))
            places.append(np.asarray(one.x).tolist())
    return places


@pytest.mark.parametrize("warp", [None, "half_rank", "asinh"])
@pytest.mark.parametrize("surrogate", FAMILIES)
def test_a_range_is_turned_with_the_values(surrogate: Any, warp: str | None) -> None:
    if isinstance(surrogate, str):
        turned: Any = surrogate.replace("(0,4)", "(-4,0)")
    else:
        members = [AVERAGE["members"][0], {"name": "kde", "y_range": [-4.0, 0.0]}]
        turned = {"name": "average", "members": members}
    assert run(surrogate, 1.0, warp) == run(turned, -1.0, warp)


def test_a_range_reaches_what_pending_points_are_taken_to_be() -> None:
    wide, turned = "brvfl:n_hidden=20,y_range=(0,4)", "brvfl:n_hidden=20,y_range=(-4,0)"
    assert run(wide, 1.0, pending=2) == run(turned, -1.0, pending=2)


def test_a_range_is_used() -> None:
    """Else the tests above compare runs without one."""
    right, wrong = "brvfl:n_hidden=20,alpha=1.0,y_range=(-4,0)", "brvfl:n_hidden=20,alpha=1.0"
    assert run(right, -1.0) != run(wrong, -1.0)
    assert run(right, -1.0) != run(wrong + ",y_range=(0,4)", -1.0)


def test_a_range_that_is_nothing_to_the_values_is_refused_in_its_own_words() -> None:
    optimizer = nm.BayesianOptimizer([(0.0, 1.0)], "brvfl:y_range=(1e-3,1)", initial=2, warp=None)
    for x, y in ((0.1, 1e-250), (0.7, 2e-250)):
        optimizer.tell([x], y)
    with pytest.raises(nm.InputError, match=r"y_range must hold the values .*; got \(0.001, 1\)"):
        optimizer.ask()
