"""Jacobians, Laplace posteriors, their evidence, and the loss that learns nothing."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import expit
from sklearn.datasets import make_moons

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.ensembles.stack import Stack
from nnbo_mip.surrogates.ensembles.training import Schedule
from nnbo_mip.surrogates.ratios.boggn import GRID, Boggn
from nnbo_mip.surrogates.ratios.estimators.classifier_training import trained_stack, weights_of
from nnbo_mip.surrogates.ratios.estimators.jacobian import Linearization
from nnbo_mip.surrogates.ratios.estimators.labels import Labels
from nnbo_mip.surrogates.ratios.estimators.laplace import FORMS, Curvature, laplace_of
from nnbo_mip.surrogates.ratios.estimators.laplace_evidence import (
    evidence_by_points,
    log_likelihood,
)

DELTAS = (1.0, 0.1, 0.01)


def evidence_by_weights(
    likelihood: float, parameters: FloatArray, curvature: Curvature, delta: float
) -> float:
    """Return log q(D) from a determinant of P x P."""
    _, volume = np.linalg.slogdet(curvature.precision(delta))
    prior = 0.5 * len(parameters) * float(np.log(delta))
    penalty = 0.5 * delta * float(parameters @ parameters)
    return likelihood - penalty + prior - 0.5 * float(volume)


def random_network(seed: int = 0, widths: tuple[int, ...] = (2, 7, 5, 1), first: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    pairs = list(itertools.pairwise(widths))
    weights = tuple(rng.normal(size=(1, out, into)) for into, out in pairs)
    biases = tuple(rng.normal(size=(1, out)) for _, out in pairs)
    return Linearization(Stack(weights, biases), first)


def moved(network: Linearization, step: FloatArray) -> Linearization:
    """Return the network with theta + step."""
    stack, weights, biases, start = network.stack, [], [], 0
    for w, b in zip(stack.weights, stack.biases, strict=True):
        out, into = w.shape[1], w.shape[2] + 1
        block = step[start : start + out * into].reshape(out, into)
        weights.append(w + block[:, :-1])
        biases.append(b + block[:, -1])
        start += out * into
    return Linearization(replace(stack, weights=tuple(weights), biases=tuple(biases)))


def value(network: Linearization, points: FloatArray) -> FloatArray:
    return np.asarray(network.stack.evaluate(points)[0, :, 0])


POINTS = np.random.default_rng(1).uniform(-1.0, 1.0, (30, 2))


def curvature_of(network: Linearization, points: FloatArray = POINTS) -> Curvature:
    return Curvature.of(network, points, np.ones(len(points)))


# -- derivatives -----------------------------------------------------------------------------


def test_the_jacobian_is_that_of_the_weights() -> None:
    network = random_network()
    J = network.jacobian(POINTS)
    assert J.shape == (30, len(network.parameters)) == (30, 7 * 3 + 5 * 8 + 6)
    for index, unit in enumerate(np.eye(J.shape[1])):
        ahead, behind = (value(moved(network, s * unit), POINTS) for s in (1e-6, -1e-6))
        assert J[:, index] == pytest.approx((ahead - behind) / 2e-6, abs=1e-6)


def test_the_tangent_is_the_jacobian_times_a_direction() -> None:
    rng = np.random.default_rng(2)
    for first in (0, 1, 2):
        network = random_network(first=first)
        J = network.jacobian(POINTS)
        for direction in (rng.normal(size=J.shape[1]), rng.normal(size=J.shape)):
            tangent = network.tangent(POINTS, direction)
            assert tangent.value == pytest.approx(value(network, POINTS), abs=1e-12)
            assert tangent.change == pytest.approx((J * direction).sum(axis=1), abs=1e-12)
            for axis, step in enumerate(1e-6 * np.eye(2)):
                ahead, behind = (network.tangent(POINTS + s * step, direction) for s in (1, -1))
                slope = (ahead.change - behind.change) / 2e-6
                agreeing = np.isclose(tangent.change_gradient[:, axis], slope, atol=1e-5)
                assert agreeing.mean() > 0.95


# -- posteriors ------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", DELTAS)
def test_the_precision_is_positive_definite_and_what_the_formula_says(delta: float) -> None:
    network = random_network()
    J, pi = network.jacobian(POINTS), expit(value(network, POINTS))
    H = (J.T * (pi * (1.0 - pi))) @ J + delta * np.eye(J.shape[1])
    assert curvature_of(network).precision(delta) == pytest.approx(H, rel=1e-12, abs=1e-12)
    assert np.linalg.eigvalsh(H).min() > 0.0
    diagonal = curvature_of(network).posterior("diagonal", delta)
    assert diagonal.to_arrays()["diagonal"] == pytest.approx(np.diag(H), rel=1e-12)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_weight_space_is_function_space(delta: float, seed: int) -> None:
    network = random_network(seed)
    probes = np.random.default_rng(3).uniform(-1.0, 1.0, (50, 2))
    J, at, pi = network.jacobian(POINTS), network.jacobian(probes), expit(value(network, POINTS))
    K, K_across = J @ J.T / delta, at @ J.T / delta
    inner = np.linalg.solve(K + np.diag(1.0 / (pi * (1.0 - pi))), K_across.T)
    kernel_form = np.square(at).sum(axis=1) / delta - (K_across * inner.T).sum(axis=1)
    for form in ("weight", "function"):
        posterior = curvature_of(network).posterior(form, delta)
        assert posterior.variance(at) == pytest.approx(kernel_form, rel=1e-8, abs=1e-8)


def test_kronecker_layers_of_one_datum_are_the_blocks_of_the_full_precision() -> None:
    network, point = random_network(), POINTS[:1]
    curvature, delta = curvature_of(network, point), 0.3
    covariance = curvature.posterior("kfac", delta).covariance()
    H, start = curvature.precision(delta), 0
    for out, into in network.shapes:
        block = slice(start, start + out * into)
        assert covariance[block, block] == pytest.approx(np.linalg.inv(H[block, block]), abs=1e-9)
        covariance[block, block] = 0.0
        start += out * into
    assert not covariance.any()


@pytest.mark.parametrize("form", FORMS)
def test_posteriors_come_back_from_arrays_and_spread_what_they_whiten(form: str) -> None:
    posterior = curvature_of(random_network()).posterior(form, 0.2)
    rows = np.random.default_rng(0).normal(size=(4, len(posterior.mean)))
    again = laplace_of(posterior.to_arrays())
    assert np.array_equal(again.variance(rows), posterior.variance(rows))
    through = posterior.spread(posterior.whiten(rows))
    assert through == pytest.approx(rows @ posterior.covariance(), rel=1e-6, abs=1e-8)


# -- evidence --------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", DELTAS)
def test_both_forms_of_the_evidence_agree(delta: float) -> None:
    network = random_network()
    good = (POINTS[:, 0] > 0.0).astype(np.float64)
    likelihood = log_likelihood(value(network, POINTS), good, np.ones(30))
    pi = expit(value(network, POINTS))
    assert likelihood == pytest.approx(np.log(np.where(good == 1.0, pi, 1.0 - pi)).sum())
    arguments = likelihood, network.parameters, curvature_of(network), delta
    assert evidence_by_points(*arguments) == pytest.approx(
        evidence_by_weights(*arguments), abs=1e-6
    )


def test_the_evidence_of_the_disc_is_largest_inside_of_the_grid() -> None:
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 2))
    y = -np.square(X).sum(axis=1)
    assert Boggn(gamma=0.35).fit(X, y).delta in GRID[1:-1]


# -- training --------------------------------------------------------------------------------


def two_moons() -> tuple[FloatArray, Labels]:
    X, z = make_moons(120, noise=0.1, random_state=0)
    X = (X - X.mean(axis=0)) / np.abs(X - X.mean(axis=0)).max(axis=0)
    return X, Labels.of(z + 1e-3 * np.arange(120) / 120, 0.5)


def test_training_separates_two_moons_with_a_small_gradient() -> None:
    X, labels = two_moons()
    losses, norms = [], []
    for epochs in (5, 600):
        schedule = Schedule(epochs, 0.005)
        stack = trained_stack(X, labels, (32, 32), [0.1], schedule, 0, False, "bore")
        network = Linearization(stack)
        f = value(network, X)
        losses.append(-log_likelihood(f, labels.good.astype(float), np.ones(120)) / 120)
        slope = network.jacobian(X).T @ (expit(f) - labels.good) + 0.1 * network.parameters
        norms.append(np.linalg.norm(slope))
    assert losses[1] < 0.05 < losses[0]
    assert norms[1] < 0.02 * norms[0]
    assert ((f > 0.0) == labels.good).all()


def test_balanced_weights_give_both_classes_as_much() -> None:
    labels = Labels.of(np.arange(10.0), 0.2)
    weights = weights_of(labels, balanced=True)
    assert weights[labels.good].sum() == pytest.approx(weights[~labels.good].sum())
    assert weights.mean() == pytest.approx(1.0)


def test_the_loss_of_the_source_as_printed_learns_the_probability_zero() -> None:
    # -(1/N) sum log(pi gamma + (1 - pi) (1 - gamma)): there is no label in it.
    gamma, generator = 1.0 / 3.0, torch.Generator().manual_seed(0)
    x = torch.rand((40, 2), generator=generator) * 2.0 - 1.0
    layers = [torch.randn((2, 16), generator=generator), torch.randn((16, 1), generator=generator)]
    bias = torch.zeros(16)
    parameters = [tensor.requires_grad_() for tensor in (*layers, bias)]
    optimizer = torch.optim.Adam(parameters, lr=0.02)
    for _ in range(400):
        optimizer.zero_grad()
        pi = torch.sigmoid((x @ layers[0] + bias).relu() @ layers[1])
        loss = -torch.log(pi * gamma + (1.0 - pi) * (1.0 - gamma)).mean()
        loss.backward()
        optimizer.step()
    assert float(pi.detach().max()) < 0.05
