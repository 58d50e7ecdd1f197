"""A module that experiments import: problems that misbehave, written into a folder of its own."""

from __future__ import annotations

from pathlib import Path

NAME = "lab_hooks"

SOURCE = '''
import ctypes, os, signal, time
from pathlib import Path

import nnbo_mip as nm

HERE = Path(__file__).parent


@nm.problems.register("misbehaving")
def misbehaving(how: str = "well", seconds: float = 0.0, instance: int = 0) -> nm.problems.Problem:
    """Behave as one is told at the first evaluation."""

    def f(X):
        with (HERE / "evaluated.log").open("a") as log:
            log.write(f"{how} {instance} {os.getpid()}\\n")
        time.sleep(seconds)
        if how == "raising":
            raise RuntimeError("a reason")
        if how == "lacking" and not (HERE / "there").exists():
            raise FileNotFoundError("there")
        if how == "segfault":
            ctypes.string_at(0)
        if how == "once" and not (HERE / "died").exists():
            (HERE / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "printing":
            os.write(1, b"noise on descriptor 1\\n")
            print("and on standard output")
        return X[:, 0] ** 2

    return nm.problems.Problem(how, nm.Space.box([-1.0], [2.0]), f, optimum=0.0)
'''


def written(folder: Path) -> Path:
    """Write the module, and return the log to which every evaluation adds a line."""
    (folder / f"{NAME}.py").write_text(SOURCE)
    return folder / "evaluated.log"


def experiment(problems: str, instances: int = 1, more: str = "") -> str:
    """Return the text of an experiment of a baseline, with one evaluation beside the start."""
    return f"""
name = "hooks"
imports = ["{NAME}"]
problems = {problems}
instances = {instances}
starts = 1
steps = 1
baselines = ["random"]
{more}
"""
