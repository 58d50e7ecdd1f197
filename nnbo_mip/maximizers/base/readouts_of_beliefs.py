"""From a belief to the readout that the exact maximizers see of it.

ReLUs compile to networks; one hidden layer of tanh, Gaussian processes and trees have readouts of
their own.
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.scores.posteriors.gp_readout import GpReadout
from nnbo_mip.scores.posteriors.readouts import (
    MembersReadout,
    PlainReadout,
    QuadraticReadout,
    Readout,
    SmoothReadout,
)
from nnbo_mip.scores.posteriors.tanh_readouts import TanhFeatures, TanhMembers
from nnbo_mip.scores.posteriors.tree_readout import TreeReadout
from nnbo_mip.surrogates.base.abstract import Belief
from nnbo_mip.surrogates.base.observations import Standardization
from nnbo_mip.surrogates.densities.mixture_belief import MixtureBelief
from nnbo_mip.surrogates.ensembles.members import MemberBelief
from nnbo_mip.surrogates.gp.belief import GpBelief
from nnbo_mip.surrogates.nomu.belief import NomuBelief
from nnbo_mip.surrogates.ratios.boggn_latent import NOISE, ProbitLatent
from nnbo_mip.surrogates.ratios.estimators.tree_odds import TreeOdds
from nnbo_mip.surrogates.rvfl.brvfl_belief import BrvflBelief
from nnbo_mip.surrogates.rvfl.features import RandomFeatures
from nnbo_mip.surrogates.trees.forest_belief import ForestBelief

Layers = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]
"""inner, bias, outer, direct and offset of a `TanhReadout`."""


def readout_of(belief: Belief, members: bool = False) -> Readout:
    """Return mean and std of a belief as functions that can be bounded.

    Parameters
    ----------
    belief : Belief
        One that has a network, one hidden layer of tanh, trees, or a Gaussian process.
    members : bool
        Whether the head reads the members rather than mean and std.

    Notes
    -----
    The readout equals the belief up to rounding. A belief of another family serves if its
    network has the outputs ``mean`` and ``std``.
    """
    if isinstance(belief, MemberBelief):
        return _of_members(belief, members)
    if isinstance(belief, GpBelief):
        return _of_process(belief)
    if isinstance(belief, ForestBelief):
        trees, variance = belief.trees, "total" if belief.spread == "total" else "between"
        return TreeReadout(trees.nodes, trees.roots, trees.n_inputs, variance, belief.scale)
    if isinstance(belief, TreeOdds):
        trees = belief.trees
        return TreeReadout(trees.nodes, trees.roots, trees.n_inputs, "between")
    if isinstance(belief, MixtureBelief):
        raise UnsupportedError(
            "a belief must be piecewise linear, a hidden layer of tanh or a Gaussian process to be "
            f"maximized exactly; the weights of a {belief.family} belief's components are ratios "
            "of exponentials; choose another surrogate, or a heuristic maximizer."
        )
    if isinstance(belief, BrvflBelief):
        white = belief.posterior.whiten(np.eye(belief.features.n_features))
        factor = belief.scale * belief.units.y_scale
        noise = belief.units.y_scale / np.sqrt(belief.beta) if belief.include_noise else 0.0
        root = factor * white.T
        if belief.features.activation == "tanh":
            return TanhFeatures(*_tanh_features(belief), root, float(noise))
        return QuadraticReadout(belief.network(), root, float(noise))
    if isinstance(belief, ProbitLatent):
        return QuadraticReadout(belief.network(), belief.root, NOISE)
    if isinstance(belief, NomuBelief) and belief.bounding.kind == "smooth":
        bounding = belief.bounding
        return SmoothReadout(belief.network(), bounding.l_min, bounding.l_max, belief.std_factor)
    network = belief.network()
    if not {"mean", "std"} <= set(network.output_names):
        raise UnsupportedError(
            "the network of a belief must have the outputs mean and std to be maximized exactly; "
            f"that of a {belief.family} belief has {', '.join(network.output_names[:6])}; choose "
            "another surrogate, or a heuristic maximizer."
        )
    return PlainReadout(network)


def _of_members(belief: MemberBelief, members: bool) -> Readout:
    if belief.include_noise and (belief.is_noisy or belief.spread == "mad") and not members:
        raise UnsupportedError(
            "the std of members must be their spread, with a constant noise at most, to be "
            f"maximized exactly; this {belief.family} belief includes a noise "
            f"{'that varies' if belief.is_noisy else 'beside a mean absolute deviation'}; leave "
            "include_noise False."
        )
    spread = "variance" if belief.spread == "variance" else "std"
    noise = belief.noise if belief.include_noise and not belief.is_noisy else 0.0
    if belief.stack.activation == "tanh":
        if belief.spread == "mad" and not members:
            raise UnsupportedError(
                "the spread of tanh members must be std or variance to be maximized exactly; this "
                f"{belief.family} belief has mad; choose another spread, or activation='relu'."
            )
        return TanhMembers(*_tanh_members(belief), spread, belief.units.y_scale, noise)
    network = belief.network()
    if belief.spread == "mad" and not members:
        return PlainReadout(network)
    return MembersReadout(network, spread, belief.units.y_scale, noise)


def _of_process(belief: GpBelief) -> GpReadout:
    if belief.waves is not None:
        raise UnsupportedError(
            "a draw of a Gaussian process is a sum of many waves and has no proven bounds; choose "
            "another surrogate for exact Thompson sampling, or a heuristic maximizer."
        )
    if belief.kernel.groups:
        raise UnsupportedError(
            "a Gaussian process must have one kernel of all inputs to be maximized exactly; this "
            f"one is a sum over {len(belief.kernel.groups)} groups; drop the groups, or choose a "
            "heuristic maximizer."
        )
    kernel, units = belief.kernel, belief.units
    return GpReadout(
        belief.points,
        belief.factor,
        belief.weights,
        kernel.length_scale,
        units.x_center,
        units.x_scale,
        form=kernel.form,
        nu=kernel.nu,
        mixture=kernel.mixture,
        amplitude=kernel.amplitude,
        y_center=units.y_center,
        y_scale=units.y_scale,
        reach=belief.scale * units.y_scale,
    )


def _tanh_features(belief: BrvflBelief) -> Layers:
    """Return the layers of the mean and the features psi."""
    features, units = belief.features, belief.units
    assert isinstance(features, RandomFeatures)
    h, d = features.directions.shape
    inner, bias = _of_inputs(features.directions, features.biases, units)
    hidden, linked = np.eye(h), np.zeros((h, d))
    shift = np.zeros(h)
    if features.direct_link:
        hidden = np.vstack([hidden, np.zeros((d, h))])
        linked = np.vstack([linked, np.diag(1.0 / units.x_scale)])
        shift = np.append(shift, -units.x_center / units.x_scale)
    weights = units.y_scale * belief.posterior.mean
    return (
        inner,
        bias,
        np.vstack([weights @ hidden, hidden]),
        np.vstack([weights @ linked, linked]),
        np.append(units.y_center + weights @ shift, shift),
    )


def _tanh_members(belief: MemberBelief) -> Layers:
    """Return the layers of the mean and the members, moved apart by the scale."""
    stack, units = belief.stack, belief.units
    if len(stack.weights) != 2:
        raise UnsupportedError(
            "tanh members must have one hidden layer to be maximized exactly; those of this "
            f"{belief.family} belief have {len(stack.weights) - 1}; choose activation='relu', or a "
            "heuristic maximizer."
        )
    count, d = stack.n_members, stack.n_inputs
    (inner, outer), (bias, offset) = stack.weights, stack.biases
    h = inner.shape[1]
    last = np.broadcast_to(outer[:, 0], (count, h))
    if stack.masks is not None:
        last = last * stack.masks[0]
    blocks = max(len(inner), len(bias))
    if blocks == 1:
        rows = last
    else:
        rows = np.zeros((count, blocks * h))
        for member in range(count):
            rows[member, member * h : (member + 1) * h] = last[member]
    inner = np.broadcast_to(inner, (blocks, h, d)).reshape(blocks * h, d)
    bias = np.broadcast_to(bias, (blocks, h)).reshape(blocks * h)
    linked = np.zeros((count, d)) if stack.skip is None else stack.skip[:, 0]
    first, constant = _of_inputs(inner, bias, units)
    shift = np.broadcast_to(offset[:, 0], count) - linked @ (units.x_center / units.x_scale)
    average = np.full((count, count), 1.0 / count)
    reach = np.sqrt(belief.scale) if belief.spread == "variance" else belief.scale
    moved = average + reach * (np.eye(count) - average)
    combined = units.y_scale * np.vstack([average[:1], moved])
    return (
        first,
        constant,
        combined @ rows,
        combined @ (linked / units.x_scale),
        units.y_center + combined @ shift,
    )


def _of_inputs(
    weights: FloatArray, bias: FloatArray, units: Standardization
) -> tuple[FloatArray, FloatArray]:
    """Return weights and bias that read inputs in the user's units."""
    return weights / units.x_scale, bias - weights @ (units.x_center / units.x_scale)
