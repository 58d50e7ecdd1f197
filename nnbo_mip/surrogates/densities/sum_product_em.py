r"""Learning sum-product networks: expectation and maximization for the most probable parameters.

Priors: an inverse gamma distribution (shape alpha, scale beta = 1) on each leaf's variance, with
an alpha of its own for the value, and a Dirichlet one of `PSEUDO_COUNT` on each sum's weights. A
step goes up once and down once. Down, a flow of 1 at the top is handed on,

    sum to products   F_kij = F_k W_kij a_i b_j / r_k,     product to regions   all of it,

so that F of a leaf is the probability that it made an observation, and

    W_kij = (sum_n F_kij + c) / sum_ij (…),      m = sum_n F x_n / sum_n F,
    s^2   = (beta + sum_n F (x_n - m)^2 / 2) / (alpha + 1 + sum_n F / 2)

raise log p(data) + log p(parameters), or leave it. A batch of networks of one structure, for
subsets of the observations or for other first parameters, learns at once.

References
----------
Dempster et al. (1977), EM [Dempster1977].
Poon and Domingos (2011), learning sum-product networks [PoonDomingos2011].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.surrogates.base.mixture import log_normal, log_sum
from nnbo_mip.surrogates.densities.sum_product import SumProductNetwork

SCALE = 1.0
"""beta of the prior of variances."""

PSEUDO_COUNT = 1e-3
"""c. It keeps every weight positive, and superfluous ones near 0."""

LEAST_FLOW = 1e-12
"""A leaf that made less keeps its mean."""


@dataclass(frozen=True, eq=False)
class Learned:
    """A batch of B networks after learning.

    Parameters
    ----------
    networks : tuple of SumProductNetwork
    objectives : list of (B,) arrays
        log p(data) + log p(parameters), up to a constant, at the begin and after each step.
    """

    networks: tuple[SumProductNetwork, ...]
    objectives: list[FloatArray]


@dataclass(eq=False)
class _Track:
    """Parameters of one track in a batch of B networks; changed in place while learning."""

    pairs: IntArray
    means: FloatArray  # (B, d + 1, C)
    stds: FloatArray  # (B, d + 1, C)
    sums: list[FloatArray]  # (B, K, C^2) each, the last with K = 1


@dataclass(frozen=True, eq=False)
class _Pass:
    """What goes up through a track: values of regions divided by exp(top), and products."""

    values: list[FloatArray]  # (B, n, C) each
    products: list[FloatArray]  # (B, n, C^2) of each pair
    totals: list[FloatArray]  # (B, n, K) of each pair
    log_density: FloatArray  # (B, n)


def learn(
    data: FloatArray,
    present: FloatArray,
    tracks: Sequence[IntArray],
    channels: int,
    shapes: FloatArray,
    epochs: int,
    tolerance: float,
    rng: np.random.Generator,
) -> Learned:
    """Learn a batch of networks.

    Parameters
    ----------
    data : (n, d + 1) array
        Observations, standardized, the value last.
    present : (B, n) array
        1 where a network learns from an observation, else 0.
    tracks : sequence of (d, 2) int arrays
        The structure.
    channels : int
        C.
    shapes : (B, d + 1) array
        alpha of each variable's leaves.
    epochs : int
        Steps at most.
    tolerance : float
        Learning ends when no objective has risen by this part of an observation's worth.
    rng : numpy.random.Generator
        Of the first parameters.
    """
    batch = [_begun(data, present, pairs, channels, shapes, rng) for pairs in tracks]
    shares = np.full((len(present), len(tracks)), 1.0 / len(tracks))
    objectives: list[FloatArray] = []
    for _ in range(epochs):
        passes = [_up(track, data) for track in batch]
        logs = np.stack([one.log_density for one in passes], axis=2) + np.log(shares)[:, None]
        whole = log_sum(logs)
        objectives.append((whole * present).sum(axis=1) + _log_prior(batch, shares, shapes))
        if len(objectives) > 1:
            risen = objectives[-1] - objectives[-2]
            if (risen <= tolerance * present.sum(axis=1)).all():
                break
        flows = np.exp(logs - whole[..., None]) * present[..., None]
        for index, (track, one) in enumerate(zip(batch, passes, strict=True)):
            _improve(track, one, flows[:, :, index], data, shapes)
        counts = flows.sum(axis=1) + PSEUDO_COUNT
        shares = counts / counts.sum(axis=1, keepdims=True)
    networks = tuple(_network(batch, shares, index, channels) for index in range(len(present)))
    return Learned(networks, objectives)


def _begun(
    data: FloatArray,
    present: FloatArray,
    pairs: IntArray,
    channels: int,
    shapes: FloatArray,
    rng: np.random.Generator,
) -> _Track:
    """Return first parameters: means at random observations, variances at the prior's mode."""
    size, variables = len(present), data.shape[1]
    means = np.empty((size, variables, channels))
    for index, row in enumerate(present):
        known = np.flatnonzero(row)
        for variable in range(variables):
            chosen = rng.choice(known, channels, replace=len(known) < channels)
            means[index, variable] = data[chosen, variable]
    modes = np.sqrt(SCALE / (shapes + 1.0))
    stds = np.broadcast_to(modes[..., None], means.shape).copy()
    sums = []
    for k in range(len(pairs)):
        count = 1 if k == len(pairs) - 1 else channels
        drawn = rng.uniform(0.5, 1.5, (size, count, channels**2))
        sums.append(drawn / drawn.sum(axis=2, keepdims=True))
    return _Track(pairs, means, stds, sums)


def _up(track: _Track, data: FloatArray) -> _Pass:
    values: list[FloatArray] = []
    tops: list[FloatArray] = []
    for variable in range(data.shape[1]):
        column = data[None, :, variable, None]
        logs = log_normal(column, track.means[:, None, variable], track.stds[:, None, variable])
        top = logs.max(axis=2, keepdims=True)
        values.append(np.exp(logs - top))
        tops.append(top)
    products, totals = [], []
    for (left, right), weights in zip(track.pairs, track.sums, strict=True):
        both = values[left][..., :, None] * values[right][..., None, :]
        product = both.reshape(*both.shape[:2], -1)
        total = product @ weights.transpose(0, 2, 1)
        largest = total.max(axis=2, keepdims=True)
        values.append(total / largest)
        tops.append(tops[left] + tops[right] + np.log(largest))
        products.append(product)
        totals.append(total)
    return _Pass(values, products, totals, tops[-1][..., 0])


def _improve(
    track: _Track, up: _Pass, flow: FloatArray, data: FloatArray, shapes: FloatArray
) -> None:
    """Maximize the parameters of a track, given the flow (B, n) at its top."""
    variables, channels = data.shape[1], track.means.shape[2]
    flows: list[FloatArray] = [np.empty(0)] * len(up.values)
    flows[-1] = flow[..., None]
    for k in range(len(track.pairs) - 1, -1, -1):
        left, right = track.pairs[k]
        rate = flows[variables + k] / up.totals[k]
        weights = track.sums[k]
        counts = weights * (rate.transpose(0, 2, 1) @ up.products[k]) + PSEUDO_COUNT
        parts = (up.products[k] * (rate @ weights)).reshape(*flow.shape, channels, channels)
        flows[left], flows[right] = parts.sum(axis=3), parts.sum(axis=2)
        track.sums[k] = counts / counts.sum(axis=2, keepdims=True)
    for variable in range(variables):
        share = flows[variable]
        total = share.sum(axis=1)
        column = data[:, variable]
        seen = total > LEAST_FLOW
        average = np.einsum("bnc,n->bc", share, column) / np.where(seen, total, 1.0)
        means = np.where(seen, average, track.means[:, variable])
        off = np.square(column[None, :, None] - means[:, None])
        squares = SCALE + 0.5 * (share * off).sum(axis=1)
        track.means[:, variable] = means
        track.stds[:, variable] = np.sqrt(squares / (shapes[:, variable, None] + 1.0 + 0.5 * total))


def _log_prior(batch: Sequence[_Track], shares: FloatArray, shapes: FloatArray) -> FloatArray:
    """Return log p(parameters) (B,) up to a constant."""
    value = PSEUDO_COUNT * np.log(shares).sum(axis=1)
    for track in batch:
        variances = np.square(track.stds)
        logs = -(shapes[..., None] + 1.0) * np.log(variances) - SCALE / variances
        value = value + logs.sum(axis=(1, 2))
        for weights in track.sums:
            value = value + PSEUDO_COUNT * np.log(weights).sum(axis=(1, 2))
    return np.asarray(value)


def _network(
    batch: Sequence[_Track], shares: FloatArray, index: int, channels: int
) -> SumProductNetwork:
    inner = [
        [weights[index].reshape(channels, channels, channels) for weights in track.sums[:-1]]
        for track in batch
    ]
    count = len(batch[0].sums) - 1
    return SumProductNetwork(
        np.stack([track.pairs for track in batch]),
        np.stack([track.means[index] for track in batch]),
        np.stack([track.stds[index] for track in batch]),
        np.array(inner).reshape(len(batch), count, channels, channels, channels),
        np.stack([track.sums[-1][index].reshape(channels, channels) for track in batch]),
        shares[index],
    )
