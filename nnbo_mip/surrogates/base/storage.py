"""Beliefs in files: plain arrays in an ``.npz``, never pickle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nnbo_mip.core.arrays import Array
from nnbo_mip.core.checks import MOST_PARTS
from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.core.files import MAX_BYTES, write_atomically
from nnbo_mip.core.npz import npz_bytes, read_npz
from nnbo_mip.surrogates.base.observations import Standardization

if TYPE_CHECKING:
    from nnbo_mip.surrogates.base.abstract import Belief

FORMAT = "nnbo_mip belief 1"


def save(belief: Belief, path: str | Path) -> None:
    """Write a belief whole or not at all."""
    arrays = {"format": np.array(FORMAT), "family": np.array(belief.family)}
    write_atomically(path, npz_bytes({**belief.to_arrays(), **arrays}))


def load(path: str | Path, max_bytes: int = MAX_BYTES) -> Belief:
    """Read what `Belief.save` wrote.

    Parameters
    ----------
    path : path
        The ``.npz`` file.
    max_bytes : int
        Largest uncompressed size; larger files are refused unread.
    """
    arrays = read_npz(path, max_bytes, "the belief")
    written = str(arrays.get("format", "nothing"))
    if written != FORMAT:
        raise FileFormatError(
            f"{path} must be a belief in the format {FORMAT!r}; got {written!r:.60}; "
            "pass a file that a belief's save wrote."
        )
    family = str(arrays.get("family", "nothing"))
    belief_type = _belief_type(path, family)
    try:
        _refuse_nan(arrays)
        belief = belief_type.from_arrays(arrays)
        if not 0 < belief.n_inputs <= MOST_PARTS:
            raise ValueError(f"{belief.n_inputs} inputs")
        _try_out(belief, arrays)
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(
            f"{path} must hold the arrays of a {family} belief; one is missing or "
            f"damaged ({error!r:.120}); save the belief again."
        ) from error
    return belief


def _belief_type(path: str | Path, family: str) -> type[Belief]:
    from nnbo_mip.surrogates.base.families import registry

    try:
        factory = registry.factory(family)
    except InputError as error:
        raise FileFormatError(
            f"{path} must be of a surrogate that is known here; it names {family!r:.60}; "
            "install or register what offers it."
        ) from error
    belief_type: type[Belief] | None = getattr(factory, "belief_type", None)
    if belief_type is None:
        raise FileFormatError(
            f"{path} must name a surrogate class; {family!r} is a preset; save the belief again."
        )
    return belief_type


def _refuse_nan(arrays: Mapping[str, Array]) -> None:
    for name, array in arrays.items():
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise ValueError(f"{name:.40} holds NaN")


def _try_out(belief: Belief, arrays: Mapping[str, Array]) -> None:
    """Evaluate a belief once: arrays that do not fit together fail now instead of later."""
    from nnbo_mip.surrogates.base.abstract import Capability

    origin = np.zeros((1, belief.n_inputs))
    if "x_center" in arrays and arrays["x_center"].shape != origin[0].shape:
        raise ValueError("x_center has another dimension")
    offered = belief.capabilities & {Capability.MEAN, Capability.STD, Capability.RATIO}
    with np.errstate(all="ignore"):
        values = [getattr(belief, name.value)(origin) for name in offered]
        values.append(belief.noise_std(origin))
    if not all(value.shape == (1,) and np.isfinite(value).all() for value in values):
        raise ValueError("its values at the origin are no finite numbers")


def standardization_arrays(units: Standardization) -> dict[str, Array]:
    """Return a standardization as named arrays."""
    return {
        "x_center": units.x_center,
        "x_scale": units.x_scale,
        "y_center": np.array(units.y_center),
        "y_scale": np.array(units.y_scale),
    }


def standardization_of(arrays: Mapping[str, Array]) -> Standardization:
    """Make the standardization that `standardization_arrays` described."""
    y_center, y_scale = float(arrays["y_center"]), float(arrays["y_scale"])
    x_center, x_scale = arrays["x_center"], arrays["x_scale"]
    if x_center.shape != x_scale.shape or not (x_scale > 0.0).all() or not y_scale > 0.0:
        raise ValueError("centers and scales that do not fit together")
    return Standardization(x_center, x_scale, y_center, y_scale)
