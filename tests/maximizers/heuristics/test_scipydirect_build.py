"""What holds for scipydirect: the contract, and defects that any user of it must guard against.

docs/build_scipydirect.sh compiles the package; plain pip cannot.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.maximizers import Maximizer
from nnbo_mip.testing.maximizer_contract import MaximizerContract

if sys.version_info >= (3, 12):
    pytest.skip("scipydirect cannot be built for Python 3.12 and later", allow_module_level=True)
# Else what its Fortran prints would come out when the process ends, after pytest's summary.
os.environ["GFORTRAN_UNBUFFERED_PRECONNECTED"] = "1"
scipydirect = pytest.importorskip(
    "scipydirect", reason="scipydirect is not built here; run docs/build_scipydirect.sh"
)

MINIMIZER = np.array([0.3, -0.2])
MINIMUM = 1.0
LOWER = np.array([-1.0, -2.0])
UPPER = np.array([2.0, 3.0])
BOUNDS = np.column_stack([LOWER, UPPER])


class TestScipyDirect(MaximizerContract):
    def make(self, **options: Any) -> Maximizer:
        return nm.maximizers.create("scipydirect", **{"evaluations": 400, **options})


def shifted_quadratic(x: np.ndarray) -> float:
    first, second = x - MINIMIZER
    return MINIMUM + first**2 + 3.0 * second**2


@pytest.mark.parametrize("algmethod", [0, 1], ids=["DIRECT", "DIRECT-l"])
def test_a_shifted_quadratic_is_minimized(algmethod: int) -> None:
    found = scipydirect.minimize(shifted_quadratic, bounds=BOUNDS, algmethod=algmethod)

    assert found.success
    np.testing.assert_allclose(found.x, MINIMIZER, atol=1e-3)
    assert found.fun == pytest.approx(shifted_quadratic(found.x), rel=1e-12)
    assert MINIMUM <= found.fun < MINIMUM + 1e-6


def test_the_evaluation_budget_is_kept_up_to_the_last_iteration() -> None:
    calls = []

    def counted(x: np.ndarray) -> float:
        calls.append(x.copy())
        return shifted_quadratic(x)

    found = scipydirect.minimize(counted, bounds=BOUNDS, maxf=200)

    assert found.status == 1
    assert 200 <= len(calls) < 400
    assert np.all(calls >= LOWER)
    assert np.all(calls <= UPPER)


def test_defect_after_an_error_status_x_is_in_the_unit_cube() -> None:
    found = scipydirect.minimize(shifted_quadratic, bounds=BOUNDS, eps=0.0)

    assert found.status == -6, "levels exhausted"
    assert not found.success
    assert shifted_quadratic(found.x) != pytest.approx(found.fun, rel=1e-3)
    in_user_units = LOWER + (UPPER - LOWER) * found.x
    assert shifted_quadratic(in_user_units) == pytest.approx(found.fun, rel=1e-12)
    np.testing.assert_allclose(in_user_units, MINIMIZER, atol=1e-5)


def test_defect_exceptions_of_the_objective_are_swallowed() -> None:
    def undefined_right_of_0_1(x: np.ndarray) -> float:
        if x[0] > 0.1:
            raise RuntimeError("the caller never sees this")
        return shifted_quadratic(x)

    found = scipydirect.minimize(undefined_right_of_0_1, bounds=BOUNDS, maxf=2000)

    assert found.success
    assert found.x[0] <= 0.1
