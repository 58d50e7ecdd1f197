"""`OptimizeResult`: what `optimize` returns, with SciPy's names beside ours."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.rebuilt import Rebuilt
from nnbo_mip.core.terms import Direction
from nnbo_mip.drawing.figures import Plot
from nnbo_mip.loop.record.events import Observation
from nnbo_mip.loop.record.shown import number_text, point_text
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.seen.notebook import result_html
from nnbo_mip.loop.seen.words import proved
from nnbo_mip.loop.stopping.rule import Verdict

DERIVED = ("best_observed", "history", "steps", "x_iters", "func_vals")

if TYPE_CHECKING:
    from nnbo_mip.loop.optimizer import BayesianOptimizer


@dataclass(frozen=True, eq=False)
class OptimizeResult(Rebuilt):
    """The best point, and how it was found.

    Parameters
    ----------
    x : array (d,), dict or None
        The best point in the user's units; None without a value. Where values are noisy it is the
        evaluated point that the model expects most of, and not the one with the luckiest value.
    fun : float
        Its value or, where values are noisy, what the model expects there; NaN without one.
    nfev : int
        Evaluations, failed ones among them, of the whole run.
    n_failed : int
        Those that failed.
    success : bool
        Whether all evaluations that were asked for were made, or all points of a finite space are
        known, or a stop rule ended the run, and one of them has a value.
    message : str
        Why the run ended, and what there is to know.
    direction : {"minimize", "maximize"}
    seconds : float
        Wall time of this call.
    nfev_here : int
        Evaluations of this call.
    seconds_all : float
        Wall time of all calls that worked on the run, those of several workers added.
    optimizer : BayesianOptimizer
        With which the run can be continued.
    noise : float
        Typical standard deviation of a value, told or learned; 0 where none is known.
    stop : Verdict or None
        Why a stop rule ended the run, with its number and certificate; None where none did.
    """

    x: Any
    fun: float
    nfev: int
    n_failed: int
    success: bool
    message: str
    direction: Direction
    seconds: float
    nfev_here: int
    seconds_all: float
    optimizer: BayesianOptimizer
    noise: float = 0.0
    stop: Verdict | None = None

    @property
    def best_observed(self) -> Observation | None:
        """The observation with the best value; where values are noisy, the luckiest one."""
        return self.optimizer.best

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

    def plot(self, inputs: int = 3) -> Plot:
        """Draw the run; as `BayesianOptimizer.plot`."""
        return self.optimizer.plot(inputs)

    def report(self, out: str | Path = "report.html") -> Path:
        """Write the page of the run; as `BayesianOptimizer.report`."""
        return self.optimizer.report(out)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return result_html(str(self), self.optimizer.view())

    def __getitem__(self, name: str) -> Any:
        """Return an entry by name, as SciPy's results do."""
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def keys(self) -> list[str]:
        """Return the names of all entries."""
        return [*(entry.name for entry in fields(self)), *DERIVED]

    def __str__(self) -> str:
        end = "minimum" if self.direction == "minimize" else "maximum"
        space = self.optimizer.space
        where = "no point" if self.x is None else f"x = {point_text(self.x, space)}"
        here = f", {self.nfev_here} of them now in {self.seconds:.1f} s"
        here = here if self.nfev_here < self.nfev else ""
        return "\n".join(
            [
                f"{end} {number_text(self.fun)} at {where}",
                *self._noise_lines(),
                f"  calls   {self.nfev} in {self.seconds_all:.1f} s{here}, {self.n_failed} failed",
                f"  proved  {proved(self.steps)}",
                f"  status  {self.message}",
            ]
        )

    def _noise_lines(self) -> list[str]:
        """Say what the point is where values are noisy."""
        best = self.best_observed
        if not self.noise or best is None or best.y is None:
            return []
        return [
            f"  noise   values deviate by about {self.noise:.3g}: x is the evaluated point of the "
            f"best mean; the best value, partly luck, is {number_text(best.y)} at "
            f"{point_text(best.x, self.optimizer.space)}"
        ]

    def __repr__(self) -> str:
        return f"OptimizeResult(x={self.x!r}, fun={self.fun!r}, nfev={self.nfev})"
