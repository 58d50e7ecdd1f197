"""Maximizers side by side: one scale, one best value, misses only where something is certified."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, MissingExtraError
from nnbo_mip.maximizers.comparison import Comparison, missed
from nnbo_mip.testing.analytic_belief import AnalyticBelief
from nnbo_mip.testing.maximizer_contract import data, members

SQUARE = nm.Domain([-1.0, -1.0], [1.0, 1.0])
X, Y = data()


def compare(
    acquisition: str, maximizers: list[Any], budgets: Any = None, **asked: Any
) -> Comparison:
    return nm.compare(members(), acquisition, SQUARE, maximizers, budgets, X=X, y=Y, **asked)


@pytest.mark.parametrize("acquisition", ["ucb", "ei"])
def test_values_regrets_and_misses(acquisition: str) -> None:
    table = compare(acquisition, ["bab", "pga", "random:evaluations=3"], gap=1e-6)
    proven, climbed, random = table
    scorer = nm.acquisitions.create(acquisition).scorer(members(), X, Y)
    assert proven.bound == table.bound
    assert climbed.bound == random.bound == math.inf
    for row in table:
        assert row.proposal is not None
        assert row.value == pytest.approx(scorer.score(row.proposal.x)[0], rel=1e-12)
        assert row.regret == pytest.approx(table.best - row.value, abs=1e-15)
        assert row.largest_regret == pytest.approx(table.bound - row.value, abs=1e-15)
    assert table.certified
    assert table.head == acquisition
    assert (proven.miss, climbed.miss, random.miss) == (False, False, True)
    assert random.evaluations == 3
    assert 0.0 <= table.bound - table.best <= 1.1e-6 * max(1.0, table.best)


def test_without_a_certificate_nobody_missed() -> None:
    table = compare("ei", ["pga", "sobol:evaluations=4"])
    assert not table.certified
    assert table.bound == math.inf
    assert [row.miss for row in table] == [None, None]
    assert "not certified" in str(table)


def test_tiny_scores_are_compared_as_logarithms() -> None:
    acquisition = nm.acquisitions.create("ei", incumbent=500.0)
    table = nm.compare(members(), acquisition, SQUARE, ["bab", "pga", "random:evaluations=2"])
    assert table.head == "logei"
    assert all(-1e9 <= row.value < -27.0 for row in table)
    assert [row.miss for row in table] == [False, False, True]
    assert 0.0 <= table.bound - table.best <= 1e-3


def test_one_scale_where_only_some_scores_are_tiny() -> None:
    # One random point is worth next to nothing, the best one is not.
    acquisition = nm.acquisitions.create("ei", incumbent=float(Y.max()) + 1.0)
    values = [
        nm.compare(members(), acquisition, SQUARE, ["bab", "random:evaluations=1"], seed=seed)
        for seed in range(12)
    ]
    mixed = [t for t in values if t.rows[1].proposal.head == "logei"]  # type: ignore[union-attr]
    assert mixed
    for table in mixed:
        assert table.head == "ei"
        assert 0.0 <= table.rows[1].value < 1e-12
        assert table.rows[1].miss


def test_who_cannot_serve_says_why_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipydirect", None)
    table = compare("ei", ["grid:points=3000", "scipydirect", "pga"])
    assert [row.status for row in table] == ["refused", "refused", "heuristic"]
    assert "9,000,000 points" in table.rows[0].message
    assert "build_scipydirect" in table.rows[1].message
    assert "9,000,000 points" in str(table)
    assert math.isinf(table.rows[0].regret)


def test_budgets_reach_all_that_have_them() -> None:
    table = compare(
        "ucb", ["bab", "direct", {"name": "sobol"}], {"evaluations": 64, "time_limit": 30.0}
    )
    assert [row.maximizer for row in table] == ["bab", "direct", "sobol"]
    assert [row.evaluations for row in table][1:] == [64, 64]
    own = compare("ucb", ["direct:evaluations=32", "sobol"], {"evaluations": 64})
    assert [row.evaluations for row in own] == [32, 64]
    with pytest.raises(InputError, match="'evals'"):
        compare("ucb", ["direct"], {"evals": 64})
    with pytest.raises(InputError, match="evaluations"):
        compare("ucb", ["direct"], {"evaluations": 0})


def test_each_maximizer_is_announced_before_it_begins() -> None:
    said: list[str] = []
    compare("ucb", ["random:evaluations=2", {"name": "sobol"}], announce=said.append)
    assert said == ["random:evaluations=2", "sobol"]


@pytest.mark.parametrize("bad", [[], "auto"])
def test_a_list_is_wanted(bad: Any) -> None:
    with pytest.raises(InputError, match="list"):
        compare("ucb", bad)


def test_unknown_names_are_refused_before_anything_runs() -> None:
    with pytest.raises(InputError, match="did you mean 'random'"):
        compare("ucb", ["auto", "randon"])


def test_what_is_asked_of_maximize_can_be_asked() -> None:
    region = ([-0.5, -0.5], [0.25, 0.5])
    for row in compare("ucb", ["bab", "lbfgs"], within=region):
        assert row.proposal is not None
        assert row.proposal.x is not None
        assert SQUARE.restrict(*region).admissible(row.proposal.x[None, :])[0]


def test_the_table_is_aligned() -> None:
    lines = str(compare("ucb", ["bab", "random:evaluations=2"])).splitlines()
    assert lines[0].startswith("ucb, best ")
    assert "certified: at most" in lines[0]
    assert lines[1].split() == [
        *("maximizer", "value", "own", "bound", "regret", "at", "most"),
        *("status", "seconds", "evaluations", "maximum"),
    ]
    statuses = [
        line.index(word) for line, word in zip(lines[2:], ("optimal", "heuristic"), strict=True)
    ]
    assert statuses[0] == statuses[1] == lines[1].index("status")
    assert [line.split()[-1] for line in lines[2:]] == ["hit", "missed"]


def test_the_table_as_a_data_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    table = nm.compare(AnalyticBelief(), "ucb", SQUARE, ["lbfgs", "sobol"])
    made = SimpleNamespace(DataFrame=lambda rows, columns: (rows, columns))
    monkeypatch.setitem(sys.modules, "pandas", made)
    rows, columns = table.to_pandas()
    assert columns[:4] == ["maximizer", "value", "bound", "regret"]
    assert [row["maximizer"] for row in rows] == ["lbfgs", "sobol"]
    assert np.isclose(rows[1]["regret"], rows[0]["value"] - rows[1]["value"])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        table.to_pandas()


def test_a_miss_is_a_tenth_of_a_percent() -> None:
    assert missed(0.998, 1.0, logarithmic=False)
    assert not missed(0.9995, 1.0, logarithmic=False)
    assert missed(-2.004, -2.0, logarithmic=False)
    assert not missed(-1e-10, 0.0, logarithmic=False)
    assert missed(-50.002, -50.0, logarithmic=True)
    assert not missed(-50.0005, -50.0, logarithmic=True)


def test_enumeration_of_six_inputs_is_a_refused_row() -> None:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (12, 6))
    y = X.sum(axis=1)
    options = {"hidden": (4,), "n_augmented": 20, "epochs": 10}
    belief = nm.surrogates.create("nomu", seed=0, **options).fit(X, y)
    domain = nm.Space.box(-np.ones(6), np.ones(6)).model()
    names = ["auto", "enumerate", "lbfgs"]
    table = nm.compare(belief, "ucb", domain, names, y=y, time_limit=20.0)
    assert [row.status for row in table] == ["optimal", "refused", "heuristic"]
    assert "at most 2 continuous coordinates; got 6" in table.rows[1].message


def test_infinity_is_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    from nnbo_mip.maximizers.exact import Bab

    limits: list[float] = []
    before = Bab._maximize

    def spied(self: Any, target: Any, request: Any) -> Any:
        limits.append(request.time_limit)
        return before(self, target, request)

    monkeypatch.setattr(Bab, "_maximize", spied)
    for asked in ({"budgets": {"time_limit": math.inf}}, {"time_limit": math.inf}, {}):
        compare("ucb", ["bab"], **asked)  # type: ignore[arg-type]
    nm.maximize(members(), "ucb", SQUARE, maximizer="epsilon_random:share=0,inner=bab")
    nm.maximize(
        members(), "ucb", SQUARE, maximizer="epsilon_random:share=0,inner=bab", time_limit=math.inf
    )
    assert limits == [math.inf, math.inf, 60.0, 60.0, math.inf]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"budgets": 50}, "budgets must be a dict of options; got 50"),
        ({"budgets": ["evaluations"]}, "budgets must be a dict"),
        ({"maximizers": 5}, "maximizers must be a list with at least one; got 5"),
        ({"maximizers": {"name": "random"}}, "maximizers must be a list"),
        ({"maximizers": nm.maximizers.create("random")}, "maximizers must be a list"),
        ({"maximizers": np.array([])}, "maximizers must be a list"),
        ({"announce": 3}, "announce must be callable; got 3"),
        ({"foo": 1}, "what compare passes on are gap, .*; got 'foo'"),
        ({"belief": None}, "a belief must be what a surrogate's fit returns; got a NoneType"),
    ],
)
def test_what_cannot_be_compared_is_said(options: dict[str, Any], said: str) -> None:
    given = {"belief": members(), "maximizers": ["random"], **options}
    belief, maximizers = given.pop("belief"), given.pop("maximizers")
    with pytest.raises(InputError, match=said):
        nm.compare(belief, "ucb", SQUARE, maximizers, **given)
    with pytest.raises(InputError, match="a belief must be"):
        nm.maximize(X, "ucb", SQUARE)  # type: ignore[arg-type]


def test_arrays_and_generators_name_maximizers_too() -> None:
    names = ["random:evaluations=3", "sobol:evaluations=3"]
    for given in (np.array(names), (name for name in names)):
        table = nm.compare(members(), "ucb", SQUARE, given)  # type: ignore[arg-type]
        assert [row.maximizer for row in table] == names
