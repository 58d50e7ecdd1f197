r"""Compare an imported network with the model it came from.

An importer reads weights and operations; what it overlooked, no bound can know. So it evaluates
both at probe points.

How much of a difference is rounding follows from what is summed. With
``z_l = b_l + sum_k W_lk h_k`` the floating-point errors of a layer scale with its amounts
``a_l = |b_l| + sum_k |W_lk| |h_k|``, and to first order the output y moves by at most

    size = sum_l |dy/dz_l| a_l

times the unit of rounding times the number of summands (Higham 2002, sections 3.1 and 3.8). In
float64 a difference of ``1e-9 size`` is allowed, in another precision four times that bound, as
folding merges operations that the model rounds one by one.

References
----------
Higham (2002), accuracy of dot products in floating point [Higham2002].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Affine, Matrix, adjoints
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.importers.probe_points import OUTPUTS_PROBED, SEED

Result = TypeVar("Result")

SAME = 1e-9
"""Difference in float64 that is allowed, as a share of the size of what was summed."""
MERGED = 4.0
"""Factor on the rounding error of the network for operations that folding merged."""


@dataclass(frozen=True)
class Precision:
    """A floating-point format.

    Parameters
    ----------
    epsilon : float
        Spacing at 1.
    largest : float
        Largest finite number.
    """

    epsilon: float
    largest: float


DOUBLE = Precision(2.0**-52, float(np.finfo(np.float64).max))


def leave_off(operation: str) -> str:
    """Return what to do about a last layer that is not piecewise linear; empty for others."""
    plain = str(operation).lower().replace("_", "")  # damaged files have bytes here
    if plain in ("sigmoid", "logsigmoid", "expit"):
        return (
            "where it is the last layer, leave it off: it is monotone, so that the maximum is at "
            "the same point, and value and bound are those before it"
        )
    if plain in ("softmax", "logsoftmax"):
        return (
            "where it is the last layer, leave it off: which class leads is said by differences of "
            'what stands before it, as output={"y0": 1, "y1": -1}'
        )
    return ""


def attempt(answers: Callable[[], Result]) -> tuple[Result | None, str]:
    """Return what a model answers, or None and what it raised instead."""
    try:
        return answers(), ""
    except Exception as error:  # a framework may raise anything
        return None, f"{type(error).__name__}: {error}"


def not_compared(model: str, reason: str) -> UnsupportedError:
    """Return the error for a comparison that could not be made."""
    reason = " ".join(reason.split())
    shown = reason if len(reason) <= 200 else f"{reason[:200]}…"
    return UnsupportedError(
        f"an imported network must be compared with {model}, which could not be evaluated at the "
        f"probe points ({shown.rstrip('.')}); import it with verify=False (--no-verify) if you "
        "trust it unchecked."
    )


def unverified(model: str) -> str:
    """Return what is said of a network that was not compared with its model."""
    return f"the network was never compared with {model} that it was imported from (verify=False)."


def largest_difference(
    network: Network, points: FloatArray, seen: FloatArray, precision: Precision, model: str
) -> float:
    """Return the largest difference between a network and its model, or refuse the import.

    Points where what is summed leaves the range of the model's numbers do not count.

    Parameters
    ----------
    network : Network
        Evaluated here in float64.
    points : (n, d) array
        Where both are evaluated, see `probe_points`.
    seen : (n, m) array
        What the model answered.
    precision : Precision
        The coarsest format that the model computed in.
    model : str
        What it is, for the errors: "the PyTorch module".

    Raises
    ------
    UnsupportedError
        When the difference cannot be rounding.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        values = network.evaluate(points)
    if seen.shape != values.shape:
        raise UnsupportedError(
            f"{model} returned shape {seen.shape} for {len(points)} points where its graph gives "
            f"{values.shape}; make each row of the output depend on one row of the input."
        )
    size = _size(network, points)
    counted = size <= precision.largest / 8.0
    if not counted.any(axis=0).all():
        raise not_compared(model, "what it sums overflows at all of them")
    with np.errstate(over="ignore", invalid="ignore"):
        difference = np.where(np.isfinite(seen), np.abs(seen - values), np.inf)
        rounding = MERGED * precision.epsilon * _summands(network)
        allowed = (max(SAME, rounding) if precision == DOUBLE else rounding) * size
        allowed += 8.0 / precision.largest  # what underflows
    wrong = counted & (difference > allowed)
    if wrong.any():
        row, column = np.unravel_index(np.argmax(wrong), wrong.shape)
        raise UnsupportedError(
            f"the network that was built gives {values[row, column]:.9g} where {model} gives "
            f"{seen[row, column]:.9g} (output {network.output_names[column]!r:.40}, at "
            f"{_shown(points[row])}), more than rounding explains: the model does something that "
            "its graph does not show; avoid in-place changes and operations across the batch."
        )
    return float(difference[counted].max())


def rounding_difference(network: Network, points: FloatArray, seen: FloatArray) -> float | None:
    """Return the largest difference to what a model that was verified answers in its precision.

    Answers that overflow do not count; None where nothing else is there.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        difference = np.abs(seen - network.evaluate(points))
    finite = difference[np.isfinite(difference)]
    return float(finite.max()) if finite.size else None


def _shown(point: FloatArray) -> str:
    return "[" + ", ".join(f"{x:.6g}" for x in point[:4]) + (", …]" if len(point) > 4 else "]")


# -- rounding -------------------------------------------------------------------------


def _size(network: Network, points: FloatArray) -> FloatArray:
    """Return the size of what each output sums at each point, (n, m); infinite on overflow.

    Slopes are those of some of the outputs, where there are many. The sizes of the others are
    bounded by the network of absolute weights, which is the larger the deeper it is.
    """
    layers = tuple(_absolute(layer) for layer in network.layers)
    head = _absolute(network.head)
    columns = np.arange(network.n_outputs)
    with np.errstate(over="ignore", invalid="ignore"):
        if columns.size <= OUTPUTS_PROBED:
            result = np.full((len(points), columns.size), np.inf)
        else:
            columns = np.random.default_rng(SEED).choice(columns, OUTPUTS_PROBED, replace=False)
            result = Network(network.n_inputs, layers, head).evaluate(np.abs(points))
            result *= len(layers) + 1.0
        chosen, some = network.head.rows(columns), head.rows(columns)
        step = max(1, (1 << 22) // (network.n_inputs + network.n_relus))
        for start in range(0, len(points), step):
            batch = np.ascontiguousarray(points[start : start + step])
            sources = [batch, *(np.maximum(z, 0.0) for z in network.preactivations(batch))]
            amounts = [np.abs(source) for source in sources]
            sums = [layer.apply(amounts) for layer in layers]
            block = some.apply(amounts)
            for column in range(columns.size):
                row = chosen.rows([column])
                slopes = adjoints(network.layers, row, sources, np.ones((1, 1)))
                for slope, amount in zip(slopes[1:], sums, strict=True):
                    block[:, column] += np.einsum("ij,ij->i", np.abs(slope), amount)
            result[start : start + step, columns] = block
    return np.where(np.isnan(result), np.inf, result)


def _summands(network: Network) -> int:
    """Return the number of summands of the longest sum, and two roundings more."""
    affines = (*network.layers, network.head)
    return max(sum(int(w.shape[1]) for w in affine.terms.values()) for affine in affines) + 2


def _absolute(affine: Affine) -> Affine:
    terms: dict[int, Matrix] = {k: abs(w) for k, w in affine.terms.items()}
    return Affine(np.abs(affine.bias), terms)
