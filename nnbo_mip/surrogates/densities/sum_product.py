r"""Sum-product networks of random pairs, and the conditional of their last variable.

The variables are u_1, …, u_d and v. Each has C normal leaves. A *track* pairs the variables at
random, then the pairs, and so on; one that is left over waits. A pair (a, b) of regions with C
values each has the C^2 products a_i b_j and C weighted sums of them,

    r_k = sum_ij W_kij a_i b_j,       sum_ij W_kij = 1,

and the last pair of a track has one sum. Regions of a pair share no variable (decomposability),
and all products below a sum have the same variables (completeness); both hold because a track
is a binary tree. The density is a weighted sum of T tracks.

*The conditional.* Every product of leaves holds one leaf of v, so a track is
sum_c A_c(u) N(v | m_c, s_c^2) over the C leaves of v. A region that holds v is carried along as
the C x C coefficients of these leaves, and the others as numbers: one pass gives all A_c. Values
are kept divided by the largest of their region, its logarithm beside them, so that nothing
underflows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import Array, FloatArray, IntArray
from nnbo_mip.surrogates.base.mixture import log_normal
from nnbo_mip.surrogates.densities.joint_density import JointDensity, Parts, PartSlopes


@dataclass(frozen=True, eq=False)
class SumProductNetwork(JointDensity):
    """A density of d inputs and a value.

    Parameters
    ----------
    pairs : (T, d, 2) int array
        Regions that are paired, in an order in which each is there before it is used: a
        variable by its index, 0 to d, the k-th pair as d + 1 + k. The last pair is the root.
    leaf_means, leaf_stds : (T, d + 1, C) arrays
    inner : (T, d - 1, C, C, C) array
        W of all pairs but the last.
    root : (T, C, C) array
        W of the last pair.
    tracks : (T,) array
        Weights of the tracks.
    """

    kind = "sum product"

    pairs: IntArray
    leaf_means: FloatArray
    leaf_stds: FloatArray
    inner: FloatArray
    root: FloatArray
    tracks: FloatArray

    def __post_init__(self) -> None:
        for track in self.pairs:
            check_track(track)

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.leaf_means.shape[1]) - 1

    @property
    def n_channels(self) -> int:
        """C, the leaves of a variable."""
        return int(self.leaf_means.shape[2])

    @property
    def n_parts(self) -> int:
        """T C, the leaves of v."""
        return len(self.tracks) * self.n_channels

    def parts(self, u: FloatArray) -> Parts:
        """Return the components at inputs (n, d)."""
        logs = []
        for index, share in enumerate(self.tracks):
            root = self._root(index, u, sloped=False)
            logs.append(np.log(share) + root.top[:, 0] + np.log(root.values[:, 0]))
        means = self.leaf_means[:, -1].ravel()
        whole = np.concatenate(logs, axis=1)
        return Parts(whole, np.broadcast_to(means, whole.shape), self.leaf_stds[:, -1].ravel())

    def slopes(self, u: FloatArray) -> PartSlopes:
        """Return the derivatives of the components at inputs (n, d)."""
        logs = []
        for index in range(len(self.tracks)):
            root = self._root(index, u, sloped=True)
            found = np.zeros((len(u), self.n_channels, self.n_inputs))
            found[:, :, list(root.scope)] = root.slopes[:, 0] / root.values[:, 0, :, None]
            logs.append(found)
        whole = np.concatenate(logs, axis=1)
        return PartSlopes(whole, np.zeros_like(whole))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {
            "pairs": self.pairs,
            "leaf_means": self.leaf_means,
            "leaf_stds": self.leaf_stds,
            "inner": self.inner,
            "root": self.root,
            "tracks": self.tracks,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> SumProductNetwork:
        """Make the network that `to_arrays` described."""
        t, variables, c = arrays["leaf_means"].shape
        shapes = {
            "pairs": (t, variables - 1, 2),
            "leaf_stds": (t, variables, c),
            "inner": (t, variables - 2, c, c, c),
            "root": (t, c, c),
            "tracks": (t,),
        }
        wrong = [name for name, shape in shapes.items() if arrays[name].shape != shape]
        positive = all((arrays[name] > 0.0).all() for name in shapes if name != "pairs")
        if wrong or not positive or arrays["pairs"].dtype.kind != "i":
            raise ValueError(f"arrays of wrong shape: {wrong}, or numbers that are not positive")
        names = ("pairs", "leaf_means", "leaf_stds", "inner", "root", "tracks")
        return cls(*(arrays[name] for name in names))

    # -- one pass through a track ---------------------------------------------------------

    def _root(self, index: int, u: FloatArray, sloped: bool) -> _Region:
        """Return the last region of a track at inputs (n, d)."""
        regions = [self._leaves(index, u, variable) for variable in range(self.n_inputs)]
        regions.append(self._value_leaves(len(u)))
        weights = (*self.inner[index], self.root[index][None])
        for (left, right), weight in zip(self.pairs[index], weights, strict=True):
            regions.append(_joined(regions[left], regions[right], weight, sloped))
        return regions[-1]

    def _leaves(self, index: int, u: FloatArray, variable: int) -> _Region:
        means, stds = self.leaf_means[index, variable], self.leaf_stds[index, variable]
        column = u[:, variable, None]
        logs = log_normal(column, means, stds)
        top = logs.max(axis=1, keepdims=True)
        values = np.exp(logs - top)
        slopes = values * (means - column) / np.square(stds)
        return _Region(values[..., None], top[..., None], slopes[:, :, None, None], (variable,))

    def _value_leaves(self, n: int) -> _Region:
        """Return the coefficients of the leaves of v: each leaf is itself."""
        unit = np.tile(np.eye(self.n_channels), (n, 1, 1))
        shape = (n, self.n_channels, self.n_channels, 0)
        return _Region(unit, np.zeros((n, 1, self.n_channels)), np.zeros(shape), ())


@dataclass(frozen=True, eq=False)
class _Region:
    """A region at n inputs.

    Parameters
    ----------
    values : (n, C, Q) array
        Divided by exp(top). Q is C where the region holds v, one column a leaf of v, else 1.
    top : (n, 1, Q) array
    slopes : (n, C, Q, w) array
        Derivatives of the values by the inputs of the region, divided by exp(top).
    scope : tuple of int
        These inputs.
    """

    values: FloatArray
    top: FloatArray
    slopes: FloatArray
    scope: tuple[int, ...]


def _joined(a: _Region, b: _Region, weight: FloatArray, sloped: bool) -> _Region:
    """Return the sums (K, C, C) over the products of two regions."""
    if a.values.shape[2] > 1:  # the one that holds v comes last
        a, b, weight = b, a, weight.transpose(0, 2, 1)
    count, c = len(weight), weight.shape[1]
    n, q = len(b.values), b.values.shape[2]
    # half_nkj = sum_i W_kij a_ni, sum_nkq = sum_j half_nkj b_njq
    by_left = weight.transpose(1, 0, 2).reshape(c, count * c)
    half = (a.values[:, :, 0] @ by_left).reshape(n, count, c)
    sums = half @ b.values
    largest = sums.max(axis=1, keepdims=True)
    slopes = np.zeros((n, count, q, 0))
    if sloped:
        moved = np.moveaxis(a.slopes[:, :, 0], 1, 2) @ by_left  # (n, w_a, K C)
        of_a = moved.reshape(n, -1, count, c) @ b.values[:, None]
        of_b = half[:, None] @ np.moveaxis(b.slopes, 3, 1)
        both = np.concatenate([of_a, of_b], axis=1) / largest[:, None]
        slopes = np.moveaxis(both, 1, 3)
    return _Region(sums / largest, a.top + b.top + np.log(largest), slopes, (*a.scope, *b.scope))


def random_track(variables: int, rng: np.random.Generator) -> IntArray:
    """Return random pairs (variables - 1, 2) of regions, level by level."""
    waiting = rng.permutation(variables).tolist()
    pairs: list[tuple[int, int]] = []
    while len(waiting) > 1:
        above = []
        for left, right in zip(waiting[::2], waiting[1::2], strict=False):
            pairs.append((left, right))
            above.append(variables + len(pairs) - 1)
        waiting = above + waiting[len(above) * 2 :]
    return np.array(pairs, dtype=np.int64)


def check_track(pairs: IntArray) -> None:
    """Refuse pairs that are no binary tree over all variables."""
    variables = len(pairs) + 1
    scopes = [frozenset({variable}) for variable in range(variables)]
    for left, right in pairs.tolist():
        if not (0 <= left < len(scopes) and 0 <= right < len(scopes)):
            raise ValueError(f"the pair ({left}, {right}) names a region that is not there yet")
        if scopes[left] & scopes[right]:
            raise ValueError(f"the regions {left} and {right} share a variable")
        scopes.append(scopes[left] | scopes[right])
    if scopes[-1] != frozenset(range(variables)):
        raise ValueError("the last pair leaves out a variable")
