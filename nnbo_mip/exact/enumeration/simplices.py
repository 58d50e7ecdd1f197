r"""Simplices: how a box is covered by them, and how they are cut without leaving gaps.

A batch of n simplices of dimension c in R^d is an array of vertices (c + 1, n, d). The
vertices are float64 numbers, hence exact points. A cut puts a new vertex w on the edge
from a to b; one child has w in place of b, the other w in place of a.

The children must cover the parent. On an interval (c = 1) any w between the ends does.
In a triangle with apex o they cover it if w lies on the edge or beyond it, seen from o.
A computed w lies beside its edge, so it is pushed outwards by some units in the last
place, and the sign of

    (b - a) x (w - a)     against that of     (b - a) x (o - a)

proves the cover. Edges along an axis need no push: there w is on the edge exactly. Where
the proof fails (triangles as thin as rounding, edges at the border of the box) w is not
pushed, and the cut counts as a *drift*: every point of the parent is then within
``DRIFT max|x|`` of a point of a child, in each coordinate.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray, IntArray
from nnbo_mip.exact.search.rounding import SMALLEST_SUBNORMAL, UNIT_ROUNDOFF
from nnbo_mip.space.domain import Domain

DRIFT = 8.0 * UNIT_ROUNDOFF
"""Distance of a new vertex from its edge, as a share of the largest coordinate."""

PUSH = 32.0 * UNIT_ROUNDOFF
"""How far a new vertex is pushed outwards, as a share of the largest coordinate."""

PUSHES_FROM_END = 4.0
"""A new vertex of a triangle keeps this many pushes away from the ends of its edge: zeros
that are nearer belong to an end, which an earlier push moved off its line."""

ROUNDINGS_FROM_END = 4.0
"""The same for intervals, in units in the last place of the largest coordinate."""


@dataclass(frozen=True, eq=False)
class NewVertices:
    """New vertices on one edge of each of n simplices.

    Parameters
    ----------
    points : (n, d) array
    drifts : (n,) int array
        1 where the children need not cover the parent exactly, else 0.
    """

    points: FloatArray
    drifts: IntArray


class Geometry:
    """Covers and cuts the slices of a domain.

    Parameters
    ----------
    domain : Domain
    free : tuple of int
        The c coordinates that move; at most two.
    """

    def __init__(self, domain: Domain, free: tuple[int, ...]) -> None:
        self.free = free
        self._lower, self._upper = domain.lower, domain.upper
        largest = np.maximum(np.abs(domain.lower), np.abs(domain.upper))
        self._push = PUSH * largest + 32.0 * SMALLEST_SUBNORMAL
        if len(free) < 2:
            self._finest = ROUNDINGS_FROM_END * UNIT_ROUNDOFF * largest + SMALLEST_SUBNORMAL
        else:
            self._finest = PUSHES_FROM_END * self._push

    @property
    def vertex_count(self) -> int:
        """Number of vertices of a simplex, c + 1."""
        return len(self.free) + 1

    def cover(self, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Cover boxes (n, d) by simplices (c + 1, c! n, d).

        Each walks from the lower to the upper corner along the axes, in one of the orders.
        """
        parts = []
        for order in itertools.permutations(self.free):
            corners = [lower.copy()]
            for j in order:
                following = corners[-1].copy()
                following[:, j] = upper[:, j]
                corners.append(following)
            parts.append(np.stack(corners))
        return np.concatenate(parts, axis=1)

    def end_share(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return which share of edges from a to b (…, d) a new vertex must leave on each side.

        An edge of which this is half or more cannot be cut.
        """
        length = (np.abs(b - a) / self._finest).max(axis=-1)
        return np.asarray(1.0 / np.maximum(length, 1.0))

    def new_vertices(
        self, vertices: FloatArray, edge: tuple[IntArray, IntArray], share: FloatArray
    ) -> NewVertices:
        """Put vertices at ``a + share (b - a)``, or as near as the cover allows.

        Parameters
        ----------
        vertices : (c + 1, n, d) array
        edge : pair of (n,) int arrays
            The vertices a and b.
        share : (n,) array
            Within `end_share` and one minus that.
        """
        index = np.arange(vertices.shape[1])
        a, b = vertices[edge[0], index], vertices[edge[1], index]
        points = a + share[:, None] * (b - a)
        points = np.clip(points, np.minimum(a, b), np.maximum(a, b))
        if len(self.free) < 2:
            return NewVertices(points, np.zeros(index.size, dtype=np.int64))
        apex = vertices[3 - edge[0] - edge[1], index]
        pushed, proven = self._pushed(a, b, apex, points)
        points = np.where(proven[:, None], pushed, points)
        return NewVertices(points, (~proven).astype(np.int64))

    def _pushed(
        self, a: FloatArray, b: FloatArray, apex: FloatArray, points: FloatArray
    ) -> tuple[FloatArray, BoolArray]:
        """Return the points on the far side of their edges, and where that is proven."""
        i, j = self.free
        push = self._push
        edge = b - a
        side, side_error = _cross(edge[:, [i, j]], (apex - a)[:, [i, j]])
        along_axis = (edge[:, i] == 0.0) | (edge[:, j] == 0.0)
        steep = np.abs(edge[:, j]) / push[j] > np.abs(edge[:, i]) / push[i]
        # The cross product falls with coordinate i if b_j > a_j and rises with j if b_i > a_i.
        step_i = np.where(steep, np.sign(side) * np.sign(edge[:, j]) * push[i], 0.0)
        step_j = np.where(steep, 0.0, -np.sign(side) * np.sign(edge[:, i]) * push[j])
        pushed = points.copy()
        pushed[:, i] += np.where(along_axis, 0.0, step_i)
        pushed[:, j] += np.where(along_axis, 0.0, step_j)
        pushed = np.clip(pushed, self._lower, self._upper)
        beyond, beyond_error = _cross(edge[:, [i, j]], (pushed - a)[:, [i, j]])
        proven = (np.abs(side) > side_error) & (np.abs(beyond) > beyond_error)
        proven &= np.sign(side) != np.sign(beyond)
        return pushed, proven | along_axis


def edges(vertex_count: int) -> tuple[IntArray, IntArray]:
    """Return the first and the second vertex of every edge."""
    pairs = np.array(list(itertools.combinations(range(vertex_count), 2)), dtype=np.int64)
    return pairs[:, 0], pairs[:, 1]


def children(
    vertices: FloatArray, edge: tuple[IntArray, IntArray], replacement: FloatArray
) -> FloatArray:
    """Cut simplices in two.

    Parameters
    ----------
    vertices : (c + 1, n, d) array
    edge : pair of (n,) int arrays
        The vertices a and b of the edge that is cut.
    replacement : (2, n, d) array
        What replaces b in the first child and a in the second.

    Returns
    -------
    (c + 1, 2 n, d) array
        All first children, then all second ones.
    """
    index = np.arange(vertices.shape[1])
    first, second = vertices.copy(), vertices.copy()
    first[edge[1], index] = replacement[0]
    second[edge[0], index] = replacement[1]
    return np.concatenate([first, second], axis=1)


def interiors(vertices: FloatArray) -> FloatArray:
    """Return the centers (n, d) of simplices; coordinates that do not move are kept exactly."""
    moves = (vertices != vertices[0]).any(axis=0)
    return np.asarray(np.where(moves, vertices.mean(axis=0), vertices[0]))


def _cross(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return cross products (n,) of rounded differences (n, 2), and bounds on their errors."""
    left, right = first[:, 0] * second[:, 1], first[:, 1] * second[:, 0]
    error = 5.0 * UNIT_ROUNDOFF * (np.abs(left) + np.abs(right)) + 8.0 * SMALLEST_SUBNORMAL
    return left - right, error
