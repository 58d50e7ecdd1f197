"""Random networks on asymmetric boxes, for the tests of the exact room."""

from __future__ import annotations

import numpy as np

from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain, Grid


def random_network(
    rng: np.random.Generator, inputs: int, widths: tuple[int, ...], skips: bool = False
) -> Network:
    """Return a network with one output; with skips every layer reads all earlier ones."""
    sizes = [inputs]
    layers = []
    for position, width in enumerate(widths):
        sources = range(position + 1) if skips else [position]
        terms = {k: rng.normal(size=(width, sizes[k])) / np.sqrt(sizes[k]) for k in sources}
        layers.append(Affine(rng.normal(size=width), terms))
        sizes.append(width)
    sources = range(len(sizes)) if skips else [len(widths)]
    head = Affine(rng.normal(size=1), {k: rng.normal(size=(1, sizes[k])) for k in sources})
    return Network(inputs, tuple(layers), head)


def asymmetric_box(rng: np.random.Generator, inputs: int) -> Domain:
    """Return a box away from the origin with unequal sides."""
    lower = rng.uniform(-3.0, 2.0, inputs)
    return Domain(lower, lower + rng.uniform(0.3, 4.0, inputs))


def mixed_domain(rng: np.random.Generator) -> Domain:
    """Return a domain of six coordinates: two real, one grid, one group of three, and a row."""
    lower = np.array([-1.5, 0.25, -2.0, 0.0, 0.0, 0.0])
    upper = np.array([2.0, 3.5, 4.0, 1.0, 1.0, 1.0])
    grids = [None, None, Grid.uniform(-2.0, 1.5, 5), None, None, None]
    row = rng.normal(size=(1, 6))
    inside = np.array([0.3, 1.0, 1.0, 0.0, 1.0, 0.0])
    return Domain(lower, upper, grids, ((3, 4, 5),), row, row @ inside + 0.5)


def random_problem(seed: int, inputs: int, widths: tuple[int, ...], skips: bool = False) -> Problem:
    """Return a network on an asymmetric box."""
    rng = np.random.default_rng(seed)
    return Problem(random_network(rng, inputs, widths, skips), asymmetric_box(rng, inputs))
