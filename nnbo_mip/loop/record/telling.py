"""What a user tells, checked and turned into events."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_floats, check_flag, check_number
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.record.events import Event, told
from nnbo_mip.loop.record.serialization import as_reason, as_value, point_out, shown
from nnbo_mip.loop.record.state import State
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.tables.tables import Table
from nnbo_mip.space.abstract import NumericDimension
from nnbo_mip.space.notation import plain
from nnbo_mip.space.ordinal import Ordinal
from nnbo_mip.space.same_point import allowed_differences, allowed_part, part_apart
from nnbo_mip.space.space import Space


def tellings(
    state: State, x: object, y: object, failed: object, noise: object, reason: object
) -> list[Event]:
    """Return the events of telling one point or a batch; InputError before any of them.

    Parameters
    ----------
    state : State
        What is pending there is answered.
    x, y, failed, noise, reason
        As `nnbo_mip.loop.optimizer.BayesianOptimizer.tell` has them.
    """
    points, single = _points(state, x)
    n = len(points)
    named = [x] if single else list(x) if isinstance(x, list | tuple) else [None] * n
    values = [y] if single else _column(y, n, "y")
    failures = [failed] if single else _column(failed, n, "failed", one_for_all=True)
    deviations = [noise] if single else _column(noise, n, "noise", one_for_all=True)
    said = as_reason(reason)
    open_asks = dict.fromkeys(state.pending)
    events = []
    for point, name, value, lost, deviation in zip(
        points, named, values, failures, deviations, strict=True
    ):
        number, why = _outcome(value, lost, said)
        spread = None if deviation is None else check_number("noise", deviation, least=0.0)
        place = state.space.encode(point)[0]
        answers = name.key if isinstance(name, Suggestion) and name.key in open_asks else None
        answers = answers or _answered(state, open_asks, place)
        if answers is None:
            _check_admissible(state, point)
        else:
            del open_asks[answers]
        z = _embedded(state, point, place, answers)
        events.append(told(point_out(point), number, why, spread, answers, z))
    return events


def tellings_of_table(state: State, past: Table) -> list[Event]:
    """Return the events of past observations, all at once: no two rows answer one pending point."""
    if not len(past):
        return []
    noises = [None if math.isnan(one) else one for one in past.noise.tolist()]
    return tellings(state, past.x, past.y.tolist(), False, noises, "")


def pending_key(state: State, x: object) -> str:
    """Return the key of the pending ask that a user means by a point or a suggestion."""
    if isinstance(x, Suggestion) and x.key in state.pending:
        return x.key
    points, _ = _points(state, x)
    place = state.space.encode(points[0])[0] if len(points) == 1 else None
    found = None if place is None else _answered(state, state.pending, place)
    if found is None:
        raise InputError(
            f"x must be a pending point; got {shown(x, 80)}; pending are {len(state.pending)} "
            "points; see optimizer.pending."
        )
    return found


def _points(state: State, x: object) -> tuple[list[Any], bool]:
    """Return the points in canonical form, and whether it was one."""
    if isinstance(x, Suggestion):
        x = x.x
    if isinstance(x, list | tuple):
        x = [entry.x if isinstance(entry, Suggestion) else entry for entry in x]
    x = plain(x)
    space = state.space
    if space.is_named:
        single = isinstance(x, Mapping)
    else:
        array = as_floats(x, "x")
        single = array.ndim == 1 and array.size > 0
    try:
        raw = space.to_numeric(x)
    except InputError:
        clipped = space.clip(x)
        if not _barely_moved(space, x, clipped):
            raise
        raw = space.to_numeric(clipped)
    return [space.from_numeric(row) for row in raw], single


def _barely_moved(space: Space, x: Any, clipped: Any) -> bool:
    """Whether points left their bounds by a rounding only."""
    pairs = [(x, clipped)] if isinstance(x, Mapping) else None
    if pairs is None and space.is_named:
        pairs = list(zip(x, clipped, strict=True))
    for place, side in enumerate(space.dimensions):
        if isinstance(side, Ordinal):
            if any(a.get(side.name) != b.get(side.name) for a, b in pairs or ()):
                return False
            continue
        if not isinstance(side, NumericDimension):
            continue
        if pairs is None:
            before, after = (np.ravel(batch[..., place]) for batch in (as_floats(x, "x"), clipped))
            numbers = list(zip(before.tolist(), after.tolist(), strict=True))
        else:
            there = [(a[side.name], b[side.name]) for a, b in pairs if side.name in b]
            numbers = [(float(before), float(after)) for before, after in there]
        if any(part_apart(side, *pair) > allowed_part(side) for pair in numbers):
            return False
    return True


def _column(values: object, n: int, name: str, one_for_all: bool = False) -> list[Any]:
    """Return one entry a point."""
    if values is None:
        return [None] * n
    is_one = not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0
    entries = [values] if is_one else list(values)  # type: ignore[call-overload]
    if one_for_all and is_one:
        entries = entries * n
    if len(entries) != n:
        raise InputError(
            f"{name} must have one entry a point; got {len(entries)} for {n} points; pass both of "
            "the same evaluations."
        )
    return entries


def _outcome(y: object, failed: object, reason: str) -> tuple[float | None, str]:
    """Return the value, None for a failure, and why it failed."""
    if check_flag("failed", failed):
        return None, reason or "told as failed"
    if y is None:
        raise InputError(
            "a tell needs a value or failed=True; got neither; pass y, or say that it failed."
        )
    value = as_value(y)
    if math.isnan(value):
        return None, reason or "the value was NaN"
    if math.isinf(value):
        return None, reason or "the value was infinite"
    return value, ""


def _answered(state: State, open_asks: Iterable[str], place: FloatArray) -> str | None:
    """Return the key of the pending ask that a point is meant as, the nearest one of several."""
    allowed = allowed_differences(state.space)
    found: dict[float, str] = {}
    for key in open_asks:
        apart = np.abs(state.images[key] - place)
        if (apart <= allowed).all():
            found.setdefault(float(apart.max()), key)
    return found[min(found)] if found else None


def _embedded(
    state: State, point: Any, image: FloatArray, answers: str | None
) -> list[float] | None:
    """Return the point of the embedding whose image a point is; None without an embedding."""
    if state.embedded is None:
        return None
    asked = answers or _answered(state, state.suggestions, image)  # perhaps told once more
    z = state.places[asked] if asked is not None else state.embedded.encode(point)[0]
    listed: list[float] = z.tolist()
    return listed


def _check_admissible(state: State, point: Any) -> None:
    space = state.space
    if not bool(space.numeric().admissible(space.to_numeric(point))[0]):
        raise InputError(
            f"x must satisfy the constraints of the space; got {point_out(point)!r:.80}; correct "
            "it, or leave it out."
        )
