"""Claims about scores of Gaussian processes: true ones are proven, false ones never."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nnbo_mip.exact.checking.heads.process_score import process_score
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from tests.exact.checking.process_claims import ProcessCase, asked, random_case
from tests.exact.heads.random_heads import MOMENT_HEADS

SMOOTH = (("rbf", 2.5), ("matern", 2.5), ("rational_quadratic", 2.5))
HEADS = tuple(name for name in MOMENT_HEADS if name != "quiet")
SHORT = 0.3
"""Seconds for what cannot be decided."""


def scaled(whole: ProcessCase, **changes: object) -> ProcessCase:
    """Return the same head on an altered process."""
    posterior = replace(whole.posterior, **changes)  # type: ignore[arg-type]
    return asked(Objective(posterior, whole.objective.head), whole.domain)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [(name, SMOOTH[k % 3]) for k, name in enumerate(HEADS)]
    + [("ei", SMOOTH[0]), ("ucb", SMOOTH[0])],
    ids=str,
)
def test_every_head_is_proven_and_disproven(name: str, kernel: tuple[str, float]) -> None:
    case = random_case(name, 3 + SMOOTH.index(kernel), kernel=kernel)
    size = abs(case.value)
    assert case.judged(case.value + 1e-4 * size)[0] == "confirmed"
    assert case.judged(case.value - 1e-6 * size)[0] == "refuted"


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("name", ["ei", "pi"])
def test_other_dimensions(name: str, d: int) -> None:
    case = random_case(name, 20 + d, d)
    size = abs(case.value)
    assert case.judged(case.value + 1e-4 * size)[0] == "confirmed"
    assert case.judged(case.value - 1e-6 * size)[0] == "refuted"


@pytest.mark.parametrize("name", ["ei", "ucb"])
@pytest.mark.parametrize("d", [1])
def test_kernels_with_fewer_derivatives(name: str, d: int) -> None:
    case = random_case(name, 30 + d, d, ("matern", 1.5))
    assert case.judged(case.value + 1e-3 * abs(case.value))[0] == "confirmed"
    assert case.judged(case.value - 1e-6 * abs(case.value))[0] == "refuted"


@pytest.mark.parametrize("domain", ["grid", "rows", "one-hot", "degenerate"])
def test_other_domains(domain: str) -> None:
    case = random_case("ucb", 5, domain=domain)
    # Beside rows the search is a coarse one.
    assert case.judged(case.value + 1e-2 * abs(case.value))[0] == "confirmed"
    assert case.judged(case.value - 1e-3 * abs(case.value))[0] == "refuted"


@pytest.mark.parametrize(("name", "d"), [("ei", 2), ("ucb", 1), ("pi", 1)])
def test_a_level_a_few_digits_below_is_never_confirmed(name: str, d: int) -> None:
    case = random_case(name, 40 + d, d)
    for units in (1, 30, 10_000):
        level = case.value - units * float(np.spacing(case.value))
        assert case.judged(level, SHORT)[0] != "confirmed"


@pytest.mark.parametrize("name", ["ei", "ucb"])
def test_extreme_scales(name: str) -> None:
    whole = random_case(name, 50)
    head = whole.objective.head
    for factor in (1e-40, 1e40):
        # The same question in other units has the same answer.
        units = {
            key: getattr(whole.posterior, key) * factor for key in ("y_center", "y_scale", "reach")
        }
        moved = head if name != "ei" else replace(head, threshold=head.threshold * factor)  # type: ignore[attr-defined,type-var]
        if isinstance(moved, LinearHead):
            moved = replace(moved, constant=moved.constant * factor)
        case = asked(Objective(replace(whole.posterior, **units), moved), whole.domain)
        size = abs(case.value)
        assert case.judged(case.value + 1e-4 * size)[0] == "confirmed"
        assert case.judged(case.value - 1e-6 * size)[0] == "refuted"


@pytest.mark.parametrize(
    "changes",
    [
        {"y_center": 1e12},
        {"y_scale": 1e-200, "reach": 1e-200},
        {"amplitude": 1e-250},
        {"x_scale": np.array([1e-100, 1.0])},
        {"length_scale": np.array([1e-70, 1e70])},
        {"weights": np.full(8, 1e300)},
    ],
    ids=str,
)
def test_what_rounding_hides_is_never_confirmed(changes: dict[str, object]) -> None:
    with np.errstate(all="ignore"):
        case = scaled(random_case("ucb", 60), **changes)
        assert case.judged(case.value - 1e-6 * abs(case.value), SHORT)[0] != "confirmed"


def test_what_cannot_be_projected_is_undecided() -> None:
    case = random_case("ei", 70)
    # Less than the correlations themselves leaves no positive noise.
    lost = replace(case.posterior, factor=case.posterior.factor * (1.0 - 1e-6))
    singular = replace(case.posterior, factor=np.diag([1.0] * 7 + [1e-170]))
    for posterior in (lost, singular):
        assert process_score(LinearHead(), posterior, case.domain) is None
    verdict, reason = asked(Objective(lost, case.objective.head), case.domain).judged(1e9)
    assert verdict == "undecided"
    assert "ProcessPosterior" in reason


def test_a_kernel_without_derivatives_is_undecided() -> None:
    rough = random_case("ei", 71, kernel=("matern", 0.5))
    assert rough.judged(rough.value + 0.1)[0] == "undecided"
