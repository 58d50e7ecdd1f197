"""Away from what is known: what happens to a proposal that lies too close to a sample.

*Dynamic c* doubles the uncertainty until the proposal is at least eps away, in the Euclidean
norm, from every sample; the belief is not fitted again. *Exclusion* imposes the distance on the
maximizer, as holes of the domain, in the norm of the largest coordinate: such a point is eps
away in the Euclidean norm too.

>>> import numpy as np
>>> from types import SimpleNamespace
>>> from nnbo_mip.loop.escape import escape_of
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
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from nnbo_mip.checks import check_choice, check_count, check_flag
from nnbo_mip.loop.eps_decay import EpsDecay
from nnbo_mip.maximizers.proposal import Proposal
from nnbo_mip.registry import Registry
from nnbo_mip.space.arrays import as_finite_vector, as_points
from nnbo_mip.space.domain import Domain

MAX_HALVINGS = 40
"""Of eps where coordinates are continuous; less than that no float64 search resolves."""


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
    message : str
        One sentence where the distance was not kept; else empty.
    """

    proposal: Proposal
    c: float
    next_c: float
    eps: float
    doublings: int = 0
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


@dataclass(frozen=True)
class DynamicC(EpsDecay, Escape):
    """Double c until the proposal is at least eps away from every sample.

    Parameters
    ----------
    fraction, first, last, steps, padding
        As in `EpsDecay`.
    limit : int
        Doublings in one step at most; after the last of them the proposal is taken as it is.
    sticky : bool
        Whether the next step begins with the doubled c, rather than with the one before.
    """

    scales: ClassVar[bool] = True
    kind: ClassVar[str]

    limit: int = 10
    sticky: bool = False

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_count("limit", self.limit, least=0)
        check_flag("sticky", self.sticky)

    def eps(self, step: int, starts: int, dimension: int, steps: int | None = None) -> float:
        """Return the distance of a step."""
        return self.value(self.kind, step, starts, dimension, steps)

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
        """Propose with c, 2 c, 4 c, …."""
        samples = as_points(seen, domain.dimension)
        escaped = Escaped(propose(c), c, c, eps)
        while (x := escaped.proposal.x) is not None and is_near(x, samples, eps):
            reason = self._why_not_double(escaped.doublings, responds, should_stop)
            if reason:
                return replace(
                    escaped,
                    message=f"the proposal is closer than eps = {eps:.3g} to a sample: {reason}.",
                )
            doubled = 2.0 * escaped.c
            escaped = Escaped(
                propose(doubled), doubled, doubled if self.sticky else c, eps, escaped.doublings + 1
            )
        return escaped

    def _why_not_double(
        self, doublings: int, responds: bool, should_stop: Callable[[], bool]
    ) -> str:
        if doublings >= self.limit:
            return f"c was doubled {doublings} times, which is the limit"
        if not responds:
            return "the acquisition does not depend on c"
        return "time was up" if should_stop() else ""


@dataclass(frozen=True)
class Linear(DynamicC):
    """Dynamic c with a distance that shrinks linearly; options as those of `DynamicC`."""

    name: ClassVar[str] = "linear"
    kind: ClassVar[str] = "linear"


@dataclass(frozen=True)
class Exponential(DynamicC):
    """Dynamic c with a distance that shrinks exponentially; options as those of `DynamicC`."""

    name: ClassVar[str] = "exponential"
    kind: ClassVar[str] = "exponential"


@dataclass(frozen=True)
class Exclude(EpsDecay, Escape):
    """Maximize over the points that are at least eps away from every sample.

    Parameters
    ----------
    fraction, first, last, steps, padding
        As in `EpsDecay`.
    decay : {"exponential", "linear"}
        How the distance shrinks.

    Notes
    -----
    Where no such point is left eps is halved until one is. Where none is left at any distance, as
    in a finite space of which all points are known, a sample is proposed again.
    """

    name: ClassVar[str] = "exclude"
    scales: ClassVar[bool] = False

    decay: str = "exponential"

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_choice("decay", self.decay, ("exponential", "linear"))

    def eps(self, step: int, starts: int, dimension: int, steps: int | None = None) -> float:
        """Return the distance of a step."""
        return self.value(self.decay, step, starts, dimension, steps)

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
        """Propose at a distance of eps, eps / 2, …, or at none."""
        if not len(as_points(seen, domain.dimension)):
            return Escaped(propose(c), c, c, 0.0)
        least = smallest_distance(domain)
        away = eps
        for _ in range(MAX_HALVINGS):
            proposal = propose(c, away)
            if proposal.x is not None:
                said = "" if away == eps else _halved(eps, away)
                return Escaped(proposal, c, c, away, message=said)
            if away <= least or should_stop():
                break
            away *= 0.5
        said = f"no point was found {away:.3g} away from every sample, so one may be repeated."
        return Escaped(propose(c), c, c, 0.0, message=said)


def is_near(x: npt.ArrayLike, samples: npt.ArrayLike, eps: float) -> bool:
    """Whether x (d,) is closer than eps to one of the samples (n, d), strictly."""
    point = as_finite_vector(x, "x")
    others = as_points(samples, point.size)
    return bool((np.linalg.norm(others - point, axis=1) < eps).any())


def smallest_distance(domain: Domain) -> float:
    """Return what two points of a finite domain differ by at least, in some coordinate; else 0."""
    least = np.inf
    for j in np.flatnonzero(domain.lower < domain.upper):
        grid = domain.grids[j]
        if grid is None:
            return 0.0
        if grid.uniform_step is not None:
            least = min(least, grid.uniform_step)
        else:
            least = min(least, float(np.diff(grid.value(np.arange(grid.count))).min()))
    return 0.0 if np.isinf(least) else float(least)


def _halved(eps: float, away: float) -> str:
    return (
        f"no point is left eps = {eps:.3g} away from every sample, so the distance was halved to "
        f"{away:.3g}."
    )


registry: Registry[Escape] = Registry(
    "rule of escape",
    Escape,  # type: ignore[type-abstract]
    {
        "none": f"{__name__}:NoEscape",
        "linear": f"{__name__}:Linear",
        "exponential": f"{__name__}:Exponential",
        "exclude": f"{__name__}:Exclude",
    },
    group="nnbo_mip.escapes",
)
"""Filled by this module, by entry points, and by `register`."""


def escape_of(given: object) -> Escape:
    """Return a rule that was named, described or given; None is no rule."""
    return NoEscape() if given is None else registry.create(given)
