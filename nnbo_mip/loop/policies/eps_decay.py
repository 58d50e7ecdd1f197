r"""How far from all samples a proposal has to be: a distance that shrinks from step to step.

With s starting samples, n steps with a model, padding p, and sides of length 2,

    eps_0  = 2 fraction / s,
    share  = min(i / (n - p), 1),
    linear:       eps_i = eps_0 + share (eps_n - eps_0),
    exponential:  eps_i = eps_0 (eps_n / eps_0)^share,

never below eps_n: the last p steps, and all beyond n, have the smallest distance.

References
----------
Högger (2021), distances that decay [Hogger2021].
"""

from __future__ import annotations

from dataclasses import dataclass

from nnbo_mip.core.checks import check_choice, check_count, check_number
from nnbo_mip.core.errors import InputError

SIDE = 2.0
"""Length of a side in model coordinates."""

LAST_ON_A_LINE = 0.001
LAST_ELSEWHERE = 0.01

STEPS = 64
"""Steps over which the distance shrinks, where nobody says how many there will be."""


@dataclass(frozen=True)
class EpsDecay:
    """Distances in model coordinates.

    Parameters
    ----------
    fraction : float
        Of a side that eps_0 is, times the number of starting samples.
    first : float, optional
        eps_0 itself, at most 1, instead of what `fraction` makes.
    last : float, optional
        eps_n; left out, 0.001 in one dimension and 0.01 in more, or `first` if that is smaller.
    steps : int, optional
        n; left out, the run's number of steps, or 64 if that is open.
    padding : int
        p, steps at the end that have the smallest distance; fewer than n.

    Examples
    --------
    >>> from nnbo_mip.loop.policies.eps_decay import EpsDecay
    >>> decay = EpsDecay(steps=15, padding=4)
    >>> [round(decay.value("exponential", i, starts=8, dimension=1), 5) for i in (0, 1, 11, 15)]
    [0.0625, 0.04292, 0.001, 0.001]
    """

    fraction: float = 0.25
    first: float | None = None
    last: float | None = None
    steps: int | None = None
    padding: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_number("fraction", self.fraction, above=0.0)
        for name, distance in (("first", self.first), ("last", self.last)):
            if distance is not None and check_number(name, distance, above=0.0) > 1.0:
                raise InputError(
                    f"{name} must be at most 1, half a side in model coordinates; got "
                    f"{distance!r}; choose a smaller distance."
                )
        if self.first is not None and self.last is not None and self.first < self.last:
            raise InputError(
                f"first must be at least last, as distances shrink; got {self.first!r} < "
                f"{self.last!r}; swap them."
            )
        check_count("padding", self.padding, least=0)
        if self.steps is not None and check_count("steps", self.steps) <= self.padding:
            raise InputError(
                f"padding must be below steps, {self.steps!r}; got {self.padding!r}; choose fewer."
            )

    def check_steps(self, steps: int | None) -> None:
        """Refuse a padding that leaves a new run no step in which the distance shrinks.

        Parameters
        ----------
        steps : int or None
            n of the run, for options that leave it open.
        """
        n = self.steps or steps or STEPS
        if n <= self.padding:
            raise InputError(
                f"padding must be below the run's number of steps, {n}; got {self.padding}; choose "
                "less, or say steps=… if there will be more."
            )

    def value(
        self, kind: str, step: int, starts: int, dimension: int, steps: int | None = None
    ) -> float:
        """Return eps_i.

        Parameters
        ----------
        kind : {"linear", "exponential"}
        step : int
            i, from 0 for the first proposal of a model.
        starts : int
            s, at least 1 is assumed.
        dimension : int
            Number of coordinates.
        steps : int, optional
            n of the run, for options that leave it open.
        """
        check_choice("kind", kind, ("linear", "exponential"))
        last = self.last
        if last is None:
            last = LAST_ON_A_LINE if dimension == 1 else LAST_ELSEWHERE
            last = last if self.first is None else min(last, self.first)
        first = SIDE * self.fraction / max(starts, 1) if self.first is None else self.first
        first = min(first, 1.0)
        falling = (self.steps or steps or STEPS) - self.padding
        if step >= falling:
            return last
        share = step / falling
        if kind == "linear":
            return max(last, first + share * (last - first))
        return float(max(last, first * (last / first) ** share))
