"""Units in processes: what kills one of them costs no other."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import nnbo_mip as nm
from nnbo_mip.lab.plan.environment import THREAD_VARIABLES
from nnbo_mip.lab.plan.experiment import planned
from nnbo_mip.lab.plan.unit import Unit
from nnbo_mip.lab.run.isolated import IsolatedWorker
from nnbo_mip.lab.run.local_pool import LocalPool
from nnbo_mip.lab.store.answer import Answer
from tests.lab import hooks


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the log of evaluations in a folder with the hooks, from which units are run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield hooks.written(tmp_path)
    if sys.modules.pop(hooks.NAME, None):
        nm.problems.unregister("misbehaving")


def units(*hows: str) -> list[Unit]:
    text = hooks.experiment(str([f"misbehaving:{how}" for how in hows]))
    return [one.unit for one in planned(text, "file.toml", "name")]


def answers(pool: LocalPool, wanted: list[Unit]) -> dict[str, Answer]:
    found = [answer for batch in pool.answers(wanted) for answer in batch]
    assert len(found) == len(wanted)
    return {answer.key: answer for answer in found}


def test_what_goes_wrong_with_a_unit_is_recorded_and_the_rest_goes_on(log: Path) -> None:
    wanted = units("how=once", "how=segfault", "how=raising", "how=printing", "how=well")
    found = answers(LocalPool(2), wanted)
    once, segfault, raising, printing, well = (found[unit.key] for unit in wanted)
    assert [one.outcome for one in once.attempts] == ["died", "finished"]
    assert "signal 9 (SIGKILL)" in once.attempts[0].message
    assert [one.outcome for one in segfault.attempts] == ["died", "died"]
    assert segfault.status == "failed"
    assert "signal 11 (SIGSEGV)" in segfault.attempts[1].message
    assert "lab_hooks.py" in segfault.attempts[1].message  # the traceback of faulthandler
    assert [one.outcome for one in raising.attempts] == ["error"]
    assert raising.attempts[0].message.startswith("Traceback")
    assert raising.reason == "RuntimeError: a reason"
    assert printing.status == well.status == "finished"
    assert well.environment is not None
    assert well.environment["versions"]["nnbo_mip"] == nm.__version__
    started = [line.split()[0] for line in log.read_text().splitlines()]
    assert {how: started.count(how) for how in ("once", "segfault", "raising", "well")} == {
        "once": 3,  # one that died, and two of the second try
        "segfault": 2,
        "raising": 1,
        "well": 2,
    }


def test_a_process_has_one_thread_and_ends_with_its_worker(log: Path) -> None:
    worker = IsolatedWorker()
    try:
        first, second = units("how=well", "how=well,seconds=0.01")
        assert worker.answer(first).status == worker.answer(second).status == "finished"
    finally:
        worker.close()
    processes = {int(line.split()[-1]) for line in log.read_text().splitlines()}
    assert len(processes) == 1  # it is kept between units
    assert not is_alive(processes.pop())
    assert "OMP_NUM_THREADS" in THREAD_VARIABLES


def test_closing_the_answers_ends_what_is_under_way(log: Path) -> None:
    found = LocalPool(2).answers(units("how=well", "seconds=600", "seconds=601"))
    assert next(found)[0].status == "finished"
    deadline = time.monotonic() + 60.0
    while len(log.read_text().splitlines()) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    processes = {int(line.split()[-1]) for line in log.read_text().splitlines()}
    assert len(processes) == 2
    found.close()
    assert not any(is_alive(process) for process in processes)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
