"""The stack of networks against plain loops, finite differences and its trainable form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.surrogates.ensembles.stack import Stack
from nnbo_mip.surrogates.ensembles.torch_stack import TorchStack

M, D, WIDTHS, OUTPUTS = 3, 2, (5, 4), 2
U = np.random.default_rng(9).uniform(-1.5, 1.5, (25, D))


def random_stack(activation: str, shared: bool, masked: bool, skip: bool) -> Stack:
    rng = np.random.default_rng(0)
    copies = 1 if shared else M
    sizes = [(D, *WIDTHS, OUTPUTS)[layer : layer + 2] for layer in range(3)]
    masks = tuple(rng.integers(0, 2, (M, width)) * 1.25 for width in WIDTHS)
    for mask in masks:
        mask[:, 0] = 1.25
    return Stack(
        tuple(rng.normal(size=(copies, n_out, n_in)) for n_in, n_out in sizes),
        tuple(rng.normal(size=(copies, n_out)) for _, n_out in sizes),
        activation,
        masks if masked else None,
        rng.normal(size=(M, OUTPUTS, D)) if skip else None,
    )


def kinds() -> list[Any]:
    """Return every combination that has M members."""
    return [
        pytest.param(
            random_stack(activation, shared, masked, skip),
            id=f"{activation}-{'shared' if shared else 'own'}{'-masks' * masked}{'-skip' * skip}",
        )
        for activation in ("relu", "tanh")
        for shared in (False, True)
        for masked in (False, True)
        for skip in (False, True)
        if not shared or masked
    ]


def one_by_one(stack: Stack, member: int, u: np.ndarray) -> np.ndarray:
    """Return the outputs (m,) of one member at one point, unit after unit."""
    h = list(u)
    for layer, (weights, biases) in enumerate(zip(stack.weights, stack.biases, strict=True)):
        own, bias = weights[member % len(weights)], biases[member % len(biases)]
        z = [
            sum(w * x for w, x in zip(row, h, strict=True)) + b
            for row, b in zip(own, bias, strict=True)
        ]
        if layer < len(stack.weights) - 1:
            z = [max(value, 0.0) if stack.activation == "relu" else np.tanh(value) for value in z]
            if stack.masks is not None:
                z = list(stack.masks[layer][member] * z)
        h = z
    linked = stack.skip[member] @ u if stack.skip is not None else 0.0
    return np.array(h) + linked


@pytest.mark.parametrize("stack", kinds())
def test_outputs_are_those_of_every_unit_by_itself(stack: Stack) -> None:
    assert (stack.n_members, stack.n_inputs) == (M, D)
    expected = [[one_by_one(stack, member, u) for u in U] for member in range(M)]
    np.testing.assert_allclose(stack.evaluate(U), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("stack", kinds())
@pytest.mark.parametrize("output", [0, 1])
def test_gradients_are_difference_quotients(stack: Stack, output: int) -> None:
    values, gradients = stack.differentiate(U, output)
    assert gradients.shape == (M, len(U), D)
    np.testing.assert_allclose(values, stack.evaluate(U)[:, :, output], rtol=1e-12)
    step = 1e-6
    for axis, unit in enumerate(np.eye(D)):
        ahead, behind = stack.evaluate(U + step * unit), stack.evaluate(U - step * unit)
        quotient = (ahead - behind)[:, :, output] / (2.0 * step)
        np.testing.assert_allclose(gradients[:, :, axis], quotient, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("stack", kinds())
def test_the_compiled_network_is_the_stack(stack: Stack) -> None:
    builder = GraphBuilder(D)
    if stack.activation == "tanh":
        with pytest.raises(UnsupportedError, match="activation='relu'"):
            stack.compile(builder, builder.input)
        return
    outputs = stack.compile(builder, builder.input)
    network = builder.finish({f"m{member}": output for member, output in enumerate(outputs)})
    for member, expected in enumerate(stack.evaluate(U)):
        ours = np.stack([network.evaluate(U, f"m{member}{output}") for output in range(OUTPUTS)], 1)
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("stack", kinds())
def test_one_member_is_what_it_was_among_the_others(stack: Stack) -> None:
    for member in range(M):
        alone = stack.member(member)
        assert alone.n_members == 1
        np.testing.assert_allclose(alone.evaluate(U)[0], stack.evaluate(U)[member], rtol=1e-12)


@pytest.mark.parametrize("stack", kinds())
def test_arrays_make_the_same_stack(stack: Stack) -> None:
    again = Stack.from_arrays(stack.to_arrays())
    assert again.activation == stack.activation
    assert np.array_equal(again.evaluate(U), stack.evaluate(U))


@pytest.mark.parametrize("stack", kinds()[::3])
def test_blocks_do_not_show(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    values, slopes = stack.evaluate(U), stack.differentiate(U)[1]
    hidden = stack.hidden(U)
    monkeypatch.setattr("nnbo_mip.core.arrays.BLOCK", 4 * max(WIDTHS) * M)  # four points
    np.testing.assert_allclose(stack.evaluate(U), values, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(stack.differentiate(U)[1], slopes, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(stack.hidden(U), hidden, rtol=1e-12, atol=1e-13)


def test_no_points() -> None:
    for parameter in kinds():
        stack = parameter.values[0]
        assert stack.evaluate(np.empty((0, D))).shape == (M, 0, OUTPUTS)
        assert stack.differentiate(np.empty((0, D)))[1].shape == (M, 0, D)


def test_slope_at_a_kink_is_zero() -> None:
    stack = Stack((np.ones((1, 1, 1)), np.ones((1, 1, 1))), (np.zeros((1, 1)), np.zeros((1, 1))))
    _, slopes = stack.differentiate(np.array([[-1.0], [0.0], [1.0]]))
    assert slopes[0, :, 0].tolist() == [0.0, 0.0, 1.0]


# -- the trainable form -----------------------------------------------------------------


@pytest.mark.parametrize("initialization", ["he", "uniform"])
@pytest.mark.parametrize("masked", [False, True])
def test_the_trainable_form_in_double_is_the_stack(initialization: str, masked: bool) -> None:
    trainable = TorchStack((D, *WIDTHS, OUTPUTS), M, torch.Generator(), initialization)
    trainable.weights = [tensor.detach().double() for tensor in trainable.weights]
    trainable.biases = [tensor.detach().double() for tensor in trainable.biases]
    masks = [np.random.default_rng(0).uniform(0.0, 2.0, (M, width)) for width in WIDTHS]
    frozen = trainable.frozen(masks if masked else None)
    factors = [torch.from_numpy(mask)[:, None, :] for mask in masks] if masked else None
    outputs = trainable.outputs(torch.from_numpy(U), factors).numpy()
    np.testing.assert_allclose(frozen.evaluate(U), outputs, rtol=1e-12, atol=1e-13)
    each = torch.from_numpy(np.stack([U, U, U]))
    np.testing.assert_allclose(trainable.outputs(each, factors).numpy(), outputs, atol=1e-13)


def test_first_weights_have_the_size_that_keeps_a_signal() -> None:
    """Variance 2 / in keeps mean squares through ReLU layers (within a few per cent a layer)."""
    made = TorchStack((200, 300, 300, 1), 4, torch.Generator().manual_seed(0))
    sizes = [(w.var() * w.shape[1]).item() for w in made.weights]
    assert sizes == pytest.approx([2.0, 2.0, 1.0], rel=0.1)
    for weights, biases in zip(made.weights, made.biases, strict=True):
        assert biases.abs().max() <= 1.0 / weights.shape[1] ** 0.5


def test_uniform_first_weights_fill_their_range() -> None:
    made = TorchStack((20, 30, 1), 4, torch.Generator().manual_seed(0), "uniform")
    everything = torch.cat([tensor.reshape(-1) for tensor in made.parameters])
    assert 0.0495 < everything.abs().max() <= 0.05
    assert abs(everything.mean().item()) < 0.003


def test_freezing_copies() -> None:
    trainable = TorchStack((D, 4, 1), M, torch.Generator().manual_seed(0))
    frozen = trainable.frozen()
    before = frozen.evaluate(U)
    with torch.no_grad():
        for tensor in trainable.parameters:
            tensor.zero_()
    assert np.array_equal(frozen.evaluate(U), before)
    assert frozen.weights[0].dtype == np.float64
