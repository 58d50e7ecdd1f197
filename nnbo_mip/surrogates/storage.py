"""Beliefs in files: plain arrays in an ``.npz``, never pickle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nnbo_mip.errors import FileFormatError
from nnbo_mip.network.files import MAX_BYTES, write_atomically
from nnbo_mip.network.npz import npz_bytes, read_npz
from nnbo_mip.surrogates.observations import Standardization

if TYPE_CHECKING:
    from nnbo_mip.surrogates.abstract import Belief

FORMAT = "nnbo_mip belief 1"

Array = npt.NDArray[Any]


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
    from nnbo_mip.surrogates.families import registry

    arrays = read_npz(path, max_bytes)
    written = str(arrays.get("format", "nothing"))
    if written != FORMAT:
        raise FileFormatError(
            f"{path} must be a belief in the format {FORMAT!r}; got {written!r:.60}; "
            "pass a file that a belief's save wrote."
        )
    family = str(arrays.get("family"))
    belief_type: type[Belief] | None = getattr(registry.factory(family), "belief_type", None)
    if belief_type is None:
        raise FileFormatError(
            f"{path} must name a surrogate class; {family!r} is a preset; save the belief again."
        )
    try:
        return belief_type.from_arrays(arrays)
    except (LookupError, TypeError, ValueError) as error:
        raise FileFormatError(
            f"{path} must hold the arrays of a {family} belief; one is missing or "
            f"damaged ({error!r:.120}); save the belief again."
        ) from error


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
    return Standardization(arrays["x_center"], arrays["x_scale"], y_center, y_scale)
