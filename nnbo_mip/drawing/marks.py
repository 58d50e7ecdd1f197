"""One colour and one shape a maximizer, the same in every panel of a figure."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Told apart by colour-blind eyes as well."""

SHAPES = ("o", "s", "^", "D", "v", "P", "X", "*")


@dataclass(frozen=True)
class Mark:
    """How a maximizer is shown.

    Parameters
    ----------
    color, shape : str
        As matplotlib has them.
    """

    color: str
    shape: str


def marks(count: int) -> list[Mark]:
    """Return so many marks; the first 56 differ."""
    pairs = zip(itertools.cycle(COLORS), itertools.cycle(SHAPES), strict=False)
    return [Mark(color, shape) for color, shape in itertools.islice(pairs, count)]
