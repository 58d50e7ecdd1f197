r"""An average of several surrogates, weighed by what they say of held-out values (stacking).

Each learns from all folds but one and gives the values v_i of that one the densities p_j(v_i).
The weights w, not negative and of sum 1, maximize

    sum_i log sum_j w_j p_j(v_i),

a concave function; w_j <- (1 / n) sum_i w_j p_j(v_i) / sum_k w_k p_k(v_i) never lowers it. Then all
learn from all observations (`average_belief`).

References
----------
Yao et al. (2018), stacking [Yao2018].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.mixture import log_normal, log_sum
from nnbo_mip.surrogates.base.observations import Observations, Standardization
from nnbo_mip.surrogates.combined.average_belief import AverageBelief, average_capabilities
from nnbo_mip.surrogates.densities.held_out import folds_of

LEAST_STD = 1e-3
"""Of a held-out prediction, in stds of y: one that is certain and wrong has no density."""

ROUNDS = 1000
SETTLED = 1e-9
"""Change of the weights at which they stand."""


@dataclass(frozen=True)
class Average(Surrogate):
    """Options of an average of surrogates.

    Parameters
    ----------
    members : tuple of str or dict
        Surrogates, by name, with options.
    folds : int
        Parts that are held out in turn; each observation alone where there are fewer.
    seed : int
        Of the folds and of the members.
    """

    name: ClassVar[str] = "average"
    belief_type: ClassVar[type[Belief]] = AverageBelief

    members: Any = ("gp:kernel=matern,n_restarts=3", "kde")
    folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        if not isinstance(self.members, tuple | list) or len(self.members) < 2:
            raise InputError(
                f"members must be two or more surrogates; got {self.members!r:.80}; name them, as "
                "in ('gp', 'kde')."
            )
        object.__setattr__(self, "members", tuple(self.members))
        check_count("folds", self.folds, least=2)
        check_count("seed", self.seed, least=0)
        for made in self._made():
            if not {Capability.MEAN, Capability.STD} <= made.capabilities:
                raise UnsupportedError(
                    "an average needs surrogates with mean and std; got "
                    f"{made.name!r}; choose others."
                )

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer."""
        return average_capabilities([made.capabilities for made in self._made()])

    def check_installed(self) -> None:
        """Raise `MissingExtraError` where a member's `fit` would."""
        for made in self._made():
            made.check_installed()

    def converted(self, convert: Callable[[float], float]) -> Average:
        """Return it with the ranges that its members know in other units."""
        return replace(self, members=tuple(made.converted(convert) for made in self._made()))

    def with_categories(self, groups: tuple[tuple[int, ...], ...]) -> Average:
        """Return it with members that know of these categories."""
        return replace(self, members=tuple(made.with_categories(groups) for made in self._made()))

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> AverageBelief:
        """Weigh the members by held-out values, and fit all to all observations."""
        data = Observations.of(X, y)
        made = self._made()
        weights = np.full(len(made), 1.0 / len(made))
        if len(data.y) > 1:
            logs = np.stack([self._held_out(one, data) for one in made], axis=1)
            weights = stacked(logs)
        return AverageBelief(tuple(one.fit(data.X, data.y) for one in made), weights)

    def _made(self) -> list[Surrogate]:
        from nnbo_mip.surrogates.base.families import registry

        made: list[Any] = [registry.create(member) for member in self.members]
        return [replace(one, seed=self.seed) for one in made]

    def _held_out(self, member: Surrogate, data: Observations) -> FloatArray:
        """Return the log densities (n,) of values that a member did not learn from."""
        folds = folds_of(len(data.y), self.folds, self.seed)
        least = LEAST_STD * Standardization.of(data, inputs=False, outputs=True).y_scale
        logs = np.empty(len(data.y))
        for k in range(int(folds.max()) + 1):
            out = folds == k
            belief = member.fit(data.X[~out], data.y[~out])
            points, values = data.X[out], data.y[out]
            if Capability.MIXTURE in belief.capabilities:
                mixture = belief.mixture(points)
                noisy = np.maximum(np.hypot(mixture.stds, belief.noise_std(points)[:, None]), least)
                logs[out] = replace(mixture, stds=noisy).log_density(values)
            else:
                std = np.hypot(belief.std(points), belief.noise_std(points))
                logs[out] = log_normal(values, belief.mean(points), np.maximum(std, least))
        return logs


def stacked(logs: FloatArray) -> FloatArray:
    """Return the weights (J,) of the highest mean log density of the average.

    Parameters
    ----------
    logs : (n, J) array
        Log density of each held-out value by each member.
    """
    weights = np.full(logs.shape[1], 1.0 / logs.shape[1])
    for _ in range(ROUNDS):
        with np.errstate(divide="ignore"):
            parts = logs + np.log(weights)
        shares = np.exp(parts - log_sum(parts)[:, None])
        moved = shares.mean(axis=0)
        if np.abs(moved - weights).max() < SETTLED:
            break
        weights = moved
    return np.asarray(weights / weights.sum())
