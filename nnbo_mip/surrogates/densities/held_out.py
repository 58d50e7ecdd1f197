r"""Tuning by what was held out: the mean log density of observations that were not learned from.

The observations are split into folds (each alone where there are fewer than folds). A density
that learned from the others says p(u_i), p(u_i, v_i) and the conditional's mean and variance of
each held-out one. Delta, by which the background is weighed, changes none of these, so every
Delta of a list is scored with every other setting at no further cost:

    score = (1 / n) sum_i log p(v_i | u_i)    of the blended density (see `background`),

to which a family may add the n-th part of a log prior of the setting and Delta.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.densities.background import Background
from nnbo_mip.surrogates.densities.joint_density import JointDensity

DELTAS = tuple(float(delta) for delta in np.geomspace(1e-3, 1e2, 11))
"""Delta is looked for among these."""

MIDDLE_DELTA = 1.0
"""Delta where a single observation leaves nothing to hold out."""

Range = tuple[float, float]

Setting = TypeVar("Setting")


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What densities say of n observations that they did not learn from.

    Parameters
    ----------
    log_marginal, log_joint : (n,) arrays
        log p(u_i) and log p(u_i, v_i).
    mean, variance : (n,) arrays
        Of the conditional at u_i.
    """

    log_marginal: FloatArray
    log_joint: FloatArray
    mean: FloatArray
    variance: FloatArray

    @staticmethod
    def by(joint: JointDensity, u: FloatArray, v: FloatArray) -> HeldOut:
        """Return what one density says of inputs (n, d) and values (n,)."""
        parts = joint.parts(u)
        return HeldOut(parts.log_marginal, parts.log_joint(v), *parts.moments())

    @staticmethod
    def gathered(
        folds: npt.NDArray[np.int64], joints: Iterable[JointDensity], u: FloatArray, v: FloatArray
    ) -> HeldOut:
        """Return what the k-th density says of the k-th fold, in the order of observations."""
        columns = np.empty((4, len(v)))
        for k, joint in enumerate(joints):
            rows = folds == k
            one = HeldOut.by(joint, u[rows], v[rows])
            columns[:, rows] = one.log_marginal, one.log_joint, one.mean, one.variance
        return HeldOut(*columns)

    def score(self, background: Background, v: FloatArray) -> float:
        """Return the mean log density of the values (n,) after blending."""
        logs = background.log_density(
            v, self.log_marginal, self.log_joint, self.mean, self.variance
        )
        return float(logs.mean())


@dataclass(frozen=True)
class Choice(Generic[Setting]):
    """What scored best.

    Parameters
    ----------
    setting : object
    delta : float
    score : float
        Mean log density, in standardized units, with the part of a prior if there is one.
    """

    setting: Setting
    delta: float
    score: float


def folds_of(n: int, count: int, seed: int) -> npt.NDArray[np.int64]:
    """Return the fold (n,) of each observation: random, of equal sizes up to one."""
    folds = np.arange(n, dtype=np.int64) % min(n, count)
    return np.asarray(np.random.default_rng(seed).permutation(folds))


def best(
    settings: Iterable[Setting],
    held_out: Callable[[Setting], HeldOut],
    v: FloatArray,
    background: Background,
    deltas: tuple[float, ...] = DELTAS,
    log_prior: Callable[[Setting, float], float] | None = None,
) -> Choice[Setting]:
    """Return the setting and Delta of the highest score, the first of equals.

    Parameters
    ----------
    settings : iterable
    held_out : callable
        What a setting says of the observations.
    v : (n,) array
        Their values.
    background : Background
        Its own delta is not used.
    deltas : tuple of float
    log_prior : callable, optional
        Of a setting and Delta.
    """
    chosen: Choice[Setting] | None = None
    for setting in settings:
        said = held_out(setting)
        for delta in deltas:
            score = said.score(replace(background, delta=delta), v)
            score += log_prior(setting, delta) / len(v) if log_prior else 0.0
            if chosen is None or score > chosen.score:
                chosen = Choice(setting, delta, score)
    if chosen is None:
        raise ValueError("no settings")
    return chosen


def searched(
    lower: FloatArray,
    upper: FloatArray,
    count: int,
    tune: Callable[[FloatArray], Choice[tuple[float, ...]]],
) -> Choice[tuple[float, ...]]:
    """Search positive numbers for the best, on a logarithmic grid and a finer one around its best.

    Parameters
    ----------
    lower, upper : (k,) arrays
        Ends of the ranges.
    count : int
        Settings that are tried in all, rounded to two grids of equal size.
    tune : callable
        From settings (m, k) to the best of them.
    """
    steps = max(2, round((count / 2.0) ** (1.0 / len(lower))))
    low, high = np.log(lower), np.log(upper)
    first = tune(np.exp(_grid(low, high, steps)))
    reach = (high - low) / (steps - 1)
    center = np.log(first.setting)
    finer = _grid(np.maximum(low, center - reach), np.minimum(high, center + reach), steps + 1)
    second = tune(np.exp(finer))
    return second if second.score > first.score else first


def _grid(low: FloatArray, high: FloatArray, steps: int) -> FloatArray:
    axes = [np.linspace(a, b, steps) for a, b in zip(low, high, strict=True)]
    return np.array(list(itertools.product(*axes)))


def check_delta(delta: object) -> None:
    """Refuse a weight of observations that is none."""
    if delta != "held_out":
        check_number("delta", delta, above=0.0)


def check_range(name: str, given: object) -> Range:
    """Return a range of positive numbers."""
    pair = list(given) if isinstance(given, tuple | list) and len(given) == 2 else [0.0, 0.0]
    low, high = (check_number(f"each end of {name}", end, above=0.0) for end in pair)
    if not low < high:
        raise InputError(
            f"{name} must be (low, high) with low < high; got {given!r}; swap or widen them."
        )
    return low, high
