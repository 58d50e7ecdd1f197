"""Pictures of a run: progress, what steps promised, which inputs matter, slices, all points."""

from __future__ import annotations

import math

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray, IntArray
from nnbo_mip.drawing.picture import (
    Axis,
    Boxes,
    Dots,
    Line,
    Picture,
    Series,
    Strokes,
    Texts,
)
from nnbo_mip.loop.seen.importance import total_effects
from nnbo_mip.loop.seen.run_view import RunView
from nnbo_mip.loop.seen.side import Side, free_at
from nnbo_mip.loop.stopping.bounds import RegretBound

BLUE, ORANGE, GREEN, PURPLE = 0, 1, 2, 3

MOST_INPUTS = 30
"""Of a picture of all inputs."""

MOST_POINTS = 200
"""Of the picture of all points."""

FAR = 3.0
"""Times the spread of the values, beyond which a bound is told and not drawn."""

HALF_HEIGHT = 0.32


def progress(run: RunView) -> Picture:
    """Return values in order, the best so far, and between what the optimum lies by the model."""
    values, sign = run.values, run.settings.sign
    number = np.arange(1, len(values) + 1)
    known = np.isfinite(values)
    asked = [one.suggestion for one in run.told]
    chosen = np.array([one is not None and not one.is_initial for one in asked], dtype=np.bool_)
    closed = np.array(
        [one is not None and one.status == "optimal" for one in asked], dtype=np.bool_
    )
    best = sign * np.fmax.accumulate(np.where(known, sign * values, -np.inf))
    series = [
        Series(
            "best so far",
            (Line(number, np.where(np.isfinite(best), best, np.nan), style="stairs"),),
            ORANGE,
        )
    ]
    kinds = {
        "no model chose it": (known & ~chosen, None, "circle"),
        "chosen by a model": (known & chosen & ~closed, BLUE, "ring"),
        "chosen, and proven to be the best choice": (known & chosen & closed, BLUE, "circle"),
    }
    for name, (which, color, shape) in kinds.items():
        if which.any():
            dots = Dots(number[which], values[which], _numbered(run, which), shape)
            series.append(Series(name, (dots,), color))
    if not known.all() and known.any():
        worst = float(sign * np.nanmin(sign * values))
        dots = Dots(
            number[~known], np.full(int((~known).sum()), worst), _numbered(run, ~known), "cross"
        )
        series.append(Series("failed", (dots,), PURPLE))
    drawn = _optimum(run, values[known], len(values) + 1)
    if drawn is not None:
        series.append(drawn)
    log = bool(known.any() and np.nanmin(values) > 0.0)
    return Picture(
        "Values in order",
        Axis("evaluation", whole=True),
        Axis("value", switchable=log),
        tuple(series),
        "A proven choice is the best point of its model, over what its row below names. "
        "It need not be the best point of the function.",
    )


def _optimum(run: RunView, values: FloatArray, at: float) -> Series | None:
    """Return where the optimum lies by the model's band; None where that is not drawn."""
    found = run.regret
    if not isinstance(found, RegretBound) or not math.isfinite(found.regret) or not len(values):
        return None
    if found.regret > FAR * max(float(np.ptp(values)), 1e-300):
        return None
    bar = Strokes([at], [found.lower], [at], [found.upper], 6.0)
    ends = Dots([at, at], [found.lower, found.upper], ("one end", "other end"))
    return Series("the optimum lies here, where the model's band holds it", (bar, ends), GREEN)


def promises(run: RunView) -> Picture:
    """Return the score of each chosen point, and what no other point exceeds."""
    steps = run.steps
    number = np.array([one.number + 1.0 for one in steps])
    value = np.array([one.value for one in steps])
    bound = np.array([one.bound for one in steps])
    value, bound = (np.where(np.isfinite(part), part, np.nan) for part in (value, bound))
    within = np.array([one.region is not None for one in steps], dtype=np.bool_)
    proven = np.isfinite(bound)
    series = [Series("what the chosen point promises", (Dots(number, value),), BLUE)]
    for name, which, color in (
        ("no point of the space promises more (proven)", proven & ~within, GREEN),
        ("no point of its region promises more (proven)", proven & within, ORANGE),
    ):
        if which.any():
            at, low, high = number[which], value[which], bound[which]
            bars = Strokes(at - HALF_HEIGHT, high, at + HALF_HEIGHT, high, 2.5)
            series.append(Series(name, (bars, Strokes(at, low, at, high, 1.5)), color))
    heads = sorted({one.head for one in steps})
    known = value[np.isfinite(value)]
    log = bool(len(known)) and 0.0 < 10.0 * float(known.min()) < float(known.max())
    return Picture(
        "What choices promised",
        Axis("suggestion", whole=True),
        Axis(" or ".join(heads) or "score", "log" if log else "linear", switchable=log),
        tuple(series),
        "Scores are those of the acquisition, as the model sees values: larger is better. Where a "
        "bar lies on its dot, the proof is closed.",
    )


def importance(run: RunView) -> Picture | None:
    """Return which inputs matter by the model; None without one."""
    ordered = ranked_sides(run)
    if len(ordered) < 2:
        return None
    shown = ordered[:MOST_INPUTS]
    places = np.arange(len(shown), dtype=np.float64)
    effect = np.array([share for _, share in shown])
    zero = np.zeros(len(shown))
    bars = Boxes(zero, places - HALF_HEIGHT, effect, places + HALF_HEIGHT)
    dots = Dots(effect, places, tuple(f"{side.name}: {share:.0%}" for side, share in shown))
    names = tuple((float(k), side.name) for k, (side, _) in enumerate(shown))
    left = len(ordered) - len(shown)
    more = f" The {left} that matter least are not drawn." if left else ""
    return Picture(
        "Which inputs matter, by the model",
        Axis("part of the model's variance", ends=(0.0, 1.0)),
        Axis("", ticks=names, turned=True),
        (Series("total effect", (bars, dots), BLUE, in_legend=False),),
        "Total effects of the model's mean over the whole space. Inputs that act together share "
        f"what they do, so parts may add up to more than one.{more}",
        rows=len(shown) + 2,
    )


def ranked_sides(run: RunView) -> list[tuple[Side, float]]:
    """Return the inputs and their total effects, the largest first; empty without a model."""
    if run.belief is None or not run.sides:
        return []
    effects = total_effects(run.belief, run.settings.search.model(), run.sides)
    order = np.argsort(-effects, kind="stable")
    return [(run.sides[k], float(effects[k])) for k in order]


def slices(run: RunView, most: int) -> list[tuple[Picture, Picture | None]]:
    """Return mean and band, and the acquisition, along the inputs that matter most.

    The other inputs are as they are at the best point.

    Parameters
    ----------
    run : RunView
    most : int
        Inputs.
    """
    if run.best is None or run.belief is None:
        return []
    place = run.best.observation.z
    free = {side.name for side in free_at(run.settings.search, run.sides, place)}
    chosen = [side for side, _ in ranked_sides(run) if side.name in free][:most]
    return [_slice(run, side, place) for side in chosen]


def _slice(run: RunView, side: Side, place: FloatArray) -> tuple[Picture, Picture | None]:
    points = np.repeat(place[None], len(side.places()), axis=0)
    points[:, side.columns] = side.places()
    across, around = side.shown(points), side.shown(place[None])
    domain = run.settings.search.model()
    allowed: BoolArray = domain.admissible(domain.held(points))
    hidden = np.where(allowed | (not allowed.any()), 0.0, np.nan)
    said = "Gaps are where a constraint does not hold." if np.isnan(hidden).any() else ""
    expected = run.expected(points)
    assert expected is not None
    middle, low, high = (part + hidden for part in expected)
    told = np.array([one.z for one in run.told])
    values = run.values
    known = np.isfinite(values)
    assert run.best is not None
    series = (
        Series("mean ± deviation", (_drawn(side, across, middle, low, high),), BLUE),
        Series(
            "told",
            (Dots(side.shown(told[known]), values[known], _numbered(run, known)),),
            None,
        ),
        Series("best point", (Dots(around, [run.best.y], shape="star"),), ORANGE),
    )
    title = side.name if len(run.sides) < 2 else f"{side.name}, others as at the best point"
    model = Picture(title, side.axis(), Axis("value"), series, said)
    return model, _score_slice(run, side, points, across, hidden)


def _score_slice(
    run: RunView, side: Side, points: FloatArray, across: FloatArray, hidden: FloatArray
) -> Picture | None:
    if run.scorer is None:
        return None
    score = run.scorer.score(points) + hidden
    score = np.where(np.isfinite(score), score, np.nan)
    name = run.settings.acquisition.name
    line = _drawn(side, across, score)
    series = (Series(f"{name} of the next step", (line,), GREEN),)
    return Picture(f"{side.name}: acquisition", side.axis(), Axis(name), series)


def _drawn(
    side: Side,
    x: FloatArray,
    y: FloatArray,
    low: FloatArray | None = None,
    high: FloatArray | None = None,
) -> Line | Strokes:
    """Return a curve; where there are levels, which have nothing between them, strokes."""
    if not side.levels:
        return Line(x, y, low, high)
    if low is None or high is None:
        low = high = y
    width = HALF_HEIGHT
    return Strokes(
        np.concatenate([x - width, x]),
        np.concatenate([y, low]),
        np.concatenate([x + width, x]),
        np.concatenate([y, high]),
        2.0,
    )


def parallel(run: RunView) -> Picture | None:
    """Return all points as lines across their inputs; None with fewer than two inputs."""
    ordered = [side for side, _ in ranked_sides(run)] or run.sides
    sides = ordered[:MOST_INPUTS]
    values, sign = run.values, run.settings.sign
    known = np.flatnonzero(np.isfinite(values))
    if len(sides) < 2 or not len(known):
        return None
    order = known[np.argsort(-sign * values[known], kind="stable")]
    Z = np.array([run.told[k].z for k in order])
    spread = float(np.ptp(values[order])) or 1.0
    worth = (sign * values[order] - float((sign * values[order]).min())) / spread
    heights = np.column_stack([*(side.share(Z) for side in sides), worth])
    tenth = max(1, math.ceil(0.1 * len(order)))
    half = max(tenth, math.ceil(0.5 * len(order)))
    groups = {
        "worse half": (slice(half, MOST_POINTS), None),
        "better half": (slice(tenth, min(half, MOST_POINTS)), BLUE),
        "best tenth": (slice(0, tenth), ORANGE),
    }
    series = [
        _polylines(run, name, order[rows], heights[rows], color)
        for name, (rows, color) in groups.items()
        if len(order[rows])
    ]
    ends = [side.ends() for side in sides]
    best, worst = values[order[0]], values[order[-1]]
    ends.append((f"{worst:.4g}", f"{best:.4g}"))
    places = np.arange(len(ends), dtype=np.float64)
    labels = Texts(
        np.concatenate([places, places]),
        np.concatenate([np.full(len(ends), -0.07), np.full(len(ends), 1.05)]),
        tuple(low for low, _ in ends) + tuple(high for _, high in ends),
        "middle",
    )
    axes = Strokes(places, np.zeros(len(ends)), places, np.ones(len(ends)), 1.0)
    names = [*(side.name for side in sides), "value"]
    left = len(ordered) - len(sides), max(len(order) - MOST_POINTS, 0)
    said = [f"{left[0]} inputs that matter less" if left[0] else ""]
    said += [f"{left[1]} worse points" if left[1] else ""]
    cut = " and ".join(one for one in said if one)
    return Picture(
        "All points",
        Axis("", ticks=tuple((float(k), name) for k, name in enumerate(names))),
        Axis("", ends=(-0.12, 1.12), bare=True),
        (Series("axes", (axes, labels), None, in_legend=False), *series),
        "One line a point; the value is at the right, the best one at the top."
        + (f" Not drawn: {cut}." if cut else ""),
    )


def _polylines(
    run: RunView, name: str, rows: IntArray, heights: FloatArray, color: int | None
) -> Series:
    count = heights.shape[1]
    x = np.tile(np.arange(count, dtype=np.float64), (len(heights), 1))
    lines = Strokes(
        x[:, :-1].ravel(), heights[:, :-1].ravel(), x[:, 1:].ravel(), heights[:, 1:].ravel(), 1.2
    )
    said = tuple(_told(run, int(row)) for row in rows for _ in range(count))
    return Series(name, (lines, Dots(x.ravel(), heights.ravel(), said)), color)


def _numbered(run: RunView, which: BoolArray) -> tuple[str, ...]:
    return tuple(_told(run, int(k)) for k in np.flatnonzero(which))


def _told(run: RunView, number: int) -> str:
    one = run.told[number]
    return f"evaluation {number + 1}" + (", failed" if one.y is None else f", {one.y:.6g}")
