"""The benchmark of density ratios: its toy, its curves, its tables, and Hyperband's schedule."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from benchmarks.density_ratios import __main__ as density_ratios
from benchmarks.density_ratios.runs import METHODS, regrets
from benchmarks.density_ratios.toy import GRID, drawn, errors, exact_ratio, kernel_densities
from benchmarks.hyperband import Rung, brackets
from nnbo_mip.surrogates.ratios.estimators.boosting_classifier import BoostingClassifier


def test_the_exact_ratio_of_the_toy_peaks_where_it_should() -> None:
    assert GRID[exact_ratio(GRID, 1.0 / 3.0).argmax()] == pytest.approx(-3.2, abs=0.01)
    X, labels = drawn(900, 1.0 / 3.0, seed=0)
    assert np.abs(X).max() < 1.0
    assert labels.share == pytest.approx(1.0 / 3.0, abs=0.01)


def test_errors_are_those_of_the_estimate() -> None:
    X, labels = drawn(2000, 1.0 / 3.0, seed=0)
    by_trees = errors(BoostingClassifier().estimate(X, labels, 0), labels.share)
    by_kernels = errors(kernel_densities(X, labels), labels.share)
    assert 0.0 < by_trees[1] < 0.35
    assert 0.0 < by_kernels[1] < 0.7


@pytest.mark.parametrize("method", ["random", "tpe", "bore, rulsif"])
def test_regret_never_rises_and_methods_share_their_starts(method: str) -> None:
    curve = regrets(method, "forrester", 9, 6, seed=3)
    assert curve.shape == (9,)
    assert (np.diff(curve) <= 0.0).all()
    assert (curve >= -1e-9).all()
    assert np.array_equal(curve[:6], regrets("random", "forrester", 9, 6, seed=3)[:6])


def test_the_workflow_shows_every_evaluation() -> None:
    lines = density_ratios.workflow_table("tpe", "sine_parabola", 8, 4, seed=0)
    assert len(lines) == 2 + 8
    assert lines[2].endswith("| 1.00 | nan |")
    shares = [float(line.split("|")[3]) for line in lines[2:]]
    assert all(1.0 / 8 <= share <= 1.0 for share in shares)
    assert not any(line.endswith("nan |") for line in lines[6:])


def test_tables_have_a_line_a_method() -> None:
    curves = np.minimum.accumulate(np.random.default_rng(0).uniform(size=(6, 12)), axis=1)
    found = {"random": curves, "tpe": 0.5 * curves}
    lines = density_ratios.regret_table(found, 12, 6)
    assert len(lines) == 4
    assert lines[0].startswith("| method | @8 | @10 | @12 |")
    assert lines[3].endswith("| 0.016 |")  # 1 / 2^6, the least p of six pairs
    assert set(METHODS) >= set(found)


@pytest.mark.parametrize(("largest", "smallest", "eta"), [(81, 1, 3), (100, 3, 3), (64, 1, 4)])
def test_hyperband_follows_its_formula(largest: float, smallest: float, eta: int) -> None:
    found = brackets(largest, smallest, eta)
    most = len(found) - 1
    assert eta**most <= largest / smallest < eta ** (most + 1)
    for bracket, s in zip(found, range(most, -1, -1), strict=True):
        assert len(bracket) == s + 1
        assert bracket[0].configurations == math.ceil((most + 1) / (s + 1) * eta**s)
        assert bracket[0].budget == pytest.approx(largest * eta**-s)
        assert bracket[-1].budget == pytest.approx(largest)
        for before, after in itertools.pairwise(bracket):
            assert after.configurations == before.configurations // eta
            assert after.budget == pytest.approx(eta * before.budget)
    if (largest, eta) == (81, 3):
        assert found[0] == [Rung(81, 1), Rung(27, 3), Rung(9, 9), Rung(3, 27), Rung(1, 81)]
