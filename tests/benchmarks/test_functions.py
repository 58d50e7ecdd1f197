from __future__ import annotations

import numpy as np
import pytest

from benchmarks.certify.functions import ackley, branin, levy, rosenbrock


def test_branin_at_its_three_maximizers() -> None:
    raw = np.array([[-np.pi, 12.275], [np.pi, 2.275], [9.42478, 2.475]])
    scaled = (raw - [2.5, 7.5]) / 7.5
    assert branin(scaled) == pytest.approx([-0.397887] * 3, abs=1e-5)


@pytest.mark.parametrize(
    ("function", "maximizer"),
    [
        (levy, np.full((1, 5), 0.1)),
        (rosenbrock, np.full((1, 3), 1.0 / 2.048)),
        (ackley, np.zeros((1, 4))),
    ],
)
def test_maximum_is_zero_where_the_literature_has_it(function, maximizer) -> None:
    assert function(maximizer) == pytest.approx([0.0], abs=1e-12)
    assert function(maximizer + 0.03)[0] < -1e-3
