"""`Property`: inputs and outputs that must not come together, as a union of polyhedra.

A property describes what is *unsafe*: a union of cases, each a box of inputs and linear rows
over inputs and outputs. It holds of a network where no input has outputs in any case. Numbers
are exact fractions: that a point lies in a case is decided without rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import frozen
from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.core.rebuilt import Rebuilt


@dataclass(frozen=True, eq=False)
class Row(Rebuilt):
    """``sum inputs[i] x_i + sum outputs[j] y_j <= limit``, or ``<`` where it is strict.

    Parameters
    ----------
    inputs, outputs : mapping of int to Fraction
        Coefficients other than zero, by index.
    limit : Fraction
    strict : bool
    """

    inputs: Mapping[int, Fraction]
    outputs: Mapping[int, Fraction]
    limit: Fraction
    strict: bool = False

    def __post_init__(self) -> None:
        for name in ("inputs", "outputs"):
            kept = {k: v for k, v in sorted(getattr(self, name).items()) if v}
            object.__setattr__(self, name, MappingProxyType(kept))

    @property
    def is_end(self) -> bool:
        """Whether it is an end of one input, which the box of its case has too."""
        return not self.outputs and len(self.inputs) == 1

    def is_satisfied(self, x: FloatArray, y: FloatArray) -> bool:
        """Whether float64 inputs (d,) and outputs (m,) satisfy the row, exactly."""
        total = sum((c * Fraction(float(x[i])) for i, c in self.inputs.items()), Fraction(0))
        total += sum((c * Fraction(float(y[j])) for j, c in self.outputs.items()), Fraction(0))
        return total < self.limit if self.strict else total <= self.limit

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able content; fractions as text."""
        return {
            "inputs": {str(i): str(c) for i, c in self.inputs.items()},
            "outputs": {str(j): str(c) for j, c in self.outputs.items()},
            "limit": str(self.limit),
            "strict": self.strict,
        }

    @staticmethod
    def from_dict(data: Any) -> Row:
        """Read what `to_dict` wrote."""
        inputs = {int(i): Fraction(c) for i, c in data["inputs"].items()}
        outputs = {int(j): Fraction(c) for j, c in data["outputs"].items()}
        return Row(inputs, outputs, Fraction(data["limit"]), bool(data["strict"]))


@dataclass(frozen=True, eq=False)
class Case(Rebuilt):
    """A box of inputs with rows that all have to be satisfied.

    Parameters
    ----------
    lower, upper : (d,) arrays
        Finite ends; a case with a lower end above an upper one has no points.
    rows : tuple of Row
        Among them those ends of inputs that the box can only round outward, or that are strict.
    """

    lower: FloatArray
    upper: FloatArray
    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", frozen(np.array(self.lower, dtype=np.float64)))
        object.__setattr__(self, "upper", frozen(np.array(self.upper, dtype=np.float64)))
        object.__setattr__(self, "rows", tuple(self.rows))

    @property
    def is_empty(self) -> bool:
        """Whether the box has no points."""
        return bool((self.lower > self.upper).any())

    def contains(self, x: FloatArray, y: FloatArray) -> bool:
        """Whether float64 inputs (d,) and outputs (m,) lie in the case, exactly."""
        inside = bool(((self.lower <= x) & (x <= self.upper)).all())
        return inside and all(row.is_satisfied(x, y) for row in self.rows)


@dataclass(frozen=True, eq=False)
class Property(Rebuilt):
    """A union of unsafe cases.

    Parameters
    ----------
    n_inputs, n_outputs : int
        Of the network; it may have more outputs than the property names.
    cases : tuple of Case

    Examples
    --------
    >>> row = Row({}, {0: Fraction(-1)}, Fraction(-3))  # y_0 >= 3
    >>> Property(1, 1, (Case([0.0], [1.0], (row,)),)).cases[0].contains([0.5], [3.5])
    True
    """

    n_inputs: int
    n_outputs: int
    cases: tuple[Case, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "cases", tuple(self.cases))

    def check_fits(self, n_inputs: int, n_outputs: int) -> None:
        """Refuse a network with other inputs, or without an output that is named."""
        if n_inputs != self.n_inputs:
            raise InputError(
                f"the network must have the {self.n_inputs} inputs of the property; got "
                f"{n_inputs}; use the property that was written for this network."
            )
        named = [j for case in self.cases for row in case.rows for j in row.outputs]
        worst = max([self.n_outputs - 1, *named])
        if worst >= n_outputs:
            raise InputError(
                f"the property may name outputs Y_0 to Y_{n_outputs - 1} of this network; got "
                f"Y_{worst}, which does not exist; use the network that it was written for."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-able content that restores the property exactly."""
        return {
            "n_inputs": self.n_inputs,
            "n_outputs": self.n_outputs,
            "cases": [
                {
                    "lower": case.lower.tolist(),
                    "upper": case.upper.tolist(),
                    "rows": [row.to_dict() for row in case.rows],
                }
                for case in self.cases
            ],
        }

    @staticmethod
    def from_dict(data: Any) -> Property:
        """Read what `to_dict` wrote."""
        try:
            cases = tuple(
                Case(case["lower"], case["upper"], tuple(map(Row.from_dict, case["rows"])))
                for case in data["cases"]
            )
            result = Property(int(data["n_inputs"]), int(data["n_outputs"]), cases)
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
            raise FileFormatError(
                f"a property must be one that nnbo_mip wrote; got another content ({error!r}); "
                "use a file that verify saved."
            ) from error
        result._check_shapes()
        return result

    def _check_shapes(self) -> None:
        for case in self.cases:
            ends = case.lower.shape == case.upper.shape == (self.n_inputs,)
            finite = np.isfinite(case.lower).all() and np.isfinite(case.upper).all()
            named = [i for row in case.rows for i in row.inputs]
            known = all(0 <= i < self.n_inputs for i in named)
            positive = all(j >= 0 for row in case.rows for j in row.outputs)
            if not (ends and finite and known and positive):
                raise FileFormatError(
                    f"a property's cases must have {self.n_inputs} finite ends and rows over these "
                    "inputs; got others; use a file that verify saved."
                )
