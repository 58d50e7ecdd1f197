"""Checks of claims about linear models on the sphere, true and false ones, and of their files."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.checking.heads.sphere import sphere_recheck
from nnbo_mip.exact.checking.heads.sphere_forms import Forms
from nnbo_mip.exact.checking.heads.sphere_score import sphere_score
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.space.domain import Domain
from tests.exact.spherical.spheres import KINDS, domain_of, many_points, random_posterior
from tests.exact.spherical.test_search import HEADS, objective_of

EASY = ("mean", "half", "ucb", "ei", "pi", "empirical_ei", "empirical_pi")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EASY)
def test_true_levels_are_proven_and_false_ones_refuted(name: str, kind: str) -> None:
    rng = np.random.default_rng([KINDS.index(kind), len(name), 1])
    domain = domain_of(kind, rng)
    objective = objective_of(name, domain.dimension, rng)
    points = many_points(domain, 31)
    if not len(points):
        return
    scores = sphere_score(objective)
    assert scores is not None
    values = objective.score(points)
    low, high = scores.interval(points)
    assert (low <= values).all()
    assert (values <= high).all()
    best, spread = float(values.max()), 1.0 + float(np.abs(values).max())
    free = int((domain.upper > domain.lower).sum())
    # Between the points of the grid a score rises by no more than this.
    level = best + {1: 0.05, 2: 0.1}.get(free, 0.3) * spread
    if level < objective.head.largest_score:
        answer = sphere_recheck(objective, domain, scores, level).run(20.0)
        assert answer.verdict == "proved"
    below = best - 1e-3 * spread
    if float(low.max()) <= below:
        return
    answer = sphere_recheck(objective, domain, scores, below).run(20.0)
    assert answer.verdict == "counterexample"
    assert answer.x is not None
    assert domain.admissible(answer.x[None, :])[0]
    assert objective.score(answer.x[None, :])[0] > below


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["box", "integers", "categories"])
def test_rational_arithmetic_decides_at_the_maximum_itself(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 2])
    domain = domain_of(kind, rng)
    posterior = random_posterior(domain.dimension, rng)
    forms = Forms(posterior, domain)
    weights = posterior.weights[None, :]
    ends = domain.lower[:, None], domain.upper[:, None]
    top = float(forms.largest(weights, *ends)[0])
    exact = [Fraction(w) for w in posterior.weights.tolist()]
    none = np.zeros(0)
    assert forms.holds(exact, Fraction(top), domain.lower, domain.upper, none)
    assert posterior.mean(many_points(domain, 25)).max() <= top
    less = Fraction(top) - Fraction(1, 10**9)
    assert not forms.holds(exact, less, domain.lower, domain.upper, none)


def learned(d: int, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, nm.surrogates.Belief]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, d))
    y = -np.square(X - 0.3).sum(axis=1)
    return X, y, nm.surrogates.create("spherical_linear").fit(X, y)


def proven(acquisition: object = "ts", d: int = 3, n: int = 8) -> Proposal:
    X, y, belief = learned(d, n)
    return nm.maximize(belief, acquisition, Domain([-1.0] * d, [1.0] * d), X=X, y=y)


@pytest.mark.parametrize("d", [40, 1000])
def test_a_claim_of_many_inputs_is_confirmed_from_its_file(d: int, tmp_path: Path) -> None:
    proposal = proven(d=d, n=20)
    assert proposal.status == "optimal"
    assert proposal.certificate is not None
    proposal.certificate.save(tmp_path / "claim.json")
    assert proposal.objective is not None
    proposal.objective.save(tmp_path / "objective.npz")
    objective = Objective.load(tmp_path / "objective.npz")
    checked = Certificate.load(tmp_path / "claim.json").check(objective)
    assert checked.confirmed, checked.reason
    assert "rigorously" in checked.reason


@pytest.mark.parametrize(
    "acquisition",
    ["mean", "ucb:beta=1", "ei", "logei", {"name": "empirical_ei", "n_draws": 4}],
)
def test_claims_of_every_acquisition_are_confirmed(acquisition: object) -> None:
    proposal = proven(acquisition, d=2)
    checked = proposal.check()
    assert proposal.status == "optimal"
    assert checked.confirmed, checked.reason


def test_a_lower_bound_is_refuted_and_another_model_too() -> None:
    proposal = proven()
    objective, certificate = proposal.objective, proposal.certificate
    assert objective is not None
    assert certificate is not None
    document = json.loads(certificate.to_json())
    content = {**document, "value": document["value"] - 0.1, "bound": document["value"] - 0.1}
    with_other = [content, {**document, "x": [0.0, 0.0, 0.0]}]
    for changed in with_other:
        try:
            verdict = Certificate.from_json(json.dumps(changed)).check(objective).verdict
        except FileFormatError:
            continue
        assert verdict == "refuted"
    _, _, other = learned(3, 8, seed=1)
    assert certificate.check(Objective(other.posterior(), LinearHead())).verdict == "refuted"


@pytest.mark.parametrize("name", HEADS)
def test_intervals_hold_what_a_pass_computes(name: str) -> None:
    rng = np.random.default_rng(11)
    objective = objective_of(name, 5, rng)
    scores = sphere_score(objective)
    assert scores is not None
    points = rng.uniform(-2.0, 2.0, (200, 5))
    low, high = scores.interval(points)
    values = np.array([objective.score(x[None, :])[0] for x in points])
    assert ((low <= values) & (values <= high)).all()
