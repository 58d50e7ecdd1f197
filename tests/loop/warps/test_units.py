"""Values whose squares leave float64: the same run as on values of ordinary size."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.loop.settings.settings import DOORS
from nnbo_mip.loop.warps.warping import (
    LARGEST_EXPONENT,
    exponent_of_unit,
    in_units,
    root_mean_square,
    warp_of,
)

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


@pytest.mark.parametrize("exponent", [-210, 210])
@pytest.mark.parametrize(
    ("options", "scaled"),
    [
        ({"acquisition": "ei"}, ("acquisition", "xi", 0.01)),
        ({"acquisition": "pi"}, ("acquisition", "xi", 0.01)),
        ({"acquisition": "aei"}, ("acquisition", "noise", 0.01)),
        ({"scaling": "mean_width:budget=0.5"}, ("scaling", "unit", 0.25)),
        ({}, ("surrogate", "y_range", (0.0, 1.0))),
    ],
)
def test_options_in_units_of_y_keep_them(
    exponent: int, options: dict[str, Any], scaled: tuple[str, str, Any]
) -> None:
    """Where there is one the values stay as they are, for it means something beside them."""

    def asked(exponent: int) -> nm.Suggestion:
        given: dict[str, Any] = {"surrogate": "brvfl:n_hidden=20", **options}
        door, name, size = scaled
        factor = 2.0**exponent
        wanted = tuple(factor * end for end in size) if isinstance(size, tuple) else factor * size
        given[door] = replace(DOORS[door](given[door]), **{name: wanted})
        return run(exponent, warp=None, **given)[0]

    near, far = asked(0), asked(exponent)
    assert far.x == pytest.approx(near.x, abs=0.05)
    assert far.c == pytest.approx(near.c, rel=1e-6)
    assert np.ldexp(far.mean, -exponent) == pytest.approx(near.mean, rel=0.2, abs=0.02)


def test_only_options_of_y_keep_the_units() -> None:
    assert not settings_of(acquisition="ei", scaling="mean_width").speaks_of_y
    assert settings_of(acquisition="ei:xi=decay(start=0.1)").speaks_of_y
    assert settings_of(acquisition="aei:noise=0.1").speaks_of_y
    assert settings_of(scaling="mean_width:unit=2").speaks_of_y
    assert not settings_of(surrogate="brvfl:y_range=(0,1)").speaks_of_y


def settings_of(**options: Any) -> Any:
    """Return the settings of a run."""
    given = {"surrogate": "brvfl", "acquisition": "ei", **options}
    return nm.BayesianOptimizer([(0.0, 1.0)], **given).settings


@pytest.mark.filterwarnings("ignore::nnbo_mip.core.errors.ModelWarning")  # as it should
@pytest.mark.parametrize("exponent", [-1060, 1000])
def test_options_far_beyond_all_values_end_no_run(exponent: int) -> None:
    for given in ({"name": "ei", "incumbent": 1.0}, {"name": "ei", "incumbent": -1e300}):
        assert run(exponent, "brvfl:n_hidden=10", None, acquisition=given)[0].x is not None
    optimizer = nm.BayesianOptimizer([(0.0, 1.0)], "gp:n_restarts=0", "aei", initial=3)
    for x, y in zip((0.1, 0.5, 0.9), (1.0, 3.0, 2.0), strict=True):
        optimizer.tell([x], float(np.ldexp(y, exponent)), noise=1.0)
    assert optimizer.ask().x is not None


def test_penalties_of_the_largest_size_end_no_run() -> None:
    penalties = np.random.default_rng(0).uniform(0.2, 1.0, 40) * 1.79e308
    optimizer = nm.BayesianOptimizer([(0.0, 1.0)], "brvfl:n_hidden=10", "ei", warp="half_rank")
    for x, y in zip(np.linspace(0.0, 1.0, 45), [*penalties, 1.0, 2.0, 3.0, 4.0, 5.0], strict=True):
        optimizer.tell([float(x)], float(y))
    asked = optimizer.ask()
    assert asked.value <= asked.bound
