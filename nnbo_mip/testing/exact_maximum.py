r"""The exact maximum of a small network, in integer arithmetic: the judge of every engine.

Nothing here is rounded and no code is shared with the engines. Float64 numbers are
dyadic, so weights become integers over a power of two, and a vertex of a polytope is a
vector of homogeneous integers (X_1, …, X_d, D) that stands for the point X / D, D > 0.

Every choice of the discrete coordinates leaves a polytope of the continuous ones (box
and rows), held by its vertices and, for each, the set of constraints that are tight.
ReLU after ReLU, a cell on which earlier ReLUs have fixed signs knows the next
pre-activation as an affine form g; the values g(V) = g . V decide:

    g >= 0 at all vertices:   relu(g) = g on the cell,
    g <= 0 at all vertices:   relu(g) = 0 on the cell,
    otherwise the cell is cut into {g >= 0} and {g <= 0}; an edge from P (g > 0) to N
    (g < 0) gets the new vertex  g(P) N - g(N) P,  at which g = 0.

Two vertices span an edge if and only if no third vertex is tight wherever both are. On a
cell whose ReLUs all have fixed signs the objective is affine, so a vertex maximizes it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from nnbo_mip.core.errors import InputError, NnboError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain

Form: TypeAlias = list[int]
"""Coefficients of X_1, …, X_d and of D (the constant), over a power of two."""

Vertex: TypeAlias = tuple[tuple[int, ...], int]
"""Homogeneous coordinates, and the tight constraints as the bits of an integer."""

Cell: TypeAlias = list[Vertex]

Source: TypeAlias = tuple[list[Form], int]
"""Outputs of a layer on a cell, over 2 to the power of the second entry."""

DEFAULT_BUDGET = 200_000
"""About a second for nets of moderate weights."""


class TooLargeError(NnboError):
    """The enumeration did not finish within its budget; nothing is known."""


@dataclass(frozen=True)
class ExactMaximum:
    """The true maximum over the admissible points, in real arithmetic.

    Parameters
    ----------
    value : Fraction or None
        The maximum; None when no point is admissible.
    x : tuple of Fraction
        A point that attains it (its coordinates need not be float64 numbers).
    cells : int
        Number of linear pieces that were visited.
    """

    value: Fraction | None
    x: tuple[Fraction, ...]
    cells: int


def exact_maximum(
    network: Network, domain: Domain, *, budget: int = DEFAULT_BUDGET
) -> ExactMaximum:
    """Maximize the only output of a network over a domain, exactly.

    Parameters
    ----------
    network : Network
        With one output.
    domain : Domain
        In the coordinates that the network reads; rows mean ``A x <= domain.row_limit``.
    budget : int
        Largest number of evaluations of a form at a vertex; a cut of a cell of n vertices
        counts n**2 / 8 of them.

    Raises
    ------
    TooLargeError
        When the budget is spent.
    """
    d = domain.dimension
    inputs = [[int(i == j) for i in range(d + 1)] for j in range(d)]
    search = _Search([_scaled(affine) for affine in (*network.layers, network.head)], budget)
    for part in _parts_without_exclusions(domain, budget):
        for fixed in _discrete_choices(part, budget):
            cell = _polytope(part, fixed, search)
            if cell:
                search.visit(cell, [(inputs, 0)], next_bit=2 * d + domain.b.size)
    return ExactMaximum(search.best, search.best_x, search.cells)


@dataclass(frozen=True)
class _ScaledAffine:
    """An affine map in integers: bias / 2**bias_shift, weights / 2**shift, zeros left out."""

    bias: list[int]
    bias_shift: int
    terms: list[tuple[int, list[list[tuple[int, int]]], int]]  # source, rows of (column, w), shift


def _scaled(affine: Affine) -> _ScaledAffine:
    bias, bias_shift = _dyadic(affine.bias.tolist())
    terms = []
    for source in affine.terms:
        weights = affine.dense(source)
        flat, shift = _dyadic(weights.ravel().tolist())
        width = weights.shape[1]
        rows = [
            [(j, w) for j, w in enumerate(flat[i * width : (i + 1) * width]) if w]
            for i in range(affine.width)
        ]
        terms.append((source, rows, shift))
    return _ScaledAffine(bias, bias_shift, terms)


def _dyadic(values: Sequence[float]) -> tuple[list[int], int]:
    """Return integers n and a shift s with value = n / 2**s."""
    ratios = [value.as_integer_ratio() for value in values]
    shift = max((bottom.bit_length() - 1 for _, bottom in ratios), default=0)
    return [(top << shift) // bottom for top, bottom in ratios], shift


class _Search:
    """Depth-first walk over the linear pieces, with the best vertex so far."""

    def __init__(self, affines: list[_ScaledAffine], budget: int) -> None:
        self.affines = affines
        self.budget = budget
        self.cells = 0
        self.best: Fraction | None = None
        self.best_x: tuple[Fraction, ...] = ()

    def visit(self, cell: Cell, sources: list[Source], next_bit: int) -> None:
        """Visit every linear piece of a cell on which the layers in `sources` are affine."""
        layer = len(sources) - 1
        forms, shift = _compose(self.affines[layer], sources)
        if layer == len(self.affines) - 1:
            self._finish(cell, forms[0], shift)
            return
        for part, activated in self._pieces(cell, forms, next_bit):
            self.visit(part, [*sources, (activated, shift)], next_bit + len(forms))

    def _pieces(
        self, cell: Cell, forms: list[Form], next_bit: int
    ) -> Iterator[tuple[Cell, list[Form]]]:
        """Cut a cell by the ReLUs of one layer; yield parts with the layer's outputs."""
        pending = [(cell, forms, 0)]
        while pending:
            part, activated, first = pending.pop()
            for neuron in range(first, len(forms)):
                values = self.evaluate(forms[neuron], part)
                if min(values) < 0 < max(values):
                    self._spend(len(part) ** 2 // 8)
                    silent = _with_zero(activated, neuron)
                    part, below = split(part, values, next_bit + neuron)
                    pending.append((below, silent, neuron + 1))
                elif max(values) <= 0:
                    activated = _with_zero(activated, neuron)
            yield part, activated

    def evaluate(self, form: Form, cell: Cell) -> list[int]:
        """Return the (scaled) values of a form at the vertices."""
        self._spend(len(cell))
        return [sum(c * x for c, x in zip(form, point, strict=True)) for point, _ in cell]

    def _spend(self, operations: int) -> None:
        self.budget -= operations
        if self.budget < 0:
            raise TooLargeError(
                "the exact enumeration must end within its budget; it did not; raise `budget` or "
                "take a smaller network or domain."
            )

    def _finish(self, cell: Cell, form: Form, shift: int) -> None:
        self.cells += 1
        for (point, _), value in zip(cell, self.evaluate(form, cell), strict=True):
            exact = Fraction(value, point[-1] << shift)
            if self.best is None or exact > self.best:
                self.best = exact
                self.best_x = tuple(Fraction(x, point[-1]) for x in point[:-1])


def split(cell: Cell, values: list[int], constraint: int) -> tuple[Cell, Cell]:
    """Return the parts of a cell with value >= 0 and with value <= 0.

    Parameters
    ----------
    cell : list of vertices
    values : list of int
        The cutting form at the vertices; of both signs.
    constraint : int
        Number of the bit that marks it as tight.
    """
    bit = 1 << constraint
    masks = [mask for _, mask in cell]
    above = [i for i, value in enumerate(values) if value > 0]
    below = [i for i, value in enumerate(values) if value < 0]
    shared = [(cell[i][0], masks[i] | bit) for i, value in enumerate(values) if value == 0]
    for p, n in itertools.product(above, below):
        common = masks[p] & masks[n]
        if any(m & common == common for i, m in enumerate(masks) if i not in (p, n)):
            continue
        ends = zip(cell[p][0], cell[n][0], strict=True)
        point = [values[p] * y - values[n] * x for x, y in ends]
        divisor = math.gcd(*point)
        shared.append((tuple(x // divisor for x in point), common | bit))
    return [cell[i] for i in above] + shared, [cell[i] for i in below] + shared


def _with_zero(forms: list[Form], neuron: int) -> list[Form]:
    return [*forms[:neuron], [0] * len(forms[neuron]), *forms[neuron + 1 :]]


def _compose(affine: _ScaledAffine, sources: list[Source]) -> tuple[list[Form], int]:
    """Return the rows of an affine map as forms of the input, and their common shift."""
    total = max([affine.bias_shift, *(sources[k][1] + s for k, _, s in affine.terms)])
    length = len(sources[0][0][0])
    result = [[0] * (length - 1) + [b << (total - affine.bias_shift)] for b in affine.bias]
    for source, rows, shift in affine.terms:
        forms, source_shift = sources[source]
        rise = total - source_shift - shift
        for row, entries in zip(result, rows, strict=True):
            for column, weight in entries:
                scaled = weight << rise
                for position, coefficient in enumerate(forms[column]):
                    if coefficient:
                        row[position] += scaled * coefficient
    return result, total


def _parts_without_exclusions(domain: Domain, budget: int) -> list[Domain]:
    """Return domains that cover the admissible points: a side of a face for every exclusion.

    They overlap, and are as many as there are combinations of faces.
    """
    parts = [domain.without_exclusions]
    for low, high in zip(
        domain.exclusions.lower.tolist(), domain.exclusions.upper.tolist(), strict=True
    ):
        cut: list[Domain] = []
        for part in parts:
            ends = zip(part.lower.tolist(), part.upper.tolist(), low, high, strict=True)
            if not all(a < end and start < b for start, end, a, b in ends):
                cut.append(part)
                continue
            for j in range(domain.dimension):
                cut += _beside(part, j, -math.inf, low[j]) + _beside(part, j, high[j], math.inf)
        parts = cut
        if len(parts) > budget:
            raise TooLargeError(f"the exclusions leave more than {budget} parts; raise `budget`.")
    return parts


def _beside(part: Domain, j: int, low: float, high: float) -> list[Domain]:
    """Return the part of a domain with ``low <= x_j <= high``; none if that is empty."""
    lower, upper = part.lower.copy(), part.upper.copy()
    lower[j], upper[j] = max(low, lower[j]), min(high, upper[j])
    try:
        return [part.restrict(lower, upper)]
    except InputError:
        return []


def _discrete_choices(domain: Domain, budget: int) -> Iterator[dict[int, float]]:
    """Yield every choice of the coordinates on grids and in one-hot groups."""
    axes: list[list[dict[int, float]]] = []
    size = 1
    for j, grid in enumerate(domain.grids):
        if grid is None or j in domain.one_hot_members:
            continue
        first = int(grid.index_above(domain.lower[j]))
        last = int(grid.index_below(domain.upper[j]))
        size *= last - first + 1
        if size > budget:
            raise TooLargeError(f"the grids have more than {budget} points; raise `budget`.")
        axes.append([{j: float(grid.value(k))} for k in range(first, last + 1)])
    axes += [[{j: float(j == on) for j in group} for on in group] for group in domain.one_hot]
    for choice in itertools.product(*axes):
        fixed = {j: value for part in choice for j, value in part.items()}
        if all(domain.lower[j] <= value <= domain.upper[j] for j, value in fixed.items()):
            yield fixed


def _polytope(domain: Domain, fixed: dict[int, float], search: _Search) -> Cell:
    """Return the vertices of what is left of box and rows; none if it is empty."""
    ends = [
        (fixed.get(j, float(low)), fixed.get(j, float(high)))
        for j, (low, high) in enumerate(zip(domain.lower, domain.upper, strict=True))
    ]
    flat, shift = _dyadic([end for pair in ends for end in pair])
    corners: Cell = [((), 0)]
    for j, (low, high) in enumerate(zip(flat[::2], flat[1::2], strict=True)):
        # A coordinate with equal ends has no faces to be tight at.
        sides = [(low, 1 << 2 * j), (high, 2 << 2 * j)] if low < high else [(low, 0)]
        corners = [((*p, end), mask | tight) for p, mask in corners for end, tight in sides]
    cell: Cell = [((*point, 1 << shift), mask) for point, mask in corners]
    for i, (row, limit) in enumerate(zip(domain.A.tolist(), domain.row_limit, strict=True)):
        numbers, _ = _dyadic([*(-a for a in row), float(limit)])
        room = search.evaluate(numbers, cell)  # limit - a . x
        if min(room) < 0 < max(room):
            cell, _ = split(cell, room, 2 * domain.dimension + i)
        else:
            cell = [vertex for vertex, value in zip(cell, room, strict=True) if value >= 0]
        if not cell:
            break
    return cell
