"""Other people's tools begin from the shared starts and learn what they are told.

They are installed by the extra peers-bo only.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from benchmarks.regret.methods import PEERS
from benchmarks.regret.unit import Loop, Task, Unit, task_of

pytestmark = pytest.mark.filterwarnings("default")  # theirs are not ours to mend

UNIT = Unit("functions", "branin", "", "branin", 12, 16, 3, 5.0, "")


@pytest.fixture(params=PEERS)
def peer(request: pytest.FixtureRequest) -> Any:
    method = PEERS[request.param]
    for package in method.packages:
        pytest.importorskip({"scikit-learn": "sklearn"}.get(package, package))
    return lambda task: importlib.import_module(method.runner).begin(task, **method.options)


def asked(loop: Loop, task: Task, steps: int) -> np.ndarray:
    points = []
    for _ in range(steps):
        x, _ = loop.ask()
        points.append(x)
        loop.tell(float(task.problem.truth(np.clip(x, task.lower, task.upper))[0]))
    return np.array(points)


def test_points_are_new_ones_of_the_box(peer: Any) -> None:
    task = task_of(UNIT)
    points = asked(peer(task), task, 4)
    assert points == pytest.approx(points.clip(task.lower, task.upper), abs=1e-9)
    known = np.concatenate([task.X, points])
    apart = np.abs(known[:, None] - known[None]).max(axis=2) + np.eye(len(known))
    assert apart.min() > 1e-6


def test_the_first_point_depends_on_the_values_of_the_starts(peer: Any) -> None:
    task = task_of(UNIT)
    other = Task(task.problem, task.X, task.y[::-1].copy(), 16, task.seed, 5.0)
    first, second = (asked(peer(given), given, 1) for given in (task, other))
    assert np.abs(first - second).max() > 1e-3
