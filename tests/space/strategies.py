"""Hypothesis strategies for domains and spaces of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from nnbo_mip.space import Categorical, Domain, Grid, Integer, LinearConstraint, Real, Space

SIDES = st.one_of(
    st.sampled_from([(99.0, 101.0), (-3.0, -1.0), (2.5, 2.5), (1e-4, 1e-1), (-7e5, 3e6)]),
    st.tuples(
        st.floats(-1e4, 1e4, allow_subnormal=False), st.floats(0.0, 1e3, allow_subnormal=False)
    ).map(lambda pair: (pair[0], pair[0] + pair[1])),
)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    if draw(st.booleans()):
        values = draw(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=7, unique=True))
        return Grid.listed(np.unique(values))
    first = draw(st.floats(-1e4, 1e4))
    step = draw(st.floats(1e-3, 1e3))
    return Grid.uniform(first, step, draw(st.integers(1, 10**9)))


@st.composite
def domains(draw: st.DrawFn, max_rows: int = 3) -> tuple[Domain, np.ndarray]:
    """Return a domain and a point that is admissible in it."""
    lower: list[float] = []
    upper: list[float] = []
    kinds: list[Grid | None] = []
    point: list[float] = []
    groups: list[list[int]] = []
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["real", "real", "grid", "group"]))
        if kind == "real":
            low, high = draw(SIDES)
            lower.append(low)
            upper.append(high)
            kinds.append(None)
            point.append(float(np.clip(low + draw(st.floats(0, 1)) * (high - low), low, high)))
        elif kind == "grid":
            grid = draw(grids())
            lower.append(grid.first)
            upper.append(grid.last)
            kinds.append(grid)
            point.append(float(grid.value(draw(st.integers(0, grid.count - 1)))))
        else:
            size = draw(st.integers(1, 3))
            on = draw(st.integers(0, size - 1))
            groups.append(list(range(len(lower), len(lower) + size)))
            lower += [0.0] * size
            upper += [1.0] * size
            kinds += [None] * size
            point += [float(position == on) for position in range(size)]
    d = len(lower)
    x = np.array(point)
    A: list[np.ndarray] = []
    b: list[float] = []
    for _ in range(draw(st.integers(0, max_rows))):
        coefficients = st.one_of(st.just(0.0), st.floats(-5.0, 5.0), st.floats(-1e6, 1e6))
        row = np.array(draw(st.lists(coefficients, min_size=d, max_size=d)))
        room = draw(st.sampled_from([0.0, 1e-6, 0.5, 40.0]))
        A.append(row)
        b.append(float(row @ x) + room)
        if room == 0.0 and draw(st.booleans()):
            A.append(-row)
            b.append(-float(row @ x))
    domain = Domain(lower, upper, kinds, groups, np.array(A).reshape(-1, d), b)
    return domain, x


@st.composite
def real_dimensions(draw: st.DrawFn, name: str) -> Real:
    low, high = draw(SIDES)
    log = low > 1e-5 and draw(st.booleans())
    if high - low > 1e-6 * (1 + abs(low)) and draw(st.booleans()):
        count = draw(st.integers(1, 50))
        return Real(name, low, high, log=log, step=(high - low) / count)
    return Real(name, low, high, log=log)


@st.composite
def integer_dimensions(draw: st.DrawFn, name: str) -> Integer:
    low = draw(st.integers(-1000, 1000))
    step = draw(st.integers(1, 9))
    log = low > 0 and draw(st.booleans())
    count = draw(st.integers(0, 100 if log else 10**9))
    return Integer(name, low, low + step * count, step=step, log=log)


LEVELS = st.one_of(
    st.lists(st.text(max_size=4), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(-9, 9), min_size=1, max_size=4, unique=True),
    st.just([True, False]),
    st.just([0.5, "half", 3]),
)


@st.composite
def spaces(draw: st.DrawFn, constrained: bool = True) -> Space:
    """Return a named space whose constraints leave at least one point."""
    dimensions: list[Any] = []
    for position in range(draw(st.integers(1, 4))):
        name = f"d{position}"
        kind = draw(st.sampled_from(["real", "integer", "categorical"]))
        if kind == "real":
            dimensions.append(draw(real_dimensions(name)))
        elif kind == "integer":
            dimensions.append(draw(integer_dimensions(name)))
        else:
            dimensions.append(Categorical(name, draw(LEVELS)))
    free = Space(dimensions)
    linear = [d for d in dimensions if not isinstance(d, Categorical) and not d.log]
    if not constrained or not linear or draw(st.booleans()):
        return free
    seed = draw(st.integers(0, 99))
    anchor = free.sample(1, seed)[0]
    terms = {d.name: draw(st.floats(-3.0, 3.0)) for d in linear}
    total = sum(terms[name] * anchor[name] for name in terms)
    sense = draw(st.sampled_from(["<=", ">="]))
    room = draw(st.sampled_from([0.0, 0.5])) * (1 if sense == "<=" else -1)
    return Space(dimensions, [LinearConstraint(terms, sense, total + room)])
