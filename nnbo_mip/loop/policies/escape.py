"""Away from what is known: what happens to a proposal that lies too close to a sample.

*Dynamic c* doubles the uncertainty until the proposal is at least eps away, in the Euclidean
norm, from every sample; the belief is not fitted again. *Exclusion* imposes the distance on the
maximizer, as exclusions of the domain, in the norm of the largest coordinate: such a point is eps
away in the Euclidean norm too.

>>> import numpy as np
>>> from types import SimpleNamespace
>>> from nnbo_mip.loop.policies.escape import escape_of
>>> from nnbo_mip.space import Space
>>> def propose(c, away=None):  # the larger c, the further from the sample at 0
...     return SimpleNamespace(x=np.array([0.01 * c]))
>>> rule, seen = escape_of("exponential:padding=4"), [[0.0]]
>>> eps = rule.eps(step=0, starts=8, dimension=1)
>>> escaped = rule.apply(propose, seen, c=1.0, eps=eps, domain=Space.box([-1], [1]).model())
>>> eps, escaped.c, escaped.doublings, escaped.next_c
(0.0625, 8.0, 3, 1.0)
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.checks import as_finite_vector, as_points
from nnbo_mip.core.registry import Registry
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.space.domain import Domain


class Propose(Protocol):
    """Maximizes the step's acquisition over the step's belief."""

    def __call__(self, c: float, away: float | None = None) -> Proposal:
        """Return the proposal with the uncertainty multiplied by c.

        Where `away` is given, at least that far from every sample (`maximize(eps=away)`).
        """
        ...


@dataclass(frozen=True, eq=False)
class Escaped:
    """What became of a proposal.

    Parameters
    ----------
    proposal : Proposal
        The last one, with x None only where there is no admissible point at all.
    c : float
        The scale with which it was made.
    next_c : float
        The scale with which the next step begins.
    eps : float
        The distance that was asked for in the end; 0 for none.
    doublings : int
        Of c.
    imposed : float
        The distance in the largest coordinate to which the maximizer was held; 0 for none.
    message : str
        One sentence where the distance was not kept; else empty.
    """

    proposal: Proposal
    c: float
    next_c: float
    eps: float
    doublings: int = 0
    imposed: float = 0.0
    message: str = ""


class Escape(abc.ABC):
    """A frozen dataclass of options; a pure rule."""

    name: ClassVar[str]
    """Its name in the registry."""

    scales: ClassVar[bool]
    """Whether it multiplies the uncertainty, which not every surrogate allows (`scalable`)."""

    @abc.abstractmethod
    def eps(self, step: int, starts: int, dimension: int, steps: int | None = None) -> float:
        """Return the distance of step i = 0, 1, … of `steps`, after `starts` samples."""

    def check_steps(self, steps: int | None) -> None:  # noqa: B027 - most take any
        """Refuse a number of steps, None for an open one, that a new run cannot have."""

    def among_noise(self) -> Escape:
        """Return the rule where values are noisy, so that points may be worth a second one."""
        return self

    @abc.abstractmethod
    def apply(
        self,
        propose: Propose,
        seen: npt.ArrayLike,
        c: float,
        eps: float,
        domain: Domain,
        *,
        responds: bool = True,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Escaped:
        """Propose, again and again if need be.

        Parameters
        ----------
        propose : Propose
        seen : (n, d) array
            Samples and pending points in model coordinates; perhaps none.
        c : float
            The scale that the step begins with.
        eps : float
            From `eps`.
        domain : Domain
            Admissible points in model coordinates.
        responds : bool
            Whether the score depends on c; that of a mean does not, and doubling were in vain.
        should_stop : callable
            Whether time is up: the proposal that there is then stays.
        """


@dataclass(frozen=True)
class NoEscape(Escape):
    """Take every proposal, one that repeats a sample too."""

    name: ClassVar[str] = "none"
    scales: ClassVar[bool] = False

    def eps(self, step: int, starts: int, dimension: int, steps: int | None = None) -> float:
        """Return zero."""
        return 0.0

    def apply(
        self,
        propose: Propose,
        seen: npt.ArrayLike,
        c: float,
        eps: float,
        domain: Domain,
        *,
        responds: bool = True,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Escaped:
        """Propose once."""
        return Escaped(propose(c), c, c, 0.0)


def is_near(x: npt.ArrayLike, samples: npt.ArrayLike, eps: float) -> bool:
    """Whether x (d,) is closer than eps to one of the samples (n, d), strictly."""
    point = as_finite_vector(x, "x")
    others = as_points(samples, point.size)
    return bool((np.linalg.norm(others - point, axis=1) < eps).any())


registry: Registry[Escape] = Registry(
    "rule of escape",
    Escape,
    {
        "none": f"{__name__}:NoEscape",
        "linear": "nnbo_mip.loop.policies.dynamic_c:Linear",
        "exponential": "nnbo_mip.loop.policies.dynamic_c:Exponential",
        "exclude": "nnbo_mip.loop.policies.exclude:Exclude",
    },
    group="nnbo_mip.escapes",
    of_none="none",
)
"""Filled by the package, by entry points, and by `register`."""


escape_of = registry.create
"""Returns a rule that was named, described or given; None is no rule."""
