"""Stopping a solver that runs in another thread."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nnbo_mip.exact.backends.base import Hooks
from nnbo_mip.exact.backends.worker import run_stoppable
from tests.exact.backends.extras import GUROBI

ROOT = Path(__file__).parents[3]


def test_the_value_comes_back() -> None:
    assert run_stoppable(lambda: 17, lambda: None, Hooks()) == 17


def test_an_error_of_the_solver_is_raised_here() -> None:
    def crash() -> None:
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        run_stoppable(crash, lambda: None, Hooks())


def test_should_stop_stops() -> None:
    stopped = threading.Event()
    asked = iter([False, False, True])
    result = run_stoppable(
        lambda: stopped.wait(20.0), stopped.set, Hooks(should_stop=lambda: next(asked, True))
    )
    assert result is True


def test_a_solver_that_overlooks_its_time_limit_is_stopped() -> None:
    stopped = threading.Event()
    assert run_stoppable(lambda: stopped.wait(20.0), stopped.set, Hooks(), seconds=0.05) is True


def test_ctrl_c_reaches_the_waiting_thread() -> None:
    stopped, interrupted = threading.Event(), threading.Event()

    def work() -> bool:
        _thread.interrupt_main()
        return stopped.wait(20.0)

    assert run_stoppable(work, stopped.set, Hooks(interrupt=interrupted.set)) is True
    assert interrupted.is_set()


SCRIPT = """
import sys
from nnbo_mip.exact.backends import Hooks, SolveRequest, get_backend
from nnbo_mip.testing.programs import hard
said, ticks = [], []

def tick():
    ticks.append(1)
    if len(ticks) == 5:
        print("solving", flush=True)

hooks = Hooks(interrupt=lambda: said.append("interrupted"), tick=tick)
answer = get_backend(sys.argv[1]).solve(hard(), SolveRequest(time_limit=600.0, hooks=hooks))
print(answer.status, *said, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")
@pytest.mark.parametrize("name", ["highs", "cbc", "pyomo:highs", "pyomo:appsi_highs", GUROBI])
def test_ctrl_c_ends_a_real_solve_with_what_it_has(name: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, name],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == "solving\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(timeout=60.0) == 0
    assert rest.split() == ["stopped", "interrupted"]
