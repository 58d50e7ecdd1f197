"""Regrets, intervals and verdicts against figures that can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from benchmarks.regret.ax import score_table, scores
from benchmarks.regret.families import families_report
from benchmarks.regret.problems import AX, FUNCTIONS, Case
from benchmarks.regret.results import Results, Run
from benchmarks.regret.table import report
from benchmarks.regret.verdicts import Held, verdict_lines
from nnbo_mip.lab.statistics.intervals import bootstrapped, interval_of, t_interval_of
from nnbo_mip.lab.statistics.paired import Difference, log10, traces

BRANIN = replace(FUNCTIONS[0], starts=2, evaluations=4)
STEP: dict[str, Any] = {
    "status": "optimal",
    "gap": 0.1,
    "fit_seconds": 0.0,
    "seconds": 0.0,
    "time_limited": False,
    "message": "",
}
HARTMANN6 = replace(FUNCTIONS[6], starts=2, evaluations=4)


def run(case: Case, method: str, seed: int, regrets: list[float], status: str = "finished") -> Run:
    optimum = case.problem.optimum
    assert optimum is not None
    steps = [{**STEP, "ask_seconds": 0.1 * k} for k in range(max(len(regrets) - 2, 0))]
    return Run(case.label, method, seed, [optimum + regret for regret in regrets], steps, status)


def test_regret_is_of_the_best_value_so_far_and_never_negative() -> None:
    assert traces([5.0, 3.0, 4.0, 1.0 - 1e-12], 1.0, 4).tolist() == [4.0, 2.0, 2.0, 0.0]


def test_a_run_that_was_cut_stays_where_it_was() -> None:
    assert traces([5.0, 3.0], 1.0, 4).tolist() == [4.0, 2.0, 2.0, 2.0]


def test_regrets_below_the_floor_are_the_same_in_log10() -> None:
    assert log10([0.01, 1e-9, 1e-12, 0.0]).tolist() == [-2.0, -9.0, -9.0, -9.0]


def test_the_t_interval_is_that_of_scipy() -> None:
    values = np.array([0.3, -0.2, 0.9, 1.4, 0.1])
    found = t_interval_of(values)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert found.low == pytest.approx(expected.low, rel=1e-12)
    assert found.high == pytest.approx(expected.high, rel=1e-12)
    assert found.value == pytest.approx(0.5)


def test_the_bootstrapped_interval_is_that_of_all_resamples() -> None:
    values = np.array([0.0, 1.0])  # means of resamples: 0, 1/2, 1 with 1/4, 1/2, 1/4
    found = interval_of(values)
    assert (found.value, found.low, found.high) == (0.5, 0.0, 1.0)
    many = np.random.default_rng(0).normal(3.0, 2.0, 400)
    found = interval_of(many)
    reach = 1.96 * many.std() / 20.0  # the central limit
    assert found.low == pytest.approx(many.mean() - reach, abs=0.02)
    assert found.high == pytest.approx(many.mean() + reach, abs=0.02)


def test_bands_are_the_intervals_of_their_columns() -> None:
    values = np.random.default_rng(1).uniform(size=(5, 3))
    low, high = bootstrapped(values, np.median)
    for column in range(3):
        found = interval_of(values[:, column], np.median)
        assert (low[column], high[column]) == (found.low, found.high)


def test_one_seed_has_no_interval() -> None:
    found = interval_of(np.array([2.0]))
    assert found.value == 2.0
    assert np.isnan(found.low)
    assert not found.is_above_zero
    assert np.isnan(t_interval_of(np.array([2.0])).high)


def test_differences_are_paired() -> None:
    rival = np.array([1.0, 10.0, 100.0, 1000.0])
    difference = Difference.of(1.1 * rival, rival)
    assert difference.log.value == pytest.approx(np.log10(1.1))
    assert difference.log.is_above_zero  # however far the seeds are from each other
    assert difference.log_t.is_above_zero
    assert not difference.regret_t.is_above_zero
    assert difference.is_wholly_worse
    assert not Difference.of(rival, 1.1 * rival).is_wholly_worse
    assert not Difference.of(rival, rival).is_wholly_worse


def test_only_shared_seeds_are_compared() -> None:
    runs = [run(BRANIN, "default", seed, [9.0, 9.0, 9.0, 1.0 + seed]) for seed in (3, 1, 2)]
    runs += [run(BRANIN, "botorch", seed, [9.0, 9.0, 9.0, 2.0 * seed]) for seed in (1, 3, 4)]
    difference = Results([BRANIN], ["default", "botorch"], runs).difference(
        BRANIN, "default", "botorch"
    )
    assert difference is not None
    assert difference.seeds == 2
    assert difference.regret.value == pytest.approx(((2.0 - 2.0) + (4.0 - 6.0)) / 2.0)


def test_the_best_peer_has_the_lowest_mean_regret_on_the_function() -> None:
    ends = {"botorch": (0.0, 1.0), "smac": (0.3, 0.3), "random": (0.0, 0.0), "default": (0.0, 0.0)}
    runs = [
        run(BRANIN, method, seed, [2.0, 2.0, 2.0, end])
        for method, pair in ends.items()
        for seed, end in enumerate(pair)
    ]
    results = Results([BRANIN], list(ends), runs)
    assert results.best_peer(BRANIN) == "smac"  # random and ours are none
    assert results.best_peer(HARTMANN6) is None


def test_verdicts_count_functions_of_few_and_of_many_inputs() -> None:
    levels = {
        (BRANIN.label, "default"): 0.5,
        (BRANIN.label, "botorch"): 0.01,
        (BRANIN.label, "random"): 1.0,
        (HARTMANN6.label, "default"): 0.5,
        (HARTMANN6.label, "botorch"): 0.9,
        (HARTMANN6.label, "random"): 0.4,
    }
    runs = [
        run(case, method, seed, [2.0, 2.0, 2.0, levels[case.label, method] * (1.0 + 0.01 * seed)])
        for case in (BRANIN, HARTMANN6)
        for method in ("default", "botorch", "random")
        for seed in range(5)
    ]
    results = Results([BRANIN, HARTMANN6], ["default", "botorch", "random"], runs)
    title, few, many, against_random = verdict_lines(results, "default")
    assert title == "default:"
    assert few.startswith("    MISSED d <= 3: not wholly worse than the best peer on 0 of 1 (aim 1")
    assert many.startswith("    met    d > 3: not wholly worse than the best peer on 1 of 1 (aim 1")
    assert against_random == (
        "    MISSED worse than random in the mean on 1 of 2, hartmann6 (aim 0); wholly worse on 1, "
        "hartmann6"
    )


def test_aims_are_half_and_two_thirds_rounded_up() -> None:
    same = Difference.of(np.ones(3), np.ones(3))
    assert Held.of([same] * 4, 1.0 / 2.0).aim == 2
    assert Held.of([same] * 4, 2.0 / 3.0).aim == 3
    assert Held.of([same] * 3, 2.0 / 3.0).aim == 2


def test_errors_are_counted_and_not_averaged() -> None:
    runs = [run(BRANIN, "default", seed, [2.0, 2.0, 2.0, 1.0]) for seed in range(2)]
    runs += [run(BRANIN, "default", 2, [9.0, 9.0], "failed")]
    results = Results([BRANIN], ["default"], runs)
    assert sorted(results.final(BRANIN, "default").round(9).tolist()) == [1.0, 1.0]
    row = next(
        line for line in report(results).splitlines() if line.startswith("| default | d <= 3 | 4 ")
    )
    assert row.endswith("| 4 optimal | 0.1 | 0 | 0 | 1 |")


def test_the_table_shows_every_function_and_method() -> None:
    runs = [
        run(BRANIN, method, seed, [2.0, 2.0, 0.5, end])
        for method, end in (("default", 0.25), ("botorch", 0.25))
        for seed in range(2)
    ]
    table = report(Results([BRANIN], ["default", "botorch"], runs))
    assert "| branin | 2 | [-5, 10] x [0, 15] | 2 + 2 | 0.397887 | 2 | botorch |" in table
    shown = "0.25 [0.25, 0.25]"
    assert f"| branin | **botorch** | {shown} | {shown} |" in table
    ours = next(line for line in table.splitlines() if line.startswith("| branin | default |"))
    assert ours.endswith("| 0 [0, 0] | [0, 0] | 0 [0, 0] | [0, 0] |")


def test_scores_are_those_of_the_registry() -> None:
    case = replace(AX[0], starts=2, evaluations=4)
    assert case.baseline is not None
    optimum = case.problem.optimum
    assert optimum is not None
    ends = [case.baseline - optimum, 0.0, 0.5 * (case.baseline - optimum)]
    runs = [run(case, "default", seed, [99.0, 99.0, 99.0, end]) for seed, end in enumerate(ends)]
    results = Results([case], ["default"], runs)
    assert scores(results, case, "default") == pytest.approx([0.0, 100.0, 50.0])
    table = score_table(results)
    assert table.splitlines()[2:] == ["| default | 50.0 ± 28.9 |"]  # 50 / sqrt(3)


def test_published_scores_stand_beside_those_of_the_same_budget() -> None:
    assert AX[0].baseline is not None
    cut = Run(AX[0].label, "random", 0, [AX[0].baseline])
    rows = score_table(Results([AX[0]], ["random"], [cut])).splitlines()[2:]
    assert rows[0] == "| random | 0.0 |"
    assert "| BoTorch 0.18.1 LogEI, published | 99.9 ± 0.0 |" in rows


def test_the_best_of_each_family_stands_beside_the_default() -> None:
    """Over the seeds that all have: the third seed of one method does not count."""
    finals = {
        "default": [0.1, 0.3],
        "gp/lbfgs": [0.01, 0.03],
        "nomu/auto": [1.0, 3.0],
        "nomu/lbfgs": [2.0, 6.0, 100.0],
        "brvfl/auto": [4.0, 4.0],
    }
    runs = [
        run(BRANIN, method, seed, [9.0, 9.0, 9.0, final])
        for method, regrets in finals.items()
        for seed, final in enumerate(regrets)
    ]
    said = families_report(Results([BRANIN, HARTMANN6], list(finals), runs)).split("\n")
    assert "| function | seeds | default | nomu | brvfl | gp |" in said
    assert "| branin | 2 | 0.2 | 2 auto | 4 auto | 0.02 lbfgs |" in said
    assert "| hartmann6 | 0 |  |  |  |  |" in said
    assert "| nomu | d <= 3 | 2 | 0.5 | 2 |  |" in said
    assert "| gp | d <= 3 | 2 | 10 | 0 | branin |" in said
    assert not any(line.startswith("| brvfl |") for line in said)


def test_one_family_has_nothing_beside_it() -> None:
    assert families_report(Results([BRANIN], ["nomu/auto"], [])) == ""
    alone = Results([BRANIN], ["nomu/auto"], [run(BRANIN, "nomu/auto", 0, [1.0] * 4)])
    assert families_report(alone) == ""
