"""Beliefs as models of BoTorch: the same numbers, the same slopes, its own optimizers on them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("botorch")

from botorch.acquisition import LogExpectedImprovement, qLogExpectedImprovement  # noqa: E402
from botorch.optim import optimize_acqf, optimize_acqf_discrete  # noqa: E402

import nnbo_mip as nm  # noqa: E402
from nnbo_mip.integrations.botorch import as_belief, as_botorch  # noqa: E402
from tests.integrations.botorch.random_models import random_model, sample  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, (12, 2))
Y = np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2
BOX = torch.tensor([[-1.0, -1.0], [1.0, 1.0]]).double()
TRAINED = {"epochs": 30}

SURROGATES: dict[str, tuple[dict[str, Any], bool]] = {
    "gp": ({"noise": 0.01}, True),
    "brvfl": ({"n_hidden": 20}, True),
    "neural_linear": (TRAINED, True),
    "deep_ensemble": (TRAINED, True),
    "mc_dropout": (TRAINED, True),
    "ervfl": ({"n_members": 4}, True),
    "nomu": (TRAINED, False),
    "spherical_linear": ({}, False),
    "random_forest": ({}, True),
}
"""Options, and whether points hang together."""


@cache
def belief_of(name: str) -> Any:
    return nm.surrogates.create({"name": name, **SURROGATES[name][0]}).fit(X, Y)


def points(*shape: int) -> Any:
    drawn = torch.rand(*shape, 2, generator=torch.Generator().manual_seed(4)).double()
    return 2.0 * drawn - 1.0


@pytest.mark.parametrize("name", SURROGATES)
def test_posteriors_are_those_of_the_belief(name: str) -> None:
    belief = belief_of(name)
    model = as_botorch(belief)
    assert model.is_joint is SURROGATES[name][1]
    P = points(3, 4)
    told = model.posterior(P)
    flat = P.reshape(-1, 2).numpy()
    np.testing.assert_allclose(told.mean.reshape(-1), belief.mean(flat), rtol=0, atol=1e-12)
    std = told.variance.sqrt().reshape(-1)
    np.testing.assert_allclose(std, np.maximum(belief.std(flat), 1e-5), rtol=0, atol=1e-9)
    noisy = model.posterior(P, observation_noise=True).variance.reshape(-1)
    expected = np.maximum(belief.std(flat), 1e-5) ** 2 + belief.noise_std(flat) ** 2
    np.testing.assert_allclose(noisy, expected, rtol=0, atol=1e-9)
    drawn = told.rsample(torch.Size([4000]))
    assert drawn.shape == (4000, 3, 4, 1)
    spread = told.variance.sqrt()
    assert ((drawn.mean(dim=0) - told.mean).abs() < 0.1 * spread).all()
    assert ((drawn.std(dim=0) - spread).abs() < 0.1 * spread).all()


@pytest.mark.parametrize("name", [name for name in SURROGATES if name != "random_forest"])
def test_slopes_are_those_of_the_posterior(name: str) -> None:
    model = as_botorch(belief_of(name))

    def moments(P: Any) -> tuple[Any, Any]:
        told = model.posterior(P)
        return told.mean, told.distribution.covariance_matrix

    P = points(2, 3).requires_grad_()
    assert torch.autograd.gradcheck(moments, (P,), eps=1e-7, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("seed", [0, 3, 5, 10])
def test_a_process_comes_back_as_it_went(seed: int) -> None:
    model = random_model(seed)
    belief = as_belief(model)
    P = sample(24, belief.n_inputs, seed).reshape(6, 4, -1)
    with torch.no_grad():
        theirs, ours = model.posterior(P), as_botorch(belief).posterior(P)
    torch.testing.assert_close(ours.mean, theirs.mean, rtol=0, atol=1e-8)
    torch.testing.assert_close(
        ours.distribution.covariance_matrix,
        theirs.distribution.covariance_matrix,
        rtol=1e-7,
        atol=1e-8,
    )


def test_members_hang_together_as_they_do() -> None:
    belief = belief_of("deep_ensemble")
    P = points(3)
    told = as_botorch(belief).posterior(P).distribution.covariance_matrix
    expected = np.cov(belief.members(P.numpy()), bias=True)
    np.testing.assert_allclose(told, expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("name", ["gp", "brvfl", "deep_ensemble"])
def test_botorch_searches_and_does_not_exceed_the_bound(name: str) -> None:
    belief = belief_of(name)
    domain = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
    proven = nm.maximize(belief, {"name": "logei", "incumbent": 1.0}, domain, time_limit=20.0)
    asked = LogExpectedImprovement(as_botorch(belief), best_f=1.0)
    torch.manual_seed(0)
    _, value = optimize_acqf(asked, BOX, 1, 4, 64, options={"maxiter": 50})
    assert proven.value - 0.5 <= float(value) <= proven.bound + 1e-9


def test_batches_of_monte_carlo_acquisitions_are_searched() -> None:
    model = as_botorch(belief_of("gp"))
    asked = qLogExpectedImprovement(model, best_f=1.0)
    found, _ = optimize_acqf(asked, BOX, 2, 2, 16, options={"maxiter": 20})
    assert found.shape == (2, 2)


def test_forests_are_searched_without_slopes() -> None:
    asked = LogExpectedImprovement(as_botorch(belief_of("random_forest")), best_f=1.0)
    with pytest.raises(nm.UnsupportedError, match="a random_forest belief has none"):
        optimize_acqf(asked, BOX, 1, 2, 8)
    found, _ = optimize_acqf(asked, BOX, 1, 1, 8, options={"with_grad": False, "maxiter": 5})
    assert found.shape == (1, 2)
    chosen, value = optimize_acqf_discrete(asked, 1, points(50))
    assert value == asked(points(50)[:, None, :]).max()
    assert chosen.shape == (1, 2)


def test_what_is_no_model_is_refused() -> None:
    ratio = nm.surrogates.create("tpe").fit(X, Y)
    with pytest.raises(nm.UnsupportedError, match="lacks mean and std"):
        as_botorch(ratio)
    with pytest.raises(nm.InputError, match="a belief must be"):
        as_botorch("gp")  # type: ignore[arg-type]
    with pytest.raises(nm.UnsupportedError, match="of output 0"):
        as_botorch(belief_of("gp")).posterior(points(2), output_indices=[1])
