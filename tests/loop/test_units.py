"""Values whose squares leave float64: the same run as on values of ordinary size."""

from __future__ import annotations

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.units import LARGEST_EXPONENT, exponent_of_unit, in_units
from nnbo_mip.loop.warping import root_mean_square, warp_of

FAR = [-1000, -700, 700, 1020]
VALUES = np.array([-3.0, 0.25, 0.5, 1.0, 2.0, 3.5])
FAMILIES = ["gp:n_restarts=0", "brvfl:n_hidden=20", "nomu:hidden=(8,),epochs=20"]


def run(exponent: int, surrogate: object, warp: object, **options: object) -> list[nm.Suggestion]:
    """Return three suggestions of a run on values scaled by a power of two."""
    optimizer = nm.BayesianOptimizer(
        [(0.0, 1.0), (0.0, 1.0)],
        surrogate,
        warp=warp,
        initial=5,
        direction="minimize",
        **options,  # type: ignore[arg-type]
    )
    suggestions = []
    for _ in range(8):
        asked = optimizer.ask()
        x = np.asarray(asked.x)
        y = np.round(np.square(x - 0.3).sum() + 0.1 * x[0], 3)  # few digits, none is lost below
        optimizer.tell(asked, float(np.ldexp(y, exponent)))
        suggestions.append(asked)
    return suggestions[5:]


@pytest.mark.parametrize("surrogate", FAMILIES)
@pytest.mark.parametrize("warp", [None, "half_rank", "asinh"])
def test_the_size_of_values_does_not_change_a_run(surrogate: str, warp: str | None) -> None:
    runs = [run(exponent, surrogate, warp) for exponent in FAR]
    for suggestions in zip(*runs, strict=True):
        first = suggestions[0]
        assert first.value <= first.bound
        assert first.status == "optimal"
        for other in suggestions[1:]:
            assert other.x.tolist() == first.x.tolist()
            assert (other.value, other.bound) == (first.value, first.bound)


@pytest.mark.parametrize("exponent", FAR)
def test_means_and_options_are_in_the_units_that_were_told(exponent: int) -> None:
    given = {"name": "ei", "incumbent": float(np.ldexp(0.05, exponent))}
    far = run(exponent, "gp:n_restarts=0", None, acquisition=given)[-1]
    near = run(0, "gp:n_restarts=0", None, acquisition={"name": "ei", "incumbent": 0.05})[-1]
    assert np.ldexp(far.mean, -exponent) == pytest.approx(near.mean, rel=1e-2)
    assert np.ldexp(far.std, -exponent) == pytest.approx(near.std, rel=0.1)


@pytest.mark.parametrize("exponent", FAR)
def test_deviations_are_scaled_with_the_values(exponent: int) -> None:
    """`aei` reads them; they are a part of the values' spread, whatever its size."""

    def asked(exponent: int) -> nm.Suggestion:
        optimizer = nm.BayesianOptimizer(
            [(0.0, 1.0)], "gp:n_restarts=0,alpha=1e-6", "aei", warp=None, escape=None, initial=6
        )
        for x, y in zip(np.linspace(0.0, 1.0, 6), VALUES, strict=True):
            optimizer.tell(
                [float(x)],
                float(np.ldexp(y, exponent)),
                noise=float(np.ldexp(0.25, exponent)),
            )
        return optimizer.ask()

    far, first = asked(exponent), asked(FAR[0])
    assert far.x.tolist() == first.x.tolist()
    assert (far.value, far.bound) == (first.value, first.bound)
    assert far.x == pytest.approx(asked(0).x, abs=1e-2)


def test_ordinary_values_are_seen_as_they_are() -> None:
    for values in (VALUES, np.zeros(3), np.array([2.0**200 - 2.0**150]), np.array([2.0**-201])):
        warped = warp_of(None).learn(values)
        assert in_units(warped) is warped
    assert exponent_of_unit(np.array([1.0, 2.0**200])) == LARGEST_EXPONENT + 1
    assert exponent_of_unit(np.array([2.0**-202])) == -LARGEST_EXPONENT - 1
    assert exponent_of_unit(np.array([5e-324])) == -1073


@pytest.mark.parametrize("name", ["half_rank", "asinh"])
def test_a_penalty_that_a_warp_pulls_in_changes_no_unit(name: str) -> None:
    values = np.append(VALUES, -1e250)
    bare, warped = warp_of(name).learn(values), in_units(warp_of(name).learn(values))
    assert warped.exponent == 0
    assert warped.values.tolist() == bare.values.tolist()
    assert warped.values[4:6] == pytest.approx(VALUES[4:], rel=0.5)


def test_there_and_back() -> None:
    for exponent in FAR:
        told = np.ldexp(VALUES, exponent)
        for name in ("none", "half_rank", "asinh"):
            warped = in_units(warp_of(name).learn(told))
            assert np.abs(warped.values).max() <= 1.0
            assert warped.inward(told) == pytest.approx(warped.values, rel=1e-9)
            back = np.ldexp(warped.outward(warped.values), -exponent)
            assert back == pytest.approx(VALUES, rel=1e-9)
            assert np.isfinite(warped.outward([-1e9, 1e9])).all()


def test_a_root_of_squares_is_right_for_any_size() -> None:
    gaps = np.array([3.0, 4.0])
    for exponent in (-1070, -600, 0, 600, 1020):
        scaled = root_mean_square(np.ldexp(gaps, exponent))
        assert np.ldexp(scaled, -exponent) == pytest.approx(np.sqrt(12.5), rel=0.02)
    assert root_mean_square(gaps) == float(np.sqrt(np.mean(np.square(gaps))))
    assert root_mean_square(np.zeros(2)) == 0.0
