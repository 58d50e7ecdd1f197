"""Which dimensions of a space are there at a point.

A dimension with `when` is active where each category that this names has one of the levels named
there, and where these categories are active themselves. An inactive one is left out of the user's
x, and has its default in coordinates: two points that differ in nothing else are the same point.

>>> from nnbo_mip.space import Categorical, Real, Space
>>> rate = Real("momentum", 0.0, 1.0, when={"optimizer": "sgd"}, default=0.9)
>>> space = Space([Categorical("optimizer", ["adam", "sgd"]), rate])
>>> space.to_numeric([{"optimizer": "adam"}, {"optimizer": "sgd", "momentum": 0.5}]).tolist()
[[1.0, 0.0, 0.9], [0.0, 1.0, 0.5]]
>>> space.from_numeric([1.0, 0.0, 0.2])
{'optimizer': 'adam'}
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.dimensions import Categorical
from nnbo_mip.space.levels import When
from nnbo_mip.space.switches import Switch


@dataclass(frozen=True)
class Conditions:
    """What the dimensions of a space need to be active.

    Parameters
    ----------
    dimensions : mapping of str to Dimension
    needs : mapping of str to tuple
        Of each conditional dimension the categories and levels that it needs, with those that
        these categories need.
    """

    dimensions: Mapping[str, Dimension]
    needs: Mapping[str, When]

    @classmethod
    def of(cls, dimensions: Sequence[Dimension]) -> Conditions:
        """Collect what dimensions with distinct names need; refuse what has no meaning."""
        known = {dimension.name: dimension for dimension in dimensions}
        for dimension in dimensions:
            for parent, levels in dimension.when or ():
                _check_parent(dimension.name, parent, levels, known)
        return cls(known, {one.name: _all_needs(one, known, ()) for one in dimensions if one.when})

    def is_active(self, name: str, point: Mapping[str, Any]) -> bool:
        """Whether a dimension is there at a point; what it does not name counts as met."""
        return all(
            parent not in point or self.dimensions[parent].checked(point[parent]) in levels
            for parent, levels in self.needs.get(name, ())
        )

    def filled(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """Return a point with every inactive dimension at its default, whatever it had."""
        if not self.needs:
            return dict(point)
        held = {
            name: self.dimensions[name].default
            for name in self.needs
            if not self.is_active(name, point)
        }
        return {**point, **held}

    def stripped(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """Return a point without its inactive dimensions."""
        if not self.needs:
            return dict(point)
        return {name: value for name, value in point.items() if self.is_active(name, point)}

    def switches(self, blocks: Sequence[tuple[Dimension, slice]], model: bool) -> list[Switch]:
        """Return the switches of raw or model coordinates, given the columns of dimensions."""
        start = {dimension.name: block.start for dimension, block in blocks}
        made = []
        for name, needs in self.needs.items():
            dimension = self.dimensions[name]
            value: FloatArray = dimension.raw([dimension.default])
            if model:
                value = dimension.raw_to_model(value)
            on = []
            for parent, levels in needs:
                codes = self.dimensions[parent].raw(list(levels))
                on.append(tuple(start[parent] + int(k) for k in np.flatnonzero(codes.any(axis=0))))
            columns = tuple(range(start[name], start[name] + dimension.width))
            made.append(Switch(columns, tuple(value[0].tolist()), tuple(on)))
        return made


NONE = Conditions({}, {})
"""Of dimensions that are always there."""


def _check_parent(
    name: str, parent: str, levels: Sequence[object], known: Mapping[str, Dimension]
) -> None:
    if parent not in known:
        close = difflib.get_close_matches(parent, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "add it, or drop the condition."
        raise InputError(
            f"when of {name!r} must name a category of the space; got {parent!r}; {hint}"
        )
    category = known[parent]
    if not isinstance(category, Categorical):
        raise InputError(
            f"when of {name!r} must name a category; got {category!r}; make it a Categorical."
        )
    for level in levels:
        try:
            category.checked(level)
        except InputError as error:
            raise InputError(f"when of {name!r}: {error}") from error


def _all_needs(dimension: Dimension, known: Mapping[str, Dimension], path: tuple[str, ...]) -> When:
    if dimension.name in path:
        circle = " -> ".join((*path[path.index(dimension.name) :], dimension.name))
        raise InputError(
            f"conditions must not go in a circle; got {circle}; drop one of these when."
        )
    own = dimension.when or ()
    above = [
        need
        for parent, _ in own
        for need in _all_needs(known[parent], known, (*path, dimension.name))
    ]
    return tuple(dict.fromkeys((*above, *own)))
