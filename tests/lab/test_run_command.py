"""`nnbo-mip run`: killed, interrupted, and started again; its exit codes and what it says."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import nnbo_mip as nm
from nnbo_mip.cli.app import app
from nnbo_mip.lab.plan.own_code import own_code
from nnbo_mip.lab.store.results import Results
from tests.lab import hooks
from tests.lab.run.test_local_pool import is_alive
from tests.lab.stores import made

MAIN = "from nnbo_mip.cli.main import main; main()"
COMMAND = [
    sys.executable,
    "-P",
    "-c",
    MAIN,
    "run",
    "hooks.toml",
    "--trust-imports",
    "--workers",
    "2",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    hooks.written(tmp_path)
    yield tmp_path
    if sys.modules.pop(hooks.NAME, None):
        nm.problems.unregister("misbehaving")


def run(arguments: str) -> Result:
    return CliRunner().invoke(app, ["run", *arguments.split(), "--trust-imports"])


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def evaluated(folder: Path) -> list[list[str]]:
    log = folder / "evaluated.log"
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


def test_killed_and_started_again_it_repeats_nothing_that_is_finished(folder: Path) -> None:
    n = 24
    (folder / "hooks.toml").write_text(
        hooks.experiment("['misbehaving:seconds=0.05,instance={instance}']", instances=n)
    )

    def finished() -> set[int]:
        if not (folder / "results.db").exists():
            return set()
        units = Results.open("results.db").units
        return set(units["instance"][units["status"] == "finished"].tolist())

    def evaluated_since(lines: int) -> set[int]:
        return {int(line[1]) for line in evaluated(folder)[lines:]}

    def started(at_least: int) -> subprocess.Popen[str]:
        before = len(evaluated(folder))
        process = subprocess.Popen(
            COMMAND, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        wait_for(lambda: len(evaluated(folder)) >= before + at_least)
        return process

    process = started(9)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    said = process.communicate()[1].splitlines()
    assert process.returncode == 130
    assert "what was under way is run again by: nnbo-mip run hooks.toml" in said[-1]
    assert said[-1].endswith("--store results.db --workers 2 --trust-imports --resume")
    kept, lines = finished(), len(evaluated(folder))
    assert 3 <= len(kept) < n

    process = started(9)
    process.kill()
    process.communicate()
    killed = {int(line[2]) for line in evaluated(folder)}
    wait_for(lambda: not any(is_alive(one) for one in killed))  # workers end with the runner
    assert not evaluated_since(lines) & kept
    more, lines = finished(), len(evaluated(folder))
    assert kept < more < set(range(n))

    process = started(1)
    said = process.communicate()[1].splitlines()
    assert process.returncode == 0
    assert said[0] == f"nnbo-mip: {len(more)} of {n} units are in results.db already"
    assert finished() == set(range(n))
    assert not evaluated_since(lines) & more
    results = Results.open("results.db")
    assert len(results.observations) == 2 * n
    assert results.units["attempts"].tolist() == [1] * n


def test_failures_are_kept_reported_and_tried_again(folder: Path) -> None:
    (folder / "hooks.toml").write_text(
        hooks.experiment("['misbehaving', 'misbehaving:how=lacking']")
    )
    result = run("hooks.toml --workers 1")
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0].startswith("hooks: 1 of 2 units finished, 1 failed; 2 run")
    assert "random on misbehaving:how=lacking, instance 0: FileNotFoundError" in result.stdout
    assert "--retry-failed" in result.stdout
    assert "nnbo-mip: failed: random on misbehaving:how=lacking" in result.stderr
    assert "nnbo-mip: 2/2 units" in result.stderr
    units = Results.open("results.db").units
    assert units["status"].tolist() == ["finished", "failed"]
    assert "lab_hooks.py" in units["message"][1]
    (folder / "there").touch()
    answer: dict[str, Any] = json.loads(run("hooks.toml --json").stdout)
    assert (answer["ran"], answer["finished"], answer["failed"]) == (0, 1, 1)
    answer = json.loads(run("hooks.toml --retry-failed --json").stdout)
    assert answer["experiment"] == "hooks"
    assert (answer["ran"], answer["finished"], answer["failed"]) == (1, 2, 0)
    units = Results.open("results.db").units
    assert units["status"].tolist() == ["finished", "finished"]
    assert units["attempts"].tolist() == [1, 2]
    assert units["message"].tolist() == ["", ""]


def test_a_changed_module_makes_other_units(folder: Path) -> None:
    (folder / "hooks.toml").write_text(hooks.experiment("['misbehaving']"))
    assert run("hooks.toml").exit_code == 0
    (folder / "lab_hooks.py").write_text(hooks.SOURCE + "\n# changed\n")
    result = run("hooks.toml --workers 1")
    assert result.exit_code == 0
    assert result.stdout.startswith("hooks: 1 of 1 units finished, 0 failed; 1 run now")
    assert "1 finished units are no longer planned, as the experiment, a module" in result.stderr


def test_a_terminal_shows_the_time_left(folder: Path) -> None:
    (folder / "hooks.toml").write_text(
        hooks.experiment("['misbehaving:seconds=0.3,instance={instance}']", instances=4)
    )
    master, terminal = pty.openpty()
    process = subprocess.Popen(COMMAND, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while piece := os.read(master, 4096):
            shown += piece
    os.close(master)
    assert process.wait() == 0
    assert re.search(rb"[1-3]/4 units  \d+ s  about \d+ s left  last random on", shown)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("no.toml", "no.toml"),
        ("hooks.toml --workers 0", "--workers must be a whole number from 1; got '0'"),
        ("hooks.toml --workers 2 --dask tcp://h:1", "got both; drop one"),
        ("hooks.toml --resume", "--resume goes on with a store that is there; got 'results.db'"),
        ("wrong.toml", "wrong.toml, line 4, problems[1]: "),
        ("hooks.toml --store no/results.db", "existing folder"),
    ],
)
def test_bad_input_is_a_sentence(folder: Path, arguments: str, said: str) -> None:
    (folder / "hooks.toml").write_text(hooks.experiment("['misbehaving']"))
    (folder / "wrong.toml").write_text(hooks.experiment("['misbehavig']"))
    result = run(arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""
    assert not (folder / "results.db").exists()
    assert not evaluated(folder)


def test_a_store_that_cannot_be_used(folder: Path) -> None:
    (folder / "hooks.toml").write_text(hooks.experiment("['misbehaving']"))
    (folder / "other.db").write_text("no store, " * 100)
    result = run("hooks.toml --store other.db")
    assert result.exit_code == 2
    assert "must be a store of results" in result.stderr


def test_a_cluster_that_is_not_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("nnbo_mip.lab.run.dask_cluster.PATIENCE", 0.2)
    (folder / "hooks.toml").write_text(hooks.experiment("['misbehaving']"))
    result = run("hooks.toml --dask tcp://127.0.0.1:9")
    assert result.exit_code == 4
    assert "--dask must be the address of a scheduler that can be reached" in result.stderr
    assert run("hooks.toml --dask nonsense://x").exit_code == 4


def test_exports_hold_every_digit(folder: Path) -> None:
    made(Path("made.db"), ["branin"], ["nomu", "random"], 2, 2, 3, lambda *place: 0.1 + place[3])
    result = CliRunner().invoke(app, ["export", "made.db", "--out", "tables"])
    assert result.exit_code == 0
    lines = Path("tables/observations.csv").read_text().splitlines()
    assert lines[0] == "problem,method,instance,unit,number,y,truth,seconds,reported,best,regret,x"
    assert lines[2] == 'branin,nomu,0,1,1,1.1,1.1,0.125,,0.1,0.1,"[1.0, -1.0]"'
    assert len(lines) == 1 + 2 * 2 * 5
    units = Path("tables/units.csv").read_text().splitlines()
    assert units[1].startswith("1,0,branin,nomu,nomu,ucb,auto,,,")  # no budget is an empty cell
    assert len(Path("tables/steps.csv").read_text().splitlines()) == 1 + 2 * 3
    again = CliRunner().invoke(app, ["export", "made.db", "--out", "made.db"])
    assert again.exit_code == 2
    assert "must go to a folder" in again.stderr


def test_parquet_is_what_csv_is(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    made(Path("made.db"), ["branin"], ["nomu"], 2, 2, 3, lambda *place: 0.1 + place[3])
    arguments = ["export", "made.db", "--out", "tables", "--format", "parquet", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert len(json.loads(result.stdout)["files"]) == 4
    table = parquet.read_table("tables/observations.parquet").to_pydict()
    results = Results.open("made.db")
    assert table["y"] == results.observations["y"].tolist()
    assert table["method"] == ["nomu"] * 10
    assert table["number"] == list(range(5)) * 2


def test_parquet_without_its_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(Path("made.db"), ["branin"], ["nomu"], 1, 2, 3, lambda *_: 1.0)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = CliRunner().invoke(app, ["export", "made.db", "--format", "parquet"])
    assert result.exit_code == 4
    assert "install nnbo_mip[parquet]" in result.stderr


def test_dask_without_its_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "hooks.toml").write_text(hooks.experiment("['misbehaving']"))
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = run("hooks.toml --dask tcp://127.0.0.1:9")
    assert result.exit_code == 4
    assert "install nnbo_mip[dask]" in result.stderr


def test_code_of_the_working_folder_runs_only_where_the_user_agrees(folder: Path) -> None:
    (folder / "hooks.toml").write_text(hooks.experiment("['misbehaving']"))
    refused = CliRunner().invoke(app, ["run", "hooks.toml"])
    assert refused.exit_code == 2
    assert f"runs their code; got {hooks.NAME}.py; read these files, and say" in refused.stderr
    assert not (folder / "results.db").exists()
    assert hooks.NAME not in sys.modules


def test_own_code_is_found_under_all_keys_and_not_run(folder: Path) -> None:
    (folder / "packaged").mkdir()
    for name in ("packaged/__init__.py", "packaged/inner.py", "method.py"):
        (folder / name).write_text("raise SystemExit('ran')")
    file = folder / "some.toml"
    file.write_text(
        "imports = 'packaged.inner'\n[[methods]]\nentry = 'method:ask'\n[[methods]]\n"
        "surrogate = 'gp'\n[[methods]]\nentry = 'numpy:zeros'"
    )
    found = [str(path) for path in own_code(file)]
    assert found == ["packaged/__init__.py", "packaged/inner.py", "method.py"]
    file.write_text("imports = ['no_such_module'")
    assert own_code(file) == []
