"""`OptimizeResult`: what `optimize` returns, with SciPy's names beside ours."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.terms import Direction
from nnbo_mip.loop.record.observation import Observation
from nnbo_mip.loop.record.serialization import point_out
from nnbo_mip.loop.record.suggestion import Suggestion

if TYPE_CHECKING:
    from nnbo_mip.loop.optimizer import BayesianOptimizer


@dataclass(frozen=True, eq=False)
class OptimizeResult:
    """The best point, and how it was found.

    Parameters
    ----------
    x : array (d,), dict or None
        The best point in the user's units; None without a value.
    fun : float
        Its value; NaN without one.
    nfev : int
        Evaluations, failed ones among them, of the whole run.
    n_failed : int
        Those that failed.
    success : bool
        Whether all evaluations that were asked for were made and one of them has a value.
    message : str
        Why the run ended, and what there is to know.
    direction : {"minimize", "maximize"}
    seconds : float
        Wall time of this call.
    optimizer : BayesianOptimizer
        With which the run can be continued.
    """

    x: Any
    fun: float
    nfev: int
    n_failed: int
    success: bool
    message: str
    direction: Direction
    seconds: float
    optimizer: BayesianOptimizer

    @property
    def history(self) -> tuple[Observation, ...]:
        """Everything that was told, in order."""
        return self.optimizer.history

    @property
    def steps(self) -> tuple[Suggestion, ...]:
        """What models chose, in order, each with value, bound and certificate."""
        return tuple(step for step in self.optimizer.suggestions if not step.is_initial)

    @property
    def x_iters(self) -> list[Any]:
        """Every point that was told, in order."""
        return [told.x for told in self.history]

    @property
    def func_vals(self) -> FloatArray:
        """Every value, in order; NaN for failures."""
        return np.array([np.nan if told.y is None else told.y for told in self.history])

    def __getitem__(self, name: str) -> Any:
        """Return an entry by name, as SciPy's results do."""
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def keys(self) -> list[str]:
        """Return the names of all entries."""
        return [*(entry.name for entry in fields(self)), "history", "steps", "x_iters", "func_vals"]

    def __str__(self) -> str:
        end = "minimum" if self.direction == "minimize" else "maximum"
        where = "no point" if self.x is None else f"x = {point_out(self.x)}"
        certified = sum(step.status == "optimal" for step in self.steps)
        return "\n".join(
            [
                f"{end} {self.fun!r} at {where}",
                f"  calls   {self.nfev} in {self.seconds:.1f} s, {self.n_failed} failed",
                f"  proved  {certified} of {len(self.steps)} choices of a model are certified best",
                f"  status  {self.message}",
            ]
        )

    def __repr__(self) -> str:
        return f"OptimizeResult(x={self.x!r}, fun={self.fun!r}, nfev={self.nfev})"
