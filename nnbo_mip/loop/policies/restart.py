"""Begin anew where a search repeats itself.

Where a model would have a sample again, a search that learns nothing more is given up: fresh
initial points are drawn, the next model learns from these and what follows them, and the
evaluations go on being counted. What counts is what the maximizer proposes where nothing keeps it
away from samples; a rule of escape would hide it.

>>> from nnbo_mip.loop.designs.designs import design_of
>>> from nnbo_mip.loop.policies.restart import restart_of
>>> from nnbo_mip.space import Space
>>> rule, space, known = restart_of("revisit:n=2"), Space.box([0], [4]), [[-1.0], [0.5]]
>>> rule.is_due([0.5], known), rule.is_due([0.4], known)
(True, False)
>>> rule.fresh_points(design_of("sobol:n=8"), space, seed=1, known=known).shape
(2, 1)
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_finite_vector, as_points, check_count, check_flag, check_number
from nnbo_mip.core.registry import Registry
from nnbo_mip.loop.designs.designs import Design
from nnbo_mip.space.embedded.embedded_space import SearchSpace


class Restart(abc.ABC):
    """A frozen dataclass of options; a pure rule."""

    name: ClassVar[str]
    """Its name in the registry."""

    restarts: ClassVar[bool] = True
    """Whether it ever does."""

    keep: bool
    """Whether the model goes on learning from what was observed before."""

    @abc.abstractmethod
    def is_due(self, x: npt.ArrayLike, known: npt.ArrayLike) -> bool:
        """Whether a proposal x (d,) calls for a restart, given the samples (n, d).

        It is asked of what was proposed without a rule of escape, and of what came of that.
        """

    @abc.abstractmethod
    def fresh_points(
        self, design: Design, space: SearchSpace, seed: int, known: npt.ArrayLike
    ) -> FloatArray:
        """Return initial points (n, d) that repeat no sample.

        Parameters
        ----------
        design : Design
            The run's initial design.
        space : SearchSpace
        seed : int
            Another one for each restart.
        known : (n, d) array
            Samples and pending points in model coordinates.
        """


@dataclass(frozen=True)
class NoRestart(Restart):
    """Go on in any case."""

    name: ClassVar[str] = "none"
    restarts = False
    keep = True

    def is_due(self, x: npt.ArrayLike, known: npt.ArrayLike) -> bool:
        """Return False."""
        return False

    def fresh_points(
        self, design: Design, space: SearchSpace, seed: int, known: npt.ArrayLike
    ) -> FloatArray:
        """Draw the design again, with another seed, for a trust region that is over."""
        return design.again(space).points(space, seed, known)


@dataclass(frozen=True)
class Revisit(Restart):
    """Begin anew when a sample is proposed again.

    Parameters
    ----------
    n : int, optional
        Fresh points; left out, as many as the initial design has. A design of given points
        is followed by Sobol points.
    tolerance : float
        Largest difference of a coordinate, in model coordinates, that counts as none. As models
        of continuous coordinates seldom come back to a point exactly, choose more for them.
    keep : bool
        Whether the model goes on learning from what was observed before.

    Notes
    -----
    In a finite space of which every point is known nothing is fresh, and the run goes on.
    """

    name: ClassVar[str] = "revisit"

    n: int | None = None
    tolerance: float = 1e-9
    keep: bool = False

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        if self.n is not None:
            check_count("n", self.n)
        check_number("tolerance", self.tolerance, least=0.0)
        check_flag("keep", self.keep)

    def is_due(self, x: npt.ArrayLike, known: npt.ArrayLike) -> bool:
        """Whether x repeats a sample."""
        point = as_finite_vector(x, "x")
        differences = np.abs(as_points(known, point.size) - point)
        return bool((differences <= self.tolerance).all(axis=1).any())

    def fresh_points(
        self, design: Design, space: SearchSpace, seed: int, known: npt.ArrayLike
    ) -> FloatArray:
        """Draw the design again, with another seed."""
        return design.again(space, self.n).points(space, seed, known)


registry: Registry[Restart] = Registry(
    "rule of restarts",
    Restart,
    {"none": f"{__name__}:NoRestart", "revisit": f"{__name__}:Revisit"},
    group="nnbo_mip.restarts",
    of_none="none",
)
"""Filled by this module, by entry points, and by `register`."""


restart_of = registry.create
"""Returns a rule that was named, described or given; None is no rule."""
