"""What the child process of the Pyomo backend does: see `nnbo_mip.exact.backends.pyomo`."""

from __future__ import annotations

import os
import sys

from nnbo_mip.exact.backends.base import SolverAnswer
from nnbo_mip.exact.backends.child import READY
from nnbo_mip.exact.backends.pyomo_solve import open_solver, solve
from nnbo_mip.exact.backends.solve_text import answer_to_text, question_from_text


def main(solver: str) -> None:
    """Answer questions until there are no more."""
    # Solvers write to the standard output: answers go where it was, everything else nowhere.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        open_solver(solver)
        print(READY, file=answers, flush=True)
        for line in sys.stdin:
            print(answer_to_text(_answer(solver, line)), file=answers, flush=True)


def _answer(solver: str, line: str) -> SolverAnswer:
    try:
        return solve(solver, *question_from_text(line))
    except Exception as error:  # Pyomo's solvers raise whatever they like
        return SolverAnswer("failed", native_status=f"{type(error).__name__}: {error}")
