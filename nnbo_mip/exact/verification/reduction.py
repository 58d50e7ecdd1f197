r"""A case of a property as the minimum of one network.

A case with rows ``a_r . x + c_r . y <= b_r`` is reached by no input of its box exactly when

    min over x of max over r of g_r(x) > 0,      g_r(x) = a_r . x + c_r . y(x) - b_r.

Each g_r is affine in the input and the ReLUs; the largest is made of more ReLUs of one row each,

    m_1 = g_1,      m_k = max(m_{k-1}, g_k) = m_{k-1} + relu((g_k - g_1) - sum_{j < k} relu_j).

The rows g_1 and g_k - g_1 are computed exactly and rounded once. Over the box that changes a
row by at most ``e_r = sum_i |rounding_i| max |h_i|``, and the largest by at most
``e_1 + max_r e_r``, which is zero where nothing is rounded. The network must stay above that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.exact.search.rounding import rounded_up, sum_above
from nnbo_mip.exact.verification.property import Case, Row
from nnbo_mip.network.graph.affine import Affine, dense
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.ranges import preactivation_ranges
from nnbo_mip.space.domain import Domain

_ExactRow = tuple[Fraction, Mapping[tuple[int, int], Fraction]]
"""Constant, and coefficients by source and unit."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """A network and a domain; the case is out of reach where its minimum is at least `least`.

    Parameters
    ----------
    network : Network
        One output, the largest of all rows.
    domain : Domain
    least : float
        A positive number.
    """

    network: Network
    domain: Domain
    least: float


def reduce_case(network: Network, case: Case) -> Reduction:
    """Return the minimization that decides a case that is not empty."""
    of_inputs = [row for row in case.rows if _is_of_domain(row)]
    exact = [_composed(network, row) for row in margin_rows(case)] or [(Fraction(0), {})]
    rows = [exact[0], *(_difference(row, exact[0]) for row in exact[1:])]
    widths = [network.source_width(k) for k in range(len(network.layers) + 1)]
    affine, roundings = zip(*(_rounded(row, widths) for row in rows), strict=True)
    errors = _errors(network, case, list(roundings))
    layers = list(network.layers)
    first = len(layers) + 1
    for position, row in enumerate(affine[1:]):
        earlier = {first + k: [[-1.0]] for k in range(position)}
        layers.append(Affine(row.bias, {**row.terms, **earlier}))
    ones = {first + k: [[1.0]] for k in range(len(affine) - 1)}
    head = Affine(affine[0].bias, {**affine[0].terms, **ones})
    largest = Network(
        network.n_inputs,
        tuple(layers),
        head,
        ("largest_row",),
        float32_difference=network.float32_difference,
        unverified=network.unverified,
    )
    total = sum_above(errors[0], max(errors))
    if not math.isfinite(total):
        raise InputError(
            "values inside the network must stay finite over the property's box, so that float64 "
            "can bound them; got larger ones; rescale the weights or the property."
        )
    return Reduction(largest, _domain(case, of_inputs), math.nextafter(total, math.inf))


def margin_rows(case: Case) -> list[Row]:
    """Return the rows whose largest is the network's output; the others are in the domain."""
    return [row for row in case.rows if not row.is_end and not _is_of_domain(row)]


def _is_of_domain(row: Row) -> bool:
    """Whether a row is about several inputs alone, with numbers that float64 has."""
    numbers = [*row.inputs.values(), row.limit]
    return not row.outputs and len(row.inputs) > 1 and all(map(_is_float, numbers))


def _is_float(number: Fraction) -> bool:
    near = _nearest(number)
    return math.isfinite(near) and Fraction(near) == number


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _domain(case: Case, rows: list[Row]) -> Domain:
    if not rows:
        return Domain(case.lower, case.upper)
    A = np.zeros((len(rows), len(case.lower)))
    for position, row in enumerate(rows):
        for index, weight in row.inputs.items():
            A[position, index] = float(weight)
    return Domain(case.lower, case.upper, A=A, b=[float(row.limit) for row in rows])


def _composed(network: Network, row: Row) -> _ExactRow:
    """Return ``a . x + c . y - b`` in terms of the input and the ReLUs, exactly."""
    head = network.head
    constant, terms = -row.limit, {(0, i): w for i, w in row.inputs.items()}
    for output, weight in row.outputs.items():
        constant += weight * Fraction(float(head.bias[output]))
        for source in head.terms:
            of_output = dense(head.terms[source])[output]
            for unit in np.flatnonzero(of_output).tolist():
                place = (source, unit)
                summand = weight * Fraction(float(of_output[unit]))
                terms[place] = terms.get(place, Fraction(0)) + summand
    return constant, terms


def _difference(row: _ExactRow, other: _ExactRow) -> _ExactRow:
    terms = dict(row[1])
    for place, weight in other[1].items():
        terms[place] = terms.get(place, Fraction(0)) - weight
    return row[0] - other[0], terms


def _rounded(row: _ExactRow, widths: list[int]) -> tuple[Affine, dict[tuple[int, int], Fraction]]:
    """Return the row in float64, and by how much coefficients were rounded; (-1, 0): constant."""
    constant, terms = row
    matrices = {source: np.zeros((1, widths[source])) for source, _ in terms}
    roundings = {}
    for (source, unit), weight in terms.items():
        matrices[source][0, unit] = near = _nearest(weight)
        if math.isfinite(near) and Fraction(near) != weight:
            roundings[source, unit] = abs(weight - Fraction(near))
    bias = _nearest(constant)
    if math.isfinite(bias) and Fraction(bias) != constant:
        roundings[-1, 0] = abs(constant - Fraction(bias))
    return Affine(np.array([bias]), matrices), roundings


def _errors(
    network: Network, case: Case, roundings: list[dict[tuple[int, int], Fraction]]
) -> list[float]:
    """Return by how much each row may have changed, rounded up."""
    if not any(roundings):
        return [0.0] * len(roundings)
    magnitudes: list[FloatArray] = [np.maximum(np.abs(case.lower), np.abs(case.upper))]
    for _, high in preactivation_ranges(network, case.lower, case.upper):
        magnitudes.append(np.maximum(high, 0.0))
    errors = []
    for row in roundings:
        total = 0.0
        for (source, unit), rounding in row.items():
            size = 1.0 if source < 0 else float(magnitudes[source][unit])
            total = sum_above(total, math.nextafter(rounded_up(rounding) * size, math.inf))
        errors.append(total)
    return errors
