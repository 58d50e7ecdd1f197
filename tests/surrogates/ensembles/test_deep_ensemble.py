"""Deep ensembles: formulas, weight counts, one batched pass equals members alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from nnbo_mip.core.errors import InputError, TrainingError
from nnbo_mip.surrogates import Capability, create
from nnbo_mip.surrogates.ensembles.anchors import Anchors
from nnbo_mip.surrogates.ensembles.deep_ensemble import DeepEnsemble, EnsembleTraining
from nnbo_mip.surrogates.ensembles.members import MemberBelief
from nnbo_mip.surrogates.ensembles.torch_stack import TorchStack
from nnbo_mip.surrogates.ensembles.training import Schedule, descend
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample

QUICK: dict[str, Any] = {"hidden": (8, 8), "n_members": 3, "epochs": 60, "learning_rate": 0.03}


class TestDefaultOptions(SurrogateContract):
    def make(self, **options: Any) -> DeepEnsemble:
        return DeepEnsemble(**{**QUICK, **options})


class TestVarianceWithRestoredWeights(SurrogateContract):
    def make(self, **options: Any) -> DeepEnsemble:
        return DeepEnsemble(spread="variance", restore_best=True, **{**QUICK, **options})


class TestAbsoluteDeviationOfAnchored(SurrogateContract):
    def make(self, **options: Any) -> DeepEnsemble:
        return DeepEnsemble(spread="mad", anchored=True, **{**QUICK, **options})


class TestNoisy(SurrogateContract):
    def make(self, **options: Any) -> DeepEnsemble:
        return DeepEnsemble(noisy=True, **{**QUICK, **options})


class TestNoiseIncluded(SurrogateContract):
    def make(self, **options: Any) -> DeepEnsemble:
        return DeepEnsemble(noisy=True, include_noise=True, anchored=True, **{**QUICK, **options})


class TestOneMemberOfOneLayer(SurrogateContract):
    def make(self, **options: Any) -> DeepEnsemble:
        return DeepEnsemble(**{**QUICK, "n_members": 1, "hidden": (12,), **options})


# -- size and options -----------------------------------------------------------------


def test_weights_of_the_thesis_network() -> None:
    thesis = DeepEnsemble(hidden=(256, 1024, 512))
    assert thesis.count_parameters(1) == 3_944_965
    assert replace(thesis, noisy=True).count_parameters(1) == 3_944_965 + 5 * 513


@pytest.mark.parametrize("noisy", [False, True])
def test_counted_weights_are_those_that_are_trained(noisy: bool) -> None:
    made = DeepEnsemble(**QUICK, noisy=noisy)
    model = untrained(made, *sample(4, 3))
    assert made.count_parameters(3) == sum(tensor.numel() for tensor in model.parameters)


def test_it_is_found_by_name() -> None:
    assert create("deep_ensemble:hidden=(8,),n_members=2") == DeepEnsemble((8,), 2)
    assert Capability.NOISE not in DeepEnsemble().capabilities
    assert Capability.NOISE in DeepEnsemble(noisy=True).capabilities


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"hidden": ()}, "hidden"),
        ({"hidden": (8, 0)}, "hidden"),
        ({"n_members": 0}, "n_members"),
        ({"noisy": 1}, "noisy"),
        ({"include_noise": True}, "noisy=True"),
        ({"anchor_strength": 0.0}, "anchor_strength"),
        ({"noise_floor": -1.0}, "noise_floor"),
        ({"spread": "range"}, "spread"),
        ({"epochs": 0}, "epochs"),
        ({"learning_rate": np.nan}, "learning_rate"),
        ({"decay": "linear"}, "decay"),
        ({"weight_penalty": -1.0}, "weight_penalty"),
        ({"initialization": "zero"}, "initialization"),
        ({"y_range": (1.0, 1.0)}, "y_range"),
        ({"seed": -1}, "seed"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        DeepEnsemble(**options)


# -- mean, spread and noise against their formulas --------------------------------------


def outputs_of(belief: MemberBelief, X: np.ndarray) -> np.ndarray:
    """Return the members' raw outputs (M, n, m), one member and layer after the other."""
    results = []
    for member in range(belief.stack.n_members):
        h = X
        for layer, (weights, biases) in enumerate(
            zip(belief.stack.weights, belief.stack.biases, strict=True)
        ):
            h = h @ weights[member].T + biases[member]
            if layer < len(belief.stack.weights) - 1:
                h = np.maximum(h, 0.0)
        results.append(h)
    return np.array(results)


X_TEST = np.random.default_rng(5).uniform(-1.2, 1.2, (30, 2))


def test_mean_and_deviation_over_members() -> None:
    belief = DeepEnsemble(**QUICK).fit(*sample(10, 2))
    units = belief.units
    values = units.y_center + units.y_scale * outputs_of(belief, X_TEST)[:, :, 0]
    np.testing.assert_allclose(belief.members(X_TEST), values.T, rtol=1e-12)
    np.testing.assert_allclose(belief.mean(X_TEST), values.mean(axis=0), rtol=1e-12)
    second_moment = (values**2).mean(axis=0) - values.mean(axis=0) ** 2
    np.testing.assert_allclose(belief.std(X_TEST) ** 2, second_moment, rtol=1e-7, atol=1e-10)
    assert belief.std(X_TEST).max() > 0.05


def test_spread_as_variance_or_absolute_deviation() -> None:
    X, y = sample(10, 2)
    standard = DeepEnsemble(**QUICK).fit(X, y)
    values, scale = outputs_of(standard, X_TEST)[:, :, 0], standard.units.y_scale
    variance = DeepEnsemble(**QUICK, spread="variance").fit(X, y)
    np.testing.assert_allclose(variance.std(X_TEST), scale * values.var(axis=0), rtol=1e-9)
    np.testing.assert_allclose(variance.std(X_TEST), standard.std(X_TEST) ** 2 / scale, rtol=1e-9)
    mad = DeepEnsemble(**QUICK, spread="mad").fit(X, y)
    expected = scale * np.abs(values - values.mean(axis=0)).mean(axis=0)
    np.testing.assert_allclose(mad.std(X_TEST), expected, rtol=1e-9)


def test_noisy_members_are_a_mixture_of_normal_distributions() -> None:
    floor = 0.05
    options = {**QUICK, "noisy": True, "include_noise": True, "noise_floor": floor}
    belief = DeepEnsemble(**options).fit(*sample(10, 2))
    raw, units = outputs_of(belief, X_TEST), belief.units
    means = units.y_center + units.y_scale * raw[:, :, 0]
    variances = units.y_scale**2 * (np.log(1.0 + np.exp(raw[:, :, 1])) + floor**2)
    mixture = (variances + means**2).mean(axis=0) - means.mean(axis=0) ** 2
    np.testing.assert_allclose(belief.mean(X_TEST), means.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(belief.std(X_TEST), np.sqrt(mixture), rtol=1e-9)
    np.testing.assert_allclose(belief.noise_std(X_TEST) ** 2, variances.mean(axis=0), rtol=1e-9)
    drawn = np.random.default_rng(0).normal(means[:, 0], np.sqrt(variances[:, 0]), (200_000, 3))
    assert belief.std(X_TEST)[0] == pytest.approx(drawn.std(), rel=0.01)


def test_noise_is_found_where_it_is() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat(np.linspace(-1.0, 1.0, 40), 5)[:, None]
    deviation = np.where(X[:, 0] < 0.0, 0.05, 0.5)
    y = np.sin(3.0 * X[:, 0]) + deviation * rng.normal(size=len(X))
    options = {**QUICK, "epochs": 200, "noisy": True}
    left, right = DeepEnsemble(**options).fit(X, y).noise_std([[-0.5], [0.5]])
    assert left == pytest.approx(0.05, rel=0.5)
    assert right == pytest.approx(0.5, rel=0.3)


# -- the loss ---------------------------------------------------------------------------


def untrained(made: DeepEnsemble, X: np.ndarray, y: np.ndarray, seed: int = 0) -> EnsembleTraining:
    from nnbo_mip.surrogates.base.observations import Observations, Standardization

    data = Observations.of(X, y)
    units = Standardization.of(data, inputs=False, outputs=True)
    return made.untrained(data, units, torch.Generator().manual_seed(seed))


def in_double(model: EnsembleTraining) -> EnsembleTraining:
    """Return the same model in float64."""
    stack = model.stack
    stack.weights = [w.detach().double().requires_grad_() for w in stack.weights]
    stack.biases = [b.detach().double().requires_grad_() for b in stack.biases]
    anchors = None if model.anchors is None else Anchors.of(stack)
    return EnsembleTraining(
        stack, model.u.double(), model.v.double(), model.noise_floor, anchors, model.anchor_strength
    )


def loss_in_numpy(model: EnsembleTraining, first: list[np.ndarray]) -> float:
    """Return the loss of the module's docstring, member after member."""
    n, total = len(model.v), 0.0
    tensors = [tensor.detach().numpy() for tensor in model.parameters]
    depth = len(tensors) // 2
    for member in range(len(tensors[0])):
        h = model.u.numpy()
        for layer in range(depth):
            h = h @ tensors[layer][member] + tensors[depth + layer][member]
            h = np.maximum(h, 0.0) if layer < depth - 1 else h
        squares = (h[:, 0] - model.v.numpy()) ** 2
        if h.shape[1] == 2:
            variances = np.log1p(np.exp(h[:, 1])) + model.noise_floor**2
            squares = 0.5 * np.log(variances) + squares / (2.0 * variances)
        total += squares.mean()
        if model.anchors is not None:
            for layer in range(depth):
                n_in = tensors[layer].shape[1]
                gain = 2.0 if layer < depth - 1 else 1.0
                off = tensors[layer][member] - first[layer][member]
                total += model.anchor_strength / n * np.sum(off**2) / (gain / n_in)
                off = tensors[depth + layer][member] - first[depth + layer][member]
                total += model.anchor_strength / n * np.sum(off**2) * 3.0 * n_in
    return total


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("anchored", [False, True])
def test_loss_is_the_formula_and_gradient_is_its_slope(noisy: bool, anchored: bool) -> None:
    made = DeepEnsemble((4, 3), 2, noisy=noisy, anchored=anchored, anchor_strength=0.3)
    model = in_double(untrained(made, *sample(6, 2)))
    first = [tensor.detach().numpy().copy() for tensor in model.parameters]
    rng = np.random.default_rng(0)
    with torch.no_grad():  # away from the anchors
        for tensor in model.parameters:
            tensor += 0.1 * torch.from_numpy(rng.normal(size=tensor.shape))
    loss = model.loss()
    assert loss.item() == pytest.approx(loss_in_numpy(model, first), rel=1e-12)
    loss.backward()
    step, worst, largest = 1e-6, 0.0, 0.0
    for tensor in model.parameters:
        assert tensor.grad is not None
        flat, slope = tensor.detach().reshape(-1), tensor.grad.reshape(-1)
        for index in range(len(flat)):
            kept = flat[index].item()
            flat[index] = kept + step
            ahead = loss_in_numpy(model, first)
            flat[index] = kept - step
            behind = loss_in_numpy(model, first)
            flat[index] = kept
            worst = max(worst, abs((ahead - behind) / (2.0 * step) - slope[index].item()))
            largest = max(largest, abs(slope[index].item()))
    # A difference quotient in float64 with step 1e-6 is good to about 1e-9.
    assert largest > 0.1
    assert worst < 1e-7


def test_normal_likelihood_has_the_gradient_of_the_book() -> None:
    """With s = softplus(g): L_f = (f - v) / s and L_g = logistic(g) (1 - (v - f)^2 / s) / (2 s)."""
    model = in_double(untrained(DeepEnsemble((5,), 1, noisy=True, noise_floor=0.0), *sample(1, 2)))
    model.v[:] = 0.7
    f, g = model.stack.outputs(model.u)[0, 0].detach().numpy()
    model.loss().backward()
    bias_slope = model.stack.biases[-1].grad
    assert bias_slope is not None
    s, logistic = np.log1p(np.exp(g)), 1.0 / (1.0 + np.exp(-g))
    expected = [(f - 0.7) / s, 0.5 * (1.0 - (0.7 - f) ** 2 / s) / s * logistic]
    np.testing.assert_allclose(bias_slope[0, 0].numpy(), expected, rtol=1e-12)


def test_weight_penalty_is_a_sum_beside_the_sum_of_squares() -> None:
    """At a stationary point 2 X^T (X w - v) + 2 lambda w = 0 with X the last hidden layer."""
    X, y = sample(8, 1)
    made = DeepEnsemble((6,), 1, epochs=1500, weight_penalty=0.5, learning_rate=0.02)
    belief = made.fit(X, y)
    stack, v = belief.stack, belief.units.values_inward(y)
    design = np.hstack([stack.hidden(X)[0], np.ones((len(X), 1))])
    last_layer = np.append(stack.weights[-1][0, 0], stack.biases[-1][0, 0])
    slope = design.T @ (design @ last_layer - v) + 0.5 * last_layer
    assert np.abs(0.5 * last_layer).max() > 0.05
    np.testing.assert_allclose(slope, 0.0, atol=1e-5)


def test_anchors_hold_the_weights_back() -> None:
    X, y = sample(12, 2)
    distances = []
    for strength in (1e-4, 1e-2, 1.0, 100.0):
        made = DeepEnsemble(**QUICK, anchored=True, anchor_strength=strength)
        model = untrained(made, X, y)
        first = [tensor.detach().clone() for tensor in model.parameters]
        assert descend(model, Schedule(60, 0.03))
        moved = zip(model.parameters, first, strict=True)
        distances.append(sum((a - b).square().sum().item() for a, b in moved))
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 0.01 * distances[0]


def test_anchored_members_disagree_more_away_from_the_data() -> None:
    X = np.array([[-0.9], [-0.7], [0.7], [0.9]])
    belief = DeepEnsemble(anchored=True, epochs=300).fit(X, np.sin(3.0 * X[:, 0]))
    assert belief.std([[0.0]])[0] > 3.0 * belief.std(X).max()


# -- training together --------------------------------------------------------------------


@pytest.mark.parametrize("noisy", [False, True])
def test_a_member_of_the_batch_is_the_member_trained_alone(noisy: bool) -> None:
    made = DeepEnsemble((8, 8), 4, noisy=noisy, anchored=True)
    X, y = sample(12, 2)
    schedule = Schedule(100, 0.01, "cosine", 1e-4)
    together = untrained(made, X, y)
    first = [tensor.detach().clone() for tensor in together.parameters]
    assert descend(together, schedule)
    outputs = together.stack.outputs(together.u)
    for member in range(4):
        alone = untrained(replace(made, n_members=1), X, y)
        with torch.no_grad():
            for tensor, weights in zip(alone.parameters, first, strict=True):
                tensor.copy_(weights[member : member + 1])
        alone = replace(alone, anchors=Anchors.of(alone.stack))
        assert descend(alone, schedule)
        # A product of another shape may be summed in another order, which in float32 costs
        # 6e-8 relative a step; 100 steps, each amplified up to tenfold by Adam's division by
        # small gradients, make 6e-5. Members that felt each other would differ by 0.1 and more.
        moved = (outputs[member] - alone.stack.outputs(alone.u)[0]).abs().max().item()
        assert moved < 1e-4


def test_the_seed_is_all_that_decides() -> None:
    torch.manual_seed(1)
    first = DeepEnsemble(**QUICK, seed=4).fit(*sample(8, 2)).mean(X_TEST)
    torch.manual_seed(2)
    np.random.default_rng(0).normal(size=3)
    assert np.array_equal(first, DeepEnsemble(**QUICK, seed=4).fit(*sample(8, 2)).mean(X_TEST))
    assert not np.allclose(first, DeepEnsemble(**QUICK, seed=5).fit(*sample(8, 2)).mean(X_TEST))


@pytest.mark.parametrize("noisy", [False, True])
def test_the_torch_form_in_double_is_the_belief(noisy: bool) -> None:
    model = in_double(untrained(DeepEnsemble(**QUICK, noisy=noisy), *sample(5, 2)))
    expected = model.stack.outputs(torch.from_numpy(X_TEST)).detach().numpy()
    np.testing.assert_allclose(model.stack.frozen().evaluate(X_TEST), expected, atol=1e-12)


def test_the_function_is_learned() -> None:
    X, y = sample(60, 2)
    X_new, y_new = sample(300, 2, seed=8)
    belief = DeepEnsemble().fit(X, y)
    assert np.sqrt(np.mean((belief.mean(X) - y) ** 2)) < 0.03 * y.std()
    assert np.sqrt(np.mean((belief.mean(X_new) - y_new) ** 2)) < 0.15 * y.std()


# -- extremes ---------------------------------------------------------------------------


def test_a_known_range_takes_the_place_of_standardization() -> None:
    X, y = sample(10, 2)
    belief = DeepEnsemble(**QUICK, y_range=(-10.0, 30.0)).fit(X, y)
    assert (belief.units.y_center, belief.units.y_scale) == (10.0, 20.0)
    np.testing.assert_allclose(belief.mean(X), y, atol=1.5)


@pytest.mark.parametrize("noisy", [False, True])
def test_a_constant_is_learned_with_little_spread(noisy: bool) -> None:
    X, y = sample(10, 2)[0], np.full(10, -7.0)
    belief = DeepEnsemble(noisy=noisy).fit(X, y)
    untouched = DeepEnsemble(noisy=noisy, epochs=1, learning_rate=1e-9).fit(X, y)
    np.testing.assert_allclose(belief.mean(X), -7.0, atol=0.02)
    assert belief.std(X).max() < 0.1 * untouched.std(X).mean()
    assert belief.noise_std(X).max() <= 0.2 * untouched.noise_std(X).mean()


def test_a_loss_without_a_floor_stays_finite_on_a_constant() -> None:
    X = sample(10, 2)[0]
    belief = DeepEnsemble(noisy=True, noise_floor=0.0).fit(X, np.full(10, -7.0))
    assert np.isfinite(belief.noise_std(X)).all()
    np.testing.assert_allclose(belief.mean(X), -7.0, atol=0.1)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_the_ends_of_the_floating_point_range(size: float) -> None:
    X, y = sample(8, 2)
    plain = DeepEnsemble(**QUICK).fit(X, y)
    extreme = DeepEnsemble(**QUICK).fit(X, size * y)
    np.testing.assert_allclose(extreme.mean(X) / size, plain.mean(X), rtol=1e-5)
    np.testing.assert_allclose(extreme.std(X) / size, plain.std(X), rtol=1e-3, atol=1e-5)


def test_divergence_is_retried_with_smaller_steps() -> None:
    X, y = sample(10, 2)
    belief = DeepEnsemble(**{**QUICK, "learning_rate": 30.0}, decay="constant").fit(X, y)
    assert np.sqrt(np.mean((belief.mean(X) - y) ** 2)) < 1.5 * y.std()


@pytest.mark.parametrize("noisy", [False, True])
def test_divergence_that_stays_is_an_error(noisy: bool) -> None:
    made = DeepEnsemble(**{**QUICK, "learning_rate": 1e30}, noisy=noisy)
    with pytest.raises(TrainingError, match="deep_ensemble must stay finite"):
        made.fit(*sample(10, 2))
    with pytest.raises(TrainingError, match="scale the data"):
        DeepEnsemble(**QUICK, noisy=noisy).fit(1e30 * sample(10, 2)[0], sample(10, 2)[1])


def test_initial_variances_are_those_of_the_draws() -> None:
    for initialization in ("he", "uniform"):
        stack = TorchStack((50, 40, 30, 2), 40, torch.Generator().manual_seed(0), initialization)
        for tensor, variance in zip(stack.parameters, stack.initial_variances, strict=True):
            assert tensor.var().item() == pytest.approx(variance, rel=0.3)
            if tensor.numel() > 1e4:
                assert tensor.var().item() == pytest.approx(variance, rel=0.03)
