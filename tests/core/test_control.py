"""Ctrl-C: in the first second, while kernels are compiled, and while a solver works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import nnbo_mip as nm
from nnbo_mip.core.control import held, interruptible
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from tests.exact.claims import tent

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")


def run(script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# -- the first second -------------------------------------------------------------------

# Sends itself SIGINT when a module is about to be loaded.
FIRST_SECOND = """
import importlib.abc, os, signal, sys
from nnbo_mip.cli.main import main

class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["MOMENT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
main()
"""


@pytest.mark.parametrize("moment", ["typer", "numpy", "nnbo_mip.exact.certify"])
def test_ctrl_c_while_loading_is_answered_with_a_sentence(moment: str, tmp_path: Path) -> None:
    model = tmp_path / "tent.npz"
    tent().save(model)
    ended = run(FIRST_SECOND, "certify", str(model), "--lower", "1", "--upper", "7", MOMENT=moment)
    assert ended.returncode == 130
    sentence = "nnbo-mip: interrupted before the work began; nothing was computed.\n"
    assert (ended.stdout, ended.stderr) == ("", sentence)


def test_after_loading_ctrl_c_is_the_searchs(tmp_path: Path) -> None:
    """The search answers the first one with what it has; here it comes before the search."""
    model = tmp_path / "tent.npz"
    tent().save(model)
    arguments = ["certify", str(model), "--lower", "1", "--upper", "7", "--method", "boxes"]
    ended = run(FIRST_SECOND, *arguments, MOMENT="nnbo_mip.exact.branching.boxes")
    assert ended.returncode == 1
    assert "bound   f <= " in ended.stdout
    assert "feasible: interrupted by the user; the gap is open, but value" in ended.stdout
    assert ended.stderr == ""


# -- compilation ------------------------------------------------------------------------

# Sends itself SIGINT while numba compiles a kernel, as often as it is told.
COMPILATION = """
import os, signal, sys
from numba.core import event
import nnbo_mip as nm
from nnbo_mip.core.compiled import compiled
from nnbo_mip.core.control import interruptible
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from tests.exact.claims import tent

class Press(event.Listener):
    def on_start(self, _event):
        os.kill(os.getpid(), signal.SIGINT)
        print("pressed", flush=True)
    on_end = on_start

def twice(x):
    return 2.0 * x

kernel = compiled()(twice)
monitor = Monitor(Problem(tent(), nm.Domain([1.0], [7.0])), 1e-4)
with interruptible(monitor.interrupt):
    try:
        with event.install_listener(sys.argv[1], Press()):
            print(kernel(1.5), flush=True)
    except KeyboardInterrupt:
        print("stopped", flush=True)
    print(monitor.interrupted, len(kernel.signatures), kernel(2.5), flush=True)
"""


def test_a_second_ctrl_c_waits_for_the_compiler() -> None:
    ended = run(COMPILATION, "numba:compile")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["pressed", "pressed", "stopped", "True", "1", "5.0"]


def test_many_ctrl_c_between_the_passes_of_the_compiler_do_no_harm() -> None:
    ended = run(COMPILATION, "numba:run_pass")
    assert ended.returncode == 0, ended.stderr
    words = ended.stdout.split()
    assert words.count("pressed") > 20
    assert words[-4:] == ["stopped", "True", "1", "5.0"]


def press(times: int) -> Callable[[], None]:
    def block() -> None:
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)

    return block


@pytest.mark.parametrize("times", [0, 1, 2, 5])
def test_what_is_held_back_is_answered_afterwards(times: int) -> None:
    monitor = Monitor(Problem(tent(), nm.Domain([1.0], [7.0])), 1e-4)
    before = signal.getsignal(signal.SIGINT)
    reached = stopped = False
    with interruptible(monitor.interrupt):
        try:
            with held(), held():
                press(times)()
                reached = not monitor.interrupted
        except KeyboardInterrupt:
            stopped = True
        assert (reached, monitor.interrupted, stopped) == (True, times > 0, times > 1)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_hold_nothing_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def work() -> None:
        with held():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


# -- solvers ----------------------------------------------------------------------------

SOLVER = """
import sys, nnbo_mip as nm
from tests.exact.test_certify import slow_problem
network, space = slow_problem()
running = []
def tell(progress):
    if progress.engine == f"mip:{sys.argv[1]}" and not running:
        running.append(1)
        print("running", flush=True)
result = nm.certify(
    network, space, method="mip", solver=sys.argv[1], time_limit=1200.0, progress=tell
)
print(result.status, result.value < result.bound < 1e9, result.message, sep="|", flush=True)
"""


@pytest.mark.parametrize("solver", ["highs", "pyomo:highs"])
def test_ctrl_c_ends_the_solver_and_keeps_value_and_bound(solver: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SOLVER, solver], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    status, is_ordered, message = output.strip().split("|")
    assert (status, is_ordered) == ("feasible", "True")
    claimant = f" {solver} is a claimant: its points count, its bounds are not read"
    ended = "interrupted by the user; the gap is open, but value and bound hold."
    assert message.startswith(ended + (claimant if solver.startswith("pyomo:") else ""))
    assert solver.startswith("pyomo:") or message == ended
