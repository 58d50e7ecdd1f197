"""CBC through the binary that PuLP brings along.

A claimant, never a prover: CBC has answered "Optimal" with wrong optima that its own
solution confirms. Its solution is a candidate, its status a claim, its bound is not read.
The model goes through an .mps file of our own writing (all digits; PuLP keeps twelve), the
solution file is read here because PuLP passes relaxation values off as a solution after a
time-out.
"""

from __future__ import annotations

import math
import re
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import SolverError
from nnbo_mip.exact.backends.base import (
    DEFAULT,
    AnswerStatus,
    Backend,
    SolverAnswer,
    SolveRequest,
    missing,
)
from nnbo_mip.exact.backends.worker import run_stoppable
from nnbo_mip.exact.formulation.export import export
from nnbo_mip.exact.formulation.model import MilpModel
from nnbo_mip.exact.formulation.tolerance import Tolerances

LONGEST_SECONDS = 1e9
LARGEST_SEED = 2**31 - 2

STATUSES: tuple[tuple[str, AnswerStatus], ...] = (
    ("Optimal", "optimal"),
    ("Infeasible", "infeasible"),
    ("Integer infeasible", "infeasible"),
    ("Stopped on", "stopped"),
)
"""Beginnings of the first line of a solution file; any other means ``failed``."""

NO_SOLUTION = "no integer solution"

NODES = re.compile(r"After (\d+) nodes")
"""A line of its log."""


class Cbc(Backend):
    """The CBC mixed-integer solver, as a claimant."""

    name = "cbc"
    package = "pulp"
    tolerances: ClassVar[Tolerances] = Tolerances(1e-9, 1e-9, 1e-9)

    def version(self) -> str:
        """Return the version that the binary prints."""
        run = subprocess.run(
            [_binary(), "-quit"], capture_output=True, text=True, check=False, timeout=60
        )
        for line in run.stdout.splitlines():
            if line.startswith("Version:"):
                return line.removeprefix("Version:").strip()
        raise SolverError(
            f"the CBC binary of PuLP must print its version; got {run.stdout!r} {run.stderr!r}; "
            f"reinstall pulp, or use the solver {DEFAULT!r}."
        )

    def _solve(self, model: MilpModel, request: SolveRequest) -> SolverAnswer:
        if request.cutoff is not None:
            model = model.with_floor(request.cutoff)
        with tempfile.TemporaryDirectory(prefix="nnbo-cbc-") as name:
            folder = Path(name)
            export(model, folder / "model.mps")
            if request.start is not None:
                _write_start(model, request.start, folder / "start.txt")
            was_ended = _run([_binary(), *_arguments(folder, request)], request)
            if was_ended and not (folder / "solution.txt").is_file():
                return SolverAnswer("stopped", native_status="ended on request")
            return _read(model, folder / "solution.txt")


def _binary() -> str:
    try:
        from pulp.apis.coin_api import pulp_cbc_path
    except ImportError as error:
        raise missing("pulp", "", error) from error
    if not Path(pulp_cbc_path).is_file():
        raise SolverError(
            f"PuLP must bring a CBC binary; none at {pulp_cbc_path}; "
            f"reinstall pulp for this platform, or use the solver {DEFAULT!r}."
        )
    return str(pulp_cbc_path)


def _arguments(folder: Path, request: SolveRequest) -> list[str]:
    seconds = min(max(request.time_limit, 0.0), LONGEST_SECONDS)
    arguments = [str(folder / "model.mps")]
    if request.start is not None:
        arguments += ["-mipstart", str(folder / "start.txt")]
    options: dict[str, object] = {
        "timeMode": "elapsed",
        "sec": f"{seconds:.6f}",
        "threads": request.threads,
        "randomSeed": 1 + request.seed % LARGEST_SEED,  # 0 means the time of day
        "randomCbcSeed": 1 + request.seed % LARGEST_SEED,
        "ratio": 0.0,
        "allow": f"{max(request.absolute_gap, 0.0):.17g}",
        "primalTolerance": Cbc.tolerances.feasibility,
        "dualTolerance": Cbc.tolerances.dual,
        "integerTolerance": Cbc.tolerances.integrality,
    }
    if not request.presolve:
        options |= {"presolve": "off", "preprocess": "off"}
    for option, value in options.items():
        arguments += [f"-{option}", str(value)]
    return [*arguments, "-solve", "-solution", str(folder / "solution.txt")]


def _write_start(model: MilpModel, start: FloatArray, path: Path) -> None:
    lines = [
        f"{j} {name} {value:.17g}"
        for j, (name, value) in enumerate(zip(model.column_names, start, strict=True))
    ]
    path.write_text("\n".join(["Stopped on start", *lines, ""]), encoding="ascii")


def _run(command: list[str], request: SolveRequest) -> bool:
    """Run CBC; return whether it was ended before it had finished."""
    # A session of its own: Ctrl-C reaches the waiting thread, which stops the solver.
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )

    def work() -> None:
        with process:
            assert process.stdout is not None  # stdout=PIPE
            for line in process.stdout:
                count = NODES.search(line)
                if count:  # its bound is not believed, so none is reported
                    request.hooks.progress(math.inf, int(count[1]))
                if request.hooks.log is not None:
                    request.hooks.log(line.rstrip("\n"))

    ended = threading.Event()

    def end() -> None:
        ended.set()
        process.kill()

    run_stoppable(work, end, request.hooks, request.time_limit)
    return ended.is_set()


def _read(model: MilpModel, path: Path) -> SolverAnswer:
    if not path.is_file():  # killed, crashed, or refused its input
        return SolverAnswer("failed", native_status="it wrote no solution")
    lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    first = lines[0] if lines else ""
    status: AnswerStatus = next(
        (meaning for word, meaning in STATUSES if first.startswith(word)), "failed"
    )
    if status == "infeasible":
        return SolverAnswer("infeasible", bound=-math.inf, native_status=first)
    if status == "failed" or NO_SOLUTION in first:
        without: AnswerStatus = "stopped" if status == "stopped" else "failed"
        return SolverAnswer(without, native_status=first)
    index = {name: j for j, name in enumerate(model.column_names)}
    columns = np.zeros(model.n_columns)  # CBC leaves zeros out
    for line in lines[1:]:
        fields = line.removeprefix("**").split()
        if len(fields) >= 3 and fields[1] in index:
            columns[index[fields[1]]] = float(fields[2])
    return SolverAnswer(status, columns, model.value(columns), native_status=first)
