r"""`Problem`: a function over a space, and what is known about its optimum.

With f the function, f* its optimum and f_w its worst value,

    regret(x) = |f(x) - f*|,          score(u) = 1 - 2 |f(x(u)) - f*| / |f_w - f*|,

the second in model coordinates u, where a maximum is looked for (`ScaledProblem`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_finite, as_floats, frozen
from nnbo_mip.core.errors import InputError
from nnbo_mip.problems.noise import Noise, Seed
from nnbo_mip.space.space import Space

if TYPE_CHECKING:
    from nnbo_mip.problems.scaled import ScaledProblem

Function: TypeAlias = Callable[[FloatArray], npt.ArrayLike]
"""Raw coordinates (n, k), as `Space.to_numeric` makes them, to values (n,)."""

Direction: TypeAlias = Literal["minimize", "maximize"]

AGREEMENT = 1e-9
"""How far the value at a known optimizer may be from the optimum, relative to 1 + |optimum|."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A function to optimize.

    Parameters
    ----------
    name : str
        A label. `create` makes the package's own problems again from it, wrapped ones not.
    space : Space
        The user's domain, with linear constraints if there are any.
    function : callable
        Raw coordinates (n, k) to values (n,), free of noise.
    direction : {"minimize", "maximize"}
        What an optimum is.
    optimum : float, optional
        The best value of `function` over the space.
    optimizers : user's x or sequence of them, optional
        Points where it is attained, all of them or those that are known; kept as raw
        coordinates (m, k).
    worst : float, optional
        The value that the scaled view maps to -1: the worst one over the space, a bound of
        it, or what a source used in its place.
    noise : Noise, optional
        What an observation adds to `function`.
    """

    name: str
    space: Space
    function: Function
    direction: Direction = "minimize"
    optimum: float | None = None
    optimizers: Any = None
    worst: float | None = None
    noise: Noise | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.space, Space):
            raise InputError(
                f"the space of a problem must be a Space; got {self.space!r}; "
                "make one, for example by Space.box."
            )
        if self.direction not in ("minimize", "maximize"):
            raise InputError(
                f"direction must be 'minimize' or 'maximize'; got {self.direction!r}; choose one."
            )
        for known in ("optimum", "worst"):
            if getattr(self, known) is not None:
                number = as_finite(getattr(self, known), f"{known} of {self.name!r}")
                object.__setattr__(self, known, number)
        if self.worst is not None and self.optimum is not None:
            self._check_worst(self.worst, self.optimum)
        if self.optimizers is not None:
            raw = frozen(self.space.to_numeric(self.optimizers))
            object.__setattr__(self, "optimizers", raw)
            self._check_optimizers(raw)

    @classmethod
    def of(
        cls,
        function: Callable[[Any], float],
        space: object,
        name: str = "",
        direction: Direction = "minimize",
        optimum: float | None = None,
        **known: Any,
    ) -> Problem:
        """Return the problem of a plain function, one that `optimize` takes.

        Parameters
        ----------
        function : callable
            Takes x, an array for a box and a dict for named dimensions, and returns a number.
        space : Space or whatever `Space.coerce` takes
        name : str
            That of the function where it is left out.
        direction, optimum, **known
            As the fields of a problem; without an optimum experiments compare the best values.
        """
        if not callable(function):
            raise InputError(
                f"the function of a problem must be callable; got {function!r:.60}; pass one of x."
            )
        made = Space.coerce(space)
        if not isinstance(made, Space):
            raise InputError(
                "the space of a problem must be a Space, with the user's units; got a Domain; "
                "pass the Space that it came from."
            )
        batch = _Batch(function, made)
        title = name or getattr(function, "__name__", "function")
        return cls(title, made, batch, direction, optimum, **known)

    @property
    def dimension(self) -> int:
        """Number of dimensions of the space."""
        return len(self.space.dimensions)

    @property
    def known_optimizers(self) -> Any:
        """Known optimizers as the user's x: an array (m, d), or m dicts; None if unknown."""
        return None if self.optimizers is None else self.space.from_numeric(self.optimizers)

    @property
    def sign(self) -> float:
        """What the values are multiplied by to be minimized: 1 or -1."""
        return 1.0 if self.direction == "minimize" else -1.0

    def __call__(self, x: object) -> float:
        """Return the observation at one x: an array (d,) for a box, else a dict."""
        raw = self.space.to_numeric(x)
        if len(raw) != 1:
            raise InputError(
                f"a call takes one x; got {len(raw)} of them; use evaluate for a batch."
            )
        return float(self._observe(raw, None)[0])

    def evaluate(self, X: object, seed: Seed = None) -> FloatArray:
        """Return the observations (n,) at one x or a batch of n.

        Parameters
        ----------
        X : array (n, d) for a box, sequence of dicts for named dimensions
            Where.
        seed : int, numpy.random.Generator or None
            What fresh noise is drawn from. None: the noise belongs to the point, so that the
            same x has the same observation whenever and with whatever else it is asked for.
        """
        return self._observe(self.space.to_numeric(X), seed)

    def truth(self, X: object) -> FloatArray:
        """Return the values (n,) without noise at one x or a batch of n."""
        return self._values(self.space.to_numeric(X))

    def regret(self, X: object) -> FloatArray:
        """Return how far (n,) the values without noise are from the optimum, in units of y."""
        return self.regret_of(self.truth(X))

    def regret_of(self, y: npt.ArrayLike) -> FloatArray:
        """Return how far given values (n,) are from the optimum; below 0 if noise beats it."""
        if self.optimum is None:
            raise InputError(
                f"a regret needs an optimum; that of {self.name!r} is not known; "
                "compare values instead, or pass optimum=."
            )
        return self.sign * (as_floats(y, "y") - self.optimum)

    def scaled(self) -> ScaledProblem:
        """Return the view on [-1, 1]^d with values in [-1, 1], to be maximized."""
        from nnbo_mip.problems.scaled import ScaledProblem

        return ScaledProblem(self)

    def _observe(self, raw: FloatArray, seed: Seed) -> FloatArray:
        values = self._values(raw)
        return values if self.noise is None else self.noise.added(raw, values, seed)

    def _values(self, raw: FloatArray) -> FloatArray:
        if self.space.constraints:
            outside = np.flatnonzero(~self.space.numeric().admissible(raw))
            if outside.size:
                x = self.space.from_numeric(raw[outside[0]])
                raise InputError(
                    f"points of {self.name!r} must satisfy its constraints "
                    f"{list(self.space.constraints)}; got {x}; repair it by space.numeric()."
                )
        values = as_floats(self.function(raw), f"the values of {self.name!r}")
        if values.shape != (len(raw),):
            raise InputError(
                f"the function of {self.name!r} must turn (n, {raw.shape[1]}) raw coordinates "
                f"into (n,) values; got shape {values.shape} for n = {len(raw)}; mend it."
            )
        return values

    def _check_worst(self, worst: float, optimum: float) -> None:
        if not self.sign * (worst - optimum) > 0.0:
            raise InputError(
                f"worst must be worse than the optimum {optimum} under {self.direction}; got "
                f"{worst}; swap them or leave worst out."
            )

    def _check_optimizers(self, raw: FloatArray) -> None:
        if self.optimum is None:
            raise InputError("optimizers need their value; got no optimum; pass optimum=.")
        off = np.abs(self._values(raw) - self.optimum)
        if off.size and not off.max() <= AGREEMENT * (1.0 + abs(self.optimum)):
            x = self.space.from_numeric(raw[int(off.argmax())])
            raise InputError(
                f"the value at an optimizer must be the optimum {self.optimum}; it is off by "
                f"{off.max():g} at {x}; correct one of them."
            )


@dataclass(frozen=True)
class _Batch:
    """A function of one x as one of raw coordinates (n, k); it can be sent to other processes."""

    function: Callable[[Any], float]
    space: Space

    def __call__(self, raw: FloatArray) -> FloatArray:
        points = (self.space.from_numeric(row) for row in raw)
        return np.array([float(self.function(x)) for x in points])
