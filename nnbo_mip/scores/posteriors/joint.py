"""Several posteriors of the same inputs: that of a function, and those of its constraints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.scores.posteriors.compiled import Posterior


@dataclass(frozen=True, eq=False)
class JointPosterior(Posterior):
    """Independent posteriors, side by side; mean and std are those of the first.

    Parameters
    ----------
    parts : tuple of Posterior
        At least one, of the same inputs.
    """

    parts: tuple[Posterior, ...]

    def __post_init__(self) -> None:
        """Refuse parts that do not fit each other."""
        widths = [part.n_inputs for part in self.parts]
        if not widths or len(set(widths)) > 1:
            raise InputError(
                f"the posteriors of a joint one must read the same inputs; got {widths} of them; "
                "fit all beliefs on the same points."
            )
        if any(isinstance(part, JointPosterior) for part in self.parts):
            raise InputError("a joint posterior must hold plain ones; got a joint one; join them.")

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.parts[0].n_inputs

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the mean (n,) of the first posterior."""
        return self.parts[0].mean(X)

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the std (n,) of the first posterior."""
        return self.parts[0].std(X)


def parts_of(posterior: Posterior) -> tuple[Posterior, ...]:
    """Return the parts of a joint posterior, and of another one itself."""
    return posterior.parts if isinstance(posterior, JointPosterior) else (posterior,)
