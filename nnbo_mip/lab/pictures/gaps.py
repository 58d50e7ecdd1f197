"""Gaps of certificates against the time that they took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.drawing.picture import Axis, Dots, Picture, Series
from nnbo_mip.lab.pictures.regret import Colors

QUICKEST = 1e-4
"""Seconds that a step takes at least, on a logarithmic scale."""

SMALLEST = 1e-9
"""Where a gap of zero is shown."""


@dataclass(frozen=True, eq=False)
class Gaps:
    """Steps of one method.

    Parameters
    ----------
    method : str
    seconds, gaps : (n,) arrays
        Of the maximization; gaps are finite.
    """

    method: str
    seconds: FloatArray
    gaps: FloatArray


def gaps_against_time(
    problem: str, parts: Sequence[Gaps], colors: Colors, note: str = ""
) -> Picture:
    """Return one dot a step; those whose gap is infinite, where nothing was proven, are left out.

    Parameters
    ----------
    problem : str
    parts : sequence of Gaps
    colors : mapping of str to int
    note : str
        What is to be said of steps that are not shown.
    """
    series = tuple(
        Series(
            part.method,
            (Dots(np.maximum(part.seconds, QUICKEST), np.maximum(part.gaps, SMALLEST)),),
            colors[part.method],
        )
        for part in parts
        if len(part.gaps)
    )
    return Picture(
        f"{problem}: gap of the certificate against time",
        Axis("seconds of the maximization", "log", switchable=True),
        Axis("gap", "log", switchable=True),
        series,
        f"One dot a step; a gap below {SMALLEST:g} is shown there. {note}".strip(),
    )
