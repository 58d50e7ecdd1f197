"""The model of a run as it stands: what it learned from all that was told, pending points apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.judging.calibration import calibration
from nnbo_mip.loop.record.events import Observation
from nnbo_mip.loop.settings.settings import Purpose, Settings, seed_for
from nnbo_mip.loop.step.limits import seconds_of_ask
from nnbo_mip.loop.step.training_set import TrainingSet, as_models_see, learned, seeded
from nnbo_mip.maximizers.base.abstract import Proposal, Request
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.exact import ASCENTS
from nnbo_mip.maximizers.maximize import maximize
from nnbo_mip.surrogates.base.abstract import Belief, Surrogate
from nnbo_mip.surrogates.gp.gp import GaussianProcess

STARTS = 16
"""Known points from which a search may begin."""


LONGEST = 1.0
"""Largest length-scale of a careful model, half of a side: by the pilots of `benchmarks.stopping`.
"""


@dataclass(frozen=True, eq=False)
class Model:
    """A belief about the function, and the values that it is of.

    Parameters
    ----------
    settings : Settings
    surrogate : Surrogate
        What learns.
    sample : TrainingSet
        As models see it.
    observations : int
        That were told.
    """

    settings: Settings
    surrogate: Surrogate
    sample: TrainingSet
    observations: int

    @staticmethod
    def of(
        settings: Settings,
        observations: tuple[Observation, ...],
        careful: bool = False,
        longest: float = LONGEST,
    ) -> Model | None:
        """Return that of all that was told; None without a value. It learns when it is asked.

        Parameters
        ----------
        settings : Settings
        observations : tuple of Observation
        careful : bool
            Whether it is one that is to say what cannot be, rather than where to look: values are
            exact unless a noise was told, and a Gaussian process has no length-scale above
            `longest`. What a model takes for noise, or for a coordinate without influence, may be
            a function of which it has seen too little.
        longest : float
            In model coordinates, where the space is 2 wide.
        """
        dimension = settings.search.model().dimension
        raw = TrainingSet.of(observations, dimension, settings.sign)
        if not raw.can_be_fitted:
            return None
        seed = seed_for(settings.seed, len(observations), Purpose.NOISE)
        surrogate = settings.surrogate
        if careful:
            sample = raw.warped(settings.warp, in_unit=not settings.speaks_of_y)
            surrogate = with_short_scales(surrogate, longest)
        else:
            sample = as_models_see(raw, settings, seed)
        return Model(settings, surrogate, sample.fitted(settings.most_fitted), len(observations))

    @cached_property
    def belief(self) -> Belief:
        """What was learned."""
        return self._learned(self.sample.X, self.sample.y, self.sample.noise)

    def calibration(self) -> float:
        """Return by what the model's deviations are too small."""
        return calibration(self.belief, self.sample, self._learned)

    def climbed(self, acquisition: Acquisition, belief: Belief) -> Proposal | None:
        """Return the best point that ascents find, without a proof; None where there are none."""
        sample = self.sample
        scorer = acquisition.scorer(belief, sample.X, sample.y, sample.deviations)
        target = Target(scorer, self.settings.search.model())
        if ASCENTS.why_not(target):
            return None
        starts = sample.best(STARTS)
        request = Request(
            time_limit=seconds_of_ask(self.settings.time_limit, ()),
            seed=self._seed,
            starts=starts[target.domain.admissible(starts)],
        )
        return ASCENTS.maximize(target, request)

    def proven(
        self, acquisition: Acquisition, belief: Belief, gap: float, start: FloatArray | None
    ) -> Proposal:
        """Return the largest score over all points, with its proof."""
        settings, sample = self.settings, self.sample
        starts = sample.best(STARTS)
        return maximize(
            belief,
            acquisition,
            settings.search.model(),
            maximizer=settings.maximizer.fresh() if settings.maximizer.abilities.proves else "auto",
            X=sample.X,
            y=sample.y,
            noise=sample.deviations,
            gap=gap,
            time_limit=seconds_of_ask(settings.time_limit, ()),
            seed=self._seed,
            starts=starts if start is None else np.vstack([starts, start]),
        )

    @property
    def about(self) -> str:
        """Over what proofs are."""
        embedded = self.settings.embedded
        if embedded is None:
            return "the space"
        return f"an embedding of {embedded.model().dimension} coordinates"

    @property
    def _seed(self) -> int:
        return seed_for(self.settings.seed, self.observations, Purpose.STOP)

    def _learned(self, X: FloatArray, y: FloatArray, noise: FloatArray | None) -> Belief:
        """Fit the surrogate of the run, its options in the units of the sample."""
        settings, sample = self.settings, self.sample
        seed = seed_for(settings.seed, self.observations, Purpose.BELIEVE)
        surrogate = seeded(self.surrogate, seed).converted(
            lambda value: sample.value_inward(value, settings.sign)
        )
        return learned(surrogate, X, y, noise)


def with_short_scales(surrogate: Surrogate, longest: float) -> Surrogate:
    """Return a Gaussian process whose length-scales are searched up to a longest one.

    Other families are returned as they are, and processes whose length-scales are given.
    """
    if not isinstance(surrogate, GaussianProcess) or surrogate.standardize_inputs:
        return surrogate
    bounds, start = surrogate.length_scale_bounds, surrogate.length_scale
    if isinstance(bounds, str) or bounds[1] <= longest:
        return surrogate
    least = min(bounds[0], longest)
    shorter = (
        tuple(min(one, longest) for one in start)
        if isinstance(start, tuple)
        else min(start, longest)
    )
    return replace(surrogate, length_scale_bounds=(least, longest), length_scale=shorter)
