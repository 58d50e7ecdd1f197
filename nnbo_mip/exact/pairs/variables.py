"""What a sum of terms over a domain is made of: variables with few labels, and who meets whom.

A category is one variable; its labels are the levels that are multiplied with something, and one
more for the others, of which only the best matters. A coordinate without a square, on which the
sum depends linearly, is largest at one of its ends: these are its labels, whatever lies between
them. A coordinate with a square is *bent*; its best place follows from those of the variables it is
multiplied with, none of which is bent.

Variables that are multiplied with none are alone. The others are eliminated one after the other,
bent ones first, then the one that leaves the smallest table.

References
----------
Dechter (1999), elimination of variables and its orders [Dechter1999].
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.space.domain import Domain


@dataclass(frozen=True, eq=False)
class Terms:
    """A sum of terms as arrays.

    Parameters
    ----------
    linear, square : (d,) arrays
        Weights of x_j and of x_j^2.
    pairs : (E, 2) int array
        Coordinates j < k that are multiplied, with weights that are not zero.
    products : (E,) array
        Their weights.
    level : float
    """

    linear: FloatArray
    square: FloatArray
    pairs: IntArray
    products: FloatArray
    level: float

    @staticmethod
    def of(columns: IntArray, weights: FloatArray, level: float, domain: Domain) -> Terms:
        """Sort terms (U, 2) and weights (U,); those that vanish on the domain are left out."""
        d = domain.dimension
        linear, square = np.zeros(d), np.zeros(d)
        first, second = columns.T
        np.add.at(linear, first[second < 0], weights[second < 0])
        np.add.at(square, first[second == first], weights[second == first])
        owner = owners(domain)
        used = (second >= 0) & (second != first) & (weights != 0.0)
        used[used] = owner[first[used]] != owner[second[used]]  # levels exclude each other
        return Terms(linear, square, columns[used], weights[used], level)


def owners(domain: Domain) -> IntArray:
    """Return the variable (d,) of each coordinate: that of a category is its first level."""
    owner = np.arange(domain.dimension)
    for group in domain.one_hot:
        owner[list(group)] = group[0]
    return owner


@dataclass(frozen=True, eq=False)
class Plan:
    """In which order variables are eliminated.

    Parameters
    ----------
    order : tuple of int
        Variables that are multiplied with others, by their first coordinates.
    members : mapping of int to tuple of int
        Coordinates of each of them; several are the levels of a category.
    labels : mapping of int to int
        How many labels each of them has.
    levels : mapping of int to tuple of int
        Of each category among them, the levels that have labels of their own.
    bent : frozenset of int
        Those of one coordinate that has a square.
    alone : (k,) int array
        Coordinates, no levels of categories, that are multiplied with none.
    groups : tuple of tuple of int
        Categories that are multiplied with none.
    """

    order: tuple[int, ...]
    members: dict[int, tuple[int, ...]]
    labels: dict[int, int]
    levels: dict[int, tuple[int, ...]]
    bent: frozenset[int]
    alone: IntArray
    groups: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(terms: Terms, domain: Domain) -> Plan:
        """Return the order for a sum over a domain."""
        owner = owners(domain)
        of_group = {group[0]: tuple(group) for group in domain.one_hot}
        near: dict[int, set[int]] = defaultdict(set)
        for one, other in owner[terms.pairs].tolist():
            near[one].add(other)
            near[other].add(one)
        members = {v: of_group.get(v, (v,)) for v in near}
        bent = frozenset(v for v, own in members.items() if len(own) == 1 and terms.square[v])
        free = np.array([j for j in range(domain.dimension) if j not in domain.one_hot_members])
        alone = np.array([j for j in free if j not in near], dtype=np.int64)
        groups = tuple(group for first, group in of_group.items() if first not in near)
        met = set(terms.pairs.ravel().tolist())
        levels = {
            v: tuple(j for j in own if j in met) for v, own in members.items() if len(own) > 1
        }
        labels = dict.fromkeys(near, 2)
        labels |= {v: len(own) + (len(own) < len(members[v])) for v, own in levels.items()}
        return Plan(_order(near, labels, bent), members, labels, levels, bent, alone, groups)


def _order(
    near: dict[int, set[int]], labels: dict[int, int], bent: frozenset[int]
) -> tuple[int, ...]:
    """Return variables, bent ones first, each with the smallest table that is left."""
    left = {v: set(others) for v, others in near.items()}
    order: list[int] = []

    def cost(v: int) -> tuple[bool, float, int]:
        size = 1.0
        for other in left[v]:
            size *= labels[other]
        return v not in bent, size, v

    costs = {v: cost(v) for v in left}
    while left:
        v = min(costs, key=lambda one: costs[one])
        others = left.pop(v)
        del costs[v]
        order.append(v)
        for other in others:
            left[other] |= others
            left[other] -= {v, other}
        for other in others:
            costs[other] = cost(other)
    return tuple(order)


def parts_of(scope: Sequence[int], labels: dict[int, int], most: int) -> list[list[int]]:
    """Return a scope in as few parts as tables of `most` numbers need, in its order."""
    parts: list[list[int]] = []
    size = most + 1
    for v in scope:
        if size * labels[v] > most:
            parts.append([])
            size = 1
        parts[-1].append(v)
        size *= labels[v]
    return parts
