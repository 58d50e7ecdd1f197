"""Cases on which an engine once claimed something false, and what it must claim instead.

Each is a draw of `benchmarks.soundness.nets`; the judge is the enumeration in integer arithmetic.
"""

from __future__ import annotations

import pytest

from benchmarks.soundness.nets import draw
from nnbo_mip.exact.branching import boxes, phases
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.testing.exact_maximum import exact_maximum

# Boxes were shrunk without settling what was cut off: bounds were too small by an ulp.
CUT_OFF_WITHOUT_SETTLING = [(0, i) for i in (19, 61, 68, 122, 138, 227, 288)]
# A strided row was evaluated: the value was not the forward pass of the stored point.
STRIDED_EVALUATION = [(0, 327)]
# Subnormal weights overflowed a division, and a ReLU tightened to [0, 0] had no scale.
DEGENERATE_SCALES = [(0, i) for i in (56, 209, 229, 315, 350, 352, 364)]


ENGINES = [(boxes, boxes.BoxOptions(max_boxes=20_000)), (phases, phases.PhaseOptions())]


@pytest.mark.parametrize(("seed", "index"), CUT_OFF_WITHOUT_SETTLING)
@pytest.mark.parametrize(("engine", "options"), ENGINES)
def test_bounds_hold_without_slack(seed, index, engine, options):
    case = draw(seed, index)
    problem = Problem(case.network, case.domain)
    result = engine.solve(problem, options, Monitor(problem, 1e-4))
    assert exact_maximum(case.network, case.domain, budget=1_000_000).value <= result.bound


@pytest.mark.parametrize(("seed", "index"), STRIDED_EVALUATION + DEGENERATE_SCALES)
@pytest.mark.parametrize(("engine", "options"), ENGINES)
def test_values_are_passes_at_admissible_points(seed, index, engine, options):
    case = draw(seed, index)
    problem = Problem(case.network, case.domain)
    result = engine.solve(problem, options, Monitor(problem, 1e-4))
    assert result.value == problem.value(result.x) <= result.bound
    assert case.domain.admissible(result.x[None, :])[0]


@pytest.mark.parametrize(("engine", "options"), ENGINES)
def test_an_empty_domain_with_degenerate_scales(engine, options):
    case = draw(0, 214)
    problem = Problem(case.network, case.domain)
    assert engine.solve(problem, options, Monitor(problem, 1e-4)).status == "infeasible"
