"""The calibration report: its metrics against integrals and other minimizers, and resuming."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import norm

import nnbo_mip as nm
from benchmarks.calibration import __main__ as calibration
from benchmarks.calibration.metrics import (
    LEAST_STD,
    LEVELS,
    Scores,
    coverage,
    crps,
    fitted_factor,
    geometric_mean,
    negative_log_likelihood,
)
from docs.make_plots import STYLES

DOCS = Path(__file__).parents[2] / "docs"
ARGUMENTS = ["--seeds", "1", "--functions", "forrester", "--surrogates", "brvfl", "none"]


@pytest.mark.parametrize(("error", "std"), [(0.0, 1.0), (0.7, 0.3), (-2.5, 0.4), (0.01, 5.0)])
def test_crps_is_the_integral_of_the_squared_difference_of_distributions(error, std) -> None:
    # int (F(t) - [t >= y])^2 dt for N(0, std^2), split where the step is.
    below, _ = quad(lambda t: norm.cdf(t, scale=std) ** 2, -40.0 * std, error, epsabs=1e-12)
    above, _ = quad(lambda t: norm.sf(t, scale=std) ** 2, error, 40.0 * std, epsabs=1e-12)
    assert crps(np.array([error]), np.array([std]))[0] == pytest.approx(below + above, rel=1e-8)


def test_crps_of_a_forecast_that_claims_to_be_exact_is_the_error() -> None:
    errors = np.array([0.5, -0.25, 0.0])
    np.testing.assert_array_equal(crps(errors, np.zeros(3)), np.abs(errors))
    np.testing.assert_allclose(crps(errors, np.full(3, 1e-12)), np.abs(errors), atol=1e-12)


def test_nll_is_that_of_the_normal() -> None:
    errors, std = np.array([0.3, -1.0, 4.0]), np.array([0.1, 2.0, 1.5])
    expected = -norm.logpdf(errors, scale=std)
    np.testing.assert_allclose(negative_log_likelihood(errors, std), expected, rtol=1e-13)


@pytest.mark.parametrize("level", LEVELS)
def test_coverage_of_a_true_forecast_is_its_level(level) -> None:
    quantiles = norm.ppf((np.arange(1000) + 0.5) / 1000.0)
    std = np.linspace(0.1, 3.0, 1000)
    assert coverage(quantiles * std, std, level) == pytest.approx(level, abs=0.001)
    assert coverage(quantiles * std, 1e-9 * std, level) == 0.0


def test_the_fitted_factor_minimizes_the_crps() -> None:
    rng = np.random.default_rng(0)
    std = rng.uniform(0.0, 2.0, 300)
    std[:20] = 0.0
    errors = rng.standard_t(3, 300) * (std + 0.2)
    found = minimize_scalar(
        lambda a: crps(errors, a * std).mean(), bounds=(0.01, 20.0), options={"xatol": 1e-9}
    )
    assert fitted_factor(errors, std) == pytest.approx(found.x, rel=1e-6)
    assert fitted_factor(errors, 1e-6 * std) == pytest.approx(1e6 * found.x, rel=1e-6)


def test_the_fitted_factor_recovers_a_wrong_scale() -> None:
    quantiles = norm.ppf((np.arange(10_000) + 0.5) / 10_000.0)
    assert fitted_factor(7.0 * quantiles, np.ones(10_000)) == pytest.approx(7.0, rel=1e-3)


def test_without_errors_or_deviations_the_factor_is_one() -> None:
    assert fitted_factor(np.zeros(4), np.ones(4)) == 1.0
    assert fitted_factor(np.ones(4), np.zeros(4)) == 1.0


def test_only_the_nll_has_a_least_std() -> None:
    errors = np.array([0.5, -0.5])
    scores = Scores.of(errors, np.zeros(2))
    assert scores.likelihood == pytest.approx(-norm.logpdf(0.5, scale=LEAST_STD))
    assert scores.crps == 0.5
    assert scores.coverage == (0.0,) * len(LEVELS)


def test_geometric_mean() -> None:
    assert geometric_mean([0.1, 10.0]) == pytest.approx(1.0)


def test_a_forecast_without_inputs_is_judged_as_by_hand() -> None:
    outcome = calibration.measure("none", "branin", 3)
    problem = nm.problems.create("branin").scaled()
    rng = np.random.default_rng([3, 2])
    y, _, truth = (problem.score(rng.uniform(-1.0, 1.0, (n, 2))) for n in (40, 500, 2000))
    errors = np.abs(truth - y.mean()) / y.std()
    within = dict(zip(LEVELS, outcome.plain.coverage, strict=True))
    assert outcome.points == 40
    assert outcome.error == pytest.approx(
        np.sqrt(np.mean((truth - y.mean()) ** 2)) / truth.std(), rel=1e-12
    )
    assert within[0.95] == pytest.approx(np.mean(errors <= 1.959963984540054))
    assert within[0.5] == pytest.approx(np.mean(errors <= 0.6744897501960817))


def test_a_run_is_resumed_and_prints_the_same(tmp_path, capsys, monkeypatch) -> None:
    path = tmp_path / "rows.json"
    assert calibration.main([*ARGUMENTS, "--json", str(path)]) == 0
    first = capsys.readouterr().out
    assert len(json.loads(path.read_text())) == 2
    monkeypatch.setattr(calibration, "measure", lambda *job: pytest.fail(f"measured {job}"))
    assert calibration.main([*ARGUMENTS, "--json", str(path)]) == 0
    again = capsys.readouterr().out
    start = "d = 1, 8 observations; 1 functions, 1 seeds"
    assert again[again.index(start) :] == first[first.index(start) :]
    assert [line.split(" | ")[0] for line in again.splitlines()[-2:]] == ["| `brvfl`", "| `none`"]


def test_a_file_keeps_what_was_rounded_to_four_digits(tmp_path) -> None:
    outcome = calibration.measure("none", "forrester", 0)
    short = calibration.rounded(outcome)
    calibration.write(tmp_path / "rows.json", [short])
    assert calibration.read(tmp_path / "rows.json") == {("none", "forrester", 0): short}
    assert short.error == pytest.approx(outcome.error, rel=5e-4)
    assert len(repr(short.error).replace("0.", "").replace(".", "").lstrip("0")) <= 4
    np.testing.assert_allclose(short.scaled.coverage, outcome.scaled.coverage, rtol=5e-4)


def test_the_tables_of_the_documentation_are_those_of_the_stored_rows() -> None:
    outcomes = list(calibration.read(DOCS / "plots" / "calibration.json").values())
    assert {outcome.surrogate for outcome in outcomes} == set(calibration.SURROGATES)
    assert {outcome.function for outcome in outcomes} == set(calibration.FUNCTIONS)
    text = (DOCS / "dev" / "surrogate_measurements.md").read_text(encoding="utf-8")
    for inputs in calibration.POINTS:
        rows = [outcome for outcome in outcomes if outcome.inputs == inputs]
        assert calibration.markdown(rows) in text


def test_what_is_drawn_was_measured() -> None:
    assert set(STYLES) <= set(calibration.SURROGATES)


def test_the_advice_has_the_coverage_of_the_tables() -> None:
    advice = (DOCS / "guide" / "surrogates.md").read_text(encoding="utf-8")
    measured = (DOCS / "dev" / "surrogate_measurements.md").read_text(encoding="utf-8")
    covered: dict[str, list[int]] = {}
    for inputs in (1, 5, 10):
        table = measured.partition(f"\nd = {inputs}, ")[2].partition("\nd = ")[0]
        for line in table.splitlines():
            cells = [cell.strip(" `") for cell in line.split("|")[1:-1]]
            if len(cells) == 13 and cells[4].isdigit():
                covered.setdefault(cells[0], []).append(int(cells[4]))
    rows = re.findall(r"^\| `([^`]+)` \| (\d+) % \| (\d+) to (\d+) %", advice, flags=re.MULTILINE)
    assert len(rows) == 6
    for name, *said in rows:
        few, five, ten = covered[name]
        assert [int(one) for one in said] == [few, min(five, ten), max(five, ten)], name
