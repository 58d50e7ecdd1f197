"""`Space`: what the user may choose, with names, kinds and linear constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_finite_vector, as_floats
from nnbo_mip.core.errors import InputError
from nnbo_mip.space import storage
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.conditions import NONE, Conditions
from nnbo_mip.space.constraints import LinearConstraint, as_constraints, model_rows, raw_rows
from nnbo_mip.space.dimensions import Categorical, Integer, Real
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.notation import as_space, read_array, read_dicts, write_array, write_dicts


class Space:
    """Named dimensions plus linear constraints; immutable.

    Parameters
    ----------
    dimensions : sequence of Real, Integer, Ordinal, Categorical
        At least one, with distinct names.
    constraints : LinearConstraint, scipy.optimize.LinearConstraint, or a sequence of them
        Linear constraints, refused on logarithmic dimensions.

    Notes
    -----
    Three coordinate systems: a user's x (a dict, or an array for `Space.box`); raw
    coordinates (`numeric`: numbers as they are, a categorical as one 0/1 coordinate a level,
    in the order of the dimensions); model coordinates (`model`: numbers mapped to [-1, 1],
    logarithmically where asked, grids kept, one-hot as it is). A dimension whose `when` does not
    hold is left out of x, and has its default in both coordinates.

    Examples
    --------
    >>> space = Space([Real("lr", 1e-4, 1e-1, log=True), Categorical("act", ["relu", "tanh"])])
    >>> space.encode({"lr": 1e-4, "act": "tanh"})
    array([[-1.,  0.,  1.]])
    >>> Space.box([99, -3], [101, -1]).decode([1.0, -1.0])
    array([101.,  -3.])
    """

    def __init__(self, dimensions: Sequence[Dimension], constraints: object = ()) -> None:
        self._dimensions = _checked_dimensions(dimensions)
        is_always = all(dimension.when is None for dimension in self._dimensions)
        self._conditions = NONE if is_always else Conditions.of(self._dimensions)
        none = isinstance(constraints, tuple | list) and not constraints
        self._constraints = () if none else as_constraints(constraints, self._dimensions)
        self._is_named = True
        self.numeric()  # constraints that name what is not there are refused here

    @classmethod
    def box(cls, lower: npt.ArrayLike, upper: npt.ArrayLike, constraints: object = ()) -> Space:
        """Return the box ``lower <= x <= upper``, whose points are arrays (d,).

        Its dimensions are called x0, x1, … where a constraint needs their names.
        """
        low, high = as_finite_vector(lower, "lower"), as_finite_vector(upper, "upper")
        Domain(low, high)  # says what is wrong with the ends, by index
        space = cls(
            [
                Real(f"x{j}", *ends)
                for j, ends in enumerate(zip(low.tolist(), high.tolist(), strict=True))
            ],
            constraints,
        )
        space._is_named = False
        return space

    @classmethod
    def coerce(cls, given: object, constraints: object = ()) -> Space | Domain:
        """Return a space made of whatever describes one.

        Accepts a Space or a Domain (returned as it is), a sequence of dimensions, a sequence
        of pairs ``[(lo, hi), …]``, ``scipy.optimize.Bounds``, or a dict of name to pair.
        """
        return as_space(given, constraints)

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The dimensions, in order."""
        return self._dimensions

    @property
    def constraints(self) -> tuple[LinearConstraint, ...]:
        """The linear constraints."""
        return self._constraints

    @property
    def conditions(self) -> Conditions:
        """Which dimensions are there at a point."""
        return self._conditions

    @property
    def dim_names(self) -> tuple[str, ...]:
        """Names of the dimensions, in order."""
        return tuple(dimension.name for dimension in self._dimensions)

    @property
    def is_named(self) -> bool:
        """Whether points are dicts (True) or arrays (False)."""
        return self._is_named

    def numeric(self) -> Domain:
        """Return the domain in raw coordinates."""
        return self._numeric

    def model(self) -> Domain:
        """Return the domain in model coordinates."""
        return self._model

    @cached_property
    def _numeric(self) -> Domain:
        return self._domain(False, *self._raw_rows)

    @cached_property
    def _model(self) -> Domain:
        A, b = self._raw_rows
        if A is not None and b is not None:
            A, b = model_rows(A, b, self._dimensions)
        return self._domain(True, A, b)

    @cached_property
    def _raw_rows(self) -> tuple[FloatArray, FloatArray] | tuple[None, None]:
        if not self._constraints:
            return None, None
        return raw_rows(self._constraints, self._dimensions)

    def _domain(self, model: bool, A: FloatArray | None, b: FloatArray | None) -> Domain:
        ends = [(d.ends(model), d.grid(model)) for d in self._dimensions for _ in range(d.width)]
        groups = [
            range(block.start, block.stop)
            for dimension, block in self._blocks
            if isinstance(dimension, Categorical)
        ]
        return Domain(
            [low for (low, _), _ in ends],
            [high for (_, high), _ in ends],
            [grid for _, grid in ends],
            groups,
            A,
            b,
            switches=self._conditions.switches(self._blocks, model)
            if self._conditions.needs
            else (),
        )

    @cached_property
    def _blocks(self) -> list[tuple[Dimension, slice]]:
        """Each dimension with its columns."""
        stops = np.cumsum([dimension.width for dimension in self._dimensions]).tolist()
        return [
            (dimension, slice(stop - dimension.width, stop))
            for dimension, stop in zip(self._dimensions, stops, strict=True)
        ]

    @property
    def _width(self) -> int:
        return sum(dimension.width for dimension in self._dimensions)

    def to_numeric(self, x: object) -> FloatArray:
        """Turn one x, or a sequence or array of them, into raw coordinates (n, k)."""
        columns, _ = self._read(x)
        blocks = zip(self._dimensions, columns, strict=True)
        return np.concatenate([dimension.raw(column) for dimension, column in blocks], axis=1)

    def from_numeric(self, raw: npt.ArrayLike) -> Any:
        """Turn raw coordinates into the user's x: one for (k,), a batch for (n, k).

        Clips and rounds to what the dimensions admit. A batch is an array (n, d) for a box
        and a list of dicts for named dimensions.
        """
        array = as_floats(raw, "coordinates")
        if array.ndim not in (1, 2) or array.shape[-1] != self._width:
            raise InputError(
                f"coordinates must have shape (n, {self._width}) or ({self._width},); "
                f"got {array.shape}; a categorical takes one column a level."
            )
        if not np.isfinite(array).all():
            raise InputError("coordinates must be finite; got nan or inf; drop those points.")
        batch = np.atleast_2d(array)
        columns = [dimension.values(batch[:, block]) for dimension, block in self._blocks]
        return self._write(columns, array.ndim == 1)

    def encode(self, x: object) -> FloatArray:
        """Turn one x, or a sequence or array of them, into model coordinates (n, k)."""
        raw = self.to_numeric(x)
        model = np.empty_like(raw)
        for dimension, block in self._blocks:
            model[:, block] = dimension.raw_to_model(raw[:, block])
        return model

    def decode(self, model: npt.ArrayLike) -> Any:
        """Turn model coordinates into the user's x: one for (k,), a batch for (n, k).

        ``encode(decode(z)) == z`` at the ends and on grids and categories.
        """
        array = as_floats(model, "coordinates")
        if array.ndim not in (1, 2) or array.shape[-1] != self._width:
            return self.from_numeric(array)  # which says what is wrong
        batch = np.atleast_2d(array)
        raw = np.empty_like(batch)
        for dimension, block in self._blocks:
            raw[:, block] = dimension.model_to_raw(batch[:, block])
        return self.from_numeric(raw.reshape(array.shape))

    def clip(self, x: object) -> Any:
        """Return x with every number moved to the nearest value of its dimension.

        Constraints are not looked at: ``numeric().repair`` does that.
        """
        columns, single = self._read(x)
        clipped = [
            [dimension.clipped(value) for value in column]
            for dimension, column in zip(self._dimensions, columns, strict=True)
        ]
        return self._write(clipped, single)

    def sample(self, n: int, seed: int | np.random.Generator | None = None) -> Any:
        """Return n points, uniform under the constraints (log-uniform on log dimensions).

        Parameters
        ----------
        n : int
            Number of points.
        seed : int, numpy.random.Generator or None
            Seed, or the generator to draw from.

        Returns
        -------
        array (n, d) for a box, list of n dicts for named dimensions
        """
        rng = np.random.default_rng(seed)
        raw = self.numeric().sample(n, rng)
        for dimension, block in self._blocks:
            # Rows never touch logarithmic dimensions, so those are drawn apart.
            if isinstance(dimension, Real | Integer) and dimension.log:
                raw[:, block] = dimension.model_to_raw(rng.uniform(-1.0, 1.0, size=(n, 1)))
        return self.from_numeric(raw)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of dimensions and constraints; equal for equal spaces."""
        return storage.space_fingerprint(self)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able dict from which `from_dict` makes an equal space."""
        return storage.space_to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Space:
        """Make the space that `to_dict` described; anything else raises FileFormatError."""
        return storage.space_from_dict(data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        tail = f", constraints={list(self._constraints)!r}" if self._constraints else ""
        if self._is_named:
            return f"Space({list(self._dimensions)!r}{tail})"
        raw = self.numeric()
        return f"Space.box({raw.lower.tolist()}, {raw.upper.tolist()}{tail})"

    def _read(self, x: object) -> tuple[list[Sequence[Any]], bool]:
        """Split one x or a batch into one column a dimension, and whether it was one x."""
        if self._is_named:
            return read_dicts(x, self.dim_names, self._conditions)
        return read_array(x, len(self._dimensions))

    def _write(self, columns: list[list[Any]], single: bool) -> Any:
        if self._is_named:
            return write_dicts(columns, self.dim_names, self._conditions, single)
        return write_array(columns, single)


def _checked_dimensions(given: object) -> tuple[Dimension, ...]:
    if not isinstance(given, Sequence) or not given:
        raise InputError(
            f"a space needs a sequence of dimensions, at least one; got {given!r}; "
            "pass [Real(…), Integer(…), Categorical(…)], or use Space.box or Space.coerce."
        )
    for entry in given:
        if not isinstance(entry, Dimension):
            raise InputError(
                f"dimensions must be Real, Integer, Ordinal or Categorical; got {entry!r}; "
                "wrap it, or use Space.coerce for pairs of numbers."
            )
    names = [dimension.name for dimension in given]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(
            f"names of dimensions must be distinct; got {repeated[0]!r} more than once; rename it."
        )
    return tuple(given)
