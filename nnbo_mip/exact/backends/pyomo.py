"""Any solver that Pyomo knows, as a claimant: ``pyomo:highs``, ``pyomo:scip_direct``, ….

Pyomo redirects the output of its process while it solves, some of its solvers hold the
interpreter all the time, others are programs of their own. So the solve runs in a child
process, which is ended, with all that it has started, on Ctrl-C and on other stops.

References
----------
Hart et al. (2011), Pyomo [Hart2011].
"""

from __future__ import annotations

import os
from functools import cache
from typing import ClassVar

from nnbo_mip.exact.backends.base import Backend, SolverAnswer, SolveRequest, missing
from nnbo_mip.exact.backends.child import Child
from nnbo_mip.exact.backends.pyomo_solve import open_solver
from nnbo_mip.exact.backends.solve_text import answer_from_text, question_to_text
from nnbo_mip.exact.backends.worker import run_stoppable
from nnbo_mip.exact.formulation.model import MilpModel
from nnbo_mip.exact.formulation.tolerance import Tolerances

CHILD = "nnbo_mip.exact.backends.pyomo_child"

MODELLING_SECONDS = 10.0
"""What a child may take beyond the solver's time limit: Pyomo writes the model by itself."""


class Pyomo(Backend):
    """A solver behind Pyomo, named ``pyomo:`` and Pyomo's name for it.

    Parameters
    ----------
    solver : str
        Pyomo's name for it.
    """

    package = "pyomo"
    tolerances: ClassVar[Tolerances] = Tolerances(1e-6, 1e-6, 1e-6)

    def __init__(self, solver: str) -> None:
        self.solver = solver
        self.name = f"pyomo:{solver}"  # type: ignore[misc]

    def version(self) -> str:
        """Return Pyomo's version and the solver's, where Pyomo knows it."""
        try:
            import pyomo
        except ImportError as error:
            raise missing("pyomo", "", error) from error
        _, solver = open_solver(self.solver)
        version = solver.version()
        known = ".".join(str(part) for part in version) if version else "unknown"
        return f"{known} (pyomo {pyomo.version.version})"

    def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        if request.cutoff is not None:
            model = model.with_floor(request.cutoff)
        idle = _idle_children(self.solver, os.getpid())
        child = idle.pop() if idle else Child(CHILD, self.solver)
        run_stoppable(child.wait_until_ready, child.end, request.hooks)
        question = question_to_text(model, request)
        text = run_stoppable(
            lambda: child.ask(question),
            child.end,
            request.hooks,
            request.time_limit + MODELLING_SECONDS,
        )
        if not text:
            if child.was_ended:
                return SolverAnswer("stopped", native_status="ended on request")
            return SolverAnswer("failed", native_status="its process ended without an answer")
        idle.append(child)
        return answer_from_text(text)


@cache
def _idle_children(solver: str, process_id: int) -> list[Child]:
    """Return the children of a process that wait for a question: starting one takes seconds."""
    return []
