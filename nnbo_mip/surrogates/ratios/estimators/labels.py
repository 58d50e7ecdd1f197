r"""Labels: which observations are good, and what class probabilities say of density ratios.

y is maximized, and tau is the (1 - gamma)-quantile of y, an order statistic. With z_n = 1 for a
good observation and 0 for a bad one,

    z_n = 1 where y_n >= tau,  or  y_n > tau,

whichever has the share of ones nearer to gamma, as long as both classes have a member. Annealed,
gamma (10 / n)^annealing takes the place of gamma from ten observations on, so that good points come
nearer to the best. Only ranks matter, so an increasing map of y changes nothing. With s the share
of ones, l and g the densities of good and bad points and p = s l + (1 - s) g that of all,

    pi = P(z = 1 | x) = s l / p,      u = log(pi / (1 - pi)) = log(s l / ((1 - s) g)),
    r_s = l / p = pi / s <= 1 / s,    r_0 = l / g,     r_s = 1 / (s + (1 - s) / r_0).

>>> from nnbo_mip.surrogates.ratios.estimators.labels import Labels
>>> Labels.of([0.3, 0.1, 0.9, 0.2, 0.9, 0.4], gamma=1 / 3).good.tolist()
[False, False, True, False, True, False]
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logit

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_number

FIRST = 10
"""Observations from which on a share is annealed."""

SURE = 1e-3
"""Class probabilities within it of 0 and 1 have their log-odds continued by the tangent."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Good and bad observations.

    Parameters
    ----------
    good : (n,) bool array
        At least one is True.
    share : float
        Of good observations; where there are no bad ones, the gamma that was asked for.
    """

    good: npt.NDArray[np.bool_]
    share: float

    @staticmethod
    def of(y: npt.ArrayLike, gamma: float, annealing: float = 0.0) -> Labels:
        """Label values (n,), of which the share `gamma`, annealed, is to be good."""
        values = np.asarray(y, dtype=np.float64)
        gamma *= min(1.0, FIRST / len(values)) ** annealing
        wanted = max(1, math.floor(gamma * len(values)))
        tau = np.sort(values)[-wanted]
        choices = [values >= tau, values > tau]
        both = [good for good in choices if 0 < int(good.sum()) < len(values)]
        if not both:
            return Labels(np.ones(len(values), dtype=np.bool_), gamma)
        good = min(both, key=lambda labels: abs(float(labels.mean()) - gamma))
        return Labels(good, float(good.mean()))

    @property
    def are_all_good(self) -> bool:
        """Whether there is nothing to be told apart, as with one observation, or equal ones."""
        return bool(self.good.all())

    @property
    def prior_odds(self) -> float:
        """Log-odds of a point of which nothing is known: those at a ratio of 1."""
        return float(logit(self.share))


def check_gamma(gamma: float, annealing: float) -> None:
    """Refuse a share of good observations that is none, or that shrinks faster than 1 / n."""
    check_number("gamma", gamma, above=0.0, below=1.0)
    check_number("annealing", annealing, least=0.0, most=1.0)


def ratio_of_odds(log_odds: FloatArray, share: float) -> FloatArray:
    """Return the relative density ratio r_s of log-odds, at most 1 / share."""
    return np.asarray(expit(log_odds) / share)


def odds_of_ratio(ratio: FloatArray, share: float) -> FloatArray:
    """Return the log-odds of plain density ratios r_0 = l / g > 0."""
    return np.asarray(np.log(ratio) + logit(share))


def odds_of_probability(probability: FloatArray) -> FloatArray:
    """Return log-odds, continued by their tangents near 0 and 1, where estimates may be or exceed.

    The continuation rises without end: two points that are both sure keep their order.
    """
    inner = np.clip(probability, SURE, 1.0 - SURE)
    return np.asarray(logit(inner) + (probability - inner) / (SURE * (1.0 - SURE)))


def slope_of_odds(probability: FloatArray) -> FloatArray:
    """Return the derivative of `odds_of_probability`."""
    inner = np.clip(probability, SURE, 1.0 - SURE)
    return np.asarray(1.0 / (inner * (1.0 - inner)))
