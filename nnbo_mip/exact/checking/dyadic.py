r"""Exact arithmetic on dyadic numbers: whole numbers times one power of two.

Every float64 is ``m 2^e`` with whole m, and sums and products of such numbers are such
numbers again. An array of Python integers with one common exponent therefore evaluates
networks, affine forms and dual bounds without any rounding, and without the greatest
common divisors that general fractions need.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.graph import Network

IntegerArray: TypeAlias = "np.ndarray[Any, np.dtype[np.object_]]"

MANTISSA_BITS = 53
FLOAT_BITS = 64
"""Leading bits kept when a dyadic number is rounded to float64."""


@dataclass(frozen=True, eq=False)
class Dyadic:
    """An array of numbers ``integers * 2**exponent``.

    Parameters
    ----------
    integers : object array of Python int, any shape
    exponent : int
    """

    integers: IntegerArray
    exponent: int

    def __post_init__(self) -> None:
        # NumPy turns arrays of shape () into bare integers, which then overflow.
        object.__setattr__(self, "integers", np.asarray(self.integers, dtype=object))

    @classmethod
    def of(cls, values: npt.ArrayLike) -> Dyadic:
        """Return finite float64 values (any shape) as they are."""
        floats = np.asarray(values, dtype=np.float64)
        mantissas, exponents = np.frexp(floats)
        whole = (mantissas * 2.0**MANTISSA_BITS).astype(np.int64)
        used = whole != 0
        lowest = int(exponents[used].min()) if used.any() else MANTISSA_BITS
        shifts = np.where(used, exponents - lowest, 0).astype(object)
        return cls(whole.astype(object) << shifts, lowest - MANTISSA_BITS)

    def __add__(self, other: Dyadic) -> Dyadic:
        exponent = min(self.exponent, other.exponent)
        return Dyadic(self._at(exponent) + other._at(exponent), exponent)

    def __neg__(self) -> Dyadic:
        return Dyadic(-self.integers, self.exponent)

    def __sub__(self, other: Dyadic) -> Dyadic:
        return self + (-other)

    def __mul__(self, other: Dyadic) -> Dyadic:
        """Elementwise product, with broadcasting."""
        return Dyadic(self.integers * other.integers, self.exponent + other.exponent)

    def __matmul__(self, other: Dyadic) -> Dyadic:
        return Dyadic(self.integers @ other.integers, self.exponent + other.exponent)

    def __getitem__(self, index: Any) -> Dyadic:
        return Dyadic(self.integers[index], self.exponent)

    def where(self, mask: npt.NDArray[np.bool_]) -> Dyadic:
        """Keep the numbers where `mask` holds, zero elsewhere."""
        return Dyadic(np.where(mask, self.integers, 0), self.exponent)

    def total(self) -> Dyadic:
        """Sum of all numbers, of shape ()."""
        total = np.asarray(sum(self.integers.ravel().tolist()), dtype=object)
        return Dyadic(total, self.exponent)

    def positive(self) -> npt.NDArray[np.bool_]:
        """Where a number is > 0."""
        return np.asarray(self.integers > 0, dtype=bool)

    def exceeds(self, level: float) -> bool:
        """Whether a single number (shape ()) is > `level`, decided exactly."""
        if math.isinf(level):
            return level < 0.0
        return bool((self - Dyadic.of(level)).integers.item() > 0)

    def floats(self) -> FloatArray:
        """Nearest float64 values, up to one unit in the last place."""
        return np.asarray(
            [_to_float(whole, self.exponent) for whole in self.integers.ravel().tolist()]
        ).reshape(self.integers.shape)

    def _at(self, exponent: int) -> IntegerArray:
        shift = self.exponent - exponent
        return np.asarray(self.integers << shift, dtype=object) if shift else self.integers


def _to_float(whole: int, exponent: int) -> float:
    excess = max(0, whole.bit_length() - FLOAT_BITS)
    return math.ldexp(float(whole >> excess), exponent + excess)


class ExactNetwork:
    """A network whose weights are held as dyadic numbers; `value` and `pieces` know one output."""

    def __init__(self, network: Network) -> None:
        self.n_inputs = network.n_inputs
        self._maps = [
            (Dyadic.of(affine.bias), {k: Dyadic.of(affine.dense(k)) for k in affine.terms})
            for affine in (*network.layers, network.head)
        ]

    def value(self, x: FloatArray) -> Dyadic:
        """f(x) in real arithmetic, of shape ()."""
        sources = [Dyadic.of(x)[:, None]]
        for position in range(len(self._maps) - 1):
            z = self._apply(position, sources)
            sources.append(z.where(z.positive()))
        return self._apply(-1, sources)[0, 0]

    def pieces(self, active: list[npt.NDArray[np.bool_]]) -> tuple[list[Dyadic], Dyadic]:
        """Affine forms of the input when the ReLUs are switched on and off as given.

        Parameters
        ----------
        active : list of (n_l,) bool arrays
            One a ReLU layer.

        Returns
        -------
        preactivations : list of (n_l, d + 1)
            Coefficients of x, then the constant.
        output : (d + 1,)
        """
        preactivations, outputs = self._forms(active)
        return preactivations, outputs[0]

    def outputs(self, active: list[npt.NDArray[np.bool_]]) -> Dyadic:
        """Affine forms (m, d + 1) of all outputs when the ReLUs are switched as given."""
        return self._forms(active)[1]

    def _forms(self, active: list[npt.NDArray[np.bool_]]) -> tuple[list[Dyadic], Dyadic]:
        identity = np.eye(self.n_inputs, self.n_inputs + 1)
        sources = [Dyadic.of(identity)]
        preactivations = []
        for position, mask in enumerate(active):
            z = self._apply(position, sources)
            preactivations.append(z)
            sources.append(z.where(mask[:, None]))
        return preactivations, self._apply(-1, sources)

    def _apply(self, position: int, sources: list[Dyadic]) -> Dyadic:
        """Apply an affine map to forms whose last column is the constant."""
        bias, terms = self._maps[position]
        constant = np.zeros((len(bias.integers), sources[0].integers.shape[1]), dtype=object)
        constant[:, -1] = bias.integers
        result = Dyadic(constant, bias.exponent)
        for source, weights in terms.items():
            result = result + weights @ sources[source]
        return result
