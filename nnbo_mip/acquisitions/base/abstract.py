"""What an acquisition is: options that data turn into a head."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from nnbo_mip.acquisitions.base.context import Context, check_incumbent, check_scheduled
from nnbo_mip.acquisitions.base.schedules import Scheduled
from nnbo_mip.acquisitions.base.scorer import Scorer
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.surrogates.base.abstract import Belief, Capability


class Acquisition(abc.ABC):
    """A frozen dataclass of options, to be maximized.

    Notes
    -----
    Points are in model coordinates, y is maximized, the incumbent is the largest y. An
    implementation gives `needs` and `head`, and, where the head reads something else than the
    belief itself, `subject` or `draws`.
    """

    name: ClassVar[str]
    """Its name in the registry."""

    proposes: ClassVar[bool] = False
    """Whether it chooses a point itself, instead of scoring points: then it is a `Criterion`."""

    values_of_y: ClassVar[tuple[str, ...]] = ("incumbent",)
    """Options that are values of y, which a run turns and bends as it does what it was told."""

    spans_of_y: ClassVar[tuple[str, ...]] = ()
    """Options that are differences of values of y, or standard deviations."""

    scores_y: ClassVar[bool] = False
    """Whether scores are values of y: those of ``mean`` and ``ucb`` are, improvements are not.

    A run closes the gap of such scores to some ``gap * std(y)`` where that is less than ``gap *
    max(1, |value|)``: values that differ by little, far from 0, would count as equal otherwise.
    `nm.maximize` does not read it.
    """

    reads_noise: ClassVar[bool] = False
    """Whether it reads the standard deviations that are told with values."""

    @property
    @abc.abstractmethod
    def needs(self) -> frozenset[Capability]:
        """What a belief must offer to be scored; gradients need its gradients as well."""

    @abc.abstractmethod
    def head(self, belief: Belief, context: Context) -> Head:
        """Turn checked data into numbers; `belief` offers what is needed."""

    def subject(self, belief: Belief, step: int) -> Belief:
        """Return the belief that the head reads in a step."""
        return belief

    def draws(self, belief: Belief, step: int) -> tuple[Belief, ...]:
        """Return the draws that a member head reads in place of the belief's members."""
        return ()

    def resolve(
        self,
        belief: Belief,
        X: npt.ArrayLike | None = None,
        y: npt.ArrayLike | None = None,
        noise: npt.ArrayLike | None = None,
        step: int = 0,
    ) -> Head:
        """Turn data into numbers.

        Parameters
        ----------
        belief : Belief
            What was learned.
        X : (n, d) array, optional
            Evaluated points.
        y : (n,) array, optional
            Their values.
        noise : float or (n,) array, optional
            Standard deviation of an observation from the function.
        step : int
            Number of the step, from 0, for options that follow a schedule.
        """
        self.check_served(belief.family, belief.capabilities)
        return self.head(belief, Context.of(belief, X, y, noise, step))

    def converted(self, convert: Callable[[float], float]) -> Self:
        """Return it with its `values_of_y` in other units."""
        made: Any = self
        given = {name: getattr(self, name, None) for name in self.values_of_y}
        new = {name: convert(value) for name, value in given.items() if value is not None}
        converted: Self = replace(made, **new) if new else self
        return converted

    def check_served(self, family: str, offered: frozenset[Capability]) -> None:
        """Refuse a family of beliefs that does not offer what is needed."""
        missing = self.needs - offered
        if missing:
            raise UnsupportedError(
                f"{self.name} needs a belief that offers {_listed(missing)}; a {family} "
                f"belief offers {_listed(offered)}; {self._remedy(missing)}"
            )

    def scorer(
        self,
        belief: Belief,
        X: npt.ArrayLike | None = None,
        y: npt.ArrayLike | None = None,
        noise: npt.ArrayLike | None = None,
        step: int = 0,
    ) -> Scorer:
        """Return the resolved head over what it reads; parameters as those of `resolve`."""
        head = self.resolve(belief, X, y, noise, step)
        return Scorer(head, self.subject(belief, step), self.draws(belief, step))

    def score(self, belief: Belief, X: npt.ArrayLike) -> FloatArray:
        """Return scores (n,) of points (n, d), resolved without data."""
        return self.scorer(belief).score(X)

    def gradient(self, belief: Belief, X: npt.ArrayLike) -> FloatArray:
        """Return the gradients (n, d) of `score`."""
        return self.scorer(belief).gradient(X)

    def _remedy(self, missing: frozenset[Capability]) -> str:
        """Say what to do where a belief lacks something."""
        return "choose another surrogate or acquisition."


@dataclass(frozen=True)
class Improvement(Acquisition):
    """An acquisition that counts what exceeds incumbent + xi.

    Parameters
    ----------
    incumbent : float, optional
        The value to improve on; without it, the largest y, or the largest mean where
        values are noisy.
    xi : float or schedule
        Improvement that does not count yet, at least zero.
    """

    spans_of_y: ClassVar[tuple[str, ...]] = ("xi",)

    incumbent: float | None = None
    xi: Scheduled = 0.0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_incumbent(self.incumbent)
        check_scheduled("xi", self.xi)

    def threshold(self, belief: Belief, context: Context) -> float:
        """Return incumbent + xi of a step."""
        xi = context.scheduled("xi", self.xi, belief.n_inputs)
        return context.incumbent(self.incumbent, belief) + xi


def seed_of(seed: int, step: int, index: int = 0) -> int:
    """Return the seed of a draw: different, and independent, for each step and index."""
    return int(np.random.SeedSequence([seed, step, index]).generate_state(1)[0])


def _listed(capabilities: frozenset[Capability]) -> str:
    return ", ".join(sorted(capabilities))
