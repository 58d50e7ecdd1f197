"""Steps that are taken again: what the model believed is what it chose by."""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.lab.plan.experiment import read_experiment
from nnbo_mip.lab.report.repeated import repeated_beliefs
from nnbo_mip.lab.report.writing import write_report
from nnbo_mip.lab.run.unit_run import run_unit
from nnbo_mip.lab.store.answer import Answer, Attempt
from nnbo_mip.lab.store.results import Results
from nnbo_mip.lab.store.store import opened

EXPERIMENT = """
name = "small"
problems = ["forrester"]
instances = 1
starts = 3
steps = 2

[methods]
surrogate = {name = "brvfl", n_hidden = 8}
acquisition = "ucb"
maximizer = "bab"
warp = "none"
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("beliefs")
    file, path = folder / "small.toml", folder / "results.db"
    file.write_text(EXPERIMENT, encoding="utf-8")
    plan = read_experiment(file)
    tried = (Attempt("finished", 1e9, 1.0, "here"),)
    with opened(path) as results:
        results.write_plan(plan)
        results.add(
            [Answer(one.unit.key, tried, {"host": "here"}, run_unit(one.unit)) for one in plan]
        )
    return path


def test_the_belief_is_the_one_that_the_step_rested_on(store: Path) -> None:
    results = Results.open(store)
    lines = repeated_beliefs(results, 1, 2)
    assert len(lines) == len(results.steps) == 2
    y = results.observations["y"]
    for number, line in enumerate(lines):
        told = 3 + number
        assert line.value == pytest.approx(results.steps["value"][number], rel=1e-9)
        assert line.chosen == pytest.approx(results.points(1)[told][0], abs=1e-12)
        assert line.observed_y.tolist() == (-y[:told]).tolist()  # minimized
        assert math.isfinite(line.bound)
        assert line.score.max() <= line.bound + 1e-9
        # The acquisition is ucb with beta 1: the upper end of the band.
        assert line.score == pytest.approx(line.mean + line.std, rel=1e-9)
        assert (np.diff(line.x) > 0.0).all()
        assert (line.x[0], line.x[-1]) == (0.0, 1.0)


def test_the_page_has_a_section_of_them(store: Path) -> None:
    out = store.with_name("report.html")
    _, _, page = write_report(store, out, beliefs=1)
    titles = [picture.title for picture in page.drawn]
    assert "forrester, brvfl:n_hidden=8, instance 0, step 1: belief" in titles
    assert "forrester, brvfl:n_hidden=8, instance 0, step 1: acquisition" in titles


def test_other_values_lead_elsewhere_and_nothing_is_drawn(store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(store.read_bytes())
    connection = sqlite3.connect(other)
    with connection:
        connection.execute("UPDATE observations SET y = -50 - y WHERE number < 3")
    connection.close()
    with pytest.raises(UnsupportedError, match="must lead to the same point"):
        repeated_beliefs(Results.open(other), 1, 2)
    _, _, page = write_report(other, tmp_path / "report.html", beliefs=2)
    assert "not drawn. a step that is repeated" in page.as_html()
