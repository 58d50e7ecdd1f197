r"""Of several families one, drawn anew in each fit with the weight that left-out values give it.

Each member learns from all observations. With its scales as they are, each value is then predicted
from the others: with K the covariance of the values, noise included, and w = K^-1 y,

    v_i = 1 / (K^-1)_ii,        y_i - mean_i = w_i v_i,

so no model is fitted twice. The densities of all values make the weights of stacking (`average`),
and every member has a least share beside them: values say late which family finds good points. The
belief of the member that is drawn is returned as it is, so that it can be maximized, proven and
saved like any other of its family.

References
----------
Sundararajan and Keerthi (2001), densities of values left out [SundararajanKeerthi2001].
Yao et al. (2018), stacking [Yao2018].
Hoffman et al. (2011), portfolios [Hoffman2011].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.checks import check_count, check_number
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.left_out import LeavesOut
from nnbo_mip.surrogates.base.observations import Observations
from nnbo_mip.surrogates.combined.average import stacked


@dataclass(frozen=True)
class Portfolio(Surrogate):
    """Options of a portfolio of families.

    Parameters
    ----------
    members : tuple of str or dict
        Gaussian processes, by name, with options: ``gp``, ``spherical_linear``.
    least : float
        Probability of each member, times their number, that no value takes from it: 0 for the
        weights alone, 1 for the same probability of all.
    seed : int
        Of the draw and of the members.
    """

    name: ClassVar[str] = "portfolio"
    belief_type: ClassVar[type[Belief]] = Belief
    weighs_noise: ClassVar[bool] = True

    members: Any = (
        "spherical_linear",
        "gp:kernel=matern,ard=True,length_scale_prior=hierarchical,starts=screened,"
        "amplitude_bounds=(1e-5,100),alpha=1e-6,learns_noise=True",
    )
    least: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        if not isinstance(self.members, tuple | list) or len(self.members) < 2:
            raise InputError(
                f"members must be two or more surrogates; got {self.members!r:.80}; name them, as "
                "in ('spherical_linear', 'gp')."
            )
        object.__setattr__(self, "members", tuple(self.members))
        check_number("least", self.least, least=0.0, most=1.0)
        check_count("seed", self.seed, least=0)
        for made in self._made():
            if not issubclass(made.belief_type, LeavesOut):
                raise UnsupportedError(
                    "members must say what they expect of a value that is left out, as 'gp' and "
                    f"'spherical_linear' do; got {made.name!r}; choose of these."
                )

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer, whichever it is."""
        return frozenset.intersection(*(made.capabilities for made in self._made()))

    @property
    def scalable(self) -> bool:
        """Whether a loop may scale the uncertainty of all of them."""
        return all(made.scalable for made in self._made())

    def check_installed(self) -> None:
        """Raise `MissingExtraError` where a member's `fit` would."""
        for made in self._made():
            made.check_installed()

    def converted(self, convert: Callable[[float], float]) -> Portfolio:
        """Return it with the ranges that its members know in other units."""
        return replace(self, members=tuple(made.converted(convert) for made in self._made()))

    def with_categories(self, groups: tuple[tuple[int, ...], ...]) -> Portfolio:
        """Return it with members that know of these categories."""
        return replace(self, members=tuple(made.with_categories(groups) for made in self._made()))

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Belief:
        """Return the belief of the member that is drawn."""
        return self.fit_with_noise(X, y, self.noise_in(X, y))

    def fit_with_noise(self, X: npt.ArrayLike, y: npt.ArrayLike, noise: npt.ArrayLike) -> Belief:
        """Return the belief of the member that is drawn, each told the deviation of every value."""
        data = Observations.of(X, y)
        told = data.deviations(noise) + np.zeros(len(data.y))
        beliefs: list[Any] = [one.fit_with_noise(data.X, data.y, told) for one in self._made()]
        logs = np.stack([one.left_out(data.X, data.y, told) for one in beliefs], axis=1)
        shares = (1.0 - self.least) * stacked(logs) + self.least / len(beliefs)
        drawn: Belief = beliefs[int(np.random.default_rng(self.seed).choice(len(shares), p=shares))]
        return drawn

    def noise_in(self, X: npt.ArrayLike, y: npt.ArrayLike) -> float:
        """Return the largest deviation that a member believes values have where none is told."""
        return max(made.noise_in(X, y) for made in self._made())

    def _made(self) -> list[Surrogate]:
        from nnbo_mip.surrogates.base.families import registry

        made: list[Any] = [registry.create(member) for member in self.members]
        return [replace(one, seed=self.seed) for one in made]
