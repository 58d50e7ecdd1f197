"""Trust regions: their size is a fold of what was told, and proofs hold within them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.record.region_box import RegionBox
from nnbo_mip.loop.regions.box import WHOLE, box_of
from nnbo_mip.loop.regions.regions import Extent, region_of
from nnbo_mip.space import Categorical, Integer, Real, Space
from tests.loop.runs import BOX, advance, bowl, figures, optimizer, same

MIXED = Space(
    [
        Real("rate", 1e-4, 1e-1, log=True),
        Integer("layers", 1, 9),
        Categorical("act", ["relu", "tanh", "elu"]),
        Real("fixed", 2.5, 2.5),
    ]
)


def lengths(y: list[float], **options: Any) -> list[float]:
    """Return the length after one initial point and after each value that a model's point has."""
    rule = region_of({"name": "trust", **options})
    Z = np.arange(len(y), dtype=float)[:, None] * np.ones((1, 2))
    chosen = np.arange(len(y)) > 0
    found = []
    for n in range(1, len(y) + 1):
        extent = rule.extent(Z[:n], np.array(y[:n]), chosen[:n])
        assert extent is not None
        assert extent.centre[0] == int(np.nanargmax(y[:n]))  # the first of the best
        found.append(extent.length)
    return found


def test_it_doubles_after_successes_and_halves_after_failures() -> None:
    rising = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
    # The third success in a row doubles; 1.6 is the most.
    assert lengths(rising) == [0.8, 0.8, 0.8, 1.6, 1.6, 1.6, 1.6, 1.6, 1.6, 1.6]
    assert lengths(rising[:7], length=0.1, successes=2) == [0.1, 0.1, 0.2, 0.2, 0.4, 0.4, 0.8]
    # Two coordinates: four failures in a row halve.
    falling = [1.0] + [0.0] * 9
    assert lengths(falling) == [0.8, 0.8, 0.8, 0.8, 0.4, 0.4, 0.4, 0.4, 0.2, 0.2]
    assert lengths(falling[:5], failures=2) == [0.8, 0.8, 0.4, 0.4, 0.2]
    # A success between failures begins the count anew, and the other way round.
    mixed = [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0]
    assert lengths(mixed) == [0.8] * 8 + [0.4]
    assert lengths([1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0]) == [0.8] * 6 + [1.6]


def test_failures_in_a_row_are_as_many_as_coordinates() -> None:
    rule = region_of("trust")
    Z, chosen = np.zeros((8, 6)), np.arange(8) > 0
    y = np.array([1.0] + [0.0] * 7)
    sizes = [rule.extent(Z[:n], y[:n], chosen[:n]).length for n in range(1, 9)]  # type: ignore[union-attr]
    assert sizes == [0.8] * 6 + [0.4] * 2


def test_a_success_is_worth_its_name() -> None:
    nearly = [1000.0, 1000.9, 1001.9, 1002.0]  # each less than a thousandth better
    assert lengths(nearly, successes=1, length=0.2) == [0.2] * 4
    assert lengths(nearly, successes=1, length=0.2, improvement=0.0) == [0.2, 0.4, 0.8, 1.6]
    # Where the best is negative its size counts, not its sign.
    assert lengths([-1.0, -0.9995, -0.5], successes=1, length=0.2) == [0.2, 0.2, 0.4]


def test_failed_evaluations_are_failures_and_told_points_only_move_the_centre() -> None:
    nan = float("nan")
    assert lengths([1.0, nan, nan, nan, nan]) == [0.8] * 4 + [0.4]
    rule = region_of("trust:successes=1,length=0.1")
    Z, y = np.array([[0.0], [0.5], [0.7]]), np.array([1.0, 5.0, 3.0])
    told = rule.extent(Z, y, np.array([False, False, True]))
    assert told is not None
    assert (told.length, told.centre.tolist()) == (0.1, [0.5])  # 3 beats 1, but not what was told
    assert rule.extent(Z[:0], y[:0], np.zeros(0, dtype=bool)) is None
    assert rule.extent(Z[:1], np.array([nan]), np.array([True])) is None


def test_it_is_over_below_the_least_length() -> None:
    rule = region_of("trust:length=0.2,least=0.05,failures=1")
    y, Z = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros((4, 2))
    ends = [rule.extent(Z[:n], y[:n], np.arange(n) > 0) for n in (2, 3, 4)]
    assert [(end.length, end.is_over) for end in ends if end] == [
        (0.1, False),
        (0.05, False),
        (0.025, True),
    ]


def test_a_box_is_cut_at_the_domain_and_lets_integers_and_categories_move() -> None:
    domain = MIXED.model()  # rate; layers with a step of 0.25; three levels; fixed
    centre = np.array([0.95, -0.5, 0.0, 1.0, 0.0, 0.0])
    box = box_of(Extent(0.1, centre), domain)
    assert box.lower == pytest.approx([0.85, -0.75, 0.0, 0.0, 0.0, 0.0])
    assert box.upper == pytest.approx([1.0, -0.25, 1.0, 1.0, 1.0, 0.0])
    wide = box_of(Extent(0.6, centre), domain)
    assert wide.lower == pytest.approx([0.35, -1.0, 0.0, 0.0, 0.0, 0.0])
    assert wide.upper[1] == pytest.approx(0.1)
    assert domain.restrict(wide.lower, wide.upper).upper[1] == 0.0  # the last value within
    corner = box_of(Extent(0.1, np.array([-1.0, 1.0, 1.0, 0.0, 0.0, 0.0])), domain)
    assert (corner.lower[1], corner.upper[1]) == (0.75, 1.0)
    assert domain.restrict(box.lower, box.upper).admissible(centre[None])[0]
    assert RegionBox.from_dict(box.to_dict()).to_dict() == box.to_dict()


def test_sides_are_longer_where_length_scales_are() -> None:
    domain = Space.box([0.0] * 3, [10.0] * 3).model()
    extent = Extent(0.1, np.zeros(3), is_weighted=True)
    scales = np.array([0.5, 1.0, 4.0])
    box = box_of(extent, domain, scales)
    half = 0.5 * (box.upper - box.lower)
    assert half / half[1] == pytest.approx(scales)
    assert np.prod(half) == pytest.approx(0.1**3)  # the volume stays
    assert (box_of(extent, domain).upper == 0.1).all()
    assert (box_of(Extent(0.1, np.zeros(3)), domain, scales).upper == 0.1).all()
    # What does not matter at all is no wider than what hardly matters.
    most = box_of(extent, domain, np.array([0.5, 1.0, 1e5]))
    assert (most.upper == box.upper).all()
    asked = []
    for weighted in (True, False):
        rule = f"trust:length=0.3,weighted={weighted}"
        run = optimizer(surrogate="gp:ard=True", region=rule, initial=12)
        # One coordinate hardly matters, the other one does; of fewer values that is not learned.
        advance(run, 12, lambda x: float(np.sin(3.0 * x[0]) + 1e-3 * x[1]))
        asked.append(run.ask().region)
    assert asked[0] is not None
    assert asked[1] is not None
    learned, plain = (region.upper - region.lower for region in asked)
    assert learned[1] > plain[1]
    assert learned[0] < plain[0]


# So small a region about the minimum of a bowl promises nothing, which is said.
@pytest.mark.filterwarnings("ignore:the largest score within the region")
def test_what_a_model_chooses_lies_in_its_region_around_the_best_point() -> None:
    rule = "trust:length=0.2,least=1e-4,failures=2,successes=2"
    run = optimizer(region=rule, initial=6)
    sizes = []
    for number in range(24):
        before, asked = run.best, run.ask()
        assert (asked.region is None) == (number < 6)
        if asked.region is not None:
            assert before is not None
            half = asked.region.length
            sizes.append(half)
            assert asked.region.lower == pytest.approx(np.maximum(before.z - half, -1.0))
            assert asked.region.upper == pytest.approx(np.minimum(before.z + half, 1.0))
            place = BOX.encode(asked.x)[0]
            assert (np.abs(place - before.z) <= half * (1.0 + 1e-9)).all()
        run.tell(asked, bowl(asked.x))
    assert len(set(sizes)) > 2
    ratios = np.array(sizes[1:]) / np.array(sizes[:-1])
    assert set(ratios) <= {0.5, 1.0, 2.0}
    assert run.best is not None
    assert run.best.y < 0.52


def test_the_bound_is_that_of_the_region() -> None:
    run = optimizer(maximizer="bab", region="trust:length=0.1", surrogate="gp", acquisition="ucb")
    asked = advance(run, 6)[-1]
    assert asked.status == "optimal"
    assert asked.region is not None
    proposal = asked.proposal
    assert proposal is not None
    assert proposal.objective is not None
    within = BOX.model().restrict(asked.region.lower, asked.region.upper)
    rng = np.random.default_rng(0)
    assert proposal.objective.score(within.sample(3000, rng)).max() <= asked.bound
    # Elsewhere there is more: the bound is no statement about the whole space.
    assert proposal.objective.score(BOX.model().sample(3000, rng)).max() > asked.bound
    assert asked.certificate is not None
    assert asked.certificate.space_fingerprint == within.fingerprint
    assert "a region whose sides are 0.1 of all" in str(asked)


def test_a_region_that_is_over_begins_anew_from_fresh_points(tmp_path: Path) -> None:
    rule = "trust:length=0.1,least=0.05,failures=1"
    path = tmp_path / "run.db"
    run = optimizer(region=rule, journal=path, seed=1)
    asked = advance(run, 22)
    starts = [one.number for one in asked if "trust region shrank" in one.message]
    assert starts
    first = starts[0]
    assert [one.status for one in asked[first : first + 4]] == ["initial"] * 4
    assert asked[first + 4].status == "heuristic"
    assert asked[first + 4].region is not None
    assert asked[first + 4].region.length == 0.1
    fresh = [BOX.encode(one.x)[0] for one in asked[first : first + 4]]
    values = [bowl(one.x) for one in asked[first : first + 4]]
    centre = 0.5 * (asked[first + 4].region.lower + asked[first + 4].region.upper)
    assert np.abs(centre - fresh[int(np.argmin(values))]).max() <= 0.1  # cut at the ends
    # Cut anywhere, it goes on to the last bit as it went.
    for killed_after in (first, first + 2):
        again = tmp_path / f"{killed_after}.db"
        advance(optimizer(region=rule, journal=again, seed=1), killed_after)
        resumed = advance(BayesianOptimizer.open(again), 22 - killed_after)
        assert [figures(one) for one in resumed] == [figures(one) for one in asked[killed_after:]]


@pytest.mark.parametrize("keep", [False, True])
def test_what_a_new_region_learns_from(keep: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    run = optimizer(region=f"trust:length=0.1,least=0.09,failures=1,keep={keep}", initial=3)
    sizes = []
    kind = type(run.settings.surrogate)
    before = kind.fit

    def counted(self: Any, X: Any, y: Any) -> Any:
        sizes.append(len(X))
        return before(self, X, y)

    monkeypatch.setattr(kind, "fit", counted)
    values = iter([5.0, 4.0, 3.0, 9.0, 4.0, 4.5, 6.0, 9.0])
    asked = advance(run, 8, lambda x: next(values))
    assert [one.is_initial for one in asked] == [True] * 3 + [False] + [True] * 3 + [False]
    assert sizes == ([3, 7] if keep else [3, 3])
    # The best point so far is of the first region; the second one has its own centre.
    assert asked[-1].region is not None
    assert (asked[-1].region.lower <= run.history[4].z).all()
    assert (asked[-1].region.upper >= run.history[4].z).all()


def test_what_was_asked_before_a_restart_is_no_part_of_the_new_region() -> None:
    run = optimizer(region="trust:length=0.1,least=0.09,failures=1", initial=3)
    values = iter([5.0, 4.0, 3.0, 9.0])
    asked = advance(run, 3, lambda x: next(values))
    late, bad = run.ask(), run.ask()
    run.tell(bad, 9.0)
    fresh = [run.ask() for _ in range(3)]
    assert "trust region shrank" in fresh[0].message
    run.tell(late, 0.0)  # better than all, but of the region that is over
    for one in fresh:
        run.tell(one, 7.0)
    step = run.ask()
    assert step.region is not None
    first = BOX.encode(fresh[0].x)[0]
    assert (step.region.lower <= first).all()
    assert (first <= step.region.upper).all()
    assert len(asked) == 3


def test_batches_failures_and_rules_of_escape_stay_within_the_region() -> None:
    for escape in (None, "exclude:first=0.05,last=0.05", "exponential"):
        run = optimizer(region="trust:length=0.15", initial=5, escape=escape)
        advance(run, 5)
        assert run.best is not None
        best = run.best.z
        batch = run.ask(3)
        for one in batch:
            assert np.abs(BOX.encode(one.x)[0] - best).max() <= 0.15 * (1.0 + 1e-9)
        for one in batch:
            run.tell(one, failed=True)
        after = run.ask()
        assert after.region is not None
        assert after.region.length == 0.15
        run.tell(after, failed=True)  # the fourth failure in a row
        last = run.ask()
        assert last.region is not None
        assert last.region.length == 0.075


def test_integers_and_categories_in_a_region() -> None:
    def f(x: dict[str, Any]) -> float:
        act = {"relu": 1.0, "tanh": 0.0, "elu": 2.0}[x["act"]]
        return abs(np.log10(x["rate"]) + 2.0) + abs(x["layers"] - 7) + act

    run = optimizer(MIXED, region="trust:length=0.1", initial=5, acquisition="mean")
    asked = advance(run, 30, f)
    assert run.best is not None
    for one in asked[5:]:
        assert one.region is not None
        assert one.region.lower[2:5].tolist() == [0.0] * 3
    # From where the initial points were, layers came to their best value, in steps of one.
    assert run.best.x["layers"] == 7
    assert run.best.x["act"] == "tanh"


def test_a_region_all_of_whose_points_are_known_is_left() -> None:
    space = Space([Integer("a", 0, 20)])
    run = optimizer(space, region="trust:length=0.1", initial=[{"a": 3}], surrogate="gp")
    asked = advance(run, 9, lambda x: 0.0 if x["a"] == 3 else 1.0)
    assert len({one.x["a"] for one in asked}) == 9
    near, far = asked[1:3], asked[3]
    assert {one.x["a"] for one in near} == {2, 4}
    assert far.region is None
    assert WHOLE in far.message


@pytest.mark.filterwarnings("ignore:the largest score within the region")
def test_a_region_under_constraints_and_in_one_dimension() -> None:
    rows = [nm.LinearConstraint({"x0": 1.0, "x1": 1.0}, "<=", 97.5)]
    space = Space.box([99.0, -3.0], [101.0, -1.0], rows)
    run = optimizer(space, region="trust:length=0.3")
    for one in advance(run, 10):
        assert space.model().admissible(space.encode(one.x))[0]
    line = optimizer([(-5.0, -4.0)], region="trust:length=0.2")
    asked = advance(line, 10, lambda x: (x[0] + 4.2) ** 2)
    assert asked[-1].region is not None


def test_a_region_is_kept_in_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    run = optimizer(region="trust:length=0.25,keep=True", journal=path)
    asked = advance(run, 6)
    copy = Path(shutil.copy(path, tmp_path / "copy.db"))
    stored = BayesianOptimizer.open(copy)
    assert stored.settings.region == run.settings.region
    assert figures(stored.suggestions[5]) == figures(asked[5])
    assert stored.suggestions[5].region is not None
    assert stored.suggestions[5].region.length == 0.25
    assert same(stored.ask().x, run.ask().x)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("trust:length=2.0", "between least and most"),
        ("trust:length=0.0", "length must be a number > 0"),
        ("trust:successes=0", "successes must be an integer"),
        ("trust:failures=0.5", "failures must be an integer"),
        ("trust:improvement=-1", "improvement must be"),
        ("trust:keep=2", "keep must be True or False"),
        ("trust:weighted=2", "weighted must be True or False"),
        ("thrust", "did you mean 'trust'"),
    ],
)
def test_what_is_no_region_is_refused(given: str, said: str) -> None:
    with pytest.raises(nm.InputError, match=said):
        optimizer(region=given)
