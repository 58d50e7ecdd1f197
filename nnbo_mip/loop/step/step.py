"""One step with a model: fit, scale, maximize, escape.

belief = surrogate.fit(sample and what pending points are taken to be)
c      = that of the step before, or of the scaling at the first step
x      = argmax of the acquisition over c times the uncertainty, by the rule of escape
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from nnbo_mip.acquisitions.base.scorer import Scorer
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.control import Progress, ProgressCallback, now
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.policies.escape import Escape, Escaped
from nnbo_mip.loop.policies.exclude import Quick, maximized_away
from nnbo_mip.loop.record.region_box import RegionBox
from nnbo_mip.loop.regions.box import region_of_step
from nnbo_mip.loop.regions.sides import drawn_sides
from nnbo_mip.loop.settings.settings import Purpose, Settings, seed_for
from nnbo_mip.loop.step.answer import suggested
from nnbo_mip.loop.step.doubts import NOTHING_IN_REGION, NOTHING_LEFT, is_negligible
from nnbo_mip.loop.step.slices import Slice, widest_slice
from nnbo_mip.loop.step.step_data import Learned, StepInput, StepResult
from nnbo_mip.loop.step.training_set import TrainingSet, learned, seeded
from nnbo_mip.maximizers.base.abstract import Proposal, Request
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.exact import ASCENTS, Prover, is_settled_at_once
from nnbo_mip.maximizers.maximize import maximize
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.embedded.embedded_space import EmbeddedSpace
from nnbo_mip.surrogates.base.abstract import Belief, Capability

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


class Step:
    """One step, its model fitted; made by `fit`, taken by `run`.

    Parameters
    ----------
    settings : Settings
    given : StepInput
    learned : Learned
    callback : callable, optional
        Receives a `Progress` while the acquisition is maximized.
    """

    def __init__(
        self,
        settings: Settings,
        given: StepInput,
        learned: Learned,
        callback: ProgressCallback | None = None,
    ) -> None:
        self._settings, self._given, self._learned = settings, given, learned
        self._callback = callback
        self._reach = settings.search.model()
        if learned.region is not None:
            self._reach = self._reach.restrict(learned.region.lower, learned.region.upper)
        self._hurried = False  # whether the clock ended anything that the answer rests on
        self._interrupted = False  # whether somebody pressed Ctrl-C
        # What it remembered of other steps, a run that is resumed here would not have.
        self._maximizer = settings.maximizer.fresh()
        self._wanted: FloatArray | None = None
        self._slice: Slice | None = None

    @staticmethod
    def fit(settings: Settings, given: StepInput, callback: ProgressCallback | None = None) -> Step:
        """Fit the model of a step; parameters as those of the step."""
        began = now()
        sample = given.sample.fitted(settings.most_fitted)
        X, y, noise = _with_pending(settings, given, sample)

        def inward(value: float) -> float:
            return sample.value_inward(value, settings.sign)

        def seed(purpose: Purpose) -> int:
            return seed_for(settings.seed, given.step, purpose)

        chosen = settings.acquisition
        if len(given.pending):
            chosen = settings.batch.acquisition(chosen, len(given.pending))
        acquisition = seeded(chosen, seed(Purpose.ACQUISITION)).converted(inward)
        if callback is not None:
            before = f", the last time in {given.fit_before:.1f} s" if given.fit_before else ""
            note = f"{settings.surrogate.name} learns from {len(X)} values{before}"
            callback(Progress("", -math.inf, math.inf, 0.0, math.inf, note=note))
        surrogate = seeded(settings.learner, seed(Purpose.FIT)).converted(inward)
        belief = learned(surrogate, X, y, noise)
        ended = now()
        domain = settings.search.model()
        region, said = None, ""
        if given.extent is not None:
            region, said = region_of_step(
                given.extent, domain, given.seen, belief.length_scales, seed(Purpose.REGION)
            )
        c = 1.0 if given.c is None else given.c
        if given.c is None and settings.scaling.scales:
            told = sample.y[sample.told]
            c = settings.scaling.factor(belief, domain, told, seed(Purpose.SCALE))
        return Step(
            settings,
            given,
            Learned(sample, X, y, noise, acquisition, belief, region, said, c, began, ended),
            callback,
        )

    def run(self) -> StepResult:
        """Return what to evaluate next."""
        settings, given = self._settings, self._given
        steps = settings.steps
        dimension = settings.search.model().dimension
        eps = self._escape.eps(given.step, given.starts, dimension, steps)
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
        scorer = None if self._learned.acquisition.proposes else self._scorer(belief)
        suggestion = suggested(
            settings.search,
            settings.sign,
            belief,
            scorer,
            escaped,
            self._learned.sample.outward,
            self._gap,
        )
        doubt = ""
        if scorer is not None:
            target, x = Target(scorer, settings.search.model()), escaped.proposal.x
            # Scores that are not compared by their logarithm are never negligible.
            if target.searched.is_logarithm and is_negligible(target, x, self._learned.y):
                doubt = NOTHING_LEFT if self._learned.region is None else NOTHING_IN_REGION
        remarks = (*self._remarks(suggestion.message), doubt)
        found = replace(
            suggestion.found,
            time_limited=self._hurried,
            message=" ".join(part for part in remarks if part),
        )
        suggestion = replace(
            suggestion,
            found=found,
            region=self._learned.region if self._slice is None else self._slice.region,
            seconds=now() - self._learned.ended,
            fit_seconds=self._learned.ended - self._learned.began,
        )
        used = replace(self._learned, belief=belief)
        return StepResult(suggestion, escaped.next_c, self._wanted, used)

    def _escaped(self, eps: float) -> Escaped:
        """Return what the rule of escape makes of the maximizer's proposals at a distance."""
        return self._escape.apply(
            self._propose,
            self._given.seen,
            self._learned.c,
            eps,
            self._reach,
            responds=self._responds,
            should_stop=self._is_late,
        )

    @property
    def _escape(self) -> Escape:
        """The rule of escape; a known point may be worth a second value where these are noisy."""
        rule = self._settings.escape
        can_repeat = self._learned.sample.is_noisy and self._settings.surrogate.weighs_noise
        return rule.among_noise() if can_repeat else rule

    def _repeats(self, proposal: Proposal) -> bool:
        """Whether a proposal is a known point once its numbers are the user's."""
        space = self._settings.search
        if proposal.x is None or isinstance(space, EmbeddedSpace):
            return False
        place = space.encode(space.decode(proposal.x))
        return bool((self._given.seen == place).all(axis=1).any())

    def _remarks(self, message: str) -> tuple[str, ...]:
        """Return what there is to say of a suggestion, some of it empty."""
        surrogate, acquisition = self._settings.surrogate, self._learned.acquisition
        is_read = surrogate.weighs_noise or acquisition.reads_noise
        unread = (
            "the standard deviations that were told do not reach the model: "
            f"{surrogate.name} reads none; "
            "take the surrogate 'gp' or the acquisition 'aei'."
        )
        noise = self._learned.sample.learned
        learned_noise = (
            f"a noise with the standard deviation {noise:.3g} was learned from the values."
            if noise
            else ""
        )
        is_unread = self._learned.noise is not None and not is_read
        said = self._learned.said if self._slice is None else self._slice.said
        family = self._learned.belief.family
        taken = "" if family == surrogate.name else f"the family of this step is {family}."
        return message, said, taken, learned_noise, unread if is_unread else ""

    @property
    def _responds(self) -> bool:
        """Whether the score depends on the scale of the uncertainty."""
        acquisition = self._learned.acquisition
        scores = not acquisition.proposes and acquisition.needs != {Capability.MEAN}
        return self._settings.surrogate.scalable and scores

    # -- maximizing -------------------------------------------------------------------

    def _propose(self, c: float, away: float | None = None) -> Proposal:
        """Maximize, where `away` is given at this distance from every known point."""
        if away is None:
            return self._maximized(c, None, None, None)
        return maximized_away(
            self._given.seen,
            away,
            partial(self._maximized, c, away),
            self._quick(c, away),
            self._is_late,
        )

    def _quick(self, c: float, away: float) -> Quick | None:
        """Return a search without a proof, None where it would spare nothing.

        On networks, and where one bound settles all, a proof is the quicker of the two.
        """
        proves, offered = (
            self._settings.maximizer.abilities.proves,
            self._learned.belief.capabilities,
        )
        if not proves or self._learned.acquisition.proposes or Capability.NETWORK in offered:
            return None
        return self._ascents(c, away)

    def _ascents(self, c: float, away: float | None) -> Quick | None:
        """Return a search by ascents, None where the score has no gradient."""
        scorer = self._scorer(self._scaled(c))
        target = Target(scorer, self._reach)
        if ASCENTS.why_not(target) or is_settled_at_once(target):
            return None
        starts = self._learned.sample.best(STARTS)

        def quick(excluded: FloatArray | None) -> Proposal:
            domain = self._reach
            if excluded is not None and away is not None:
                domain = domain.away_from(excluded, away)
            request = Request(
                time_limit=QUICK_SHARE * self._given.time_limit,
                seed=seed_for(self._settings.seed, self._given.step, Purpose.MAXIMIZE),
                starts=starts[domain.admissible(starts)],
            )
            found = ASCENTS.maximize(Target(scorer, domain), request)
            return self._noted(found, c, excluded)

        return quick

    def _maximized(
        self,
        c: float,
        away: float | None,
        excluded: FloatArray | None,
        guess: FloatArray | None,
    ) -> Proposal:
        """Maximize within the reach, or in the widest slice of it that closes."""
        self._slice = None
        ascents = self._ascents(c, away) if self._is_sliced(c) else None
        if ascents is None:
            return self._in(self._reach, c, away, excluded, guess)
        centre = ascents(excluded).x if guess is None else guess
        if centre is None:
            return self._in(self._reach, c, away, excluded, None)
        whole = RegionBox(1.0, self._reach.lower, self._reach.upper, self._reach.one_hot)
        seed = seed_for(self._settings.seed, self._given.step, Purpose.REGION)
        sides = drawn_sides(whole, self._reach, seed, self._learned.belief.length_scales)
        self._slice = widest_slice(
            lambda domain, good: self._in(domain, c, away, excluded, good),
            self._reach,
            centre,
            sides,
            len(self._learned.y),
            self._is_late,
        )
        return self._slice.proposal

    def _is_sliced(self, c: float) -> bool:
        """Whether proofs are about slices: not where they close at once in all coordinates."""
        maximizer = self._settings.maximizer
        if not (self._settings.region.slices and isinstance(maximizer, Prover)):
            return False
        if self._learned.acquisition.proposes:
            return False
        target = Target(self._scorer(self._scaled(c)), self._reach)
        return not Prover.why_not(maximizer, target) and not is_settled_at_once(target)

    def _in(
        self,
        domain: Domain,
        c: float,
        away: float | None,
        excluded: FloatArray | None,
        guess: FloatArray | None,
    ) -> Proposal:
        starts = self._learned.sample.best(STARTS)
        limit = self._given.time_limit
        if self._interrupted:
            limit = SHORTEST
        elif math.isfinite(limit):
            limit = max(self._left(), LEAST_SHARE * limit)
        proposal = maximize(
            self._scaled(c),
            self._learned.acquisition,
            domain,
            maximizer=self._maximizer,
            X=self._learned.X,
            y=self._learned.y,
            noise=self._learned.sample.deviations,
            step=self._given.step,
            gap=FINER * self._gap,
            time_limit=limit,
            seed=seed_for(self._settings.seed, self._given.step, Purpose.MAXIMIZE),
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
        if not self._learned.acquisition.scores_y:
            return gap
        with np.errstate(over="ignore"):
            spread = float(np.std(self._learned.y))
        share = spread / max(1.0, abs(float(self._learned.y.max())))
        return gap * share if 0.0 < share < 1.0 else gap

    def _noted(self, proposal: Proposal, c: float, excluded: FloatArray | None) -> Proposal:
        """Take notice of a proposal: what was wanted, and what the clock or Ctrl-C ended."""
        self._hurried |= proposal.time_limited
        self._interrupted |= proposal.interrupted
        if excluded is None and c == self._learned.c and proposal.x is not None:
            self._wanted = proposal.x
        return proposal

    def _scorer(self, belief: Belief) -> Scorer:
        learned = self._learned
        return learned.acquisition.scorer(
            belief, learned.X, learned.y, learned.sample.deviations, self._given.step
        )

    def _scaled(self, c: float) -> Belief:
        return self._learned.belief if c == 1.0 else self._learned.belief.scaled(c)

    def _left(self) -> float:
        if self._interrupted:
            return 0.0
        return self._given.time_limit - (now() - self._learned.began)

    def _is_late(self) -> bool:
        late = self._left() <= 0.0
        self._hurried |= late
        return late


def _with_pending(
    settings: Settings, given: StepInput, sample: TrainingSet
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Return points, values and deviations, what pending points are taken to be included."""
    pending = given.pending
    if not len(pending):
        return sample.X, sample.y, sample.noise
    told = sample.y[sample.told]
    has_mean = Capability.MEAN in settings.surrogate.capabilities
    fit = (lambda: given.believed(sample)) if has_mean else None
    values = settings.batch.values(pending, told, fit)
    if values is None:
        return sample.X, sample.y, sample.noise
    noise = sample.noise
    if noise is not None:
        noise = np.append(noise, np.full(len(pending), np.nan))
    return np.concatenate([sample.X, pending]), np.concatenate([sample.y, values]), noise
