"""When a search is given up: what the course of its gap foresees, in work."""

import math

import pytest

from nnbo_mip.exact.search.course import FIRST, JUDGED_FROM, Course, foreseen


def after(gaps: dict[float, float], patience: float) -> float:
    """Return the work at which a course of gaps, by work, is given up; infinite for never."""
    course, before = Course(patience), 0.0
    for work, gap in gaps.items():
        course.spend(work - before, gap)
        before = work
        if course.is_hopeless:
            return work
    return math.inf


def halvings(factor: float) -> dict[float, float]:
    """Return a gap that is multiplied by a factor with each doubling of the work."""
    return {FIRST * 2**k: 5.0 * factor**k for k in range(12)}


def test_the_gap_is_taken_to_fall_by_as_much_with_each_doubling() -> None:
    assert foreseen(2.0, 5.0, 4.0) == 2.0 * 2.0**4
    assert foreseen(2.0, 5.0, 2.5) == 4.0


@pytest.mark.parametrize(("before", "gap"), [(1.0, 1.0), (1.0, 2.0), (math.inf, math.inf)])
def test_a_gap_that_does_not_fall_is_never_closed(before: float, gap: float) -> None:
    assert foreseen(1.0, before, gap) == math.inf


def test_a_flat_gap_is_given_up_where_it_is_first_judged() -> None:
    assert after(halvings(1.0), 20.0) == JUDGED_FROM * 20.0 == 0.5
    assert after(halvings(1.0), 160.0) == 4.0


def test_a_gap_that_halves_is_followed_until_it_needs_more_than_the_patience() -> None:
    # Foreseen is twice the work: the whole patience may be spent, and no more.
    assert after(halvings(0.5), 20.0) == 16.0


def test_a_gap_that_will_be_closed_is_never_given_up() -> None:
    line = {FIRST * 2**k: 5.0 - k for k in range(7)}
    assert after(line, FIRST * 2.0**5) == math.inf


@pytest.mark.parametrize("factor", [1.0, 0.9])
def test_endless_patience_never_gives_up(factor: float) -> None:
    assert after(halvings(factor), math.inf) == math.inf


def test_work_is_counted_and_not_calls() -> None:
    few, many = Course(20.0), Course(20.0)
    few.spend(1.0, 3.0)
    for _ in range(2**10):
        many.spend(2.0**-10, 3.0)
    assert few.work == many.work
    assert not few.is_hopeless
    assert many.is_hopeless  # it was read before, at half of the work


def test_nobody_gives_up_before_there_is_a_point() -> None:
    assert after({FIRST * 2**k: math.nan for k in range(10)}, 1.0) == math.inf
