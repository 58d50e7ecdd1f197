"""`maximize`: what can be imposed, what is refused, and what a proposal carries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.exact.heads.maximize_head import Ways, maximize_head
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.search import monitor
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.maximizers import Target
from nnbo_mip.space.grid import Grid
from nnbo_mip.surrogates import Belief
from tests.maximizers.test_cells import belief, check, data, grid, maximize, scores
from tests.maximizers.test_contract import Boxed

BOX = nm.Domain([-1.0, -1.0], [1.0, 1.0])
CUBE = nm.Domain(-np.ones(3), np.ones(3))
STEPS = Grid.uniform(-1.0, 0.5, 5)
PROVERS = ("auto", "bab", "mip")
SEQUENCED = [("clip", "ucb"), ("clip", "ei"), ("smooth", "ei"), ("mad", "pi:xi=0.05")]
BY_BOXES = [("ensemble", "ei"), ("brvfl", "ucb")]


def cases() -> list[tuple[str, str, str]]:
    return [
        *((family, name, prover) for family, name in SEQUENCED for prover in PROVERS),
        *((family, name, "auto") for family, name in BY_BOXES),
    ]


@pytest.mark.parametrize(("family", "name", "prover"), cases())
def test_a_trust_region(family: str, name: str, prover: str) -> None:
    region = ([-0.6, -0.9], [0.1, 0.4])
    proposal = maximize(family, name, BOX, within=region, maximizer=prover)
    check(family, name, proposal, BOX.restrict(*region))


@pytest.mark.parametrize(("family", "name", "prover"), cases())
def test_a_distance_from_the_best_point(family: str, name: str, prover: str) -> None:
    free = maximize(family, name, BOX)
    assert free.x is not None
    points = np.vstack([free.x, data()[0]])
    proposal = maximize(family, name, BOX, away_from=points, eps=0.11, maximizer=prover)
    check(family, name, proposal, BOX.away_from(points, 0.11))
    assert proposal.x is not None
    assert np.abs(points - proposal.x).max(axis=1).min() >= 0.11
    assert proposal.value <= free.bound


@pytest.mark.parametrize(("family", "name", "prover"), cases())
def test_integers_and_rows(family: str, name: str, prover: str) -> None:
    steps = Grid.uniform(-1.0, 0.25, 9)
    domain = nm.Domain([-1.0, -1.0], [1.0, 1.0], [steps, None], A=[[1.0, 1.0]], b=[0.2])
    proposal = maximize(family, name, domain, maximizer=prover)
    assert proposal.status == "optimal"
    assert proposal.x is not None
    assert domain.admissible(proposal.x[None, :])[0]
    lines = np.linspace(-1.0, 1.0, 801)
    points = np.stack(np.meshgrid(steps.value(np.arange(9)), lines), axis=-1).reshape(-1, 2)
    seen = scores(family, name, proposal, points[domain.admissible(points)])
    assert seen.max() <= proposal.bound + 1e-9 * max(1.0, abs(proposal.bound))


@pytest.mark.parametrize("prover", PROVERS)
def test_categories(prover: str) -> None:
    space = nm.Space([nm.Real("x", -2.0, 3.0), nm.Categorical("kind", ["a", "b", "c"])])
    domain = space.model()
    rng = np.random.default_rng(3)
    X = domain.sample(12, rng)
    y = X[:, 0] * X[:, 1] - X[:, 0] ** 2 * X[:, 2]
    options = {"hidden": (8,), "n_augmented": 30, "epochs": 40}
    learned = nm.surrogates.create("nomu", seed=1, **options).fit(X, y).scaled(20.0)
    proposal = nm.maximize(learned, "ei", domain, y=y, maximizer=prover)
    assert proposal.status == "optimal"
    assert proposal.x is not None
    assert sorted(proposal.x[1:].tolist()) == [0.0, 0.0, 1.0]
    points = domain.sample(4000, rng)
    score = nm.acquisitions.create("logei" if proposal.head == "logei" else "ei")
    assert score.scorer(learned, X, y).score(points).max() <= proposal.bound + 1e-9


def test_a_proposal_is_checked_from_its_text() -> None:
    proposal = maximize("clip", "ei", BOX)
    assert proposal.check().confirmed
    assert proposal.certificate is not None
    again = nm.Certificate.from_json(proposal.certificate.to_json())
    assert again.check(proposal.objective, BOX).confirmed
    assert again.check(maximize("smooth", "ei", BOX).objective, BOX).refuted
    assert "bound" in str(proposal)
    assert "Proposal(" in repr(proposal)


def test_a_large_gap_that_is_closed_says_why() -> None:
    near, far = (maximize("clip", f"ucb:incumbent={y}", BOX) for y in (4.0, -500.0))
    assert near.gap < 1e-4 < far.gap < 1e-4 * far.value
    assert far.status == "optimal"
    assert f"gap {far.gap:.3g}, within 0.0001 times |value|\n" in str(far)
    assert "times |value|" not in str(near)


def test_the_check_of_a_sum_of_outputs_says_once_what_was_proven() -> None:
    checked = maximize("clip", "ucb", BOX).check()
    assert checked.confirmed
    assert ": as a sum of outputs, proven again" in checked.reason
    assert checked.reason.count("no admissible point") == 1


def test_improvements_that_vanish_are_answered_as_logarithms() -> None:
    X, y = data()
    proposal = nm.maximize(belief("clip"), "ei:incumbent=60", BOX, y=y)
    assert proposal.head == "logei"
    assert proposal.status == "optimal"
    scorer = nm.acquisitions.create("logei:incumbent=60").scorer(belief("clip"), X, y)
    assert scorer.score(grid(BOX)).max() <= proposal.bound + 1e-6


def test_starts_are_tried_and_those_outside_left_out() -> None:
    best = maximize("clip", "ucb", BOX)
    assert best.x is not None
    starts = np.vstack([best.x, [7.0, 7.0]])
    hurried = maximize("clip", "ucb", BOX, starts=starts, time_limit=1e-9)
    assert hurried.value >= best.value
    assert hurried.bound >= best.value
    assert hurried.time_limited or hurried.status == "optimal"


def test_a_belief_without_bounds_is_maximized_without_proof() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (10, 2))
    noisy = {"hidden": (6,), "n_members": 2, "epochs": 20, "noisy": True, "include_noise": True}
    learned = nm.surrogates.create("deep_ensemble", **noisy).fit(X, X.sum(axis=1))
    with pytest.warns(nm.UncertifiedWarning, match="noise"):
        proposal = nm.maximize(learned, "ucb", BOX)
    assert proposal.status == "heuristic"
    assert proposal.bound == np.inf
    with pytest.raises(nm.InputError, match="certificate"):
        proposal.check()
    with pytest.raises(nm.UnsupportedError, match="noise"):
        nm.maximize(learned, "ucb", BOX, maximizer="bab")


def test_a_space_without_points_is_infeasible() -> None:
    domain = nm.Domain([-1.0, -1.0], [1.0, 1.0], A=[[1.0, 1.0]], b=[-3.0])
    for family, name in SEQUENCED + BY_BOXES:
        proposal = maximize(family, name, domain)
        assert proposal.status == "infeasible"
        assert proposal.x is None
        assert "infeasible" in str(proposal)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"maximizer": "mipp"}, "did you mean 'mip'"),
        ({"maximizer": "mip:solver=cplex"}, "solver"),
        ({"maximizer": "mip:formulation=huge"}, "formulation"),
        ({"maximizer": "auto:time_limit=0"}, "time_limit"),
        ({"away_from": [[0.0, 0.0]]}, "eps"),
        ({"eps": 0.1}, "away_from"),
        ({"within": ([2.0, 2.0], [3.0, 3.0])}, r"region.*outside of it, \[2.0, 3.0\].*move it"),
        ({"within": ([-0.5, -3.0], [0.5, -1.5])}, "outside of it.* in coordinate 1, "),
        ({"within": ([0.5, 0.0], [-0.5, 0.1])}, r"lower\[0\]=0.5 > upper\[0\]=-0.5; swap"),
        ({"within": ([0.0], [0.1])}, "2 dimensions; got 1"),
        ({"within": ([0.0, 0.0], [0.1])}, "same length"),
        ({"gap": -1.0}, "gap"),
        ({"seed": -1}, "seed"),
        ({"starts": [[0.0]]}, "2"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(options: dict[str, Any], match: str) -> None:
    with pytest.raises(nm.InputError, match=match):
        maximize("clip", "ucb", BOX, **options)


def test_a_space_is_no_domain_and_dimensions_are_counted() -> None:
    space = nm.Space.box([-1.0, -1.0], [1.0, 1.0])
    with pytest.raises(nm.InputError, match=r"space\.model"):
        maximize("clip", "ucb", space)  # type: ignore[arg-type]
    with pytest.raises(nm.InputError, match="2 coordinates"):
        maximize("clip", "ucb", nm.Domain([0.0], [1.0]))


@pytest.mark.parametrize(("family", "name"), [("ensemble", "ucb"), ("brvfl", "ei")])
def test_what_no_program_gives_is_refused_with_the_remedy(family: str, name: str) -> None:
    X, y = data()
    target = Target(nm.acquisitions.create(name).scorer(belief(family), X, y), BOX)
    assert "bab" in nm.maximizers.create("mip").why_not(target)
    with pytest.raises(nm.UnsupportedError, match="bab"):
        maximize(family, name, BOX, maximizer="mip")


@pytest.mark.parametrize("away", [None, [[0.0, 0.0]]])
def test_who_keeps_no_distance_is_refused_only_where_one_is_asked(away: Any) -> None:
    asked = {"maximizer": Boxed(), "away_from": away, "eps": None if away is None else 0.1}
    if away is None:
        assert maximize("clip", "ucb", BOX, **asked).evaluations == 50
        return
    with pytest.raises(nm.UnsupportedError, match="keeps no distance from points; take"):
        maximize("clip", "ucb", BOX, **asked)
    X, y = data()
    given = {"X": X, "y": y, "away_from": away, "eps": 0.1}
    row, _ = nm.compare(belief("clip"), "ucb", BOX, [Boxed(), "random"], **given)
    assert row.status == "refused"


def test_a_touching_region_is_one_of_the_space() -> None:
    region = ([1.0, 0.0], [2.0, 0.5])
    assert maximize("clip", "ucb", BOX, within=region, maximizer="random").x[0] == 1.0  # type: ignore[index]


def of_three() -> Belief:
    """Return a belief of three inputs."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (12, 3))
    options = {"hidden": (6,), "n_augmented": 20, "epochs": 20}
    return nm.surrogates.create("nomu", seed=0, **options).fit(X, X.sum(axis=1))


def test_enumeration_refuses_what_it_could_not_list_before_it_starts() -> None:
    learned, made = of_three(), nm.maximizers.create("enumerate")
    scorer = nm.acquisitions.create("ucb").scorer(learned)
    long = nm.Domain(np.zeros(3), np.full(3, 1000.0), [Grid.uniform(0.0, 1.0, 1001)] * 3)
    for domain, said in (
        (CUBE, "at most 2 continuous coordinates; got 3"),
        (long, "combinations of discrete coordinates; got 1002001"),
    ):
        asked = Target(scorer, domain)
        monitor, reason = Monitor(asked.problem, 1e-4), made.why_not(asked)
        assert said in reason
        assert reason.endswith('"auto" or "bab".')
        with pytest.raises(nm.UnsupportedError, match=said):
            nm.maximize(learned, "ucb", domain, maximizer=made)
        with pytest.raises(nm.UnsupportedError, match=said):
            maximize_head(Ways(asked.problem), SequenceOptions("enumerate"), monitor)


@pytest.mark.parametrize(
    "domain",
    [
        nm.Domain(CUBE.lower, CUBE.upper, [STEPS] * 3),
        nm.Domain(CUBE.lower, CUBE.upper, [STEPS, None, None]),
        CUBE.restrict([-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]),
    ],
    ids=["finite", "two continuous", "a degenerate side"],
)
def test_enumeration_takes_three_inputs_of_which_two_at_most_are_continuous(
    domain: nm.Domain,
) -> None:
    learned = of_three()
    listed, found = (
        nm.maximize(learned, "ucb", domain, maximizer=name) for name in ("enumerate", "bab")
    )
    assert listed.status == found.status == "optimal"
    assert listed.value <= found.bound
    assert found.value <= listed.bound


def test_progress_is_reported() -> None:
    seen: list[nm.Progress] = []
    maximize("ensemble", "ei", BOX, progress=seen.append)
    assert seen
    assert all(one.value <= one.bound for one in seen)


def test_the_same_seed_gives_the_same_proposal() -> None:
    first, second = (maximize("ensemble", "ei", BOX, seed=5) for _ in range(2))
    assert first.x is not None
    assert second.x is not None
    assert first.x.tolist() == second.x.tolist()
    assert (first.value, first.bound) == (second.value, second.bound)


def test_progress_has_the_scale_of_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "REPORT_INTERVAL", 0.0)
    seen: list[nm.Progress] = []
    X, y = [[-1.0], [-0.3], [0.4], [1.0]], [0.0, 0.6, 1.0, 0.5]
    belief = nm.surrogates.create("brvfl", n_hidden=20, seed=0).fit(X, y)
    domain = nm.Space.box([-1.0], [1.0]).model()
    found = nm.maximize(belief, "ei", domain, maximizer="bab", y=y, progress=seen.append)
    assert found.head == "ei"
    values = [one.value for one in seen if not one.note and math.isfinite(one.value)]
    assert values
    assert all(0.0 < value <= found.value * (1.0 + 1e-9) for value in values)
