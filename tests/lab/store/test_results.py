"""What a store keeps, and what is read from it."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nnbo_mip.core.errors import FileFormatError, InputError, MissingFileError, StoreError
from nnbo_mip.lab.statistics.findings import Findings
from nnbo_mip.lab.store.columns import STEPS
from nnbo_mip.lab.store.results import Results, experiments
from nnbo_mip.lab.store.schema import APPLICATION, SCHEMA
from nnbo_mip.lab.store.step_totals import sampled_gaps
from nnbo_mip.lab.store.store import opened
from tests.lab.stores import STEP, answer, failure, made, plan_of, planned
from tests.loop.runs import no_space

ASSETS = Path(__file__).parents[2] / "assets"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.db"


def test_what_was_written_is_read(path: Path) -> None:
    units = [planned(method=method, instance=7) for method in ("nomu", "random")]
    with opened(path) as store:
        assert store.write_plan(plan_of(units)) == {one.unit.key: "planned" for one in units}
        store.add([answer(units[0].unit, [5.0, 3.0, None, 4.0, 1.0])])
        store.add([answer(units[1].unit, [5.0, 3.0, 2.0, 9.0, 8.0], is_baseline=True)])
    results = Results.open(path)
    assert results.experiment.name == "made"
    assert results.experiment.metrics == ("regret",)
    assert results.problems == ("branin",)
    assert results.methods == ("nomu", "random")
    assert results.units["status"].tolist() == ["finished", "finished"]
    assert results.units["instance"].tolist() == [7, 7]
    assert results.units["attempts"].tolist() == [1, 1]
    assert np.isnan(results.units["budget"]).all()
    assert results.settings(results.units["unit"][0])["method"] == {
        "options": {"surrogate": "nomu"}
    }
    assert results.environment(results.units["environment"][0]) == {"host": "here"}
    nomu = results.observations.where(results.observations["unit"] == results.units["unit"][0])
    assert nomu["y"].tolist()[:2] == [5.0, 3.0]
    assert np.isnan(nomu["y"][2])
    assert nomu["best"].tolist() == [5.0, 3.0, 3.0, 3.0, 1.0]
    assert results.steps["number"].tolist() == [2, 3, 4]
    assert results.steps["gap"].tolist() == [0.25] * 3
    assert results.points(results.units["unit"][0])[1].tolist() == [1.0, -1.0]


def test_regret_is_that_of_the_values_without_noise_in_either_direction(path: Path) -> None:
    low = planned(problem="low", optimum=-2.0)
    high = planned(problem="high", optimum=10.0, direction="maximize")
    with opened(path) as store:
        store.write_plan(plan_of([low, high]))
        store.add([answer(low.unit, [9.0, 9.0, 9.0, 9.0, 9.0], [4.0, 5.0, 1.0, 2.0, 0.5])])
        store.add([answer(high.unit, [4.0, 7.0, 6.0, 9.5, 2.0])])
    results = Results.open(path)
    assert results.curves("low", "nomu").values.tolist() == [[6.0, 6.0, 3.0, 3.0, 2.5]]
    assert results.curves("low", "nomu", "best").values.tolist() == [[9.0] * 5]
    assert results.curves("high", "nomu").values.tolist() == [[6.0, 3.0, 3.0, 0.5, 0.5]]
    assert results.curves("high", "nomu", "best").values.tolist() == [[4.0, 7.0, 7.0, 9.5, 9.5]]


def test_an_unknown_optimum_has_no_regret(path: Path) -> None:
    unit = planned(optimum=None)
    with opened(path) as store:
        store.write_plan(plan_of([unit]))
        store.add([answer(unit.unit, [5.0, 3.0])])
    curves = Results.open(path).curves("branin", "nomu")
    assert np.isnan(curves.values).all()
    assert Results.open(path).curves("branin", "nomu", "best").values.tolist() == [
        [5.0, 3.0, 3.0, 3.0, 3.0]  # a run that ended early keeps its last value
    ]


def test_curves_are_ordered_by_instance_and_hold_what_is_finished(path: Path) -> None:
    units = [planned(instance=instance) for instance in (5, 2, 9)]
    with opened(path) as store:
        store.write_plan(plan_of(units))
        store.add([answer(units[0].unit, [5.0] * 5), answer(units[1].unit, [2.0] * 5)])
        store.add([failure(units[2].unit, "died", "died")])
    results = Results.open(path)
    curves = results.curves("branin", "nomu")
    assert curves.instances.tolist() == [2, 5]
    assert curves.values[:, -1].tolist() == [2.0, 5.0]
    assert curves.starts == 2
    assert results.units["status"].tolist() == ["finished", "finished", "failed"]
    assert results.units["message"][2] == "died: a reason"
    assert results.attempts["outcome"].tolist() == ["finished", "finished", "died", "died"]


@pytest.mark.parametrize("begun", [False, True])
def test_an_empty_store_has_empty_columns(path: Path, begun: bool) -> None:
    with opened(path) as store:
        store.write_plan(plan_of([planned()] if begun else []))
    results = Results.open(path)
    assert len(results.observations) == len(results.steps) == len(results.attempts) == 0
    assert results.observations["regret"].dtype == np.float64
    assert results.steps["doublings"].dtype == np.int64
    assert len(results.units) == int(begun)
    if begun:
        assert results.curves("branin", "nomu").values.shape == (0, 5)


def test_nothing_is_counted_twice(path: Path) -> None:
    unit = planned()
    with opened(path) as store:
        store.write_plan(plan_of([unit]))
        store.add([answer(unit.unit, [5.0, 3.0])])
        store.add([answer(unit.unit, [6.0, 1.0]), failure(unit.unit, "error")])
    results = Results.open(path)
    assert results.observations["y"].tolist() == [5.0, 3.0]
    assert results.attempts["outcome"].tolist() == ["finished"]


def test_a_plan_takes_the_place_of_the_one_before(path: Path) -> None:
    old, kept, new = (planned(instance=instance) for instance in range(3))
    with opened(path) as store:
        store.write_plan(plan_of([old, kept]))
        store.add([answer(one.unit, [5.0] * 5) for one in (old, kept)])
        statuses = store.write_plan(plan_of([kept, new]))
        store.write_plan(plan_of([old], name="other"))
    assert statuses == {kept.unit.key: "finished", new.unit.key: "planned"}
    assert [record.name for record in experiments(path)] == ["made", "other"]
    assert Results.open(path, "made").units["status"].tolist() == ["finished", "planned"]
    assert Results.open(path, "other").units["status"].tolist() == ["finished"]
    with pytest.raises(InputError, match=r"made, other; none was named; name one of them\."):
        Results.open(path)
    with pytest.raises(InputError, match=r"got 'othr'; did you mean 'other'\?"):
        Results.open(path, "othr")


def test_frames_belong_together_while_others_write(path: Path) -> None:
    units = [planned(instance=instance) for instance in range(2)]
    with opened(path) as store:
        store.write_plan(plan_of(units))
        store.add([answer(units[0].unit, [5.0, 3.0, 1.0])])
        results = Results.open(path)
        assert results.observations["y"].tolist() == [5.0, 3.0, 1.0]
        store.add([answer(units[1].unit, [6.0, 4.0, 2.0])])
        assert results.units["status"].tolist() == ["finished", "planned"]
        assert results.observations["truth"].tolist() == [5.0, 3.0, 1.0]
        assert results.steps["number"].tolist() == [2]
        assert results.curves("branin", "nomu").values.shape == (1, 5)
        assert len(Results.open(path).observations) == 6


def test_what_could_not_be_written_is_said_and_can_be_written_later(path: Path) -> None:
    units = [planned(instance=instance) for instance in range(2)]
    with opened(path) as store:
        store.write_plan(plan_of(units))
        store.add([answer(units[0].unit, [1.0])])
        with (
            pytest.raises(StoreError, match="must be a file that can be read and written"),
            no_space(),
        ):
            store.add([answer(units[1].unit, [2.0])])
        assert Results.open(path).observations["y"].tolist() == [1.0]
        store.add([answer(units[1].unit, [2.0])])
    assert Results.open(path).observations["y"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("schema", range(1, SCHEMA + 1))
def test_a_store_of_every_schema_can_be_read(schema: int, tmp_path: Path) -> None:
    copy = shutil.copy(ASSETS / f"store_schema_{schema}.db", tmp_path)
    results = Results.open(copy)
    assert results.problems == ("branin", "levy")
    assert results.methods == ("nomu", "random")
    assert results.curves("levy", "random").values.tolist() == [[3.0, 2.0, 1.0]] * 2
    assert results.units["status"].tolist() == ["finished"] * 8
    assert len(results.steps) == 4
    assert np.isnan(results.steps["side"]).all()  # a column that it lacks


def test_a_store_of_the_first_schema_can_be_written_to(tmp_path: Path) -> None:
    copy = Path(shutil.copy(ASSETS / "store_schema_1.db", tmp_path))
    before = Results.open(copy)
    steps = len(before.steps)
    one = planned("branin", "gp")
    with opened(copy) as store:
        statuses = store.write_plan(plan_of([one], before.experiment.name), extend=True)
        assert list(statuses.values()) == ["finished"] * 8 + ["planned"]
        store.add([answer(one.unit, [1.0] * 5)])
    after = Results.open(copy)
    assert after.methods == ("nomu", "random", "gp")
    assert len(after.steps) == steps + 3
    with sqlite3.connect(copy) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA


def test_the_record_of_a_step_has_every_column_and_no_other(path: Path) -> None:
    names = {column.name for column in STEPS} - {"unit"}
    optional = {column.name for column in STEPS if column.is_optional}
    assert names - optional <= set(STEP) | {"number"} <= names
    missing = {key: value for key, value in STEP.items() if key != "engine"}
    one = planned("branin", "nomu")
    with opened(path) as store:
        store.write_plan(plan_of([one]))
        whole = answer(one.unit, [1.0] * 5)
        assert whole.result is not None
        torn = replace(whole, result={**whole.result, "steps": [{"number": 2, **missing}]})
        with pytest.raises(KeyError, match="engine"):
            store.add([torn])
        store.add([whole])
    assert Results.open(path).steps["engine"].tolist() == ["boxes"] * 3


def test_one_runner_at_a_time(path: Path) -> None:
    with (
        opened(path),
        pytest.raises(StoreError, match="being written by another"),
        opened(path),
    ):
        pass
    with opened(path):
        pass


def test_what_is_no_store_is_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="by nnbo-mip run"):
        Results.open(path)
    path.write_text("no database, but long enough to be read as the header of one " * 9)
    with pytest.raises(FileFormatError, match="must be a store of results"):
        Results.open(path)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    with pytest.raises(FileFormatError, match="another SQLite file"):
        Results.open(other)
    with pytest.raises(FileFormatError, match="another SQLite file"), opened(other):
        pass
    with pytest.raises(InputError, match="existing folder"), opened(tmp_path / "no" / "r.db"):
        pass


def test_a_newer_store_is_refused(path: Path) -> None:
    made(path, ["branin"], ["nomu"], 1, 2, 3, lambda *_: 1.0)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
    connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    connection.close()
    with pytest.raises(FileFormatError, match=f"has schema {SCHEMA + 1}"):
        Results.open(path)
    with pytest.raises(FileFormatError, match=f"has schema {SCHEMA + 1}"), opened(path):
        pass


def test_unknown_labels_are_named(path: Path) -> None:
    made(path, ["branin"], ["nomu", "random"], 2, 2, 3, lambda *_: 1.0)
    with pytest.raises(InputError, match="it has nomu, random on branin"):
        Results.open(path).curves("branin", "gp")
    with pytest.raises(InputError, match="must be one of unit, "):
        Results.open(path).units["seed"]


@pytest.mark.parametrize(
    ("column", "number", "words"),
    [
        ("steps", 2**31, "a length that is not 1 to 1000000"),
        ("starts", 2**62, "a length that is not 1 to 1000000"),
        ("steps", 10**6, "units of 1000002 observations hold 5"),
        ("dimension", 0, "a unit has no inputs"),
    ],
)
def test_lengths_are_compared_with_the_rows_that_are_there(
    path: Path, column: str, number: int, words: str
) -> None:
    made(path, ["branin"], ["nomu"], 1, 2, 3, lambda *_: 1.0)
    _change(path, f"UPDATE units SET {column} = {number}")
    with pytest.raises(FileFormatError, match=words):
        Results.open(path).curves("branin", "nomu")


def test_a_unit_without_any_evaluation_is_damaged(path: Path) -> None:
    made(path, ["branin"], ["nomu"], 1, 2, 3, lambda *_: 1.0)
    _change(path, "UPDATE units SET starts = 0, steps = 0")
    with pytest.raises(FileFormatError, match="a length that is not 1 to"):
        Findings.of(Results.open(path))


def test_labels_that_end_with_nul_are_found(path: Path) -> None:
    made(path, ["branin"], ["nomu"], 1, 2, 3, lambda *_: 1.0)
    _change(path, "UPDATE plan SET problem = char(0)")
    assert [len(one.samples) for one in Findings.of(Results.open(path)).problems] == [1]


def test_units_of_one_problem_may_claim_different_starts(path: Path) -> None:
    made(path, ["branin"], ["nomu", "gp"], 3, 2, 3, lambda *_: 1.0)
    _change(path, "UPDATE units SET starts = 40, steps = 0 WHERE id % 2 = 0")
    (found,) = Findings.of(Results.open(path)).problems
    assert found.starts == 2
    assert found.stratified.tolist() == [1, 1]


def _change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("cell", ["''", "'much'", "x'ff'"])
def test_sums_of_steps_that_hold_no_numbers_are_damaged(path: Path, cell: str) -> None:
    made(path, ["branin"], ["nomu"], 1, 2, 3, lambda *_: 1.0)
    _change(path, f"UPDATE steps SET seconds = {cell}")
    with pytest.raises(FileFormatError, match="must hold what its runner wrote"):
        sampled_gaps(Results.open(path), "branin", "nomu", 100)


@pytest.mark.parametrize("number", ["9e999", "1e300"])
def test_an_environment_that_no_table_can_hold_is_damaged(path: Path, number: str) -> None:
    made(path, ["branin"], ["nomu"], 1, 2, 3, lambda *_: 1.0)
    _change(path, f"UPDATE units SET environment = {number}")
    results = Results.open(path)
    with pytest.raises(FileFormatError, match="must hold what its runner wrote"):
        results.environment(results.units["environment"][0])
