"""NOMU: weight counts, the loss, the bounding, and uncertainty that is small at data only."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
import torch

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, TrainingError
from nnbo_mip.surrogates import Capability, create, load
from nnbo_mip.surrogates.base.observations import Observations, Standardization
from nnbo_mip.surrogates.ensembles.training import descend
from nnbo_mip.surrogates.nomu.belief import Bounding, NomuBelief
from nnbo_mip.surrogates.nomu.nomu import Nomu, thesis
from nnbo_mip.surrogates.nomu.training import NomuTraining
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample

QUICK: dict[str, Any] = {"hidden": (8, 8), "n_augmented": 50, "epochs": 40}


class TestDefaultOptions(SurrogateContract):
    def make(self, **options: Any) -> Nomu:
        return Nomu(**{**QUICK, **options})


class TestSmoothWithNetsOfDifferentDepth(SurrogateContract):
    def make(self, **options: Any) -> Nomu:
        return Nomu(**{**QUICK, "side_hidden": (12, 6, 4), "bounding": "smooth", **options})


class TestOneLayerWithRestoredWeights(SurrogateContract):
    def make(self, **options: Any) -> Nomu:
        apart = {"hidden": 12, "stop_gradient": True, "restore_best": True}
        return Nomu(**{**QUICK, **apart, **options})


class TestThesisPreset(SurrogateContract):
    def make(self, **options: Any) -> Nomu:
        return thesis(**{**QUICK, **options})


# -- the networks ---------------------------------------------------------------------


def test_the_published_number_of_weights() -> None:
    assert Nomu(hidden=(1024,) * 3).count_parameters(1) == 4_205_570
    assert create("nomu:thesis").count_parameters(1) == 4_205_570


@pytest.mark.parametrize("side", [None, (7,), (6, 9, 4)])
def test_as_many_weights_are_trained_as_are_counted(side: tuple[int, ...] | None) -> None:
    surrogate = Nomu(hidden=(5, 3), side_hidden=side)
    model = untrained(surrogate, d=4)
    assert sum(p.numel() for p in model.parameters) == surrogate.count_parameters(4)


def test_the_mean_does_not_depend_on_the_side_net() -> None:
    belief, X = fitted(), np.random.default_rng(0).uniform(-1.0, 1.0, (30, 2))
    side = replace(belief.side, weights=tuple(w + 1.0 for w in belief.side.weights))
    changed = replace(belief, side=side)
    assert np.array_equal(changed.mean(X), belief.mean(X))
    gradients = [b.differentiate(X).mean_gradient for b in (belief, changed)]
    assert np.array_equal(*gradients)
    np.testing.assert_allclose(
        changed.network().evaluate(X, "mean"), belief.mean(X), rtol=0.0, atol=1e-12
    )
    assert (np.abs(changed.raw(X) - belief.raw(X)) > 0.1).all()


@pytest.mark.parametrize("stop_gradient", [False, True])
def test_the_uncertainty_teaches_the_main_net_unless_told_otherwise(stop_gradient: bool) -> None:
    model = doubled(untrained(Nomu(hidden=(6, 5), stop_gradient=stop_gradient)))
    _, raw = model.nets.outputs(model.u)
    main = model.nets.main
    hidden_layers = [*main.weights[:-1], *main.biases[:-1]]
    found = torch.autograd.grad(raw.sum(), hidden_layers, allow_unused=True, retain_graph=True)
    sizes = [0.0 if g is None else float(g.abs().sum()) for g in found]
    assert all((size == 0.0) == stop_gradient for size in sizes)
    (bridge,) = torch.autograd.grad(raw.sum(), [model.nets.bridge])
    expected = main.hidden(model.u)[0].sum(dim=0)
    torch.testing.assert_close(bridge[0, :, 0], expected)


def test_stopping_the_gradient_leaves_the_mean_what_it_is_without_uncertainty() -> None:
    X, y = sample(10, 2)
    alone = [
        Nomu(**QUICK, stop_gradient=True, seed=4, pi_exp=pi_exp).fit(X, y).mean(X)
        for pi_exp in (1e-3, 1.0)
    ]
    together = Nomu(**QUICK, seed=4, pi_exp=1.0).fit(X, y).mean(X)
    np.testing.assert_allclose(*alone, rtol=0.0, atol=1e-6)
    assert np.abs(together - alone[1]).max() > 1e-3


# -- the loss -------------------------------------------------------------------------


def test_the_loss_is_the_sum_of_its_three_terms() -> None:
    surrogate = Nomu(hidden=(6, 5), side_hidden=(4,), pi_sqr=0.3, pi_exp=0.7, c_exp=2.5)
    model = doubled(untrained(surrogate))
    anywhere = np.random.default_rng(5).uniform(-1.0, 1.0, (9, 2))
    u, v = model.u.numpy(), model.v.numpy()
    mean, at_data = by_hand(model, u)
    _, raw = by_hand(model, anywhere)
    expected = ((mean - v) ** 2).sum() + 0.3 * (at_data**2).sum() + 0.7 * np.exp(-2.5 * raw).mean()
    got = model.loss_at(torch.from_numpy(anywhere)).item()
    assert got == pytest.approx(expected, rel=1e-12)


def test_gradients_of_the_loss_are_finite_differences() -> None:
    surrogate = Nomu(hidden=(5, 4), side_hidden=(3,), pi_sqr=0.5, pi_exp=0.4, c_exp=3.0)
    model = doubled(untrained(surrogate))
    anywhere, step = model.augmented(), 1e-6
    gradients = torch.autograd.grad(model.loss_at(anywhere), model.parameters)
    for parameter, gradient in zip(model.parameters, gradients, strict=True):
        values = parameter.detach().view(-1)
        for index in range(values.numel()):
            kept = values[index].item()
            ends = []
            for moved in (kept + step, kept - step):
                values[index] = moved
                ends.append(model.loss_at(anywhere).item())
            values[index] = kept
            difference = (ends[0] - ends[1]) / (2.0 * step)
            assert gradient.view(-1)[index].item() == pytest.approx(difference, rel=1e-5, abs=1e-7)


def test_augmented_points_are_new_every_epoch_and_fill_the_box() -> None:
    model = untrained(Nomu(n_augmented=4000), d=3)
    first, second = model.augmented().numpy(), model.augmented().numpy()
    assert not (first == second).all(axis=1).any()
    assert -1.0 <= first.min() < -0.99
    assert 0.99 < first.max() <= 1.0
    np.testing.assert_allclose(first.mean(axis=0), 0.0, atol=0.05)
    np.testing.assert_allclose(first.var(axis=0), 1.0 / 3.0, atol=0.02)


def test_the_penalty_is_on_every_weight() -> None:
    sizes = []
    for penalty in (0.0, 100.0):
        model = untrained(Nomu(**QUICK, initialization="uniform"))
        schedule = Nomu(**QUICK, weight_penalty=penalty)._schedule()
        assert descend(model, schedule)
        sizes.append([float(p.detach().abs().mean()) for p in model.parameters])
    assert (np.array(sizes[1]) < 0.6 * np.array(sizes[0])).all()


def test_every_unit_of_a_first_layer_bends_inside_the_box() -> None:
    nets = untrained(Nomu(hidden=(200, 5)), d=3).nets
    for net in (nets.main, nets.side):
        weights, bias = (t[0].detach().numpy()[0] for t in (net.weights, net.biases))
        assert (np.abs(bias[0]) <= np.abs(weights).sum(axis=0)).all()
    assert not np.array_equal(nets.main.biases[0].detach(), nets.side.biases[0].detach() / 3.0)
    assert np.abs(nets.outputs(torch.zeros(4, 3))[1].detach().numpy()).max() == 0.0


# -- what is learned ------------------------------------------------------------------


def forrester(x: FloatArray) -> FloatArray:
    t = 0.5 * (x + 1.0)
    return np.asarray((6.0 * t - 2.0) ** 2 * np.sin(12.0 * t - 4.0))


def waves(x: FloatArray) -> FloatArray:
    t = 0.5 * (x + 1.0)
    return np.asarray(0.5 * np.sin(13.0 * t) * np.sin(27.0 * t) + 0.5)


def parabola(x: FloatArray) -> FloatArray:
    return np.asarray(x**2 - x)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("function", [forrester, waves, parabola])
def test_uncertainty_is_small_at_data_and_large_between(function: Any, seed: int) -> None:
    X = np.linspace(-0.9, 0.9, 5)[:, None]
    between = 0.5 * (X[1:] + X[:-1])
    y = function(X[:, 0])
    belief = Nomu(seed=seed).fit(X, y)
    at_data, midway = belief.std(X), belief.std(between)
    assert midway.min() > 5.0 * at_data.max()
    assert at_data.max() < 0.05 * y.std()
    np.testing.assert_allclose(belief.mean(X), y, atol=0.02 * y.std())


@pytest.mark.parametrize("seed", [0, 1])
def test_uncertainty_is_small_at_data_and_large_elsewhere_in_five_dimensions(seed: int) -> None:
    X, y = sample(30, 5, seed)
    belief = Nomu(seed=seed).fit(X, y)
    elsewhere = np.random.default_rng(100 + seed).uniform(-1.0, 1.0, (500, 5))
    assert np.median(belief.std(elsewhere)) > 20.0 * belief.std(X).max()


@pytest.mark.parametrize(
    ("option", "values"), [("pi_exp", (1.0, 0.1, 0.01, 0.001)), ("c_exp", (60.0, 30.0, 15.0, 7.5))]
)
def test_width_changes_monotonically_with_the_factors(option: str, values: Any) -> None:
    X = np.linspace(-0.9, 0.9, 5)[:, None]
    anywhere = np.linspace(-1.0, 1.0, 201)[:, None]
    y = forrester(X[:, 0])
    options = {"hidden": (16, 16), "epochs": 256, "n_augmented": 100}
    beliefs = [Nomu(**options, **{option: value}).fit(X, y) for value in values]
    widths = [belief.std(anywhere).mean() for belief in beliefs]
    # A smaller pi_exp pushes less; a smaller c_exp is content only with more.
    change = np.diff(widths)
    assert (change < 0.0).all() if option == "pi_exp" else (change > 0.0).all()


# -- bounding -------------------------------------------------------------------------


def test_the_bounding_at_known_points() -> None:
    raw = np.array([-1.0, 0.0, 1.0, 10.0])
    clip, smooth = Bounding("clip", 1e-6, 2.0), Bounding("smooth", 1e-6, 2.0)
    np.testing.assert_array_equal(clip(raw), [1e-6, 1e-6, 1.0, 2.0])
    positive = [Decimal(max(0, s)) for s in (-1, 0, 1, 10)]
    expected = [2 * (1 - (-(s + Decimal("1e-6")) / 2).exp()) for s in positive]
    np.testing.assert_allclose(smooth(raw), np.array(expected, dtype=float), rtol=1e-14)
    np.testing.assert_allclose(smooth(raw)[2:], [0.786940, 1.986524], atol=1e-6)


@pytest.mark.parametrize("kind", ["clip", "smooth"])
def test_the_bounding_is_monotone_between_its_limits(kind: str) -> None:
    bounding = Bounding(kind, 0.05, 1.5)
    raw = np.linspace(-5.0, 60.0, 4001)
    bounded = bounding(raw)
    assert (np.diff(bounded) >= 0.0).all()
    lowest = 0.05 if kind == "clip" else 1.5 * (1.0 - np.exp(-0.05 / 1.5))
    assert bounded[0] == pytest.approx(lowest, rel=1e-14)
    assert bounded[-1] == pytest.approx(1.5, rel=1e-14)
    assert bounded.max() <= 1.5
    step = 1e-6
    away = np.abs(raw[:, None] - [0.0, 0.05, 1.5]).min(axis=1) > 2.0 * step
    slope = (bounding(raw + step) - bounding(raw - step)) / (2.0 * step)
    np.testing.assert_allclose(bounding.slope(raw)[away], slope[away], atol=1e-8)


def test_both_boundings_share_the_networks() -> None:
    X, y = sample(10, 2)
    probes = np.random.default_rng(2).uniform(-1.0, 1.0, (50, 2))
    clip, smooth = (Nomu(**QUICK, bounding=kind).fit(X, y) for kind in ("clip", "smooth"))
    assert np.array_equal(clip.raw(probes), smooth.raw(probes))
    assert np.array_equal(clip.mean(probes), smooth.mean(probes))
    scale, raw = y.std(), clip.raw(probes)
    np.testing.assert_allclose(clip.std(probes), scale * np.clip(raw, 1e-3, 2.0), rtol=1e-12)
    expected = scale * 2.0 * (1.0 - np.exp(-(np.maximum(raw, 0.0) + 1e-3) / 2.0))
    np.testing.assert_allclose(smooth.std(probes), expected, rtol=1e-9)


# -- the compiled network -------------------------------------------------------------


@pytest.mark.parametrize("bounding", ["clip", "smooth"])
def test_the_compiled_network_is_a_forward_pass_of_the_same_weights(bounding: str) -> None:
    belief = fitted(bounding=bounding, side_hidden=(9, 4), l_min=0.02, l_max=0.06).scaled(1.7)
    X = np.random.default_rng(3).uniform(-1.5, 1.5, (400, 2))
    mean, raw = torch_pass(belief, X)
    network = belief.network()
    expected = {"mean": mean, "raw": raw, "relu_raw": np.maximum(raw, 0.0)}
    if bounding == "clip":
        expected["std"] = 1.7 * sample(12, 2)[1].std() * np.clip(raw, 0.02, 0.06)
        assert min((raw < 0.02).sum(), ((raw > 0.02) & (raw < 0.06)).sum()) > 5
        assert (raw > 0.06).sum() > 5
    assert network.output_names == tuple(expected)
    for name, values in expected.items():
        size = np.abs(values).max()
        np.testing.assert_allclose(network.evaluate(X, name), values, rtol=0.0, atol=1e-12 * size)
    np.testing.assert_allclose(belief.raw(X), raw, rtol=0.0, atol=1e-12 * np.abs(raw).max())
    np.testing.assert_allclose(
        belief.std(X), belief.std_factor * belief.bounding(raw), rtol=1e-9, atol=1e-12
    )


def test_capabilities_are_those_of_a_network_without_members() -> None:
    wanted = {Capability.MEAN, Capability.STD, Capability.GRADIENT, Capability.NETWORK}
    assert Nomu().capabilities == Nomu(bounding="smooth").capabilities == wanted


# -- options and hard cases -----------------------------------------------------------


def test_a_known_range_takes_the_place_of_standardizing() -> None:
    X, y = sample(6, 2)
    belief = Nomu(**QUICK, y_range=(-4.0, 6.0)).fit(X, y)
    assert belief.units.y_center == pytest.approx(1.0)
    assert belief.units.y_scale == pytest.approx(5.0)
    assert belief.std_factor == pytest.approx(5.0)


def test_one_observation_and_constant_values_are_fitted() -> None:
    X, _ = sample(6, 2)
    surrogate = Nomu(**{**QUICK, "epochs": 200})
    assert surrogate.fit(X[:1], [7.5]).mean(X[:1]) == pytest.approx([7.5], abs=0.02)
    constant = surrogate.fit(X, np.full(6, -3.0))
    np.testing.assert_allclose(constant.mean(X), -3.0, atol=0.02)
    elsewhere = np.random.default_rng(8).uniform(-1.0, 1.0, (200, 2))
    assert constant.std(elsewhere).mean() > 5.0 * constant.std(X).mean()


def test_training_that_diverges_at_every_step_size_is_an_error() -> None:
    X, y = sample(10, 2)
    with pytest.raises(TrainingError, match="smaller learning_rate"):
        Nomu(**QUICK, learning_rate=1e6).fit(X, y)


def test_training_that_diverges_succeeds_with_smaller_steps() -> None:
    X, y = sample(10, 2)
    large = Nomu(**QUICK, learning_rate=10.0, warmup=0.0)
    assert not descend(untrained(large), large._schedule())
    belief = large.fit(X, y)
    errors = belief.mean(X) - y
    assert np.sqrt(np.mean(errors**2)) < 0.5 * y.std()


def test_the_preset_trains_as_its_source_does() -> None:
    preset = create("nomu:thesis", seed=3)
    assert isinstance(preset, Nomu)
    expected = {
        **{"hidden": (1024, 1024, 1024), "epochs": 1024, "learning_rate": 1e-3},
        **{"decay": "constant", "initialization": "uniform", "restore_best": True},
        **{"pi_sqr": 1.0, "pi_exp": 0.01, "c_exp": 30.0, "n_augmented": 500},
        **{"l_min": 1e-6, "l_max": 2.0, "bounding": "smooth", "weight_penalty": 1e-8},
        **{"stop_gradient": False, "side_hidden": None, "warmup": 0.0, "seed": 3},
    }
    assert {name: getattr(preset, name) for name in expected} == expected


def test_a_file_of_other_shapes_is_refused(tmp_path: Any) -> None:
    belief = fitted()
    swapped = replace(belief, main=belief.side)
    swapped.save(tmp_path / "belief.npz")
    with pytest.raises(ValueError, match="belief"):
        load(tmp_path / "belief.npz")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"hidden": ()}, "hidden"),
        ({"side_hidden": (0,)}, "side_hidden"),
        ({"bounding": "tanh"}, "clip, smooth"),
        ({"l_min": 0.0}, "l_min"),
        ({"l_min": 1.0, "l_max": 1.0}, "larger than l_min"),
        ({"pi_sqr": -1.0}, "pi_sqr"),
        ({"pi_exp": 0.0}, "pi_exp"),
        ({"c_exp": np.nan}, "c_exp"),
        ({"n_augmented": 0}, "n_augmented"),
        ({"epochs": 2.5}, "epochs"),
        ({"warmup": 1.0}, "warmup"),
        ({"initialization": "zero"}, "initialization"),
        ({"stop_gradient": 1}, "stop_gradient"),
        ({"y_range": (2.0, 1.0)}, "y_range"),
        ({"seed": -1}, "seed"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Nomu(**options)


# -- helpers --------------------------------------------------------------------------


def fitted(**options: Any) -> NomuBelief:
    return Nomu(**{**QUICK, "epochs": 200, **options}).fit(*sample(12, 2))


def untrained(surrogate: Nomu, d: int = 2) -> NomuTraining:
    data = Observations.of(*sample(7, d))
    units = Standardization.of(data, inputs=False, outputs=True)
    return surrogate.untrained(data, units, torch.Generator().manual_seed(1))


def doubled(model: NomuTraining) -> NomuTraining:
    """Move a model to float64 and its readouts away from zero, in place."""
    generator = torch.Generator().manual_seed(2)
    for parameter in model.parameters:
        moved = parameter.data.double()
        moved += 0.3 * torch.randn(moved.shape, generator=generator, dtype=torch.float64)
        parameter.data = moved
    model.u, model.v = model.u.double(), model.v.double()
    return model


def by_hand(model: NomuTraining, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and raw uncertainty at inputs (n, d), layer by layer."""

    def last_hidden(stack: Any) -> FloatArray:
        h = u
        for w, b in zip(stack.weights[:-1], stack.biases[:-1], strict=True):
            h = np.maximum(h @ w.detach().numpy()[0] + b.detach().numpy()[0], 0.0)
        return h

    def last_layer(stack: Any, h: FloatArray) -> FloatArray:
        w, b = (t[-1].detach().numpy()[0] for t in (stack.weights, stack.biases))
        return np.asarray(h @ w + b)

    nets = model.nets
    h, k = last_hidden(nets.main), last_hidden(nets.side)
    raw = np.hstack([h, k]) @ np.vstack(
        [nets.bridge.detach().numpy()[0], nets.side.weights[-1].detach().numpy()[0]]
    )
    raw = raw + nets.side.biases[-1].detach().numpy()[0]
    return last_layer(nets.main, h)[:, 0], np.asarray(raw[:, 0])


def torch_pass(belief: NomuBelief, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and raw uncertainty by modules of torch in float64."""

    def modules(stack: Any) -> tuple[torch.nn.Sequential, torch.nn.Linear]:
        layers: list[torch.nn.Linear] = []
        for w, b in zip(stack.weights, stack.biases, strict=True):
            linear = torch.nn.Linear(w.shape[2], w.shape[1], dtype=torch.float64)
            linear.weight.data, linear.bias.data = torch.from_numpy(w[0]), torch.from_numpy(b[0])
            layers.append(linear)
        hidden = [step for layer in layers[:-1] for step in (layer, torch.nn.ReLU())]
        return torch.nn.Sequential(*hidden), layers[-1]

    u = torch.from_numpy(X)
    (main, main_last), (side, side_last) = modules(belief.main), modules(belief.side)
    with torch.no_grad():
        read = main_last(main(u)).numpy()
        raw = read[:, 1] + side_last(side(u)).numpy()[:, 0]
    return belief.units.y_center + belief.units.y_scale * read[:, 0], raw
