"""Random posteriors, heads and domains, small enough to be judged by other means."""

from __future__ import annotations

import numpy as np

from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.entropy import MaxValueEntropy
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.noisy import AugmentedEI, QuantileImprovement
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement
from nnbo_mip.scores.functions.sampled_incumbents import NoisyImprovement
from nnbo_mip.scores.posteriors.compiled import (
    MembersPosterior,
    PlainPosterior,
    QuadraticPosterior,
    SmoothPosterior,
)
from nnbo_mip.space.domain import Domain, Grid

POSTERIORS = ("plain", "smooth", "members", "variance", "noisy", "quadratic")
MOMENT_HEADS = ("mean", "std", "ucb", "lcb", "ei", "pi", "mes", "aei", "nei", "eqi", "quiet")
MEMBER_HEADS = ("empirical ei", "empirical pi")
DOMAINS = ("box", "grid", "rows", "one-hot", "degenerate")


def random_network(rng, dimension, widths, names):
    layers, width = [], dimension
    for wider in widths:
        weights = rng.standard_normal((wider, width)) * np.sqrt(2.0 / width)
        layers.append((weights, 0.5 * rng.standard_normal(wider)))
        width = wider
    weights = rng.standard_normal((len(names), width)) / np.sqrt(width)
    layers.append((weights, 0.3 * rng.standard_normal(len(names))))
    return Network.from_layers(layers, names)


def random_posterior(kind, rng, dimension, widths):
    last = len(widths)
    if kind == "plain":
        return PlainPosterior(random_network(rng, dimension, widths, ("mean", "std")))
    if kind == "smooth":
        base = random_network(rng, dimension, widths, ("mean", "raw"))
        terms = {
            last: base.head.dense(last) * np.array([[1.0], [0.0]]),
            last + 1: np.array([[0.0], [1.0]]),
        }
        head = Affine(base.head.bias * [1.0, 0.0], terms)
        layers = (*base.layers, base.head.rows([1]))
        network = Network(dimension, layers, head, ("mean", "relu_raw"))
        return SmoothPosterior(network, l_min=0.001, l_max=1.5, factor=0.8)
    if kind == "quadratic":
        base = random_network(rng, dimension, widths, ("mean",))
        count = widths[-1]
        weights = np.vstack([base.head.dense(last), np.eye(count)])
        head = Affine(np.append(base.head.bias, np.zeros(count)), {last: weights})
        names = ("mean", *(f"feature{k}" for k in range(count)))
        root = 0.5 * rng.standard_normal((int(rng.integers(1, count + 1)), count))
        network = Network(dimension, base.layers, head, names)
        return QuadraticPosterior(network, root, float(rng.choice([0.0, 0.3])))
    count = int(rng.integers(2, 5))
    names = tuple(f"member{m}" for m in range(count))
    base = random_network(rng, dimension, widths, names)
    rows = np.vstack([np.full((1, count), 1.0 / count), np.eye(count)])
    network = Network(dimension, base.layers, base.head.combine(rows), ("mean", *names))
    spread = "variance" if kind == "variance" else "std"
    return MembersPosterior(network, spread, 1.3, 0.2 if kind == "noisy" else 0.0)


def head_of(name, threshold):
    return {
        "mean": LinearHead(1.0, 0.0, 0.3),
        "std": LinearHead(0.0, 1.0),
        "ucb": LinearHead(1.0, 2.0),
        "lcb": LinearHead(1.0, -1.5),
        "ei": ExpectedImprovement(threshold),
        "pi": ProbabilityOfImprovement(threshold),
        "mes": MaxValueEntropy(threshold),
        "aei": AugmentedEI(threshold, 0.3),
        "nei": NoisyImprovement((threshold, threshold + 0.2, threshold - 0.1)),
        "eqi": QuantileImprovement(threshold, 0.3),
        "quiet": QuantileImprovement(threshold, 0.0),
        "empirical ei": EmpiricalImprovement(threshold),
        "empirical pi": EmpiricalImprovement(threshold, "pi"),
    }[name]


def heads_on(posterior):
    """Names of the heads that a posterior serves."""
    return MOMENT_HEADS + (MEMBER_HEADS if isinstance(posterior, MembersPosterior) else ())


def domain_of(kind, dimension):
    low, high = np.full(dimension, -0.7), np.full(dimension, 1.3)
    if kind == "grid":
        return Domain(low, high, grids=[Grid.uniform(-0.7, 1.3, 5)] + [None] * (dimension - 1))
    if kind == "rows":
        return Domain(low, high, A=[np.linspace(1.0, 0.5, dimension)], b=[0.2])
    if kind == "one-hot":
        return Domain(np.zeros(3), np.ones(3), one_hot=[(0, 1)])
    if kind == "degenerate":
        low[-1] = high[-1] = 0.3
    return Domain(low, high)


def points_of(domain, rng):
    """Many admissible points: a lattice of a plain box, else a sample."""
    if domain.is_box and domain.dimension <= 2:
        sides = [np.linspace(low, high, 101) for low, high in zip(*_ends(domain), strict=True)]
        return np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, domain.dimension)
    return domain.sample(2000, rng)


def threshold_for(posterior, points, rng):
    means = posterior.mean(points)
    return float(np.quantile(means, rng.choice([0.5, 0.95, 1.0]))) + float(rng.choice([0.0, 0.3]))


def _ends(domain):
    return domain.lower, domain.upper
