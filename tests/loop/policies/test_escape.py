"""Distances against the tables of the source; doubling and exclusion against stub maximizers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.policies.dynamic_c import DynamicC, Exponential, Linear
from nnbo_mip.loop.policies.escape import NoEscape, escape_of, is_near
from nnbo_mip.loop.policies.exclude import Exclude, smallest_distance
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.space import Categorical, Domain, Integer, Real, Space
from tests.loop.runs import BOX, QUICK, bowl, optimizer, proposal_at

# One dimension, 8 starts, n = 15 steps, p = 4, i = 0 … 15.
TABLES = {
    "exponential:steps=15,padding=4": (
        "0.0625 0.04292 0.02947 0.02023 0.01389 0.00954 0.00655 0.0045 0.00309 0.00212 0.00146 "
        "0.001 0.001 0.001 0.001 0.001"
    ),
    "exponential:steps=15": (
        "0.0625 0.04744 0.03601 0.02733 0.02075 0.01575 0.01195 0.00907 0.00689 0.00523 0.00397 "
        "0.00301 0.00229 0.00174 0.00132 0.001"
    ),
    "linear:steps=15,padding=4": (
        "0.0625 0.05691 0.05132 0.04573 0.04014 0.03455 0.02895 0.02336 0.01777 0.01218 0.00659 "
        "0.001 0.001 0.001 0.001 0.001"
    ),
    "linear:steps=15": (
        "0.0625 0.0584 0.0543 0.0502 0.0461 0.042 0.0379 0.0338 0.0297 0.0256 0.0215 0.0174 "
        "0.0133 0.0092 0.0051 0.001"
    ),
}

LINE = Space.box([-1.0], [1.0]).model()
SQUARE = Space.box([99.0, -3.0], [101.0, -1.0]).model()


@dataclass
class Stub:
    """Proposes what a rule says, and remembers what it was asked."""

    answer: Any
    asked: list[tuple[float, float | None]] = field(default_factory=list)

    def __call__(self, c: float, away: float | None = None) -> Proposal:
        self.asked.append((c, away))
        return proposal_at(self.answer(c, away))


@pytest.mark.parametrize("spec", TABLES)
def test_distances_are_those_of_the_source(spec: str) -> None:
    rule, expected = escape_of(spec), [float(text) for text in TABLES[spec].split()]
    assert len(expected) == 16
    for step, eps in enumerate(expected):
        assert abs(rule.eps(step, starts=8, dimension=1) - eps) <= 0.5e-5 + 1e-12
    # The alternative shrinks by the same rule, and the number of steps may come from the run.
    kind, _, options = spec.partition(":")
    other = escape_of(f"exclude:decay={kind},{options}")
    opened = escape_of(f"{kind}:{options.replace('steps=15', 'steps=None')}")
    for step in range(20):
        eps = rule.eps(step, starts=8, dimension=1)
        assert other.eps(step, starts=8, dimension=1) == eps
        assert opened.eps(step, starts=8, dimension=1, steps=15) == eps
    assert eps == 0.001


def test_distances_elsewhere() -> None:
    rule = escape_of("exponential")
    assert rule.eps(0, starts=10, dimension=5) == 0.05
    assert rule.eps(64, starts=10, dimension=5) == 0.01
    assert rule.eps(63, starts=10, dimension=5) > 0.01
    # Many starts: the first distance would be below the last one.
    assert rule.eps(0, starts=100, dimension=5) == 0.01
    assert escape_of("linear").eps(0, starts=100, dimension=5) == 0.01
    # One start: half a side is the most.
    assert escape_of("linear:fraction=0.9").eps(0, starts=1, dimension=5) == 1.0
    assert escape_of("linear:steps=15,padding=4").eps(11, starts=8, dimension=1) == 0.001
    # A run that is shorter than the padding has the last distance from its first step.
    assert escape_of("linear:padding=4").eps(0, starts=8, dimension=2, steps=3) == 0.01
    assert escape_of("linear:first=0.3,last=0.1").eps(32, starts=8, dimension=2) == 0.2
    # A first distance below what the last one is by default is the last one too.
    for kind in ("exclude", "linear", "exponential"):
        for dimension, first in ((1, 1e-4), (2, 1e-3), (2, 1e-2)):
            rule = escape_of(f"{kind}:first={first},padding=1")
            eps = {rule.eps(step, 8, dimension, steps=10) for step in range(12)}
            assert eps == {first}
    assert escape_of("linear:first=0.1").eps(64, starts=8, dimension=2) == 0.01
    assert NoEscape().eps(0, 8, 1) == 0.0


def test_near_is_strictly_closer_in_the_euclidean_norm() -> None:
    assert not is_near([0.3, 0.4], [[0.0, 0.0]], 0.5)
    assert is_near([0.3, 0.4], [[9.0, 9.0], [0.0, 0.0]], 0.5 + 1e-12)
    assert not is_near([0.4, 0.4], [[0.0, 0.0]], 0.5)
    assert not is_near([0.3, 0.4], np.empty((0, 2)), 0.5)


def test_c_is_doubled_until_the_proposal_is_away() -> None:
    stub = Stub(lambda c, away: 0.01 * c)
    escaped = Exponential().apply(stub, [[0.0]], 0.75, 0.0625, LINE)
    assert [c for c, _ in stub.asked] == [0.75, 1.5, 3.0, 6.0, 12.0]
    assert all(away is None for _, away in stub.asked)
    assert (escaped.c, escaped.next_c, escaped.doublings) == (12.0, 0.75, 4)
    assert escaped.proposal.x is not None
    assert escaped.proposal.x.tolist() == [0.12]
    assert escaped.message == ""


def test_a_proposal_that_is_away_is_taken_at_once() -> None:
    stub = Stub(lambda c, away: 0.5)
    escaped = Linear().apply(stub, [[0.0], [1.0]], 2.0, 0.5, LINE)
    assert stub.asked == [(2.0, None)]
    assert (escaped.c, escaped.next_c, escaped.doublings, escaped.message) == (2.0, 2.0, 0, "")


def test_a_sticky_c_is_kept() -> None:
    escaped = Linear(sticky=True).apply(Stub(lambda c, away: 0.01 * c), [[0.0]], 1.0, 0.03, LINE)
    assert (escaped.c, escaped.next_c) == (4.0, 4.0)


@pytest.mark.parametrize("limit", [0, 3, 10])
@pytest.mark.parametrize("sticky", [False, True])
def test_doubling_ends_at_the_limit_and_says_so(limit: int, sticky: bool) -> None:
    stub = Stub(lambda c, away: 0.0)
    rule = Exponential(limit=limit, sticky=sticky)
    escaped = rule.apply(stub, [[0.0]], 1.0, 0.0625, LINE)
    assert [c for c, _ in stub.asked] == [2.0**k for k in range(limit + 1)]
    assert escaped.doublings == limit
    assert escaped.next_c == (2.0**limit if sticky else 1.0)
    assert f"c was doubled {limit} times, which is the limit" in escaped.message


def test_doubling_ends_where_it_is_in_vain_or_time_is_up() -> None:
    stub = Stub(lambda c, away: 0.0)
    escaped = Linear().apply(stub, [[0.0]], 1.0, 0.1, LINE, responds=False)
    assert len(stub.asked) == 1
    assert "does not depend on c" in escaped.message
    ticks = iter([False, False, True])
    escaped = Linear().apply(stub, [[0.0]], 1.0, 0.1, LINE, should_stop=lambda: next(ticks))
    assert escaped.doublings == 2
    assert "time was up" in escaped.message


@pytest.mark.parametrize("spec", ["none", "linear", "exclude"])
def test_an_empty_domain_is_passed_on(spec: str) -> None:
    escaped = escape_of(spec).apply(Stub(lambda c, away: None), [[0.0]], 1.0, 0.1, LINE)
    assert escaped.proposal.status == "infeasible"
    assert escaped.doublings == 0


@pytest.mark.parametrize("spec", ["none", "linear", "exclude"])
def test_without_samples_nothing_is_kept_away_from(spec: str) -> None:
    stub = Stub(lambda c, away: 0.0)
    escaped = escape_of(spec).apply(stub, np.empty((0, 1)), 3.0, 0.1, LINE)
    assert stub.asked == [(3.0, None)]
    assert escaped.message == ""


def test_exclusion_asks_for_the_distance_and_leaves_c_alone() -> None:
    stub = Stub(lambda c, away: 0.5)
    escaped = Exclude().apply(stub, [[0.0]], 3.0, 0.0625, LINE)
    assert stub.asked == [(3.0, 0.0625)]
    assert (escaped.c, escaped.next_c, escaped.eps, escaped.message) == (3.0, 3.0, 0.0625, "")


def test_exclusion_halves_the_distance_until_a_point_is_left() -> None:
    stub = Stub(lambda c, away: None if away is not None and away > 0.1 else 0.25)
    escaped = Exclude().apply(stub, [[0.0]], 3.0, 0.5, LINE)
    assert [away for _, away in stub.asked] == [0.5, 0.25, 0.125, 0.0625]
    assert escaped.eps == 0.0625
    assert "eps = 0.5 " in escaped.message
    assert "halved to 0.0625" in escaped.message


def finite(a: int) -> Domain:
    return Space([Integer("a", 0, a), Categorical("c", ["u", "v"])]).model()


def test_exclusion_repeats_a_point_where_a_finite_space_is_used_up() -> None:
    domain = finite(20)  # neighbours are 0.1 apart
    seen = np.array([[0.0, 1.0, 0.0]])
    stub = Stub(lambda c, away: None if away is not None else seen[0])
    escaped = Exclude().apply(stub, seen, 1.0, 0.3, domain)
    # At a distance of 0.075 only the samples themselves are excluded.
    assert [away for _, away in stub.asked] == [0.3, 0.15, 0.075, None]
    assert escaped.eps == 0.0
    assert "may be repeated" in escaped.message


def test_the_smallest_distance_of_a_finite_domain() -> None:
    assert smallest_distance(finite(20)) == pytest.approx(0.1)
    assert smallest_distance(Space([Categorical("c", ["u", "v"])]).model()) == 1.0
    logarithmic = Space([Integer("w", 1, 4, log=True)]).model()
    assert smallest_distance(logarithmic) == pytest.approx(2.0 * np.log(4.0 / 3.0) / np.log(4.0))
    assert smallest_distance(Space([Real("x", 0, 1), Integer("a", 0, 3)]).model()) == 0.0
    assert smallest_distance(Space.box([1.0], [1.0]).model()) == 0.0


def test_both_rules_leave_the_samples_of_a_fitted_belief() -> None:
    X = np.array([[-0.9, 0.3], [0.1, -0.4], [0.6, 0.8], [0.95, -0.9], [-0.5, -0.8]])
    y = np.array([0.0, 2.0, 0.5, 0.3, 0.1])
    belief = nm.surrogates.create("brvfl", n_hidden=30, seed=1).fit(X, y)
    seen = np.vstack([X, nm.maximize(belief, "mean", SQUARE, maximizer="lbfgs:weak").x])

    def propose(c: float, away: float | None = None) -> Proposal:
        return nm.maximize(
            belief.scaled(c),
            "ucb",
            SQUARE,
            maximizer="lbfgs:weak",
            away_from=None if away is None else seen,
            eps=away,
        )

    eps, tiny = 0.2, 1e-3  # at c = 0.001 the bound is the mean
    assert is_near(propose(tiny).x, seen, eps)
    doubled = Exponential(limit=15).apply(propose, seen, tiny, eps, SQUARE)
    excluded = Exclude().apply(propose, seen, tiny, eps, SQUARE)
    assert doubled.doublings > 3
    assert doubled.message == excluded.message == ""
    for escaped in (doubled, excluded):
        assert escaped.proposal.x is not None
        assert not is_near(escaped.proposal.x, seen, eps)
    gaps = np.abs(seen - excluded.proposal.x).max(axis=1)
    assert gaps.min() >= eps


@pytest.mark.parametrize("maximizer", ["mip", "bab"])
def test_exact_steps_with_doubled_c_are_those_of_a_grid(maximizer: str) -> None:
    X = np.array([[-1.0], [-0.4], [0.1], [0.7]])
    y = np.array([0.0, 0.9, 1.0, 0.2])
    belief = nm.surrogates.create("nomu", hidden=(6,), epochs=200, seed=2).fit(X, y)

    def escaped(name: str) -> Any:
        def propose(c: float, away: float | None = None) -> Proposal:
            return nm.maximize(belief.scaled(c), "ucb", LINE, maximizer=name)

        seen = np.vstack([X, propose(0.1).x])
        return Exponential(limit=12).apply(propose, seen, 0.1, 0.05, LINE)

    exact, grid = escaped(maximizer), escaped("grid:points=2001")
    assert exact.doublings == grid.doublings > 0
    assert abs(exact.proposal.x - grid.proposal.x) <= 1e-3
    assert exact.proposal.value >= grid.proposal.value


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("exponental", "did you mean 'exponential'"),
        ("linear:pading=4", "did you mean 'padding'"),
        ("linear:steps=4,padding=4", "padding must be below steps, 4; got 4"),
        ("linear:first=0.1,last=0.2", "first must be at least last"),
        ("linear:first=1.5", "at most 1"),
        ("linear:last=0", "last must be a number > 0"),
        ("linear:limit=-1", "limit must be an integer >= 0"),
        ("linear:sticky=1", "sticky must be True or False"),
        ("exclude:decay=slow", "decay must be one of exponential, linear"),
        ("none:limit=3", "the options of 'none' are none"),
    ],
)
def test_what_is_no_rule_is_refused(spec: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        escape_of(spec)


@pytest.mark.parametrize("kind", ["exclude", "linear", "exponential"])
def test_padding_leaves_a_run_some_steps(kind: str, tmp_path: Path) -> None:
    sentence = r"padding must be below the run's number of steps, {}; got {}; choose less, or say"
    for steps, padding in ((8, 8), (8, 10), (None, 64)):
        n = 64 if steps is None else steps
        with pytest.raises(InputError, match=sentence.format(n, padding)):
            optimizer(escape=f"{kind}:padding={padding}", steps=steps)
    for steps, padding in ((8, 7), (None, 63), (100, 64)):
        optimizer(escape=f"{kind}:padding={padding}", steps=steps)
    optimizer(escape=f"{kind}:steps=12,padding=10", steps=8)  # the rule's own number counts
    options = {**QUICK, "escape": f"{kind}:padding=3"}
    path = tmp_path / "run.db"
    with pytest.raises(InputError, match=sentence.format(3, 3)):
        nm.optimize(bowl, BOX, 7, journal=path, **options)
    assert not path.exists()
    # A run that has begun goes on, and with whatever number of evaluations.
    nm.optimize(bowl, BOX, 8, journal=path, **options)
    assert nm.optimize(bowl, BOX, 5, journal=path, **options).nfev == 8
    assert nm.optimize(bowl, BOX, 9, journal=path, **options).nfev == 9


def test_a_run_whose_padding_would_be_refused_today_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.db"
    options = {**QUICK, "escape": "exponential:padding=10"}
    with monkeypatch.context() as before:
        before.setattr(Exponential, "check_steps", lambda rule, steps: None)
        nm.optimize(bowl, BOX, 6, journal=path, **options)
    assert nm.BayesianOptimizer.open(path).run(bowl, 7).nfev == 7
    assert nm.optimize(bowl, BOX, 8, journal=path, **options).nfev == 8


def test_a_rule_is_whatever_describes_one() -> None:
    assert escape_of(None) == NoEscape()
    assert escape_of("linear:padding=4") == escape_of({"name": "linear", "padding": 4})
    assert isinstance(escape_of("exponential"), DynamicC)
    assert escape_of(Exclude(padding=2)) == Exclude(padding=2)


def test_c_does_not_grow_without_end() -> None:
    """Sticky doubling on a space that is exhausted, step after step."""
    stub = Stub(lambda c, away: [0.0])
    rule, c = Linear(sticky=True, limit=100), 1.0
    for _ in range(5):
        escaped = rule.apply(stub, [[0.0]], c, 0.1, LINE)
        c = escaped.next_c
    assert c == 2.0**100
    assert "more changes nothing" in escaped.message
