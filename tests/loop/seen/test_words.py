"""What is said of proofs: certified only what is, and of what no proof was made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.loop.record.region_box import RegionBox
from nnbo_mip.loop.record.shown import number_text, point_text
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.seen.words import proved
from nnbo_mip.space import Real, Space

REGION = RegionBox(0.2, np.array([-0.1]), np.array([0.1]))


def step(status: Any, kind: Any = "rigorous", **more: Any) -> Suggestion:
    found = SearchResult(status=status, value=1.0, bound=1.0 if kind != "none" else np.inf)
    plain = Suggestion(x=np.zeros(1), found=replace(found, kind=kind), maximizer="lbfgs")
    return replace(plain, **more)


def test_certified_is_said_of_what_is_and_over_what() -> None:
    assert proved([step("optimal")] * 3) == (
        "3 of 3 choices of a model are certified best over the whole space"
    )
    assert proved([step("optimal")]) == (
        "1 of 1 choice of a model is certified best over the whole space"
    )
    within = step("optimal", region=REGION)
    assert proved([within, within]) == (
        "2 of 2 choices of a model are certified best within their region"
    )
    assert proved([step("optimal"), within, step("feasible")]) == (
        "2 of 3 choices of a model are certified best for it: 1 over the whole space, 1 within "
        "their region; 1 with a proven bound, its gap open"
    )


def test_a_search_that_proves_nothing_is_no_failure() -> None:
    said = proved([step("heuristic", "none")] * 20)
    assert said == "20 choices of a model, found by lbfgs, which searches and proves nothing"
    assert "0 of" not in said
    assert proved([]).startswith("nothing was to be proven")
    assert proved([step("feasible")] * 2) == (
        "2 of 2 choices of a model with a proven bound, its gap open"
    )


def test_a_suggestion_says_over_what_its_bound_is() -> None:
    assert "over the whole space" in str(step("optimal"))
    assert "within a region whose sides are 0.2 of all" in str(step("optimal", region=REGION))
    assert "no bound was proven" in str(step("heuristic", "none"))
    assert "expects 2.5 ± 0.12 there" in str(step("optimal", mean=2.5, std=0.123))


def test_numbers_have_as_many_digits_as_they_need() -> None:
    assert number_text(9.42477796076938) == "9.42478"
    assert number_text(0.1) == "0.1"
    narrow = Space([Real("t", 1e6, 1e6 + 1e-2), Real("rate", 1e-4, 1e-1, log=True)])
    x = {"t": 1000000.00123456, "rate": 0.00123456789}
    assert point_text(x, narrow) == "{'t': 1000000.0012346, 'rate': 0.00123457}"
    # Where no side is known, nine digits or so.
    assert point_text(x) == "{'t': 1000000.001, 'rate': 0.00123456789}"
    assert point_text(np.array([9.42477796076938, 2.0])) == "[9.42477796, 2]"
