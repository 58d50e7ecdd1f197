"""What a run takes where the user leaves it open: a family, its options, its acquisition, a region.

The family and the region by the regret of runs, the options of families such that the exact step
closes in its time where it can; ``docs/dev/default_measurements.md`` has the
figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.base.abstract import Capability, Surrogate
from nnbo_mip.surrogates.base.families import registry

FEW_INPUTS, SOME_INPUTS, MANY_INPUTS = 4, 6, 8

FAMILY, FAMILY_BEYOND = "gp", "brvfl"
"""Up to `SOME_INPUTS` coordinates, and beyond, within the trust region that is taken there."""

Options = Mapping[str, object]

FAMILY_OPTIONS: Mapping[str, Options] = MappingProxyType(
    {
        "gp": MappingProxyType(
            {
                "kernel": "matern",
                "ard": True,
                "n_restarts": 3,
                "length_scale_prior": "dimension",
                "amplitude_bounds": (1e-5, 1e2),
                "alpha": 1e-9,
                "learns_noise": True,
            }
        ),
    }
)
"""What a name alone stands for; with options of its own it is taken as it is written."""

OPTIONS_FOR_SOME_INPUTS: Mapping[str, Options] = MappingProxyType(
    {"brvfl": MappingProxyType({"n_hidden": 100})}
)
"""What does beyond `FEW_INPUTS` coordinates and up to `SOME_INPUTS`: few enough units to close."""

OPTIONS_FOR_MANY_INPUTS: Mapping[str, Options] = MappingProxyType(
    {"nomu": MappingProxyType({"hidden": (16,)})}
)
"""What does from `MANY_INPUTS` coordinates on."""

AUTO = "auto"
"""A region or a warp that is left open."""

REGION = "trust:failures=5"
"""Where searching everywhere costs more than it finds: beyond `SOME_INPUTS` coordinates."""


def surrogate_for(given: object, dimension: int) -> object:
    """Return a surrogate, with what a name leaves open.

    Parameters
    ----------
    given : None, str, mapping or Surrogate
        None is the default family of so many coordinates; an object is returned as it is.
    dimension : int
        Coordinates of the model, a level of a category counts as one.
    """
    if given is None:
        given = FAMILY if dimension <= SOME_INPUTS else FAMILY_BEYOND
    if not isinstance(given, str | Mapping):
        return given
    try:
        name, own = registry.parsed(given)
        ours = _options(name, dimension, alone=not own)
        open_ones = {key: value for key, value in ours.items() if key not in own}
        return registry.create(given, **open_ones) if open_ones else given
    except InputError:  # the user's options exclude ours, or are refused without them as well
        return given


def acquisition_for(given: object, surrogate: Surrogate) -> object:
    """Return an acquisition, that of a family where it is left open.

    Parameters
    ----------
    given : None, str, mapping or Acquisition
    surrogate : Surrogate
    """
    if given is not None:
        return given
    if Capability.RATIO in surrogate.capabilities:
        return "ratio"
    if Capability.STD not in surrogate.capabilities:
        return "mean"
    if surrogate.name == "spherical_linear":  # its draws are maximized exactly at any size
        return "ts"
    return "ucb" if surrogate.name == "nomu" else "ei"


def region_for(given: object, dimension: int) -> object:
    """Return a region, by the number of coordinates of the model where it is left open.

    Parameters
    ----------
    given : None, str, mapping or Region
    dimension : int
    """
    if given != AUTO:
        return given
    return REGION if dimension > SOME_INPUTS else None


def warp_for(given: object, surrogate: Surrogate, dimension: int) -> object:
    """Return a warp, by the family and the number of coordinates where it is left open.

    Parameters
    ----------
    given : None, str, mapping or Warp
    surrogate : Surrogate
    dimension : int
    """
    if given != AUTO:
        return given
    # Within the trust region that is taken beyond, runs ended lower with ranks.
    is_bent = surrogate.name == "gp" and dimension <= SOME_INPUTS
    return "asinh" if is_bent else "half_rank"


def _options(name: str, dimension: int, alone: bool) -> Options:
    """Return a family's options in so many coordinates."""
    chosen = dict(FAMILY_OPTIONS.get(name, {})) if alone else {}
    if FEW_INPUTS < dimension <= SOME_INPUTS:
        chosen |= OPTIONS_FOR_SOME_INPUTS.get(name, {})
    if dimension >= MANY_INPUTS:
        chosen |= OPTIONS_FOR_MANY_INPUTS.get(name, {})
    return chosen
