"""A restart is due at a sample, and draws points that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.designs.designs import design_of
from nnbo_mip.loop.policies.restart import Revisit, restart_of
from nnbo_mip.space import Integer, Space
from tests.loop.runs import BOX, advance, optimizer

MEANS: dict[str, Any] = {"acquisition": "mean", "maximizer": "bab", "warp": None}
"""What a model expects is maximized, and so a known point is often wanted again."""


def test_a_restart_is_due_where_a_sample_is_proposed_again() -> None:
    rule, known = restart_of("revisit"), [[0.5, -0.5], [0.1, 0.2]]
    assert rule.is_due([0.1, 0.2], known)
    assert rule.is_due([0.1 + 1e-12, 0.2], known)
    assert not rule.is_due([0.1 + 1e-6, 0.2], known)
    assert Revisit(tolerance=0.0).is_due([0.1, 0.2], known)
    assert Revisit(tolerance=1e-3).is_due([0.1 + 1e-6, 0.2], known)
    assert not rule.is_due([0.1, 0.2], np.empty((0, 2)))
    assert not restart_of(None).is_due([0.1, 0.2], known)


def test_fresh_points_are_another_draw_of_the_design() -> None:
    design, rule = design_of("sobol:n=4"), restart_of("revisit")
    first = design.points(BOX, seed=1)
    fresh = rule.fresh_points(design, BOX, 2, first)
    assert fresh.tolist() == design.points(BOX, seed=2).tolist()
    assert rule.fresh_points(design, BOX, 1, first).shape == (4, 2)
    repeated = [rule.is_due(x, first) for x in rule.fresh_points(design, BOX, 1, first)]
    assert repeated == [False] * 4
    assert len(Revisit(n=2).fresh_points(design, BOX, 2, first)) == 2


def test_given_points_are_not_given_twice() -> None:
    given = design_of([[100.0, -2.0], [99.0, -1.0], [101.0, -1.0]])
    fresh = restart_of("revisit").fresh_points(given, BOX, 3, given.points(BOX))
    assert fresh.tolist() == design_of(3).points(BOX, 3).tolist()
    forced = restart_of("none").fresh_points(given, BOX, 3, given.points(BOX))
    assert forced.tolist() == fresh.tolist()


def test_a_space_of_which_all_is_known_has_no_fresh_points() -> None:
    space = Space([Integer("a", 0, 2)])
    known = np.array([[-1.0], [0.0], [1.0]])
    assert restart_of("revisit").fresh_points(design_of(None), space, 0, known).shape == (0, 1)
    assert restart_of("revisit").fresh_points(design_of(None), space, 0, known[:2]).tolist() == [
        [1.0]
    ]


@pytest.mark.parametrize(
    "options",
    [{}, {"escape": "exponential:limit=30", "acquisition": "ucb:beta=0.01"}, {"escape": None}],
)
def test_a_run_restarts_whatever_keeps_proposals_away(options: dict[str, Any]) -> None:
    run = optimizer(restart="revisit:n=3", **{**MEANS, **options})
    asked = advance(run, 12, lambda x: x[0] - x[1])  # best at a corner
    restarts = [one.number for one in asked if "the model repeated a point" in one.message]
    assert restarts
    assert [one.status for one in asked[restarts[0] : restarts[0] + 3]] == ["initial"] * 3
    corner = [one.number for one in asked if one.x.tolist() == [99.0, -1.0]]
    assert corner[0] == restarts[0] - 1


def test_a_finite_space_restarts_before_it_is_used_up() -> None:
    space = Space([Integer("a", 0, 6), Integer("b", 0, 6)])
    run = optimizer(space, restart="revisit:n=3", **MEANS)
    asked = advance(run, 16, lambda x: float(x["a"] - x["b"]))
    assert any("the model repeated a point" in one.message for one in asked)
    assert len({tuple(one.x.values()) for one in asked}) == 16


def test_a_space_that_is_used_up_goes_on() -> None:
    run = optimizer(Space([Integer("a", 0, 4)]), restart="revisit", **MEANS)
    asked = advance(run, 7, lambda x: float(x["a"]))
    assert "may be repeated" in asked[-1].message


def test_a_point_whose_value_is_still_to_come_is_no_revisit() -> None:
    run = optimizer(restart="revisit", batch=None, **MEANS)
    advance(run, 4, lambda x: x[0] - x[1])
    first, second = run.ask(2)
    assert (first.status, second.status) == ("optimal", "optimal")
    assert 1e-4 <= np.abs(BOX.encode(first.x) - BOX.encode(second.x)).max() < 2e-4


@pytest.mark.parametrize(
    "given", ["revisit:n=0", "revisit:tolerance=-1", "revisit:keep=2", "visit"]
)
def test_what_is_no_rule_is_refused(given: str) -> None:
    with pytest.raises(InputError):
        restart_of(given)
