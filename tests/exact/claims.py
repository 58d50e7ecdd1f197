"""Small functions with known extremes, and what the tests of certificates share."""

from __future__ import annotations

from typing import Any

import nnbo_mip as nm


def tent() -> nm.Network:
    """``f = 0.5 + relu(x - 2) - 2 relu(x - 3)``: at most 1.5, at x = 3; on [1, 7], -2.5 at 7."""
    return nm.Network.from_layers([([[1.0], [1.0]], [-2.0, -3.0]), ([[1.0, -2.0]], [0.5])])


def two_outputs() -> nm.Network:
    """``low = x0 - relu(x1)`` and ``high = relu(x0 + x1) + 1``."""
    layers = [
        ([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0, 0.0, 0.0]),
        ([[-1.0, 0.0, 1.0, -1.0], [0.0, 1.0, 0.0, 0.0]], [0.0, 1.0]),
    ]
    return nm.Network.from_layers(layers, ["low", "high"])


def certified(**options: Any) -> nm.CertifyResult:
    """The maximum of `tent` on [1, 7]."""
    return nm.certify(tent(), nm.Space.box([1.0], [7.0]), **{"method": "boxes", **options})
