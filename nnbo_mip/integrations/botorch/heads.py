r"""Analytic acquisition functions of BoTorch as our acquisitions over beliefs.

    LogExpectedImprovement            logei        incumbent best_f
    ExpectedImprovement               ei           incumbent best_f
    LogProbabilityOfImprovement       logpi        incumbent best_f
    ProbabilityOfImprovement          pi           incumbent best_f
    UpperConfidenceBound              ucb          beta is the root of BoTorch's
    PosteriorMean                     mean

With ``maximize=False`` each is that of -f: the belief is turned, and best_f with it. A
`ScalarizedPosteriorTransform` of one weight is an affine map of y, as is the turning.

A pending point counts as if the mean had been observed there, with the mean noise: the mean stays
what it is everywhere, the std shrinks, and the incumbent of an improvement rises to the mean there.

References
----------
Ginsbourger et al. (2010), the kriging believer [Ginsbourger2010].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from botorch.acquisition import analytic
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from scipy.linalg import solve_triangular

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.context import Context
from nnbo_mip.acquisitions.ei import Ei
from nnbo_mip.acquisitions.logei import LogEi
from nnbo_mip.acquisitions.mean import Mean
from nnbo_mip.acquisitions.pi import Pi
from nnbo_mip.acquisitions.ucb import UpperConfidenceBound
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.integrations.botorch.comparing import check_floor, check_moments, check_scores
from nnbo_mip.integrations.botorch.reading import inputs_of, number, read, refused
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.surrogates.base.abstract import Belief
from nnbo_mip.surrogates.gp.belief import GpBelief


@dataclass(frozen=True)
class LogPi(Pi):
    """The logarithm of the probability of improvement; options as those of `Pi`."""

    name: ClassVar[str] = "logpi"

    def head(self, belief: Belief, context: Context) -> Head:
        """Return the logarithm of the head of `Pi`."""
        head = super().head(belief, context)
        assert isinstance(head, ProbabilityOfImprovement)
        return head.logarithm


IMPROVEMENTS: dict[Any, type[Ei] | type[Pi]] = {
    analytic.LogExpectedImprovement: LogEi,
    analytic.ExpectedImprovement: Ei,
    analytic.LogProbabilityOfImprovement: LogPi,
    analytic.ProbabilityOfImprovement: Pi,
}


@dataclass(frozen=True, eq=False)
class Read:
    """An acquisition function of BoTorch as it was read.

    Parameters
    ----------
    acquisition : Acquisition
    belief : GpBelief
        Of what the acquisition maximizes.
    """

    acquisition: Acquisition
    belief: GpBelief

    @staticmethod
    def of(acq_function: Any) -> Read:
        """Read it, or name the part that is not read."""
        kind = type(acq_function)
        if kind not in READERS:
            names = ", ".join(one.__name__ for one in READERS)
            raise refused("acquisition function", f"one of {names}", acq_function)
        belief = _transformed(read(acq_function.model), acq_function.posterior_transform)
        sign = 1.0 if acq_function.maximize else -1.0
        return Read(READERS[kind](acq_function, sign), affine(belief, sign, 0.0))

    def compared(self, acq_function: Any, points: FloatArray) -> float:
        """Refuse what differs from BoTorch's posterior or values; return the largest difference."""
        plain = affine(self.belief, 1.0 if acq_function.maximize else -1.0, 0.0)
        if self.changes:
            check_floor(self.belief)
        by_moments = check_moments(
            plain, acq_function.model, acq_function.posterior_transform, points
        )
        scorer = self.acquisition.scorer(self.belief)
        return max(by_moments, check_scores(scorer, acq_function, points))

    @property
    def changes(self) -> bool:
        """Whether it reads the std, which pending points change."""
        return self.acquisition.resolve(self.belief).reads_std

    @property
    def observed(self) -> FloatArray:
        """The points (n, d) that the model learned from."""
        return inputs_of(self.belief)

    def with_pending(self, x: FloatArray) -> Read:
        """Return it as if the mean had been observed at a point (d,)."""
        acquisition: Any = self.acquisition
        believed = float(self.belief.mean(x)[0])
        incumbent = getattr(acquisition, "incumbent", None)
        if incumbent is not None and incumbent < believed:
            acquisition = replace(acquisition, incumbent=believed)
        return Read(acquisition, observing_mean(self.belief, x))


def affine(belief: GpBelief, weight: float, offset: float) -> GpBelief:
    """Return the belief in ``offset + weight * f``; the weight is not zero."""
    units = belief.units
    size = abs(weight)
    return replace(
        belief,
        weights=math.copysign(1.0, weight) * belief.weights,
        units=replace(
            units, y_center=offset + weight * units.y_center, y_scale=size * units.y_scale
        ),
        noise=size * belief.noise,
    )


def observing_mean(belief: GpBelief, x: FloatArray) -> GpBelief:
    """Return the belief after one more observation (d,), of its own mean there."""
    u = belief.units.inward(belief.check_points(x))
    diagonal = np.broadcast_to(belief.diagonal, len(belief.points))
    noise, n = float(diagonal.mean()), len(belief.points)
    row = solve_triangular(belief.factor, belief.kernel(belief.points, u)[:, 0], lower=True)
    factor = np.zeros((n + 1, n + 1))
    factor[:n, :n], factor[n, :n] = belief.factor, row
    factor[n, n] = math.sqrt(max(belief.kernel.amplitude - float(row @ row), 0.0) + noise)
    return replace(
        belief,
        points=np.concatenate([belief.points, u]),
        factor=factor,
        weights=np.append(belief.weights, 0.0),
        diagonal=np.append(diagonal, noise),
    )


def _transformed(belief: GpBelief, transform: Any) -> GpBelief:
    """Return the belief in what a posterior transform makes of the outcome."""
    if transform is None:
        return belief
    if type(transform) is not ScalarizedPosteriorTransform:
        raise refused("posterior transform", "a ScalarizedPosteriorTransform", transform)
    weight, offset = number(transform.weights), float(transform.offset)
    if weight == 0.0:
        raise UnsupportedError(
            "the weight of a ScalarizedPosteriorTransform must not be 0, as there is nothing to "
            "maximize then; got 0; give another one."
        )
    return affine(belief, weight, offset)


def _improvement(acq_function: Any, sign: float) -> Acquisition:
    return IMPROVEMENTS[type(acq_function)](incumbent=sign * _single(acq_function, "best_f"))


def _confidence(acq_function: Any, sign: float) -> Acquisition:
    return UpperConfidenceBound(beta=math.sqrt(_single(acq_function, "beta")))


def _mean(acq_function: Any, sign: float) -> Acquisition:
    return Mean()


def _single(acq_function: Any, name: str) -> float:
    """Return an option that must be one number."""
    given = getattr(acq_function, name)
    if given.numel() != 1:
        raise UnsupportedError(
            f"{name} of a {type(acq_function).__name__} must be one number; got the shape "
            f"{tuple(given.shape)}; maximize one acquisition function for each."
        )
    return number(given)


READERS = {
    **dict.fromkeys(IMPROVEMENTS, _improvement),
    analytic.UpperConfidenceBound: _confidence,
    analytic.PosteriorMean: _mean,
}
"""How each acquisition function is read; all others are refused."""
