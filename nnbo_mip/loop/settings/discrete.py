"""What a run takes over many binaries, integers and categories where the user leaves it open.

Chosen by pilots (``python -m benchmarks.pilots.discrete``); ``docs/dev/default_measurements.md``
has the figures.
"""

from __future__ import annotations

from nnbo_mip.space.domain import Domain

FAMILY = "sparse_quadratic"

FEWEST = 21
"""Coordinates from which it is taken; with fewer the Gaussian process is."""

LEAST_SHARE = 0.5
"""Of the coordinates, that are no continuous ones; a category counts as one coordinate."""

REGION = "trust:failures=5,coordinates=10"
"""For families whose draws are maximized exactly: ten coordinates move at a step."""

MOVING = 10
"""Coordinates up to which all may move."""


FEW_VALUES = 10
"""A number of no more values counts as discrete: of a wide integer the size matters, as of a real
number."""


def is_discrete(domain: Domain) -> bool:
    """Whether a space, as models see it, has mostly binaries, small integers and categories."""
    members = domain.one_hot_members
    grids = [grid for j, grid in enumerate(domain.grids) if j not in members]
    few = sum(1 for grid in grids if grid is not None and grid.count <= FEW_VALUES)
    return few + len(domain.one_hot) >= LEAST_SHARE * domain.n_parameters


def family_for(dimension: int) -> str | None:
    """Return the family for so many coordinates of a discrete space; None for that of others."""
    return FAMILY if dimension >= FEWEST else None


def region_for(dimension: int) -> str | None:
    """Return the region of a family whose draws are maximized exactly."""
    return REGION if dimension > MOVING else None
