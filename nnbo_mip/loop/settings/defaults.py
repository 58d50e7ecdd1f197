"""What a run takes where the user leaves it open: a family, its options, its acquisition, a region.

The family and the region by the regret of runs, the options of families such that the exact step
closes in its time where it can; ``docs/dev/default_measurements.md`` has the
figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.settings import discrete as of_discrete
from nnbo_mip.maximizers.base.catalogue import registry as maximizers
from nnbo_mip.surrogates.base.abstract import Capability, Surrogate
from nnbo_mip.surrogates.base.families import registry

FEW_INPUTS, SOME_INPUTS, MANY_INPUTS = 4, 6, 8

VERY_MANY_INPUTS = 20
"""Up to which the default is a Gaussian process whose proofs are about the whole space."""

FAMILY, FAMILY_BEYOND = "gp", "portfolio"
"""Up to `VERY_MANY_INPUTS` coordinates, and beyond; `discrete` has that of choices."""

SLICED = ("gp", "portfolio")
"""Families that beyond `VERY_MANY_INPUTS` coordinates are searched whole and proven in slices."""

DRAWN = ("spherical_linear", "sparse_quadratic")
"""Families whose draws are maximized exactly at any size."""

Options = Mapping[str, object]

FAMILY_OPTIONS: Mapping[str, Options] = MappingProxyType(
    {
        "gp": MappingProxyType(
            {
                "kernel": "matern",
                "ard": True,
                "n_restarts": 3,
                "length_scale_prior": "hierarchical",
                "amplitude_bounds": (1e-5, 1e2),
                "alpha": 1e-9,
                "learns_noise": True,
            }
        ),
    }
)
"""What a name alone stands for; with options of its own it is taken as it is written."""

OPTIONS_FOR_VERY_MANY_INPUTS: Mapping[str, Options] = MappingProxyType(
    {"gp": MappingProxyType({"starts": "screened", "alpha": 1e-6})}
)
"""In place of some of these beyond `VERY_MANY_INPUTS` coordinates."""

OPTIONS_FOR_SOME_INPUTS: Mapping[str, Options] = MappingProxyType(
    {"brvfl": MappingProxyType({"n_hidden": 100})}
)
"""What does beyond `FEW_INPUTS` coordinates and up to `SOME_INPUTS`: few enough units to close."""

OPTIONS_FOR_MANY_INPUTS: Mapping[str, Options] = MappingProxyType(
    {"nomu": MappingProxyType({"hidden": (16,)})}
)
"""What does from `MANY_INPUTS` coordinates on."""

AUTO = "auto"
"""A region or a warp that is left open; the maximizer of that name."""

PATIENCE_FOR_FEW_INPUTS, PATIENCE, PATIENCE_FOR_MANY_INPUTS = 160.0, 20.0, 2.0
"""Of the maximizer `auto`, up to `FEW_INPUTS` coordinates, beyond, and beyond `VERY_MANY_INPUTS`:
work that the proof of a step may be foreseen to need."""

REGION, SLICES = "trust:failures=5", "slices"
"""For families whose runs ended lower with it, and where only the proof is limited; see
`is_proven_whole`."""


def surrogate_for(given: object, dimension: int, discrete: bool = False) -> object:
    """Return a surrogate, with what a name leaves open.

    Parameters
    ----------
    given : None, str, mapping or Surrogate
        None is the default family of so many coordinates; an object is returned as it is.
    dimension : int
        Coordinates of the model; a category counts as one, however many levels it has.
    discrete : bool
        Whether most of them are choices, as `discrete.is_discrete` says.
    """
    if given is None and discrete:
        given = of_discrete.family_for(dimension)
    if given is None:
        given = FAMILY if dimension <= VERY_MANY_INPUTS else FAMILY_BEYOND
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
    if surrogate.name in DRAWN:
        return "ts"
    return "ucb" if surrogate.name == "nomu" else "ei"


def maximizer_for(given: object, dimension: int) -> object:
    """Return a maximizer, patient to a degree where it is named and that is left open.

    Parameters
    ----------
    given : str, mapping or Maximizer
        A mapping, as journals keep it, and an object say all themselves.
    dimension : int
        Coordinates of the model.
    """
    if not isinstance(given, str):
        return given
    try:
        name, own = maximizers.parsed(given)
        if name != AUTO or "patience" in own:
            return given
        patience = PATIENCE_FOR_FEW_INPUTS if dimension <= FEW_INPUTS else PATIENCE
        if dimension > VERY_MANY_INPUTS:
            patience = PATIENCE_FOR_MANY_INPUTS
        return maximizers.create(given, patience=patience)
    except InputError:
        return given


def is_proven_whole(surrogate: Surrogate, dimension: int) -> bool:
    """Whether no region is taken where it is left open: it is where it lowered the regret."""
    return dimension <= (VERY_MANY_INPUTS if surrogate.name in SLICED else SOME_INPUTS)


def region_for(
    given: object, surrogate: Surrogate, dimension: int, discrete: bool = False
) -> object:
    """Return a region, by the family and the number of coordinates where it is left open.

    Parameters
    ----------
    given : None, str, mapping or Region
    surrogate : Surrogate
    dimension : int
    discrete : bool
        As in `surrogate_for`.
    """
    if given != AUTO:
        return given
    if discrete and surrogate.name in DRAWN:
        return of_discrete.region_for(dimension)
    if is_proven_whole(surrogate, dimension):
        return None
    return SLICES if surrogate.name in SLICED else REGION


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
    # Within a trust region, and in more inputs, runs ended lower with ranks.
    is_bent = surrogate.name == "gp" and is_proven_whole(surrogate, dimension)
    return "asinh" if is_bent else "half_rank"


def _options(name: str, dimension: int, alone: bool) -> Options:
    """Return a family's options in so many coordinates."""
    chosen = dict(FAMILY_OPTIONS.get(name, {})) if alone else {}
    if FEW_INPUTS < dimension <= SOME_INPUTS:
        chosen |= OPTIONS_FOR_SOME_INPUTS.get(name, {})
    if dimension >= MANY_INPUTS:
        chosen |= OPTIONS_FOR_MANY_INPUTS.get(name, {})
    if dimension > VERY_MANY_INPUTS and alone:
        chosen |= OPTIONS_FOR_VERY_MANY_INPUTS.get(name, {})
    return chosen
