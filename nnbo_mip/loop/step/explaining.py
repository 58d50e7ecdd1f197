r"""Why a step chose its point: read off the model that chose it.

The mean of a Gaussian process is a weighted sum of the values that it learned from,

    f(u) = m + sum_i w_i(u) (y_i - m),     w(u) = (K + D I)^-1 k(u),

so that w_i(u) says how much the mean at u moves with value i. Of other families the nearest known
points are named, which is what they have in common.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.record.events import Observation
from nnbo_mip.loop.record.explanation import Explanation, Leaning
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.step.answer import expected
from nnbo_mip.loop.step.training_set import TrainingSet
from nnbo_mip.space.abstract import NumericDimension
from nnbo_mip.space.space import Space
from nnbo_mip.surrogates.base.abstract import Belief
from nnbo_mip.surrogates.gp.belief import GpBelief

MOST = 5
"""Known points that are named."""

NEAR = 1e-6
"""Of a side or of a row, within which a limit counts as reached."""


@dataclass(frozen=True, eq=False)
class Reasons:
    """The model of a step, kept beside its suggestion; called, it explains.

    Parameters
    ----------
    settings : Settings
    observations : tuple of Observation
        That were told before the step.
    sample : TrainingSet
        What the model learned from, pending points apart.
    X : (n, d) array
        The points that it learned from, pending ones among them.
    belief : Belief
        At the scale of the uncertainty of the step.
    """

    settings: Settings
    observations: tuple[Observation, ...]
    sample: TrainingSet
    X: FloatArray
    belief: Belief

    def __call__(self, step: Suggestion) -> Explanation:
        """Return why the step suggested its point."""
        sign, outward = self.settings.sign, self.sample.outward
        search = self.settings.search
        place = search.encode(step.x)[0] if step.z is None else step.z
        told = [one for one in self.observations if one.y is not None]
        best = max(told, key=lambda one: sign * (one.y or 0.0), default=None)
        mean = std = math.nan
        if best is not None:
            mean, std = expected(self.belief, best.z[None], outward)
        leans_on, is_weighted = self._leanings(place)
        return Explanation(
            x=step.x,
            head=step.head,
            value=step.value,
            bound=step.bound,
            improvement=self._improvement(step, step.value),
            largest_improvement=self._improvement(step, step.bound),
            about=_about(step),
            status=step.status,
            mean=step.mean,
            std=step.std,
            best_x=None if best is None else best.x,
            best_y=math.nan if best is None or best.y is None else best.y,
            best_mean=sign * mean,
            best_std=std,
            leans_on=leans_on,
            is_weighted=is_weighted,
            binding=tuple(self._binding(step, place)),
        )

    def _improvement(self, step: Suggestion, score: float) -> float:
        """Return a score as an expected improvement in the user's units; NaN for others.

        A warp leaves values beyond the best one as they are, but for a power of two.
        """
        if step.head not in ("ei", "logei") or self.sample.is_noisy or not math.isfinite(score):
            return math.nan
        plain = math.exp(min(score, 700.0)) if step.head == "logei" else score
        return float(np.ldexp(plain, self.sample.exponent))

    # -- known points -------------------------------------------------------------------

    def _leanings(self, place: FloatArray) -> tuple[tuple[Leaning, ...], bool]:
        scales = self.belief.length_scales
        known = np.array([one.z for one in self.observations]).reshape(-1, len(place))
        far = (known - place) / (1.0 if scales is None else scales)
        distance = np.sqrt(np.square(far).sum(axis=1))
        weights = self._weights(place)
        order = np.argsort(distance if weights is None else -np.abs(weights), kind="stable")
        found = []
        for k in order[:MOST]:
            one = self.observations[k]
            weight = math.nan if weights is None else float(weights[k])
            found.append(Leaning(one.number, one.x, one.y, weight, float(distance[k])))
        return tuple(found), weights is not None

    def _weights(self, place: FloatArray) -> FloatArray | None:
        """Return how much the mean moves with each value that was told; None where none says."""
        if not isinstance(self.belief, GpBelief):
            return None
        weights: dict[bytes, float] = {}
        for row, weight in zip(self.X, self.belief.value_weights(place)[0], strict=True):
            weights[row.tobytes()] = weights.get(row.tobytes(), 0.0) + float(weight)
        return np.array([weights.get(one.z.tobytes(), 0.0) for one in self.observations])

    # -- limits -------------------------------------------------------------------------

    def _binding(self, step: Suggestion, place: FloatArray) -> list[str]:
        search = self.settings.search
        said = []
        if isinstance(search, Space):
            raw = search.to_numeric(step.x)[0]
            start = 0
            for one in search.dimensions:
                low, high = one.ends(False)
                value, width = raw[start], high - low
                start += one.width
                if not isinstance(one, NumericDimension) or not width > 0.0:
                    continue
                if value - low <= NEAR * width:
                    said.append(f"{one.name} is at its lower end, {low:.6g}")
                elif high - value <= NEAR * width:
                    said.append(f"{one.name} is at its upper end, {high:.6g}")
            said += _rows(search, raw)
        if step.region is not None:
            edges = np.minimum(place - step.region.lower, step.region.upper - place)
            inner = (np.abs(place) < 1.0 - NEAR) & (step.region.lower < step.region.upper)
            touched = int(((edges <= NEAR) & inner).sum())
            if touched:
                plural = "s" if touched > 1 else ""
                said.append(f"{touched} coordinate{plural} at the edge of the trust region")
        if step.eps > 0.0 and len(self.observations):
            seen = np.array([one.z for one in self.observations])
            least = float(np.abs(seen - place).max(axis=1).min())
            if least <= step.eps * (1.0 + 1e-3):
                said.append("it is as near to a known point as the rule of escape lets it be")
        return said


def _rows(space: Space, raw: FloatArray) -> list[str]:
    domain = space.numeric()
    A, b = domain.own_rows
    said = []
    for number, constraint in enumerate(space.constraints):
        rows = _rows_of(space, number)
        slack = b[rows] - A[rows] @ raw
        scale = np.abs(A[rows]) @ np.maximum(np.abs(domain.lower), np.abs(domain.upper))
        if constraint.sense == "==" or bool((slack <= NEAR * scale).any()):
            parts = constraint.coefficients.items()
            terms = " + ".join(f"{factor:g} {term}" for term, factor in parts)
            said.append(f"{terms} {constraint.sense} {constraint.bound:g} holds with equality")
    return said


def _rows_of(space: Space, number: int) -> list[int]:
    """Return the rows of a constraint: two of an equation, one of others."""
    counts = [2 if one.sense == "==" else 1 for one in space.constraints]
    first = sum(counts[:number])
    return list(range(first, first + counts[number]))


def _about(step: Suggestion) -> str:
    words = "the whole space"
    if step.z is not None:
        words = f"the embedding of {len(step.z)} coordinates"
    if step.region is not None:
        words = f"a region whose sides are {step.region.length:.3g} of all, of {words}"
    return words
