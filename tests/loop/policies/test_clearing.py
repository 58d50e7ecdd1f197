"""Keeping a distance: only what is in the way is excluded, and a quick search foresees it."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.loop.policies.exclude import ROUNDS, maximized_away
from nnbo_mip.maximizers.base.abstract import Proposal
from tests.loop.runs import proposal_at

AWAY = 0.1
SEEN = np.array([[0.0], [0.19], [0.9], [-0.8]])


class Nearest:
    """Searches for the admissible point of a fine grid that is nearest to 0.02.

    Attributes
    ----------
    asked : list of (tuple of float, float or None)
        What was excluded, and the point worth a try.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[tuple[float, ...], float | None]] = []

    def __call__(self, excluded: FloatArray | None, guess: FloatArray | None = None) -> Proposal:
        points = np.round(np.linspace(-1.0, 1.0, 201), 2)
        exclusions = np.empty(0) if excluded is None else excluded[:, 0]
        self.asked.append((tuple(exclusions.tolist()), None if guess is None else float(guess[0])))
        gaps = np.abs(points[:, None] - exclusions[None, :]).min(axis=1, initial=np.inf)
        free = points[gaps >= AWAY - 1e-12]
        if not len(free):
            return proposal_at(None)
        return proposal_at(float(free[np.abs(free - 0.02).argmin()]))


def never() -> bool:
    return False


def test_what_is_in_the_way_is_excluded_round_by_round() -> None:
    """0.02 is too near 0; next best, 0.1, too near 0.19, which the third round leaves out."""
    search = Nearest()
    found = maximized_away(SEEN, AWAY, search, None, never)
    assert search.asked == [((), None), ((0.0,), None), ((0.0, 0.19), None)]
    assert found.x is not None
    assert found.x.tolist() == [-0.1]


def test_a_quick_search_spares_rounds_and_leaves_its_point() -> None:
    quick, search = Nearest(), Nearest()
    found = maximized_away(SEEN, AWAY, search, quick, never)
    assert quick.asked == [((), None), ((0.0,), None), ((0.0, 0.19), None)]
    assert search.asked == [((0.0, 0.19), -0.1)]
    assert found.x is not None
    assert found.x.tolist() == [-0.1]


@pytest.mark.parametrize("foreseen", [0.5, 0.9, None])
def test_a_quick_search_that_errs_does_no_harm(foreseen: float | None) -> None:
    search = Nearest()
    found = maximized_away(SEEN, AWAY, search, lambda excluded: proposal_at(foreseen), never)
    assert found.x is not None
    assert found.x.tolist() == [-0.1]


def test_when_time_is_up_all_are_excluded() -> None:
    search = Nearest()
    maximized_away(SEEN, AWAY, search, None, lambda: True)
    assert search.asked == [((), None), ((0.0, 0.19, 0.9, -0.8), None)]


def test_rounds_end() -> None:
    """Points one after another, each in the way once."""
    seen = np.arange(20.0)[:, None]
    calls: list[int] = []

    def next_one(excluded: FloatArray | None, guess: FloatArray | None) -> Proposal:
        calls.append(0 if excluded is None else len(excluded))
        return proposal_at(float(calls[-1]))

    maximized_away(seen, AWAY, next_one, None, never)
    assert calls == [*range(ROUNDS), 20]


def test_where_nothing_is_admissible_that_is_the_answer() -> None:
    seen = np.linspace(-1.0, 1.0, 41)[:, None]
    found = maximized_away(seen, AWAY, lambda e, g: proposal_at(None), None, never)
    assert found.x is None
