"""Monte-Carlo dropout: masks, scaling, weight counts, frozen passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from nnbo_mip.core.errors import InputError, TrainingError
from nnbo_mip.surrogates import create
from nnbo_mip.surrogates.base.observations import Observations, Standardization
from nnbo_mip.surrogates.ensembles.mc_dropout import DropoutTraining, McDropout, draw_masks
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample

QUICK: dict[str, Any] = {"hidden": (12, 8), "passes": 4, "epochs": 60, "learning_rate": 0.03}
X_TEST = np.random.default_rng(5).uniform(-1.2, 1.2, (30, 2))


class TestDefaultOptions(SurrogateContract):
    def make(self, **options: Any) -> McDropout:
        return McDropout(**{**QUICK, **options})


class TestVarianceWithRestoredWeights(SurrogateContract):
    def make(self, **options: Any) -> McDropout:
        return McDropout(spread="variance", restore_best=True, **{**QUICK, **options})


class TestAbsoluteDeviationOfOneLayer(SurrogateContract):
    def make(self, **options: Any) -> McDropout:
        return McDropout(spread="mad", **{**QUICK, "hidden": (10,), **options})


class TestWithoutDropout(SurrogateContract):
    def make(self, **options: Any) -> McDropout:
        return McDropout(p=0.0, **{**QUICK, **options})


# -- size and options -------------------------------------------------------------------


def test_weights_of_the_thesis_network() -> None:
    assert McDropout(hidden=(1024, 2048, 1024)).count_parameters(1) == 4_200_449


def test_counted_weights_are_those_that_are_trained() -> None:
    model = untrained(McDropout(**QUICK), *sample(4, 3))
    assert McDropout(**QUICK).count_parameters(3) == sum(t.numel() for t in model.parameters)


def test_it_is_found_by_name() -> None:
    assert create("mc_dropout:hidden=(8,),p=0.5,passes=3") == McDropout((8,), 0.5, 3)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"hidden": 0}, "hidden"),
        ({"p": 1.0}, "p must be a number >= 0 and < 1"),
        ({"p": -0.1}, "p must be"),
        ({"passes": 0}, "passes"),
        ({"spread": "range"}, "spread"),
        ({"epochs": 1.5}, "epochs"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"decay": "linear"}, "decay"),
        ({"weight_penalty": np.inf}, "weight_penalty"),
        ({"initialization": "zero"}, "initialization"),
        ({"restore_best": "yes"}, "restore_best"),
        ({"y_range": (2.0, 1.0)}, "y_range"),
        ({"seed": 1.0}, "seed"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        McDropout(**options)


# -- masks ------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 0.9])
def test_masks_keep_the_expectation(p: float) -> None:
    (mask,) = draw_masks(2000, (100,), p, torch.Generator().manual_seed(0))
    kept = mask[mask > 0.0]
    assert torch.allclose(kept, torch.tensor(1.0 / (1.0 - p)))
    # The mean of 200 000 factors has deviation sqrt(p / (1 - p) / 200 000) <= 0.0068.
    assert mask.mean().item() == pytest.approx(1.0, abs=0.02)
    assert (mask == 0.0).float().mean().item() == pytest.approx(p, abs=0.005)


def test_units_and_rows_are_dropped_independently() -> None:
    first, second = draw_masks(4000, (20, 20), 0.5, torch.Generator().manual_seed(0))
    correlation = np.corrcoef(np.hstack([first.numpy(), second.numpy()]), rowvar=False)
    # Of 780 pairs, each with deviation 1 / sqrt(4000) = 0.016.
    assert np.abs(correlation - np.eye(40)).max() < 0.08


def test_no_layer_loses_all_its_units() -> None:
    masks = draw_masks(3000, (1, 2, 5), 0.9, torch.Generator().manual_seed(0))
    for mask, width in zip(masks, (1, 2, 5), strict=True):
        kept = (mask > 0.0).sum(dim=1)
        assert kept.min() == 1
        # Rows that lost everything, a share of 0.9^width, keep one; the others are as drawn.
        expected = 0.1 * width + 0.9**width
        assert kept.float().mean().item() == pytest.approx(expected, abs=0.05)
        per_unit = (mask > 0.0).float().mean(dim=0)
        assert per_unit.max() - per_unit.min() < 0.06


def test_every_pass_depends_on_the_input_even_when_nearly_all_is_dropped() -> None:
    made = McDropout((3, 3), p=0.95, passes=50, epochs=2)
    belief = made.fit(*sample(6, 2))
    assert belief.stack.masks is not None
    assert all((mask > 0.0).any(axis=1).all() for mask in belief.stack.masks)
    assert all(mask.shape == (50, 3) for mask in belief.stack.masks)


def test_members_share_their_weights() -> None:
    belief = McDropout(**QUICK).fit(*sample(6, 2))
    assert [w.shape for w in belief.stack.weights] == [(1, 12, 2), (1, 8, 12), (1, 1, 8)]
    assert belief.stack.n_members == 4


# -- passes -----------------------------------------------------------------------------


def test_passes_mean_and_deviation_are_the_formulas() -> None:
    belief = McDropout(**QUICK).fit(*sample(10, 2))
    stack, units = belief.stack, belief.units
    assert stack.masks is not None
    passes = []
    for member in range(4):
        h = X_TEST
        for layer in range(2):
            z = h @ stack.weights[layer][0].T + stack.biases[layer][0]
            h = np.maximum(z, 0.0) * stack.masks[layer][member]
        passes.append((h @ stack.weights[2][0].T + stack.biases[2][0])[:, 0])
    values = units.y_center + units.y_scale * np.array(passes)
    np.testing.assert_allclose(belief.members(X_TEST), values.T, rtol=1e-12)
    np.testing.assert_allclose(belief.mean(X_TEST), values.mean(axis=0), rtol=1e-12)
    expected = np.sqrt(np.mean((values - values.mean(axis=0)) ** 2, axis=0))
    np.testing.assert_allclose(belief.std(X_TEST), expected, rtol=1e-9)
    assert np.median(expected) > 0.1


def test_frozen_masks_make_mean_and_deviation_functions() -> None:
    belief = McDropout(**QUICK).fit(*sample(10, 2))
    mean, std = belief.mean(X_TEST), belief.std(X_TEST)
    for _ in range(3):
        torch.rand(3)
        assert np.array_equal(belief.mean(X_TEST), mean)
        assert np.array_equal(belief.std(X_TEST), std)
    again = McDropout(**QUICK).fit(*sample(10, 2))
    assert np.array_equal(again.std(X_TEST), std)
    assert not np.allclose(McDropout(**QUICK, seed=1).fit(*sample(10, 2)).std(X_TEST), std)


def test_more_passes_of_the_same_weights_settle_the_mean() -> None:
    X, y = sample(10, 2)
    exact = McDropout(**{**QUICK, "passes": 4000}).fit(X, y)
    few = McDropout(**{**QUICK, "passes": 400}).fit(X, y)
    assert all(map(np.array_equal, few.stack.weights, exact.stack.weights))
    error = np.abs(few.mean(X_TEST) - exact.mean(X_TEST)) / exact.std(X_TEST)
    # Deviation of a mean of 400, in units of the spread: 0.05.
    assert 0.01 < error.max() < 0.2


def test_without_dropout_all_passes_agree_and_with_more_they_spread() -> None:
    X, y = sample(20, 2)
    widths = [McDropout(p=p, epochs=200).fit(X, y).std(X_TEST).mean() for p in (0.0, 0.1, 0.5)]
    assert widths[0] < 1e-12
    assert 0.02 < widths[1] < widths[2]


def test_the_torch_form_in_double_is_the_belief() -> None:
    model = untrained(McDropout(**QUICK), *sample(5, 2))
    masks = draw_masks(7, (12, 8), 0.3, torch.Generator().manual_seed(0))
    stack = model.stack
    belief_form = stack.frozen([mask.numpy().astype(np.float64) for mask in masks])
    stack.weights = [w.detach().double() for w in stack.weights]
    stack.biases = [b.detach().double() for b in stack.biases]
    for member in range(7):
        one = [mask[member].double() for mask in masks]
        expected = stack.outputs(torch.from_numpy(X_TEST), one)[0].numpy()
        np.testing.assert_allclose(belief_form.evaluate(X_TEST)[member], expected, atol=1e-12)


# -- the loss ---------------------------------------------------------------------------


def untrained(made: McDropout, X: np.ndarray, y: np.ndarray) -> DropoutTraining:
    data = Observations.of(X, y)
    units = Standardization.of(data, inputs=False, outputs=True)
    return made.untrained(data, units, torch.Generator().manual_seed(0))


def test_the_loss_averages_over_masks_of_each_observation() -> None:
    """E (f(r) - v)^2 = (E f - v)^2 + Var f; both moments exact for one hidden layer."""
    p, made = 0.4, McDropout((6,), p=0.4)
    model = untrained(made, *sample(5, 2))
    stack, v = model.stack.frozen(), model.v.numpy()
    terms = stack.hidden(model.u.numpy().astype(np.float64))[0] * stack.weights[-1][0, 0]
    mean, variance = terms.sum(axis=1) + stack.biases[-1][0], p / (1 - p) * (terms**2).sum(axis=1)
    with torch.no_grad():
        losses = np.array([model.loss().item() for _ in range(4000)])
    # All six units are dropped, and one kept after all, in 0.4 % of the draws.
    assert losses.mean() == pytest.approx(np.mean((mean - v) ** 2 + variance), rel=0.05)
    assert losses.std() > 0.0


def test_every_observation_has_masks_of_its_own() -> None:
    """The mean over n equal observations varies by 1 / sqrt(n) of what one alone does."""
    X, y = sample(1, 2)
    deviations = []
    for n in (1, 64):
        model = untrained(McDropout((6,), p=0.4), np.repeat(X, n, axis=0), np.repeat(y, n))
        with torch.no_grad():
            deviations.append(np.std([model.loss().item() for _ in range(1000)]))
    assert deviations[1] == pytest.approx(deviations[0] / 8.0, rel=0.15)


def test_gradient_of_the_loss_is_its_slope() -> None:
    model = untrained(McDropout((4, 3), p=0.3), *sample(6, 2))
    stack = model.stack
    stack.weights = [w.detach().double().requires_grad_() for w in stack.weights]
    stack.biases = [b.detach().double().requires_grad_() for b in stack.biases]
    model = replace(model, u=model.u.double(), v=model.v.double())
    state = model.generator.get_state()

    def loss() -> torch.Tensor:
        model.generator.set_state(state)
        return model.loss()

    loss().backward()
    step, worst, largest = 1e-6, 0.0, 0.0
    for tensor in model.parameters:
        assert tensor.grad is not None
        flat, slope = tensor.detach().reshape(-1), tensor.grad.reshape(-1)
        for index in range(len(flat)):
            kept, sides = flat[index].item(), []
            for side in (step, -step):
                flat[index] = kept + side
                sides.append(loss().item())
            flat[index] = kept
            quotient = (sides[0] - sides[1]) / (2.0 * step)
            worst = max(worst, abs(quotient - slope[index].item()))
            largest = max(largest, abs(slope[index].item()))
    assert largest > 0.1
    assert worst < 1e-7


def test_weight_penalty_is_equalized_by_the_kept_share() -> None:
    """The last layer w is stationary in ``sum E (f - v)^2 + lambda (1 - p) w^2``, H being given.

    ``(H^T H + p / (1 - p) diag(H^T H)) w - H^T v = -lambda (1 - p) w``, with H the last hidden
    values and a column of ones that is not dropped. Observations are repeated so that the masks
    average out.
    """
    p, strength = 0.5, 200.0
    X, y = (np.repeat(array, 100, axis=0) for array in sample(8, 1))
    belief = McDropout((10,), p=p, weight_penalty=strength, epochs=800).fit(X, y)
    stack, v = replace(belief.stack, masks=None), belief.units.values_inward(y)
    H = np.hstack([stack.hidden(X)[0], np.ones((len(X), 1))])
    gram, dropped = H.T @ H, np.append(np.full(10, p / (1 - p)), 0.0)
    last_layer = np.append(stack.weights[-1][0, 0], stack.biases[-1][0, 0])
    slope = gram @ last_layer + dropped * np.diag(gram) * last_layer - H.T @ v
    fitted_penalty = -(slope @ last_layer) / (last_layer @ last_layer)
    assert fitted_penalty == pytest.approx((1.0 - p) * strength, rel=0.1)


def test_the_function_is_learned() -> None:
    X, y = sample(60, 2)
    X_new, y_new = sample(300, 2, seed=8)
    belief = McDropout(p=0.1).fit(X, y)
    assert np.sqrt(np.mean((belief.mean(X_new) - y_new) ** 2)) < 0.3 * y.std()


# -- extremes ---------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(4))
def test_one_observation_never_counts_as_divergence(p: float, seed: int) -> None:
    belief = McDropout(p=p, epochs=30, seed=seed).fit([[0.3, -0.2]], [5.0])
    assert np.isfinite(belief.std(X_TEST)).all()


def test_a_constant_is_learned_with_little_spread() -> None:
    X, y = sample(10, 2)[0], np.full(10, -7.0)
    belief = McDropout().fit(X, y)
    untouched = McDropout(epochs=1, learning_rate=1e-9).fit(X, y)
    np.testing.assert_allclose(belief.mean(X), -7.0, atol=0.05)
    assert belief.std(X).max() < 0.2 * untouched.std(X).mean()


def test_a_known_range_takes_the_place_of_standardization() -> None:
    X, y = sample(10, 2)
    belief = McDropout(**QUICK, y_range=(-10.0, 30.0)).fit(X, y)
    assert (belief.units.y_center, belief.units.y_scale) == (10.0, 20.0)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_the_ends_of_the_floating_point_range(size: float) -> None:
    X, y = sample(8, 2)
    plain, extreme = McDropout(**QUICK).fit(X, y), McDropout(**QUICK).fit(X, size * y)
    np.testing.assert_allclose(extreme.mean(X) / size, plain.mean(X), rtol=1e-5)
    np.testing.assert_allclose(extreme.std(X) / size, plain.std(X), rtol=1e-3)


def test_divergence_is_retried_with_smaller_steps() -> None:
    X, y = sample(10, 2)
    belief = McDropout(**{**QUICK, "learning_rate": 30.0}, decay="constant").fit(X, y)
    assert np.sqrt(np.mean((belief.mean(X) - y) ** 2)) < 1.5 * y.std()


def test_divergence_that_stays_is_an_error() -> None:
    with pytest.raises(TrainingError, match="mc_dropout must stay finite"):
        McDropout(**{**QUICK, "learning_rate": 1e30}).fit(*sample(10, 2))
    with pytest.raises(TrainingError, match="scale the data"):
        McDropout(**QUICK).fit(1e30 * sample(10, 2)[0], sample(10, 2)[1])
