"""The Laplace classifier: the contract in its forms, proofs with an uncertain last layer, draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.surrogates.ratios.boggn import GRID, Boggn
from nnbo_mip.surrogates.ratios.estimators.class_probability import WIDENING
from nnbo_mip.testing.surrogate_contract import SurrogateContract

SQUARE = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
QUICK: dict[str, Any] = {"hidden": (6, 6), "epochs": 100, "prior_precision": 0.1}


class TestProbit(SurrogateContract):
    def make(self, **options: Any) -> Boggn:
        return Boggn(**QUICK, **options)


class TestLastLayer(SurrogateContract):
    def make(self, **options: Any) -> Boggn:
        return Boggn(weights="last", **QUICK, **options)


class TestQuadrature(SurrogateContract):
    def make(self, **options: Any) -> Boggn:
        return Boggn(prediction="quadrature", form="diagonal", **QUICK, **options)


class TestMonteCarlo(SurrogateContract):
    def make(self, **options: Any) -> Boggn:
        return Boggn(
            prediction="monte_carlo", n_samples=20, form="kfac", balanced=True, **QUICK, **options
        )


def disc(n: int = 40, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return points and values that are best at (0.3, 0.3)."""
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 2))
    return X, -np.square(X - 0.3).sum(axis=1)


def grid(side: int = 61) -> np.ndarray[Any, Any]:
    line = np.linspace(-1.0, 1.0, side)
    return np.array(np.meshgrid(line, line)).reshape(2, -1).T


def test_an_uncertain_last_layer_is_certified_and_checked() -> None:
    belief = Boggn(weights="last", **QUICK).fit(*disc())
    proposal = nm.maximize(belief, "ratio", SQUARE, maximizer="bab")
    assert proposal.status == "optimal"
    assert proposal.check().verdict == "confirmed"
    scores = nm.acquisitions.create("ratio").score(belief, grid())
    assert proposal.objective is not None
    assert proposal.objective.score(grid()) == pytest.approx(scores, rel=1e-9)
    assert proposal.bound >= scores.max()
    assert belief.ratio(np.asarray(proposal.x))[0] >= (1 - 2e-4) * belief.ratio(grid()).max()
    assert proposal.value >= nm.maximize(belief, "ratio", SQUARE, maximizer="lbfgs").value - 2e-4


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_draw_of_the_last_layer_is_certified_and_checked(seed: int) -> None:
    belief = Boggn(weights="last", **QUICK).fit(*disc())
    proposal = nm.maximize(belief, f"ts:seed={seed}", SQUARE, maximizer="mip")
    assert proposal.status == "optimal"
    assert proposal.check().verdict == "confirmed"
    scorer = nm.acquisitions.create(f"ts:seed={seed}").scorer(belief)
    assert proposal.bound >= scorer.score(grid()).max()
    found = nm.maximize(belief, f"ts:seed={seed}", SQUARE, maximizer="lbfgs")
    assert proposal.value >= found.value - 1e-4 * max(1.0, abs(found.value))


@pytest.mark.parametrize("acquisition", ["ratio", "ts"])
def test_all_weights_are_refused_a_proof_in_a_sentence(acquisition: str) -> None:
    belief = Boggn(**QUICK).fit(*disc(12))
    with pytest.raises(UnsupportedError, match='jumps at kinks; take weights="last"'):
        nm.maximize(belief, acquisition, SQUARE, maximizer="bab")
    found = nm.maximize(belief, acquisition, SQUARE, maximizer="lbfgs")
    assert found.status == "heuristic"
    integrated = Boggn(weights="last", prediction="quadrature", **QUICK)
    with pytest.raises(UnsupportedError, match='prediction="probit"'):
        nm.maximize(integrated.fit(*disc(12)), "ratio", SQUARE, maximizer="bab")


def test_the_tangent_of_a_draw_jumps_across_kinks() -> None:
    belief = Boggn(hidden=(6,), epochs=100, prior_precision=0.1).fit(*disc())
    draw, stack = belief.draw(0), belief.network_at.stack
    jumps = []
    for w, b in zip(stack.weights[0][0], stack.biases[0][0], strict=True):
        on_kink, step = -b * w / (w @ w), 1e-9 * w / np.linalg.norm(w)
        jumps.append(abs(draw.mean(on_kink + step) - draw.mean(on_kink - step))[0])
    assert max(jumps) > 1e-3


def test_predictions_agree_with_each_other() -> None:
    X, points = disc(), grid(9)
    ratios = {
        name: Boggn(prediction=name, n_samples=4000, **QUICK).fit(*X).probability(points)
        for name in ("probit", "quadrature", "monte_carlo")
    }
    assert np.abs(ratios["probit"] - ratios["quadrature"]).max() < 0.02
    error = np.sqrt(0.25 / 4000)
    assert np.abs(ratios["monte_carlo"] - ratios["quadrature"]).max() < 4.0 * error


def test_weight_and_function_space_are_one_belief() -> None:
    points = grid(9)
    for delta in (1.0, 0.01):
        options = QUICK | {"prior_precision": delta}
        function = Boggn(form="function", **options).fit(*disc())
        weight = Boggn(form="weight", **options).fit(*disc())
        ours, theirs = function.moments(points)[1], weight.moments(points)[1]
        assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-8)


def test_the_probit_latent_rises_with_the_ratio_of_its_formula() -> None:
    belief = Boggn(**QUICK).fit(*disc())
    f, v = belief.moments(grid(9))
    mean, std = belief.latent().predict(grid(9), return_std=True)
    assert np.array_equal(mean, f)
    assert std == pytest.approx(np.sqrt(v + WIDENING))
    wider = belief.scaled(3.0).moments(grid(9))[1]
    assert wider == pytest.approx(9.0 * v)


def test_draws_have_the_moments_of_the_belief() -> None:
    belief, points = Boggn(**QUICK).fit(*disc()), grid(4)
    drawn = np.array([belief.draw(seed).mean(points) for seed in range(1500)])
    f, v = belief.moments(points)
    assert np.abs((drawn.mean(axis=0) - f) / np.sqrt(v / 1500)).max() < 5.0
    assert drawn.var(axis=0) == pytest.approx(v, rel=0.25)
    with pytest.raises(UnsupportedError, match="ratio"):
        belief.draw(0).ratio(points)


def test_the_evidence_chooses_a_precision_of_its_grid() -> None:
    belief = Boggn(hidden=(8, 8), epochs=200).fit(*disc())
    assert belief.delta in GRID


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"prior_precision": "best"}, 'a number > 0 or "evidence"'),
        ({"prior_precision": 0.0}, "prior_precision must be a number > 0"),
        ({"weights": "first"}, "weights must be one of all, last"),
        ({"form": "full"}, "form must be one of function, weight, diagonal, kfac"),
        ({"prediction": "exact"}, "prediction must be one of probit"),
        ({"n_samples": 0}, "n_samples must be an integer >= 1"),
        ({"gamma": 0.0}, "gamma must be a number > 0"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Boggn(**options)
