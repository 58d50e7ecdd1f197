r"""Build a `Network` operation by operation.

A symbolic value is an `Affine`: a map of the input (source 0) and of the ReLU layers
made so far (sources 1, 2, …). Affine operations fold at once, in float64, so a value
never remembers how it came about; only `GraphBuilder.relu` adds a layer. The other
piecewise-linear operations are sums of ReLUs:

    leaky(z)    = s z + (1 - s) relu(z)
    clip(z)     = lo + relu(z - lo) - relu(z - hi)
    abs(z)      = 2 relu(z) - z
    max(a, b)   = b + relu(a - b)
    min(a, b)   = a - relu(a - b)

Folding ``W (V h + c)`` rounds each new weight and offset once more (relative error of
about 1e-16 a term); a layer that is only read through a ReLU keeps its weights exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.affine import Affine, Matrix
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.matrices import (
    embed_rows,
    identity,
    nonzero_rows,
    product,
    scale_rows,
    select_rows,
    sum_of,
    tidy,
)


class GraphBuilder:
    """A network under construction.

    Parameters
    ----------
    n_inputs : int
        d, the number of inputs.

    Notes
    -----
    Methods take and return values of type `Affine` and change none of them; relus append
    layers to the builder, in an order in which each reads only earlier ones.
    """

    def __init__(self, n_inputs: int) -> None:
        if n_inputs < 1:
            raise InputError(
                f"a network needs at least one input; got n_inputs={n_inputs}; "
                "pass the number of inputs."
            )
        self.layers: list[Affine] = []
        """Those made so far; only `relu` adds one."""
        self.n_inputs = n_inputs
        self.input = Affine(np.zeros(n_inputs), {0: identity(n_inputs)})

    # -- affine operations ------------------------------------------------------------

    def constant(self, values: npt.ArrayLike) -> Affine:
        """Return the value that is `values` (n,) whatever the input."""
        return Affine(np.asarray(values, dtype=np.float64).ravel(), {})

    def affine(self, value: Affine, weights: Matrix, bias: npt.ArrayLike | None = None) -> Affine:
        """Return ``weights @ value + bias`` with weights (m, n) and bias (m,)."""
        if weights.ndim != 2 or weights.shape[1] != value.width:
            raise InputError(
                f"weights must have shape (m, {value.width}), as many columns as the value has "
                f"entries; got shape {weights.shape}; transpose or reshape them."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            moved = np.asarray(weights @ value.bias)
            if bias is not None:
                moved = moved + np.asarray(bias, dtype=np.float64)
            return Affine(moved, {k: product(weights, w) for k, w in value.terms.items()})

    def add(self, first: Affine, second: Affine) -> Affine:
        """Return ``first + second``."""
        _check_same_width(first, second)
        terms = dict(first.terms)
        with np.errstate(over="ignore", invalid="ignore"):
            for source, matrix in second.terms.items():
                terms[source] = sum_of(terms[source], matrix) if source in terms else matrix
            return Affine(first.bias + second.bias, terms)

    def subtract(self, first: Affine, second: Affine) -> Affine:
        """Return ``first - second``."""
        return self.add(first, second.negated())

    def shift(self, value: Affine, offsets: npt.ArrayLike) -> Affine:
        """Return ``value + offsets``, one offset an entry or one for all."""
        return Affine(value.bias + np.asarray(offsets, dtype=np.float64), value.terms)

    def scale(self, value: Affine, factors: npt.ArrayLike) -> Affine:
        """Return ``factors * value``, one factor an entry or one for all."""
        column = np.broadcast_to(np.asarray(factors, dtype=np.float64), (value.width,))
        with np.errstate(over="ignore", invalid="ignore"):
            return Affine(
                column * value.bias,
                {k: scale_rows(column, w) for k, w in value.terms.items()},
            )

    def concatenate(self, values: Sequence[Affine]) -> Affine:
        """Return the entries of all `values`, one value after the other.

        Sources that a value does not read become empty rows of a sparse matrix.
        """
        height = sum(value.width for value in values)
        bias = np.concatenate([value.bias for value in values]) if values else np.empty(0)
        blocks: dict[int, list[tuple[int, Matrix]]] = {}
        start = 0
        for value in values:
            for source, matrix in value.terms.items():
                blocks.setdefault(source, []).append((start, matrix))
            start += value.width
        return Affine(bias, {k: embed_rows(parts, height) for k, parts in blocks.items()})

    def select(self, value: Affine, index: npt.ArrayLike) -> Affine:
        """Return the entries `index` of a value, in that order; repetition is allowed."""
        chosen = np.asarray(index, dtype=np.intp)
        if np.array_equal(chosen, np.arange(value.width)):
            return value
        terms = {k: select_rows(w, chosen) for k, w in value.terms.items()}
        return Affine(value.bias[chosen], terms)

    # -- piecewise-linear operations --------------------------------------------------

    def relu(self, value: Affine) -> Affine:
        """Return ``max(value, 0)``.

        Entries that read unconnected sets of ReLU layers become layers of their own: the
        members of an ensemble, or the two nets of a NOMU, stay separate chains and their
        weights stay dense instead of becoming one block-diagonal matrix.
        """
        groups = _independent_rows(value)
        if len(groups) == 1:
            return self._relu_layer(value)
        parts = [self._relu_layer(value.rows(rows)) for rows in groups]
        place = np.argsort(np.concatenate(groups))
        return self.select(self.concatenate(parts), place)

    def _relu_layer(self, value: Affine) -> Affine:
        self.layers.append(_tidied(value))
        layer = {len(self.layers): identity(value.width)}
        return Affine(np.zeros(value.width), layer)

    def leaky_relu(self, value: Affine, slope: npt.ArrayLike) -> Affine:
        """Return ``value`` where positive and ``slope * value`` elsewhere, for any slope."""
        slopes = np.broadcast_to(np.asarray(slope, dtype=np.float64), (value.width,))
        if bool((slopes == 1.0).all()):
            return value
        return self.add(self.scale(value, slopes), self.scale(self.relu(value), 1.0 - slopes))

    def clip(
        self,
        value: Affine,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
    ) -> Affine:
        """Return ``min(max(value, lower), upper)``; None or an infinity means no limit.

        Parameters
        ----------
        value : Affine
            (n,) entries.
        lower, upper : float or (n,) array, optional
            Limits. Where lower > upper the result is `upper`.
        """
        low = self._limits(value, lower, -np.inf)
        high = self._limits(value, upper, np.inf)
        low = np.minimum(low, high)
        parts: list[tuple[npt.NDArray[np.intp], Affine]] = []
        for has_low, has_high in ((True, True), (True, False), (False, True), (False, False)):
            rows = np.flatnonzero((np.isfinite(low) == has_low) & (np.isfinite(high) == has_high))
            if rows.size:
                part = self.select(value, rows)
                parts.append((rows, self._clip_rows(part, low[rows], high[rows])))
        place = np.argsort(np.concatenate([rows for rows, _ in parts]))
        return self.select(self.concatenate([part for _, part in parts]), place)

    def _clip_rows(self, value: Affine, low: FloatArray, high: FloatArray) -> Affine:
        """Clip rows that all have the same kinds of limits."""
        if np.isfinite(low[0]) and np.isfinite(high[0]):
            shifted = [self.shift(value, -low), self.shift(value, -high)]
            both = self.relu(self.concatenate(shifted))
            above_low = self.select(both, np.arange(value.width))
            above_high = self.select(both, np.arange(value.width, 2 * value.width))
            return self.shift(self.subtract(above_low, above_high), low)
        if np.isfinite(low[0]):
            return self.shift(self.relu(self.shift(value, -low)), low)
        if np.isfinite(high[0]):
            below = self.relu(self.shift(value.negated(), high))
            return self.shift(below.negated(), high)
        return value

    def _limits(self, value: Affine, limits: npt.ArrayLike | None, absent: float) -> FloatArray:
        given = np.asarray(absent if limits is None else limits, dtype=np.float64)
        if np.isnan(given).any() or (given == -absent).any():
            raise InputError(
                "the limits of a clip must be numbers, and infinite only outwards; "
                f"got {given.ravel()[:4]}; repair or drop the limit."
            )
        return np.broadcast_to(given, (value.width,))

    def absolute(self, value: Affine) -> Affine:
        """Return ``|value|``."""
        return self.subtract(self.scale(self.relu(value), 2.0), value)

    def maximum(self, first: Affine, second: Affine) -> Affine:
        """Return the entrywise larger of two values."""
        return self.add(second, self.relu(self.subtract(first, second)))

    def minimum(self, first: Affine, second: Affine) -> Affine:
        """Return the entrywise smaller of two values."""
        return self.subtract(first, self.relu(self.subtract(first, second)))

    # -- the end ----------------------------------------------------------------------

    def finish(
        self,
        outputs: Affine | Mapping[str, Affine],
        output_names: Sequence[str] = (),
    ) -> Network:
        """Return the network that computes `outputs`, without the layers nobody reads.

        Parameters
        ----------
        outputs : Affine or mapping of name to Affine
            The head. A named value of several entries gives the names ``name0, name1, …``.
        output_names : sequence of str, optional
            Names of the rows where `outputs` is one value.
        """
        if isinstance(outputs, Mapping):
            output_names = [name for key, v in outputs.items() for name in _names(key, v.width)]
            outputs = self.concatenate(list(outputs.values()))
        network = Network(self.n_inputs, tuple(self.layers), _tidied(outputs), tuple(output_names))
        return drop_unread_layers(network)


def drop_unread_layers(network: Network) -> Network:
    """Return the network without the ReLU layers that no output depends on."""
    read = set(network.head.terms)
    for position in range(len(network.layers), 0, -1):
        if position in read:
            read |= set(network.layers[position - 1].terms)
    kept = [k for k in range(1, len(network.layers) + 1) if k in read]
    if len(kept) == len(network.layers):
        return network
    number = {0: 0} | {old: new for new, old in enumerate(kept, start=1)}
    *layers, head = (
        Affine(affine.bias, {number[k]: w for k, w in affine.terms.items()})
        for affine in (*(network.layers[k - 1] for k in kept), network.head)
    )
    return replace(network, layers=tuple(layers), head=head)


def _independent_rows(value: Affine) -> list[npt.NDArray[np.intp]]:
    """Group rows so that no ReLU layer is read by two groups.

    Rows that read only the input are a group; constant rows join the first group.
    """
    group = np.full(value.width, -1)
    for source, matrix in value.terms.items():
        reads = nonzero_rows(matrix)
        joined = np.unique(group[reads])
        group[reads | np.isin(group, joined[joined > 0])] = source
    group[group < 0] = group[group >= 0].min(initial=value.width)
    return [np.flatnonzero(group == label) for label in np.unique(group)] or [np.arange(0)]


def _tidied(value: Affine) -> Affine:
    """Return the value without all-zero terms and with dense matrices where they are smaller."""
    terms = {k: tidy(w) for k, w in value.terms.items()}
    return Affine(value.bias, {k: w for k, w in terms.items() if nonzero_rows(w).any()})


def _check_same_width(first: Affine, second: Affine) -> None:
    if first.width != second.width:
        raise InputError(
            f"two values must have equally many entries to be combined; got {first.width} and "
            f"{second.width}; select or repeat entries first."
        )


def _names(key: str, width: int) -> list[str]:
    return [key] if width == 1 else [f"{key}{i}" for i in range(width)]
