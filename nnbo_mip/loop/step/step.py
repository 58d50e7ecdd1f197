"""One step with a model: fit, scale, maximize, escape.

belief = surrogate.fit(sample and what pending points are taken to be)
c      = that of the step before, or of the scaling at the first step
x      = argmax of the acquisition over c times the uncertainty, by the rule of escape
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.clock import now
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.progress import Progress, ProgressCallback
from nnbo_mip.loop.policies.clearing import Quick, cleared
from nnbo_mip.loop.policies.escape import Escaped
from nnbo_mip.loop.policies.seeds import Purpose, seed_for
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.regions.box import region_of_step
from nnbo_mip.loop.regions.regions import Extent
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.step.answer import suggested
from nnbo_mip.loop.step.learning import learned
from nnbo_mip.loop.step.sample import Sample
from nnbo_mip.maximizers.base.abstract import Request
from nnbo_mip.maximizers.base.proposal import Proposal
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.heuristics.warm_start import ASCENTS
from nnbo_mip.maximizers.maximize import maximize
from nnbo_mip.space.embedded.embedded_space import EmbeddedSpace
from nnbo_mip.surrogates.base.abstract import Belief, Capability

T = TypeVar("T")

STARTS = 5
"""Best points, from which a maximizer may begin."""

LEAST_SHARE = 0.2
"""Part of the time of an ask that is left for maximizing, however long the fit took."""

QUICK_SHARE = 0.25
"""Of that time that a search without a proof may take."""

FINER = 0.999
"""Part of the gap that is asked of a maximizer: the user's numbers are a rounding away."""

SHORTEST = 1e-3
"""Seconds of a search after Ctrl-C, which still has to find some point."""


@dataclass(frozen=True, eq=False)
class StepInput:
    """What a step depends on, beside the settings.

    Parameters
    ----------
    sample : Sample
        What the model learns from.
    pending : (p, k) array
        Points whose values are still to come, in model coordinates.
    seen : (n, k) array
        Points that the rule of escape keeps away from: all that were told or are pending.
    step : int
        Points that models chose before.
    starts : int
        Initial points of this stage.
    c : float or None
        The scale that the step begins with; None at the first step.
    extent : Extent or None
        The region to which the search is limited.
    believed : callable
        Fits a surrogate to a sample alone; the same belief for the same sample, perhaps kept.
    """

    sample: Sample
    pending: FloatArray
    seen: FloatArray
    step: int
    starts: int
    c: float | None
    extent: Extent | None
    believed: Callable[[Sample], Belief]


@dataclass(frozen=True, eq=False)
class StepResult:
    """What a step suggests.

    Parameters
    ----------
    suggestion : Suggestion
    next_c : float
        The scale with which the next step begins.
    wanted : (k,) array or None
        What was proposed before the rule of escape, in model coordinates.
    """

    suggestion: Suggestion
    next_c: float
    wanted: FloatArray | None


class Step:
    """One step; see `run`.

    Parameters
    ----------
    settings : Settings
    given : StepInput
    callback : callable, optional
        Receives a `Progress` while the model learns and its acquisition is maximized.
    """

    def __init__(
        self, settings: Settings, given: StepInput, callback: ProgressCallback | None = None
    ) -> None:
        self._settings = settings
        self._given = given
        self._callback = callback
        self._domain = settings.search.model()
        self._started = now()
        self._sample = given.sample.fitted(settings.most_fitted)
        self._X, self._y, self._noise = self._with_pending()
        chosen = settings.batch.acquisition(settings.acquisition, len(given.pending))
        with_seed = seeded(chosen, self._seed(Purpose.ACQUISITION))
        self._acquisition: Acquisition = with_seed.converted(self._inward)
        self._say(f"{settings.surrogate.name} learns from {len(self._X)} values")
        surrogate = seeded(settings.surrogate, self._seed(Purpose.FIT)).converted(self._inward)
        self._belief: Belief = learned(surrogate, self._X, self._y, self._noise)
        self._fitted = now()
        self._region, self._said = region_of_step(
            given.extent,
            self._domain,
            given.seen,
            self._belief.length_scales,
            self._seed(Purpose.REGION),
        )
        self._reach = self._domain
        if self._region is not None:
            self._reach = self._domain.restrict(self._region.lower, self._region.upper)
        self._hurried = False  # whether the clock ended anything that the answer rests on
        self._interrupted = False  # whether somebody pressed Ctrl-C
        # What it remembered of other steps, a run that is resumed here would not have.
        self._maximizer = settings.maximizer.fresh()
        self._c = self._first_c()
        self._wanted: FloatArray | None = None

    def run(self) -> StepResult:
        """Return what to evaluate next."""
        settings, given = self._settings, self._given
        steps = settings.steps
        eps = settings.escape.eps(given.step, given.starts, self._domain.dimension, steps)
        escaped = self._escaped(eps)
        if escaped.imposed > 0.0 and self._repeats(escaped.proposal):
            # It was rounded to a known point: the distance is less than that of the user's numbers.
            escaped = self._escaped(max(eps, 2.0 * settings.resolution))
        if escaped.proposal.x is None:
            raise InputError(
                "a space must have an admissible point; none was found: "
                f"{escaped.proposal.message or 'relax a constraint or widen a bound.'}"
            )
        belief = self._scaled(escaped.c)
        scorer = None
        if not self._acquisition.proposes:
            scorer = self._acquisition.scorer(
                belief, self._X, self._y, self._sample.deviations, self._given.step
            )
        suggestion = suggested(
            settings.search,
            settings.sign,
            belief,
            scorer,
            escaped,
            self._sample.outward,
            self._gap,
        )
        remarks = self._remarks(suggestion.message)
        found = replace(
            suggestion.found,
            time_limited=self._hurried,
            message=" ".join(part for part in remarks if part),
        )
        suggestion = replace(
            suggestion,
            found=found,
            region=self._region,
            seconds=now() - self._fitted,
            fit_seconds=self._fitted - self._started,
        )
        return StepResult(suggestion, escaped.next_c, self._wanted)

    def _escaped(self, eps: float) -> Escaped:
        """Return what the rule of escape makes of the maximizer's proposals at a distance."""
        return self._settings.escape.apply(
            self._propose,
            self._given.seen,
            self._c,
            eps,
            self._reach,
            responds=self._responds,
            should_stop=self._is_late,
        )

    def _repeats(self, proposal: Proposal) -> bool:
        """Whether a proposal is a known point once its numbers are the user's."""
        space = self._settings.search
        if proposal.x is None or isinstance(space, EmbeddedSpace):
            return False
        place = space.encode(space.decode(proposal.x))
        return bool((self._given.seen == place).all(axis=1).any())

    # -- learning ---------------------------------------------------------------------

    def _inward(self, value: float) -> float:
        """Return a value in the user's units as models see it."""
        return self._sample.value_inward(value, self._settings.sign)

    def _remarks(self, message: str) -> tuple[str, ...]:
        """Return what there is to say of a suggestion, some of it empty."""
        surrogate, acquisition = self._settings.surrogate, self._acquisition
        is_read = surrogate.weighs_noise or acquisition.reads_noise
        unread = (
            f"the deviations that were told play no part: {surrogate.name} and {acquisition.name} "
            "read none; take the surrogate 'gp' or the acquisition 'aei'."
        )
        return message, self._said, "" if self._noise is None or is_read else unread

    def _with_pending(self) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Return points, values and deviations, what pending points are taken to be included."""
        sample, pending = self._sample, self._given.pending
        if not len(pending):
            return sample.X, sample.y, sample.noise
        told = sample.y[sample.told]
        has_mean = Capability.MEAN in self._settings.surrogate.capabilities
        fit = (lambda: self._given.believed(sample)) if has_mean else None
        values = self._settings.batch.values(pending, told, fit)
        if values is None:
            return sample.X, sample.y, sample.noise
        noise = sample.noise
        if noise is not None:
            noise = np.append(noise, np.full(len(pending), np.nan))
        return np.concatenate([sample.X, pending]), np.concatenate([sample.y, values]), noise

    def _first_c(self) -> float:
        if self._given.c is not None:
            return self._given.c
        seed = self._seed(Purpose.SCALE)
        values = self._sample.y[self._sample.told]
        return self._settings.scaling.factor(self._belief, self._domain, values, seed)

    @property
    def _responds(self) -> bool:
        """Whether the score depends on the scale of the uncertainty."""
        acquisition = self._acquisition
        scores = not acquisition.proposes and acquisition.needs != {Capability.MEAN}
        return self._settings.surrogate.scalable and scores

    # -- maximizing -------------------------------------------------------------------

    def _propose(self, c: float, away: float | None = None) -> Proposal:
        """Maximize, where `away` is given at this distance from every known point."""
        if away is None:
            return self._maximized(c, None, None, None)
        return cleared(
            self._given.seen,
            away,
            lambda excluded, guess: self._maximized(c, excluded, away, guess),
            self._quick(c, away),
            self._is_late,
        )

    def _quick(self, c: float, away: float) -> Quick | None:
        """Return a search without a proof, None where it would spare nothing.

        On networks a proof is often the quicker of the two.
        """
        proves, offered = self._settings.maximizer.abilities.proves, self._belief.capabilities
        if not proves or self._acquisition.proposes or Capability.NETWORK in offered:
            return None
        scorer = self._acquisition.scorer(
            self._scaled(c), self._X, self._y, self._sample.deviations, self._given.step
        )
        if ASCENTS.why_not(Target(scorer, self._reach)):
            return None
        starts = self._sample.best(STARTS)

        def quick(excluded: FloatArray | None) -> Proposal:
            domain = self._reach if excluded is None else self._reach.away_from(excluded, away)
            request = Request(
                time_limit=QUICK_SHARE * self._settings.time_limit,
                seed=self._seed(Purpose.MAXIMIZE),
                starts=starts[domain.admissible(starts)],
            )
            found = ASCENTS.maximize(Target(scorer, domain), request)
            return self._noted(found, c, excluded)

        return quick

    def _maximized(
        self,
        c: float,
        excluded: FloatArray | None,
        away: float | None,
        guess: FloatArray | None,
    ) -> Proposal:
        settings, starts = self._settings, self._sample.best(STARTS)
        limit = settings.time_limit
        if self._interrupted:
            limit = SHORTEST
        elif math.isfinite(limit):
            limit = max(self._left(), LEAST_SHARE * limit)
        proposal = maximize(
            self._scaled(c),
            self._acquisition,
            self._reach,
            maximizer=self._maximizer,
            X=self._X,
            y=self._y,
            noise=self._sample.deviations,
            step=self._given.step,
            gap=FINER * self._gap,
            time_limit=limit,
            seed=self._seed(Purpose.MAXIMIZE),
            away_from=excluded,
            eps=None if excluded is None else away,
            starts=starts if guess is None else np.vstack([starts, guess]),
            progress=self._callback,
        )
        return self._noted(proposal, c, excluded)

    @property
    def _gap(self) -> float:
        """The gap of the run, as a part of the values' spread where scores are values.

        Engines count it in units of ``max(1, |value|)``, of which small values, and values far from
        zero, may differ by a tiny part only.
        """
        gap = self._settings.gap
        if not self._acquisition.scores_y:
            return gap
        with np.errstate(over="ignore"):
            spread = float(np.std(self._y))
        share = spread / max(1.0, abs(float(self._y.max())))
        return gap * share if 0.0 < share < 1.0 else gap

    def _noted(self, proposal: Proposal, c: float, excluded: FloatArray | None) -> Proposal:
        """Take notice of a proposal: what was wanted, and what the clock or Ctrl-C ended."""
        self._hurried |= proposal.time_limited
        self._interrupted |= proposal.interrupted
        if excluded is None and c == self._c and proposal.x is not None:
            self._wanted = proposal.x
        return proposal

    def _say(self, note: str) -> None:
        if self._callback is not None:
            self._callback(Progress("", -math.inf, math.inf, 0.0, math.inf, note=note))

    def _scaled(self, c: float) -> Belief:
        return self._belief if c == 1.0 else self._belief.scaled(c)

    def _left(self) -> float:
        if self._interrupted:
            return 0.0
        return self._settings.time_limit - (now() - self._started)

    def _is_late(self) -> bool:
        late = self._left() <= 0.0
        self._hurried |= late
        return late

    def _seed(self, purpose: Purpose) -> int:
        return seed_for(self._settings.seed, self._given.step, purpose)


def seeded(options: T, seed: int) -> T:
    """Return option objects with a seed, if they have one."""
    made: Any = options
    return replace(made, seed=seed) if hasattr(options, "seed") else options
