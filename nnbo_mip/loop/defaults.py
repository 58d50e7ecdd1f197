"""Sizes of surrogates that are chosen by name: such that the exact step closes in its time."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nnbo_mip.errors import InputError
from nnbo_mip.surrogates.families import registry

MANY_INPUTS = 8

SIZES_FOR_MANY_INPUTS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {"nomu": MappingProxyType({"hidden": (16,)})}
)
"""What differs from the family's own defaults from `MANY_INPUTS` coordinates on."""


def with_size(surrogate: object, dimension: int) -> object:
    """Return a surrogate, with the size for a dimension where a name leaves it open.

    Parameters
    ----------
    surrogate : str, mapping or Surrogate
        An object is returned as it is.
    dimension : int
        Coordinates of the model, a level of a category counts as one.
    """
    if dimension < MANY_INPUTS or not isinstance(surrogate, str | Mapping):
        return surrogate
    name = surrogate.get("name") if isinstance(surrogate, Mapping) else surrogate
    if isinstance(name, str) and name not in registry.available():
        name = name.partition(":")[0].strip()  # a name with options, not a preset
    sizes = SIZES_FOR_MANY_INPUTS.get(str(name))
    if sizes is None:
        return surrogate
    try:
        return registry.create(surrogate, **sizes)
    except InputError:  # the user chose a size, or something that is refused without one as well
        return surrogate
