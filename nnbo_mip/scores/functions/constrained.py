r"""Expected improvement where outcomes must not exceed limits.

With f and outcomes c_1, …, c_k independent and normal, improvements that count are those with
every c_i <= limit_i, so that

    score = EI(f; threshold) prod_i P(c_i <= limit_i),
    log score = log EI + sum_i log Phi((limit_i - mean_i) / std_i),

and without a threshold, as long as no feasible value is known, the product of probabilities alone.

References
----------
Schonlau et al. (1998), expected improvement under constraints [Schonlau1998].
Gardner et al. (2014), constrained Bayesian optimization [Gardner2014].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_flag, check_number
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.base.abstract import Differentiable, Head, Posterior, Shape
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.probability import LogProbability


class Joint(Protocol):
    """What the head reads: posteriors side by side."""

    @property
    def parts(self) -> Sequence[Any]:
        """That of the function, where there is a threshold, then those of the outcomes."""


@dataclass(frozen=True)
class ConstrainedImprovement(Head):
    """The score, or its logarithm.

    Parameters
    ----------
    limits : tuple of float
        Of the outcomes, at least one.
    thresholds : tuple of float
        What has to be exceeded; empty before a feasible value is known.
    log : bool
        Score the logarithm.
    """

    shape: ClassVar[Shape] = Shape.BOXES

    limits: tuple[float, ...]
    thresholds: tuple[float, ...] = ()
    log: bool = False

    def __post_init__(self) -> None:
        """Refuse numbers that are none."""
        for name in ("limits", "thresholds"):
            given = getattr(self, name)
            object.__setattr__(self, name, tuple(given))  # files hold lists
            for number in given:
                check_number(name, number)
        check_flag("log", self.log)
        if not self.limits or len(self.thresholds) > 1:
            raise InputError(
                "a constrained improvement has a limit at least and one threshold at most; got "
                f"{len(self.limits)} and {len(self.thresholds)}; give them."
            )

    @property
    def name(self) -> str:
        """Name of the score."""
        plain = "constrained_ei" if self.thresholds else "feasibility"
        return f"log_{plain}" if self.log else plain

    @property
    def largest_score(self) -> float:
        """Probabilities are at most 1."""
        if self.thresholds:
            return np.inf
        return 0.0 if self.log else 1.0

    @property
    def reads_std(self) -> bool:
        """It does."""
        return True

    @property
    def logarithm(self) -> ConstrainedImprovement | None:
        """Its logarithm, a sum."""
        return None if self.log else replace(self, log=True)

    @property
    def is_logarithm(self) -> bool:
        """Whether it is the logarithm."""
        return self.log

    @property
    def signs(self) -> tuple[float, ...]:
        """For each part, 1 where its values must be large and -1 where they must be small."""
        return (1.0,) * len(self.thresholds) + (-1.0,) * len(self.limits)

    @property
    def of_parts(self) -> tuple[ExpectedImprovement | LogProbability, ...]:
        """Logarithms of the factors, of parts that are turned by their `signs`."""
        improvements = tuple(ExpectedImprovement(t, log=True) for t in self.thresholds)
        return improvements + tuple(LogProbability(-limit) for limit in self.limits)

    def score_at(self, posterior: Posterior, X: npt.ArrayLike) -> FloatArray:
        """Return the scores (n,) at points (n, d)."""
        parts = _parts(posterior, self)
        terms = []
        for part, head, sign in zip(parts, self.of_parts, self.signs, strict=True):
            mean, std = part.moments(X)
            terms.append(head.score(sign * mean, std))
        total = np.sum(terms, axis=0)
        return np.asarray(total if self.log else np.exp(total))

    def gradient_at(self, posterior: Differentiable, X: FloatArray) -> FloatArray:
        """Return the gradients (n, d) of `score_at`."""
        gradient = np.zeros_like(X)
        for part, head, sign in zip(
            _parts(posterior, self), self.of_parts, self.signs, strict=True
        ):
            gradient = gradient + part.pull_moments(X, _turned(head, sign))
        if self.log:
            return gradient
        return np.asarray(self.score_at(posterior, X)[:, None] * gradient)

    def tangent_at(self, posterior: Differentiable, X: FloatArray) -> Network:
        """Return an affine network with the slopes of the score at a point (1, d)."""
        return Network.from_layers([(self.gradient_at(posterior, X), np.zeros(1))])


def _turned(head: ExpectedImprovement | LogProbability, sign: float) -> Any:
    """Return the slopes of a head by mean and std where it reads ``sign * mean``."""

    def slopes(mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        by_mean, by_std = head.gradient(sign * mean, std)
        return sign * by_mean, by_std

    return slopes


def _parts(posterior: Any, head: ConstrainedImprovement) -> Sequence[Any]:
    parts: Sequence[Any] = getattr(posterior, "parts", ())
    if len(parts) != len(head.signs):
        raise InputError(
            f"a {head.name} must read {len(head.signs)} posteriors, one for each factor; got "
            f"{len(parts)}; join them."
        )
    return parts
