"""What a report says of a store, in figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nnbo_mip.drawing.picture import Line
from nnbo_mip.lab.pictures.doublings import doublings
from nnbo_mip.lab.statistics.findings import DISTANCE, REGRET, Findings
from nnbo_mip.lab.store.results import Results
from nnbo_mip.lab.store.step_totals import mean_doublings, sampled_gaps, step_totals
from nnbo_mip.lab.store.store import opened
from tests.lab.reported import FACTORS, STARTS, STEPS, regret, written
from tests.lab.stores import answer, plan_of, planned


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.db"


def test_losses_are_regrets_and_ranks_follow(path: Path) -> None:
    findings = Findings.of(Results.open(written(path)))
    assert findings.ranked == tuple(FACTORS)
    branin = findings.problems[0]
    assert (branin.measure, branin.evaluations) == (REGRET, STARTS + STEPS)
    for sample in branin.samples:
        ends = [min(regret(sample.method, k, n) for n in range(8)) for k in range(4)]
        assert sample.final.tolist() == ends
        assert sample.final_median.value == np.median(ends)
    assert branin.median_ranks.tolist() == [1, 2, 3]
    assert branin.interval_ranks.tolist() == [1, 2, 3]
    assert branin.stratified.tolist() == [1, 1, 1]  # four instances cannot reach the level
    assert branin.friedman is not None
    assert branin.friedman.ranks.tolist() == [1.0, 2.0, 3.0]
    assert findings.friedman is not None
    assert findings.friedman.blocks == 2


def test_a_half_finished_experiment_is_compared_on_what_is_common(path: Path) -> None:
    # Units are planned problem by problem, instance by instance, in the order gp, nomu, random.
    findings = Findings.of(Results.open(written(path, finished=5)))
    branin, forrester = findings.problems
    assert [len(sample) for sample in branin.samples] == [2, 2, 1]
    assert branin.common.tolist() == [0]
    assert branin.paired.shape == (1, 3, 8)
    assert forrester.samples == ()
    assert findings.complete == (branin,)
    assert findings.friedman is None


def test_nothing_finished_has_no_figures(path: Path) -> None:
    findings = Findings.of(Results.open(written(path, finished=0)))
    assert findings.ranked == ()
    assert findings.complete == ()
    assert [problem.evaluations for problem in findings.problems] == [0, 0]


def test_without_an_optimum_the_best_value_that_was_found_takes_its_place(path: Path) -> None:
    units = [planned(method=m, optimum=None, direction="maximize") for m in ("gp", "nomu")]
    with opened(path) as store:
        store.write_plan(plan_of(units))
        store.add([answer(units[0].unit, [1.0, 2.0, 7.0, 6.0, 5.0])])
        store.add([answer(units[1].unit, [None, 2.0, 3.0, 9.5, 5.0])])
    (problem,) = Findings.of(Results.open(path)).problems
    assert problem.measure == DISTANCE
    gp, nomu = problem.samples
    assert gp.losses.tolist() == [[8.5, 7.5, 2.5, 2.5, 2.5]]
    assert np.isnan(nomu.losses[0, 0])
    assert nomu.losses[0, 1:].tolist() == [7.5, 6.5, 0.0, 0.0]


def test_runs_without_a_value_are_left_out_and_counted(path: Path) -> None:
    units = [planned(instance=k) for k in range(2)]
    with opened(path) as store:
        store.write_plan(plan_of(units))
        store.add([answer(units[0].unit, [None] * 5), answer(units[1].unit, [4.0] * 5)])
    (problem,) = Findings.of(Results.open(path)).problems
    (sample,) = problem.samples
    assert sample.instances.tolist() == [1]
    assert sample.without_values == 1


def test_steps_are_added_up_by_method(path: Path) -> None:
    results = Results.open(written(path))
    totals = step_totals(results)
    assert totals["method"].tolist() == ["gp", "nomu"]  # random takes none
    assert totals["steps"].tolist() == [2 * 4 * STEPS] * 2
    assert totals["optimal"].tolist() == totals["proven"].tolist() == [40, 40]
    assert totals["seconds"].tolist() == [20.0, 20.0]
    assert totals["evaluations"].tolist() == [280.0, 280.0]
    chosen = np.isin(results.steps["unit"], results.units["unit"][results.units["method"] == "gp"])
    assert results.steps["ask_seconds"][chosen].sum() == totals["ask_seconds"][0]


def test_many_gaps_are_sampled_evenly(path: Path) -> None:
    results = Results.open(written(path))
    assert len(sampled_gaps(results, "branin", "gp", 1000)) == 4 * STEPS
    assert len(sampled_gaps(results, "branin", "gp", 10)) == 10
    assert sampled_gaps(results, "branin", "gp", 3)["gap"].tolist() == [0.25] * 2
    assert len(sampled_gaps(results, "branin", "random", 10)) == 0


def test_doublings_are_means_over_instances_of_methods_that_doubled(path: Path) -> None:
    units = [planned(method=m, instance=k) for m in ("gp", "nomu") for k in range(2)]
    with opened(path) as store:
        store.write_plan(plan_of(units))
        for one in units:
            made = answer(one.unit, [5.0, 4.0, 3.0, 2.0, 1.0])
            assert made.result is not None
            for step in made.result["steps"]:
                is_counted = one.method == "gp" and one.unit.instance == 1
                step["doublings"] = step["number"] if is_counted else 0
            store.add([made])
    means = mean_doublings(Results.open(path), "branin")
    assert means["method"].tolist() == ["gp"] * 3 + ["nomu"] * 3
    assert means["number"].tolist() == [2, 3, 4] * 2
    assert means["doublings"].tolist() == [1.0, 1.5, 2.0, 0.0, 0.0, 0.0]
    picture = doublings("branin", means, {"gp": 0, "nomu": 1})
    (series,) = picture.series
    assert series.name == "gp"
    (line,) = series.marks
    assert isinstance(line, Line)
    assert np.asarray(line.x).tolist() == [3, 4, 5]
    assert np.asarray(line.y).tolist() == [1.0, 1.5, 2.0]
