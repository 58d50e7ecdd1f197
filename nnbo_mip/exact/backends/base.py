"""`Backend`: one solver behind one question, "maximize this `MilpModel`"."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, MissingExtraError, UnsupportedError
from nnbo_mip.exact.formulation.model import MilpModel
from nnbo_mip.exact.formulation.tolerance import Tolerances, objective_scale

DEFAULT = "highs"
"""The solver that is asked where nobody names one: a prover that is always installed."""

AnswerStatus = Literal["optimal", "infeasible", "stopped", "failed"]
"""What a solver claims: ``optimal`` within the gap asked for; ``infeasible``; ``stopped``
by time or on request, what it has is valid; ``failed``: nothing it says counts."""


def _never() -> bool:
    return False


def _ignore(*_: object) -> None:
    return None


@dataclass(frozen=True, eq=False)
class Hooks:
    """How a running solver and its caller talk to each other.

    A backend has to heed `should_stop`, `interrupt` and `tick`; `run_stoppable` does. It may leave
    the others out.

    Parameters
    ----------
    should_stop : callable () -> bool
        Polled while the solver runs; once it is true, the solver returns within seconds.
    interrupt : callable () -> None
        Called when the user pressed Ctrl-C during the solve, which then returns what it has.
    incumbent : callable (columns) -> None
        Receives every improving solution (n,); may come from another thread.
    progress : callable (bound, nodes) -> None
        Receives what the solver says about its search; may come from another thread.
    tick : callable () -> None
        Called a few times a second by the thread that waits for the solver, which is the one that
        called `Backend.solve`.
    log : callable (line) -> None, optional
        Receives the solver's log.
    """

    should_stop: Callable[[], bool] = _never
    interrupt: Callable[[], None] = _ignore
    incumbent: Callable[[FloatArray], object] = _ignore
    progress: Callable[[float, int], None] = _ignore
    tick: Callable[[], None] = _ignore
    log: Callable[[str], None] | None = None


@dataclass(frozen=True, eq=False)
class SolveRequest:
    """What is asked of a solver, the same for all of them.

    A backend has to heed `time_limit`, `cutoff` and `hooks`, a prover `start` too. The rest it may
    leave out where its solver has no such setting.

    Parameters
    ----------
    time_limit : float
        Wall seconds, or infinity; after them the answer is ``stopped``, with what there is.
    absolute_gap : float
        The solver may stop when its bound is this close to its best solution. Without it, it
        works longer than it needs to.
    start : (n,) array, optional
        A feasible solution to start from. A prover answers with one that is as good at least.
    cutoff : float, optional
        Solutions below this objective are of no interest; where there are no others, the answer is
        ``infeasible``, and its bound the cut-off. `MilpModel.with_floor` makes a row of it.
    threads : int
        Most that it may use.
    seed : int
        The same seed gives the same answer, as a solver without randomness does anyway.
    presolve : bool
        Whether the solver may simplify the model first; it is asked again without after an answer
        that was wrong.
    hooks : Hooks
    """

    time_limit: float = math.inf
    absolute_gap: float = 0.0
    start: FloatArray | None = None
    cutoff: float | None = None
    threads: int = 1
    seed: int = 0
    presolve: bool = True
    hooks: Hooks = field(default_factory=Hooks)


@dataclass(frozen=True, eq=False)
class SolverAnswer:
    """What a solver claims; nothing in it has been checked.

    Parameters
    ----------
    status : {"optimal", "infeasible", "stopped", "failed"}
    columns : (n,) array or None
        Its best solution.
    objective : float
        Its own figure for that solution, ``-inf`` without one.
    bound : float
        Its upper bound on the objective before any tolerance is added; ``+inf`` without
        one, ``-inf`` when infeasible (with a cut-off: the cut-off).
    native_status : str
        The solver's own words.
    nodes, iterations : int
    """

    status: AnswerStatus
    columns: FloatArray | None = None
    objective: float = -math.inf
    bound: float = math.inf
    native_status: str = ""
    nodes: int = 0
    iterations: int = 0


class Backend(ABC):
    """A solver. Subclasses translate; scaling, refusals and trivial models are done here.

    What a solver can do is data of its class: whom to ask is decided by it, and not by names.
    """

    name: ClassVar[str]
    """What it is registered as."""
    proves: ClassVar[bool] = False
    """Whether it is a prover, whose bounds count as ``solver`` bounds; a claimant's never do."""
    supports_sos1: ClassVar[bool] = False
    """Whether it branches on special ordered sets itself."""
    formulation: ClassVar[str] = "bigm"
    """The formulation that it solves fastest."""
    tolerances: ClassVar[Tolerances]
    """The tolerances it is run with."""
    package: ClassVar[str] = ""
    """The module that it imports."""
    extra: ClassVar[str] = ""
    """The extra of this package that installs it; empty where nothing more is needed."""
    licensed: ClassVar[bool] = False
    """Whether it needs a licence, which may refuse a program; such a solver is asked only by
    those who name it."""

    @abstractmethod
    def version(self) -> str:
        """Return the solver's version; raise `MissingExtraError` when it is not installed."""

    @abstractmethod
    def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        """Solve a model with columns, an objective of order 1 and offset 0.

        `solve` makes such a model of any other, and puts the answer back into its units.
        """

    def solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        """Maximize a model; every figure of the answer is in the model's own units."""
        if model.sos1 and not self.supports_sos1:
            raise UnsupportedError(
                "formulation 'sos1' needs a solver with special ordered sets of its own; got "
                f"{self.name!r}; use the formulation 'bigm', or a solver that `nnbo-mip list "
                "backends` shows with sos1=yes."
            )
        if not np.isfinite([model.column_lower, model.column_upper]).all():
            # "Unbounded or infeasible" can then only mean infeasible.
            raise InputError("the columns of a program must have finite bounds; give them some.")
        if model.n_columns == 0:
            return _without_columns(model)
        scale = objective_scale(model)
        offset = model.offset
        inner = replace(model, objective=model.objective / scale, offset=0.0)
        hooks = request.hooks
        answer = self._solve(
            inner,
            replace(
                request,
                absolute_gap=request.absolute_gap / scale,
                cutoff=None if request.cutoff is None else (request.cutoff - offset) / scale,
                hooks=replace(
                    hooks,
                    progress=lambda bound, nodes: hooks.progress(bound * scale + offset, nodes),
                ),
            ),
        )
        return replace(
            answer,
            objective=answer.objective * scale + offset,
            bound=answer.bound * scale + offset,
        )


def missing(package: str, extra: str, error: ImportError) -> MissingExtraError:
    """Return the error that names the extra to install."""
    how = f"pip install 'nnbo_mip[{extra}]'" if extra else f"pip install {package}"
    return MissingExtraError(
        f"this solver needs the package {package}, which cannot be imported ({error}); "
        f"install it with {how}, or use the solver {DEFAULT!r}."
    )


def _without_columns(model: MilpModel) -> SolverAnswer:
    if bool(np.all(model.row_lower <= 0.0) and np.all(model.row_upper >= 0.0)):
        return SolverAnswer("optimal", np.zeros(0), model.offset, model.offset, "no columns")
    return SolverAnswer("infeasible", bound=-math.inf, native_status="no columns")
