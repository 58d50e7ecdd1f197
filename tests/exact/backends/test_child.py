"""Child processes that answer lines, and solvers' questions as lines."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nnbo_mip.exact.backends.base import SolverAnswer, SolveRequest
from nnbo_mip.exact.backends.child import Child
from nnbo_mip.exact.backends.solve_text import (
    answer_from_text,
    answer_to_text,
    question_from_text,
    question_to_text,
)
from nnbo_mip.testing.programs import hard, knapsack

ECHO = "tests.exact.backends.echo"


@pytest.fixture
def child() -> Child:
    made = Child(ECHO, "a", "b")
    made.wait_until_ready()
    return made


def test_a_child_answers_line_by_line(child: Child) -> None:
    assert [child.ask("x"), child.ask("y")] == ["a b x", "a b y"]


def test_a_child_that_was_ended_answers_nothing(child: Child) -> None:
    child.end()
    assert child.ask("x") == ""
    assert child.was_ended
    child.end()  # again does no harm


def test_a_child_that_crashes_answers_nothing(child: Child) -> None:
    assert child.ask("crash") == ""
    assert not child.was_ended


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the states of processes")
def test_what_a_child_has_started_ends_with_it(child: Child) -> None:
    grandchild = int(child.ask("start another"))
    assert _runs(grandchild)
    child.end()
    deadline = time.perf_counter() + 30.0
    while _runs(grandchild) and time.perf_counter() < deadline:
        time.sleep(0.01)
    assert not _runs(grandchild)


def _runs(process_id: int) -> bool:
    """Whether a process is there, and is no zombie that waits to be adopted."""
    try:
        status = Path(f"/proc/{process_id}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("model", [knapsack(), hard(seed=3, columns=7)])
def test_a_question_arrives_with_every_digit(model) -> None:
    model = replace(model, offset=0.1, objective=model.objective / 3.0)
    asked = SolveRequest(time_limit=math.inf, absolute_gap=1.0 / 3.0, threads=2, seed=5)
    read, request = question_from_text(question_to_text(model, asked))
    for name in ("objective", "row_lower", "row_upper", "column_lower", "column_upper", "integer"):
        np.testing.assert_array_equal(getattr(read, name), getattr(model, name))
    np.testing.assert_array_equal(read.matrix.toarray(), model.matrix.toarray())
    assert read.offset == model.offset
    for name in ("time_limit", "absolute_gap", "threads", "seed", "presolve"):
        assert getattr(request, name) == getattr(asked, name)


@pytest.mark.parametrize(
    "answer",
    [
        SolverAnswer("optimal", np.array([0.1, -2.0 / 3.0]), 1.0 / 3.0, math.inf, "fine"),
        SolverAnswer("infeasible", bound=-math.inf, native_status="no\npoint"),
    ],
)
def test_an_answer_arrives_with_every_digit(answer: SolverAnswer) -> None:
    text = answer_to_text(answer)
    read = answer_from_text(text)
    assert "\n" not in text
    for name in ("status", "objective", "bound", "native_status"):
        assert getattr(read, name) == getattr(answer, name)
    if answer.columns is None:
        assert read.columns is None
    else:
        np.testing.assert_array_equal(read.columns, answer.columns)
