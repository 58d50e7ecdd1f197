"""Sides of a space, as other people's optimizers see them."""

from __future__ import annotations

import numpy as np

import nnbo_mip as nm
from nnbo_mip.lab.peers.sides import coded, decoded, sides_of

MIXED = nm.Space(
    [
        nm.Real("real", -1.0, 3.0),
        nm.Real("rate", 1e-4, 1e-1, log=True),
        nm.Real("stepped", 0.0, 1.0, step=0.25),
        nm.Integer("layers", 1, 6),
        nm.Integer("width", 8, 512, log=True),
        nm.Integer("even", 2, 10, step=2),
        nm.Categorical("act", ["relu", "tanh", "gelu"]),
        nm.Real("fixed", 2.0, 2.0),
    ]
)


def test_sides_turn_back_what_they_turn() -> None:
    sides = sides_of(MIXED)
    kinds = ["real", "real", "integer", "integer", "integer", "integer", "choice", "choice"]
    assert [side.kind for side in sides] == kinds
    assert [side.log for side in sides] == [False, True, False, False, True, False, False, False]
    for x in MIXED.sample(20, seed=0):
        assert decoded(MIXED, sides, coded(MIXED, sides, x)) == x
    box = nm.Space.box([0.0, 1.0], [1.0, 2.0])
    again = decoded(box, sides_of(box), coded(box, sides_of(box), np.array([0.5, 1.5])))
    assert again.tolist() == [0.5, 1.5]
