"""Regret against evaluations, with intervals; final regrets as boxes with outliers named."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.drawing.picture import Axis, Boxes, Dots, Line, Picture, Series, Strokes, Texts
from nnbo_mip.lab.statistics.findings import ProblemFindings, Sample

POINTS = 120
"""Of a curve, at most."""

WHISKER = 1.5
"""Box heights beyond the box at which a value counts as an outlier."""

HALF_HEIGHT = 0.3

Colors = Mapping[str, int]
"""Numbers of colours by method, the same in all pictures of an experiment."""


def regret(found: ProblemFindings, statistic: str, colors: Colors) -> Picture:
    """Return the median or the mean after each evaluation, from the last shared start on.

    Parameters
    ----------
    found : ProblemFindings
    statistic : {"median", "mean"}
    colors : mapping of str to int
    """
    shown = thinned(max(found.starts - 1, 0), found.evaluations)
    series = []
    for sample in found.samples:
        band = getattr(sample, statistic)
        line = Line(shown + 1, band.value[shown], band.low[shown], band.high[shown])
        series.append(Series(sample.method, (line,), colors[sample.method]))
    return Picture(
        f"{found.problem}: {statistic} {found.measure}",
        Axis("evaluations, shared starts included", whole=True),
        Axis(f"{statistic} {found.measure}", "log", switchable=True),
        tuple(series),
        "Bands are bootstrapped 95 % intervals over instances.",
    )


def thinned(first: int, end: int, points: int = POINTS) -> IntArray:
    """Return at most so many of the columns from `first` to `end`, both of them among these."""
    if end - first <= points:
        return np.arange(first, end)
    return np.unique(np.linspace(first, end - 1, points).round().astype(np.int64))


def boxes(found: ProblemFindings, colors: Colors) -> Picture:
    """Return final losses: quartiles, whiskers up to 1.5 boxes away, outliers by instance."""
    count = len(found.samples)
    series = [
        Series(sample.method, _box(sample, float(place)), colors[sample.method], in_legend=False)
        for place, sample in enumerate(found.samples)
    ]
    names = tuple((float(place), sample.method) for place, sample in enumerate(found.samples))
    return Picture(
        f"{found.problem}: {found.measure} at the end",
        Axis(f"{found.measure} after {found.evaluations} evaluations", "log", switchable=True),
        Axis("", ticks=names, turned=True),
        tuple(series),
        "Boxes are quartiles with the median; rings are outliers, more than 1.5 boxes away, with "
        "their instances.",
        rows=max(count, 1),
    )


def outliers(final: FloatArray) -> IntArray:
    """Return which of some values are more than 1.5 boxes away from the box, as indices."""
    low, high = np.quantile(final, [0.25, 0.75])
    reach = WHISKER * (high - low)
    found: IntArray = np.flatnonzero((final < low - reach) | (final > high + reach))
    return found


def _box(sample: Sample, place: float) -> tuple[Boxes | Strokes | Dots | Texts, ...]:
    low, middle, high = np.quantile(sample.final, [0.25, 0.5, 0.75])
    far = outliers(sample.final)
    near = np.delete(sample.final, far)
    top, bottom = place - HALF_HEIGHT, place + HALF_HEIGHT
    least, most = (np.min(near), np.max(near)) if len(near) else (low, high)
    return (
        Strokes([least, high], [place] * 2, [low, most], [place] * 2, 1.5),
        Boxes([low], [top], [high], [bottom]),
        Strokes([middle], [top], [middle], [bottom], 3.0),
        Dots(
            sample.final[far],
            np.full(len(far), place),
            tuple(f"instance {sample.instances[one]}" for one in far),
            "ring",
        ),
        Texts(
            sample.final[far],
            np.full(len(far), top),
            tuple(str(sample.instances[one]) for one in far),
            "middle",
        ),
    )
