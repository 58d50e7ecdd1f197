"""The maximum of sums of terms against enumeration, with tables of every size, and its check."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.pairs import PairwiseRecheck, pairwise_score
from nnbo_mip.exact.heads.certification import certificate_of
from nnbo_mip.exact.heads.maximize_head import Ways, maximize_head
from nnbo_mip.exact.heads.sequence import SequenceOptions
from nnbo_mip.exact.pairs import relaxer as relaxing
from nnbo_mip.exact.pairs.relaxer import PairwiseRelaxer
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.scores.posteriors.pairs import PairwisePosterior
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.grid import Grid
from tests.exact.pairs.sums import KINDS, domain_of, every_point, random_sum

HEAD = LinearHead(0.75, 0.0, -0.5)


def solved(problem: HeadProblem, gap: float = 1e-9, limit: float = 60.0) -> SearchResult:
    return maximize_head(Ways(problem), SequenceOptions("bab"), Monitor(problem, gap, limit))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_bound_and_point_are_those_of_enumeration(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    domain = domain_of(kind, rng)
    problem = HeadProblem(Objective(random_sum(domain, rng, count=1 + seed % 2), HEAD), domain)
    points = every_point(domain)
    result = solved(problem)
    if not len(points):
        assert result.status == "infeasible"
        return
    values = problem.values(points)
    assert result.status == "optimal"
    assert result.x is not None
    assert domain.admissible(result.x[None, :])[0]
    assert values.max() <= result.bound
    assert result.value >= values.max() - 1e-12
    if kind not in ("rows", "equality", "holes"):
        assert result.counters["boxes"] == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("most", [4, 12, 40])
def test_small_tables_bound_and_close_too(
    kind: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relaxing, "MOST_NUMBERS", most)
    monkeypatch.setattr(relaxing, "MOST_AT_ONCE", most)
    rng = np.random.default_rng([most, KINDS.index(kind)])
    domain = domain_of(kind, rng)
    problem = HeadProblem(Objective(random_sum(domain, rng, 0.9), HEAD), domain)
    points = every_point(domain)
    if not len(points):
        return
    best = problem.values(points).max()
    first = PairwiseRelaxer(problem).bound(domain.lower[None], domain.upper[None], -np.inf)
    assert first.bound[0] >= best
    result = solved(problem)
    assert result.status == "optimal"
    assert result.bound >= best
    assert result.value >= best - 1e-12


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_claims_are_confirmed_and_lower_ones_refuted(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 7, KINDS.index(kind)])
    domain = domain_of(kind, rng)
    objective = Objective(random_sum(domain, rng), HEAD)
    problem = HeadProblem(objective, domain)
    result = solved(problem)
    if result.x is None:
        return
    certificate = certificate_of(problem, result, requested_gap=1e-9, seed=0, seconds=0.0)
    assert certificate.check(objective).confirmed
    lower = result.value - 1e-3 * (1.0 + abs(result.value))
    forged = replace(certificate, bound=lower, value=lower - 1e-9)
    assert not forged.check(objective).confirmed
    scores = pairwise_score(objective)
    assert scores is not None
    assert PairwiseRecheck(objective, domain, scores, lower).run(30.0).verdict == "counterexample"


def binaries(d: int, seed: int, pairs: int) -> tuple[PairwisePosterior, Domain]:
    rng = np.random.default_rng(seed)
    chosen: set[tuple[int, int]] = set()
    while len(chosen) < pairs:
        j, k = sorted(rng.choice(d, 2, replace=False).tolist())
        chosen.add((j, k))
    terms = np.array([*((j, -1) for j in range(d)), *sorted(chosen)], dtype=np.float64)
    posterior = PairwisePosterior(d, terms, rng.standard_normal((1, len(terms))), np.zeros(1))
    return posterior, Domain([-1.0] * d, [1.0] * d, [Grid.uniform(-1.0, 2.0, 2)] * d)


def exact_value(posterior: PairwisePosterior, x: FloatArray) -> Fraction:
    """Return the mean of one member at a point (d,) in rational arithmetic."""
    at, total = [Fraction(v) for v in x.tolist()], Fraction(float(posterior.levels[0]))
    for (j, k), weight in zip(
        posterior.columns.tolist(), posterior.weights[0].tolist(), strict=True
    ):
        total += Fraction(weight) * at[j] * (1 if k < 0 else at[k])
    return total


@pytest.mark.parametrize(("d", "pairs"), [(25, 40), (60, 100), (60, 150)])
def test_sixty_binaries_close_with_one_box_and_are_proven_again(d: int, pairs: int) -> None:
    posterior, domain = binaries(d, 3, pairs)
    objective = Objective(posterior, LinearHead())
    problem = HeadProblem(objective, domain)
    result = solved(problem)
    assert result.status == "optimal"
    assert result.counters["boxes"] == 1
    assert result.x is not None
    assert exact_value(posterior, result.x) <= Fraction(result.bound)
    flips = np.repeat(result.x[None, :], d, axis=0)
    flips[np.arange(d), np.arange(d)] *= -1.0
    assert problem.values(flips).max() <= result.value
    certificate = certificate_of(problem, result, requested_gap=1e-9, seed=0, seconds=0.0)
    if pairs <= 100:
        assert certificate.check(objective, time_limit=60.0).confirmed


def test_terms_that_nearly_cancel_are_bounded_in_rational_arithmetic() -> None:
    posterior, domain = binaries(12, 5, 20)
    weights = posterior.weights * 10.0 ** np.random.default_rng(0).uniform(-9.0, 9.0, 32)
    scaled = replace(posterior, weights=weights, levels=np.array([-weights.sum()]))
    result = solved(HeadProblem(Objective(scaled, LinearHead()), domain), gap=1e-4)
    points = every_point(domain)[::7]
    assert all(exact_value(scaled, x) <= Fraction(result.bound) for x in points)


def test_a_score_with_a_std_is_refused_in_a_sentence() -> None:
    posterior, domain = binaries(4, 0, 3)
    problem = HeadProblem(Objective(posterior, ExpectedImprovement(0.0)), domain)
    reason = Ways(problem).why_not("bab")
    assert "std" in reason
    assert reason.endswith(".")


def test_squares_that_are_multiplied_with_each_other_are_refused() -> None:
    terms = np.array([[0, 0], [1, 1], [0, 1]], dtype=np.float64)
    with pytest.raises(nm.InputError, match="square"):
        PairwisePosterior(2, terms, np.ones((1, 3)), np.zeros(1))


@pytest.mark.parametrize(
    "terms", [[[0.0, 2.0]], [[1.0, 0.0]], [[0.5, 1.0]], [[0.0, 1.0]] * 2, [[-1.0, -1.0]]]
)
def test_terms_that_are_none_are_refused(terms: list[list[float]]) -> None:
    with pytest.raises(nm.InputError, match="terms"):
        PairwisePosterior(2, np.array(terms), np.ones((1, len(terms))), np.zeros(1))
