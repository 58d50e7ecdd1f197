"""Refusing beliefs whose squares leave float64: scores and proofs would go wrong in silence."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.errors import InputError
from nnbo_mip.space.domain import Domain
from nnbo_mip.surrogates.base.abstract import Belief, Capability

SMALLEST, LARGEST = 1e-120, 1e150
"""Between them a square is a number with all its digits."""


def check_size(belief: Belief, domain: Domain, y: npt.ArrayLike | None) -> None:
    """Refuse a belief that is too large or too small at the ends and in the middle of a box.

    Where values (n,) are known, a belief may be as small as it likes beside them.
    """
    places = np.stack([domain.lower, 0.5 * domain.lower + 0.5 * domain.upper, domain.upper])
    said = [(Capability.MEAN, belief.mean), (Capability.STD, belief.std)]
    with np.errstate(all="ignore"):
        sizes = [np.abs(ask(places)).max() for one, ask in said if one in belief.capabilities]
    if not sizes:
        return  # a ratio of densities has the same size whatever that of the values
    known = 0.0 if y is None else float(np.abs(np.asarray(y, dtype=np.float64)).max(initial=0.0))
    size = float(max([known, *sizes]))
    if size > LARGEST or 0.0 < size < SMALLEST:
        raise InputError(
            f"means and stds of a belief must lie between {SMALLEST:g} and {LARGEST:g} in size, as "
            f"squares leave float64 elsewhere; got {size:g}; multiply the values that it learns "
            "from, by a power of two where no digit may change."
        )
