"""Dynamic c: double the uncertainty until a proposal is away from every sample.

References
----------
Högger (2021), dynamic c [Hogger2021].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy.typing as npt

from nnbo_mip.core.checks import as_points, check_count, check_flag
from nnbo_mip.loop.policies.eps_decay import EpsDecay
from nnbo_mip.loop.policies.escape import Escape, Escaped, Propose, is_near
from nnbo_mip.space.domain import Domain

LARGEST_C = 2.0**100
"""Beyond it the mean is lost in the rounding of the uncertainty, and doubling changes nothing."""


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
            reason = self._why_not_double(escaped, responds, should_stop)
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
        self, escaped: Escaped, responds: bool, should_stop: Callable[[], bool]
    ) -> str:
        if escaped.doublings >= self.limit:
            return f"c was doubled {escaped.doublings} times, which is the limit"
        if escaped.c >= LARGEST_C:
            return f"c is {escaped.c:.3g}, and more changes nothing"
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
