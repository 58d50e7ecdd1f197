"""Write a `MilpModel` as an .lp or .mps file that other solvers read.

Numbers are written so that they are read back bit for bit. A row with two different sides
becomes two rows, because the range notations of both formats store a difference, which
rounds, or are not read everywhere. MPS files minimize the negative objective, because CBC
ignores their section on the sense of optimization and would minimize what is to be
maximized.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.exact.formulation.model import MilpModel

TERMS_A_LINE = 6
"""LP files may not have lines of arbitrary length."""


def export(model: MilpModel, path: str | Path) -> None:
    """Write a model to ``*.lp`` or ``*.mps`` (free format), by the ending of the path."""
    path = Path(path)
    if path.suffix == ".lp":
        lines = lp_lines(model)
    elif path.suffix == ".mps":
        lines = mps_lines(model)
    else:
        raise InputError(
            f"a model is written to a file ending in .lp or .mps; got {path.name!r}; "
            "change the ending."
        )
    with path.open("w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in lines)


def lp_lines(model: MilpModel) -> Iterator[str]:
    """Yield the lines of an LP file."""
    names = model.column_names
    yield "Maximize"
    used = np.flatnonzero(model.objective)
    yield from _lp_expression(" objective:", model.objective[used], [names[j] for j in used])
    if model.offset:
        yield f"  {model.offset:+.17g}"
    yield "Subject To"
    for name, columns, values, relation, side in _one_sided_rows(model):
        sign = {"E": "=", "L": "<=", "G": ">="}[relation]
        yield from _lp_expression(f" {name}:", values, [names[j] for j in columns])
        yield f"  {sign} {side:.17g}"
    yield "Bounds"
    for name, lower, upper in zip(names, model.column_lower, model.column_upper, strict=True):
        yield f" {lower:.17g} <= {name} <= {upper:.17g}"
    if model.integer.any():
        yield "Generals"
        yield from (f" {names[j]}" for j in np.flatnonzero(model.integer))
    if model.sos1:
        yield "SOS"
        for number, group in enumerate(model.sos1):
            weights = " ".join(f"{names[j]}:{weight}" for weight, j in enumerate(group, start=1))
            yield f" pair{number}: S1:: {weights}"
    yield "End"


def mps_lines(model: MilpModel) -> Iterator[str]:
    """Yield the lines of a free-format MPS file, which minimizes the negative objective."""
    if model.sos1:
        raise UnsupportedError(
            "solvers do not agree on how an .mps file holds special ordered sets; "
            "got formulation 'sos1'; write an .lp file, or use the formulation 'bigm'."
        )
    rows = list(_one_sided_rows(model))
    yield "* This file minimizes the negative objective: the maximum is minus its optimum."
    yield "NAME nnbo_mip FREE"
    yield "ROWS"
    yield " N objective"
    yield from (f" {relation} {name}" for name, _, _, relation, _ in rows)
    yield "COLUMNS"
    entries: list[list[tuple[str, float]]] = [[] for _ in model.column_names]
    for j in np.flatnonzero(model.objective):
        entries[j].append(("objective", -float(model.objective[j])))
    for name, columns, values, _, _ in rows:
        for j, value in zip(columns, values, strict=True):
            entries[j].append((name, float(value)))
    # A column without entries must be named all the same.
    order = np.argsort(model.integer, kind="stable")
    first_whole = int(np.sum(~model.integer))
    for position, j in enumerate(order):
        if position == first_whole:
            yield "    MARKER0 'MARKER' 'INTORG'"
        for row, value in entries[j] or [("objective", 0.0)]:
            yield f"    {model.column_names[j]} {row} {value:.17g}"
    if model.integer.any():
        yield "    MARKER1 'MARKER' 'INTEND'"
    yield "RHS"
    if model.offset:
        yield f"    RHS objective {model.offset:.17g}"
    yield from (f"    RHS {name} {side:.17g}" for name, _, _, _, side in rows if side)
    yield "BOUNDS"
    for name, lower, upper in zip(
        model.column_names, model.column_lower, model.column_upper, strict=True
    ):
        yield f" LO BOUND {name} {lower:.17g}"
        yield f" UP BOUND {name} {upper:.17g}"
    yield "ENDATA"


Row = tuple[str, "np.ndarray", "np.ndarray", str, float]


def _one_sided_rows(model: MilpModel) -> Iterator[Row]:
    """Yield (name, columns, values, relation, right-hand side) with relation E, L or G."""
    starts = model.matrix.indptr
    for i, name in enumerate(model.row_names):
        here = slice(starts[i], starts[i + 1])
        columns, values = model.matrix.indices[here], model.matrix.data[here]
        lower, upper = float(model.row_lower[i]), float(model.row_upper[i])
        if lower == upper:
            yield name, columns, values, "E", lower
            continue
        if lower > -math.inf:
            yield f"{name}_min", columns, values, "G", lower
        if upper < math.inf:
            yield f"{name}_max", columns, values, "L", upper


def _lp_expression(label: str, values: np.ndarray, names: list[str]) -> Iterator[str]:
    terms = [f"{value:+.17g} {name}" for value, name in zip(values, names, strict=True)]
    yield label
    for start in range(0, len(terms), TERMS_A_LINE):
        yield "  " + " ".join(terms[start : start + TERMS_A_LINE])
