"""docs/dev/results.md against the runs that are kept beside it, and how runs become verdicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.sources import claims_000 as sources_claims_000
from benchmarks.sources import claims_004 as sources_claims_004
from benchmarks.sources import claims_rest as sources_claims_rest
from benchmarks.sources import maximizers as sources_maximizers
from benchmarks.sources import results as sources_results
from benchmarks.sources.claims import (
    HELD,
    NOT_HELD,
    PARTLY,
    Claim,
    Evidence,
    best_budget,
    counted,
    shared,
)
from benchmarks.sources.runs import Runs, gathered, kept, merged, read
from tests.lab import stores

KEPT = read(sources_results.DATA)


@pytest.mark.parametrize(("name", "table"), [*sources_results.tables(KEPT)])
def test_the_tables_are_those_of_the_runs(name: str, table: str) -> None:
    assert sources_results.written(name) == table, "run python -m benchmarks.sources.results"


def test_what_is_gathered_is_what_a_store_holds(tmp_path: Path) -> None:
    path = stores.made(
        tmp_path / "made.db",
        ["bohachevsky"],
        ["nomu", "random"],
        instances=3,
        starts=2,
        steps=3,
        value=lambda problem, method, instance, number: 10.0 * (instance + 1) - number,
    )
    nomu, random = gathered([path])
    assert (nomu.surrogate, random.surrogate) == ("nomu", "random")
    assert nomu.instances == [0, 1, 2]
    assert nomu.starts == [9.0, 19.0, 29.0]
    assert nomu.finals == [6.0, 16.0, 26.0]
    assert nomu.factors == [1.0, 1.0, 1.0]
    assert random.factors == []
    assert nomu.doublings == [0, 0, 0]
    assert nomu.edges == [0.0, 0.0, 0.0]
    assert nomu.limited == 0
    kept([nomu, random], tmp_path / "kept.json")
    assert read(tmp_path / "kept.json") == [nomu, random]


def test_new_runs_replace_those_of_their_experiment() -> None:
    first, second = replace(_gp([1.0]), experiment="a"), replace(_gp([2.0]), experiment="b")
    again = replace(_gp([3.0, 4.0]), experiment="a")
    assert merged([first, second], [again]) == [again, second]


def test_a_claim_about_many_cases_is_counted() -> None:
    assert counted([True, True]) == HELD
    assert counted([True, False]) == PARTLY
    assert counted([False, False]) == NOT_HELD
    assert counted([]) == NOT_HELD


def test_runs_are_compared_on_the_instances_that_both_have() -> None:
    one, other = _gp([1.0, 2.0, 3.0]), replace(_gp([4.0, 5.0]), instances=[1, 2])
    assert shared([one, other]) == [1, 2]
    assert one.on([1, 2]).tolist() == [2.0, 3.0]
    assert other.on([1, 2]).tolist() == [4.0, 5.0]


def test_the_best_budget_has_the_lowest_upper_end() -> None:
    steady = replace(_gp([2.0, 2.0, 2.0, 2.0]), budget=0.5)
    lucky = replace(_gp([0.0, 0.0, 0.0, 6.0]), budget=2.0)  # the smaller mean, the wider interval
    assert best_budget([lucky, steady], [0, 1, 2, 3]) is steady
    assert best_budget([lucky, steady], [0]) is lucky


@pytest.mark.parametrize(("regret", "verdict"), [(8.2547e-7, HELD), (6.7e-6, NOT_HELD)])
def test_the_median_of_the_gaussian_process_decides(regret: float, verdict: str) -> None:
    claims = _claims([_gp([regret, regret, 1.0])])
    assert claims[0].verdict == verdict
    assert str(claims[0].extent) == "3 of 30"
    assert not claims[0].counts
    assert claims[0].cells[-1] == f"({verdict})"


def test_dynamic_c_is_judged_by_means_and_by_the_largest() -> None:
    rules = {"none": 1.0, "linear": 0.3, "linear:padding=4": 0.2, "exponential:padding=4": 0.1}
    runs = [
        replace(
            _gp([regret, 0.0]),
            experiment=sources_claims_004.NOMU_RULES,
            surrogate="nomu",
            escape=rule,
            doublings=[number, number],
        )
        for number, (rule, regret) in enumerate(rules.items())
    ]
    verdicts = [claim.verdict for claim in _claims(runs)]
    assert verdicts == [HELD, HELD, NOT_HELD]  # the last: exponential decay doubles more often here
    worse = [replace(one, finals=[0.0, 0.0]) if one.escape == "none" else one for one in runs]
    assert _claims(worse)[0].verdict == NOT_HELD


@pytest.mark.parametrize(
    ("factors", "verdict"),
    [([1.0] * 10, HELD), ([3.0] * 5 + [0.9] * 5, PARTLY), ([3.0] * 10, NOT_HELD)],
)
def test_less_training_costs_nothing_only_if_its_median_is_no_larger(
    factors: list[float], verdict: str
) -> None:
    whole = [float(number) for number in range(1, 11)]
    fewer = [value * factor for value, factor in zip(whole, factors, strict=True)]
    fewer[0] += 0.01
    runs = [
        replace(_gp(finals), experiment=sources_claims_rest.SPEED, method=method)
        for method, finals in ((sources_claims_rest.WHOLE, whole), ("100 steps", fewer))
    ]
    (claim,) = sources_claims_rest.claims(Evidence(runs))
    assert claim.verdict == verdict


def test_methods_that_differ_in_no_option_are_told_apart_by_name() -> None:
    names = ("100 steps", "300 steps")
    runs = [replace(_gp([1.0]), experiment="made", method=name) for name in names]
    rows = dict(sources_results.tables(runs))["all"].splitlines()[2:]
    assert [row.split(" | ")[2] for row in rows] == ["`gp`: 100 steps", "`gp`: 300 steps"]
    alone = dict(sources_results.tables(runs[:1]))["all"].splitlines()[2]
    assert alone.split(" | ")[2] == "`gp`"


def test_an_exact_maximizer_that_finds_less_is_seen() -> None:
    names = sources_maximizers.MAXIMIZERS
    values = dict.fromkeys(names, 1.0)
    step = sources_maximizers.Step("branin", 0, 0, True, 1.0, values, dict.fromkeys(names, 0.1))
    worse = replace(step, values={**values, "mip": 0.9})
    exact, *searches = sources_claims_004.claims(Evidence([]), [step, worse])
    assert (exact.ours, exact.verdict) == ("1 of 2 steps", PARTLY)
    assert [claim.ours for claim in searches] == ["0 of 2 steps"] * 3


def _claims(runs: list[Runs]) -> list[Claim]:
    return list(sources_claims_004.claims(Evidence(runs), []))


def _gp(finals: list[float]) -> Runs:
    nothing = [0.0] * len(finals)
    return Runs(
        experiment=sources_claims_004.GP,
        problem="forrester",
        method="gp",
        surrogate="gp",
        budget=0.1,
        escape="none",
        maximizer="grid",
        acquisition="ucb",
        steps=15,
        planned=len(finals),
        instances=list(range(len(finals))),
        starts=[1.0] * len(finals),
        finals=finals,
        factors=[0.7] * len(finals),
        doublings=[0] * len(finals),
        edges=nothing,
        seconds=nothing,
        limited=0,
    )


def _bbob(surrogate: str, problem: str, finals: list[float], acquisition: str = "ei") -> Runs:
    return replace(
        _gp(finals),
        experiment=sources_claims_000.BBOB,
        problem=problem,
        surrogate=surrogate,
        acquisition=acquisition,
        budget=None,
    )


def test_ranks_of_chapter_3_are_means_over_problems() -> None:
    first = "bbob:function=1,dimension=2,instance={instance}"
    second = "bbob:function=8,dimension=5,instance={instance}"
    runs = [
        *(_bbob("gp", problem, [1.0] * 5) for problem in (first, second)),
        *(_bbob("elm", problem, [9.0] * 5) for problem in (first, second)),
        *(_bbob("elm", problem, [8.0] * 5, "empirical_ei") for problem in (first, second)),
        _bbob("bnn_hierarchical", first, [2.0] * 5),
        _bbob("bnn_hierarchical", second, [0.5] * 5),
    ]
    claims = {claim.row: claim for claim in sources_claims_000.claims(Evidence(runs))}
    best, worst = claims["S000-25 (C000-1)"], claims["S000-25 (C000-3)"]
    assert best.ours == "`bnn_hierarchical` 1.5, `gp` 1.5, `elm` (empirical) 3, `elm` 4"
    assert best.verdict == NOT_HELD  # a tie
    assert (worst.verdict, worst.ours) == (HELD, "`elm`, `elm` (empirical)")
    assert str(best.extent) == "5 of 15"


def test_problems_with_options_are_told_apart() -> None:
    runs = [
        _bbob("gp", "levy:dimension=2,source=000", [1.0]),
        _bbob("gp", "levy:dimension=5,source=000", [2.0]),
    ]
    evidence = Evidence(runs)
    name = sources_claims_000.BBOB
    assert evidence.get(name, problem="levy:dimension=5,source=000") is runs[1]
    assert evidence.all(name, problem="levy") == runs
    with pytest.raises(ValueError, match="must be one method; 2 are"):
        evidence.get(name, problem="levy")
