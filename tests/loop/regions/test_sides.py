"""Trust regions in which few of many coordinates move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.record.region_box import RegionBox
from nnbo_mip.loop.regions.box import WHOLE, region_of_step
from nnbo_mip.loop.regions.regions import Extent
from nnbo_mip.loop.regions.sides import some_sides
from nnbo_mip.space import Categorical, Domain, Integer, Real, Space
from tests.loop.runs import advance, figures, optimizer, same

TEN = Space.box([-5.0] * 10, [10.0] * 10)


def moving(box: RegionBox) -> list[int]:
    """Return the coordinates that have more than one value."""
    return np.flatnonzero(box.lower < box.upper).tolist()


def around(domain: Domain, centre: np.ndarray, reach: float = 0.2) -> RegionBox:
    """Return a box around a point."""
    lower, upper = domain.lower, domain.upper
    return RegionBox(reach, np.maximum(lower, centre - reach), np.minimum(upper, centre + reach))


def test_so_many_coordinates_move_and_the_others_are_those_of_the_centre() -> None:
    domain, centre = TEN.model(), np.linspace(-0.9, 0.9, 10)
    box = around(domain, centre)
    seen = set()
    for seed in range(40):
        narrow = some_sides(box, centre, domain, 3, seed)
        free = moving(narrow)
        assert len(free) == narrow.moving == 3
        held = [j for j in range(10) if j not in free]
        assert (narrow.lower[held] == centre[held]).all()
        assert (narrow.lower[free] == box.lower[free]).all()
        assert (narrow.upper[free] == box.upper[free]).all()
        assert domain.restrict(narrow.lower, narrow.upper).admissible(centre[None])[0]
        seen |= set(free)
        assert moving(some_sides(box, centre, domain, 3, seed)) == free
    assert seen == set(range(10))
    for most in (10, 11):
        assert some_sides(box, centre, domain, most, 0) is box


def test_a_category_counts_once_and_what_is_fixed_does_not_count() -> None:
    space = Space(
        [
            Real("rate", 0.0, 1.0),
            Categorical("act", ["relu", "tanh", "elu"]),
            Real("fixed", 2.5, 2.5),
            Integer("layers", 1, 9),
        ]
    )
    domain = space.model()
    centre = np.array([0.1, 0.0, 1.0, 0.0, 0.0, 0.5])
    group = list(domain.one_hot[0])
    lower, upper = centre - 0.25, centre + 0.25
    lower[group], upper[group] = 0.0, 1.0
    lower[4] = upper[4] = 0.0
    box = RegionBox(0.25, lower, upper)
    found = {tuple(moving(some_sides(box, centre, domain, 1, seed))) for seed in range(30)}
    assert found == {(0,), tuple(group), (5,)}
    assert some_sides(box, centre, domain, 3, 0) is box


def test_where_an_equation_holds_all_that_were_drawn_all_coordinates_move() -> None:
    """One of two coordinates whose sum is fixed cannot move alone."""
    rows = [nm.LinearConstraint({"x0": 1.0, "x1": 1.0}, "==", 1.0)]
    domain = Space.box([0.0, 0.0], [1.0, 1.0], rows).model()
    centre = np.zeros(2)
    box = around(domain, centre)
    assert some_sides(box, centre, domain, 1, 0) is box
    # Of a third one, which is free, it is drawn now and then.
    rows = [nm.LinearConstraint({"x0": 1.0, "x1": 1.0}, "==", 1.0)]
    domain = Space.box([0.0] * 3, [1.0] * 3, rows).model()
    box = around(domain, np.zeros(3))
    found = {tuple(moving(some_sides(box, np.zeros(3), domain, 1, seed))) for seed in range(30)}
    assert found == {(2,), (0, 1, 2)}


def test_where_all_points_of_a_few_coordinates_are_known_all_move() -> None:
    domain = Space([Integer("a", 0, 8), Integer("b", 0, 8)]).model()
    centre = np.zeros(2)
    extent = Extent(0.1, centre, coordinates=1)
    step = 0.25
    line = np.array([[0.0, 0.0], [step, 0.0], [-step, 0.0], [0.0, step], [0.0, -step]])
    box, said = region_of_step(extent, domain, line[:1])
    assert box is not None
    assert (box.moving, said) == (1, "")
    box, said = region_of_step(extent, domain, line)
    assert box is not None
    assert (box.moving, said) == (2, "")
    corners = step * np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    assert region_of_step(extent, domain, np.vstack([line, corners])) == (None, WHOLE)


def test_a_run_proves_its_steps_in_few_coordinates_and_goes_on_as_it_went(tmp_path: Path) -> None:
    rule = "trust:length=0.3,coordinates=2"
    options = {"region": rule, "surrogate": "brvfl:n_hidden=10", "acquisition": "ucb"}
    path = tmp_path / "run.db"

    def bowl(x: np.ndarray) -> float:
        return float(np.square(x - 1.0).sum())

    run = optimizer(TEN, maximizer="bab", initial=6, journal=path, **options)
    asked = advance(run, 12, bowl)
    free = []
    for one in asked[6:]:
        assert one.status == "optimal"
        assert one.region is not None
        assert one.region.moving == 2
        assert "in 2 of 10 coordinates" in str(one)
        free.append(tuple(moving(one.region)))
        within = TEN.model().restrict(one.region.lower, one.region.upper)
        assert one.proposal is not None
        assert one.proposal.objective is not None
        points = within.sample(500, np.random.default_rng(0))
        assert one.proposal.objective.score(points).max() <= one.bound
        assert one.certificate is not None
        assert one.certificate.space_fingerprint == within.fingerprint
    assert len(set(free)) > 1
    again = tmp_path / "again.db"
    advance(optimizer(TEN, maximizer="bab", initial=6, journal=again, **options), 9, bowl)
    resumed = BayesianOptimizer.open(again)
    assert resumed.settings.region == run.settings.region
    assert [figures(one) for one in advance(resumed, 3, bowl)] == [
        figures(one) for one in asked[9:]
    ]
    assert same(resumed.ask().x, run.ask().x)


@pytest.mark.parametrize("coordinates", [0, -1, 1.5])
def test_what_is_no_number_of_coordinates_is_refused(coordinates: object) -> None:
    with pytest.raises(nm.InputError, match="coordinates must be an integer"):
        optimizer(region={"name": "trust", "coordinates": coordinates})
