"""Profiles as pictures: all of their steps can be seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nnbo_mip.drawing import drawn
from nnbo_mip.drawing.picture import Line, Picture
from nnbo_mip.lab.pictures.profiles import data, performance
from nnbo_mip.lab.statistics.findings import Findings
from nnbo_mip.lab.store.results import Results
from tests.lab.reported import FACTORS, written

COLORS = {method: place for place, method in enumerate(FACTORS)}


def findings(path: Path, finished: int | None = None) -> Findings:
    return Findings.of(Results.open(written(path, finished=finished)))


def stairs(picture: Picture) -> dict[str, list[list[float]]]:
    lines = {one.name: one.marks[0] for one in picture.series}
    assert all(isinstance(line, Line) for line in lines.values())
    return {
        name: [np.asarray(getattr(line, axis)).tolist() for axis in ("x", "y")]
        for name, line in lines.items()
    }


# Of the distance at the starts gp leaves a quarter after each evaluation more, nomu a half: a
# tenth is reached after 5 and 7 of 8 evaluations. The problems have two variables.


def test_a_performance_profile_goes_beyond_its_last_step(tmp_path: Path) -> None:
    picture = performance(findings(tmp_path / "results.db"), 0.1, COLORS)
    assert stairs(picture) == {
        "gp": [[1.0, 2.0], [1.0, 1.0]],
        "nomu": [[1.0, 7 / 5, 2.0], [0.0, 1.0, 1.0]],
        "random": [[1.0, 2.0], [0.0, 0.0]],
    }
    assert picture.y.ends == (0.0, 1.0)


def test_a_data_profile_goes_from_nothing_to_the_whole_budget(tmp_path: Path) -> None:
    picture = data(findings(tmp_path / "results.db"), 0.1, COLORS)
    assert stairs(picture) == {
        "gp": [[0.0, 5 / 3, 8 / 3], [0.0, 1.0, 1.0]],
        "nomu": [[0.0, 7 / 3, 8 / 3], [0.0, 1.0, 1.0]],
        "random": [[0.0, 8 / 3], [0.0, 0.0]],
    }


@pytest.mark.parametrize("profile", [performance, data])
def test_without_runs_there_is_nothing_to_be_seen(tmp_path: Path, profile: type) -> None:
    assert profile(findings(tmp_path / "results.db", finished=0), 0.1, COLORS).is_empty


def test_matplotlib_goes_to_the_ends_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    caught = []
    monkeypatch.setattr(drawn, "save", lambda figure, path: caught.append(figure))
    found = findings(tmp_path / "results.db")
    drawn.draw(performance(found, 1e-9, COLORS), "unused.svg")  # which nobody solves
    (axes,) = caught[0].axes
    low, high = axes.get_ylim()
    assert low <= 0.0
    assert high >= 1.0
