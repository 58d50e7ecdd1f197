r"""Mean and std of a Gaussian process about the centers of boxes, written for checking.

In the space H of the kernel, in length-scales and with a the amplitude (`correlations`), the
mean is ``y_center + y_scale <f, k_x>`` with f = a sum_i w_i k_i. If L L^T - a K, K the
correlations of the observed points, has no negative eigenvalue, it is the Gram matrix of vectors
e_i of some other space, L L^T / a that of phi_i = k_i + e_i / sqrt(a), and

    variance(x) / a = 1 - k^T (L L^T / a)^-1 k = |P k_x|^2,

P the projection onto what is orthogonal to all phi_i. No std is therefore longer than the distance
of k_x to any combination of phi_i, nor does it change by more than k_x does. With the Taylor
expansion of k_x at c, combinations b_0, b_1, …, b_d, and t = (x - c) in length-scales,

    r(t) = r_0 + sum_j t_j r_j,   r_0 = k_c - sum_i b_0i phi_i,   r_j = d_j k_c - sum_i b_ji phi_i,

    std / (reach sqrt(a)) <= |r(t)| + R_1,
    std / (reach sqrt(a)) <= |r(t) + q(t)| + R_2,      q(t) = sum_ij t_i t_j d_i d_j k_c / 2,

R_n the largest remainder in the box. The best b solve linear systems with L L^T; those computed
may be anything, so that neither the condition of L nor a solver's rounding counts: with z = L^T b,

    <r_p, r_q> = <d_p k_c, d_q k_c> - b_p . k_q - b_q . k_p + z_p . z_q / a.

From below the part rho of r(t) that P takes away counts, at most the distance of z to the exact
solution. Its square alone matters, so that a crude bound will do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.correlations import UNIT, Columns, Correlations, gamma
from nnbo_mip.exact.checking.heads.projection import Projection
from nnbo_mip.scores.posteriors.process import ProcessPosterior

LEAST, LARGEST = 1e-60, 1e60
"""Numbers between these are read, so that nothing comes near underflow or overflow."""

TINY = 1e-250
"""More than any sum here loses by underflow."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """Mean, in units of y, and P k_x in B boxes; t counts in length-scales from the centers.

    Parameters
    ----------
    half : (d, B) array
        Largest |t|.
    mean : (1 + d, B) array
        Value and slopes at the centers.
    mean_error : (B,) array
        Error of ``mean[0] + slopes . t + t' bend t / 2`` in the box.
    mean_bend : (d, d, B) array
    gram : (1 + d, 1 + d, B) array
        ``<r_p, r_q>``.
    gram_error : (B,) array
        Error of ``|r(t)|^2`` in the box, and of ``<r_0, r(t)>``.
    std_bend : (d, d, B) array
        ``<r_0, d_j d_k k_c>``.
    bend_error : (B,) array
        Error of ``t' std_bend t``.
    lost : (B,) array
        rho.
    remainders : three (B,) arrays
        R_0, R_1 and R_2.
    combined : (B,) array
        No combination of phi_i has factors of a larger sum of sizes.
    """

    half: FloatArray
    mean: FloatArray
    mean_error: FloatArray
    mean_bend: FloatArray
    gram: FloatArray
    gram_error: FloatArray
    std_bend: FloatArray
    bend_error: FloatArray
    lost: FloatArray
    remainders: tuple[FloatArray, FloatArray, FloatArray]
    combined: FloatArray

    @property
    def count(self) -> int:
        """B."""
        return int(self.half.shape[1])


class _Size:
    """What errors in boxes of scaled half widths (d, B) are multiples of."""

    def __init__(self, half: FloatArray, kernel: Correlations, rounding: float) -> None:
        self.reach = np.concatenate([np.ones((1, half.shape[1])), half])  # |t_p|, t_0 = 1
        self.square = np.square(half).sum(axis=0) * (1.0 + 1e-12)
        self.along = half.sum(axis=0) * (1.0 + 1e-12)
        # Entries of columns, and the sums over the observed points that they are put into.
        entry, slope_entry, self.bend_entry = (
            error + 2.0 * rounding * size
            for error, size in zip(kernel.errors, (1.0, 1.0, 4.0), strict=True)
        )
        self.entries = entry + slope_entry * self.along


class Process:
    """Expansions of one posterior.

    Parameters
    ----------
    posterior : ProcessPosterior
    correlations : Correlations
        Over the boxes that matter.

    Attributes
    ----------
    is_useful : bool
        Whether anything can be bounded; without it nothing else is there.
    norm : float
        ``y_scale sqrt(a) |f|``, rounded up.
    top : float
        ``reach sqrt(a)``, the largest possible std.
    """

    def __init__(self, posterior: ProcessPosterior, correlations: Correlations) -> None:
        self.posterior, self.correlations = posterior, correlations
        self.is_useful = correlations.has_sane_scales and _has_sane_scales(posterior)
        if not self.is_useful:
            return
        with np.errstate(all="ignore"):
            self.projection = Projection(posterior, correlations)
        self.is_useful = self.projection.is_useful
        self.norm = abs(posterior.y_scale) * self.projection.norm * (1.0 + 1e-12) + TINY
        self.top = posterior.reach * float(np.sqrt(posterior.amplitude)) * (1.0 + 4.0 * UNIT)
        self._weight = float(np.abs(posterior.weights).sum()) * (1.0 + 1e-12)

    def expand(self, center: FloatArray, half: FloatArray) -> Expansion:
        """Return the expansions at the centers (d, B) of boxes of half widths (d, B)."""
        kernel = self.correlations
        t = kernel.scaled(half)
        columns = kernel.columns(center)
        size = _Size(t, kernel, self.projection.rounding)
        b, std = self._std(columns, size)
        mean, mean_bend, mean_error = self._mean(columns, size)
        gram, gram_error, lost, combined = std
        std_bend = -columns.curved(b[0])
        for j in range(len(t)):
            std_bend[j, j] -= kernel.second
        bend_error = np.abs(b[0]).sum(axis=0) * size.bend_entry + 8.0 * UNIT * kernel.second
        return Expansion(
            t,
            mean,
            mean_error,
            mean_bend,
            gram,
            gram_error,
            std_bend,
            1.01 * size.along**2 * bend_error,
            lost,
            kernel.remainders(t),
            combined,
        )

    def _mean(self, columns: Columns, size: _Size) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return value and slopes, second derivatives, and the error of all in the boxes."""
        read = self.posterior
        scale = read.y_scale * read.amplitude
        mean = scale * np.einsum("n,pnb->pb", read.weights, columns.taylor)
        bend = scale * columns.curved(read.weights[:, None])
        entries = size.entries + 0.5 * size.bend_entry * size.along**2
        sizes = abs(read.y_center) + (np.abs(mean) * size.reach).sum(axis=0)
        error = abs(scale) * self._weight * entries + 8.0 * UNIT * sizes
        mean[0] += read.y_center
        return mean, bend, 1.01 * error + TINY

    def _std(
        self, columns: Columns, size: _Size
    ) -> tuple[FloatArray, tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
        """Return the combinations b, and products, their error, rho and the sizes of b."""
        a, projection, kernel = self.posterior.amplitude, self.projection, self.correlations
        taylor, reach, rounding = columns.taylor, size.reach, projection.rounding
        solved = projection.inverse @ taylor * a
        b = projection.inverse.T @ solved
        z = projection.factor.T @ b
        cross = np.einsum("pnb,qnb->pqb", b, taylor)
        gram = np.einsum("pnb,qnb->pqb", z, z) / a - cross - cross.transpose(1, 0, 2)
        gram[0, 0] += 1.0
        for j in range(1, len(gram)):
            gram[j, j] += kernel.second
        b_sizes = (np.abs(b).sum(axis=1) * reach).sum(axis=0) * 1.01
        z_sizes = (_lengths(z) * reach).sum(axis=0) * 1.01
        off = rounding * projection.row * b_sizes  # of z
        error = 2.0 * b_sizes * size.entries
        error = error + (2.0 * z_sizes * off + off**2 + rounding * z_sizes**2) / a
        sums = np.einsum("pqb,pb,qb->b", np.abs(gram), reach, reach)
        error = error + gamma((len(gram) + 2) ** 2) * sums
        error = error + 16.0 * UNIT * (1.0 + kernel.second * size.square)
        missed = _lengths(solved - z)
        missed += projection.missed / (1.0 - projection.missed) * _lengths(solved)
        lost = (missed * reach).sum(axis=0) * 1.01 + off
        spread = projection.inverse_size * float(np.sqrt(projection.count))
        lost = (lost + 1.2 * spread * a * size.entries) / np.sqrt(a)
        return b, (gram, 1.01 * error, 1.01 * lost, b_sizes)

    def ends(
        self, points: FloatArray
    ) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """Return ends (n,) of mean and std at points (d, n), exact or of any float64 pass."""
        read, a = self.posterior, self.posterior.amplitude
        at = self.expand(points, np.zeros_like(points))
        projection, root = self.projection, float(np.sqrt(a))
        own = self.correlations.own_error + 2.0 * projection.rounding
        spread = abs(read.y_scale) * a * self._weight * own + 8.0 * UNIT * np.abs(at.mean[0])
        off = at.mean_error + spread + 8.0 * UNIT * abs(read.y_center)
        moved = projection.largest_inverse * float(np.sqrt(len(read.points))) * projection.own_error
        passes = 2.0 * (at.combined * projection.own_error + at.lost * root * moved) + moved**2
        passes = 1.01 * (passes / a + 4.0 * projection.rounding * (1.0 + moved / root) ** 2)
        variance = at.gram[0, 0]
        low = np.maximum(variance - at.gram_error - at.lost**2 - passes, 0.0)
        high = np.maximum(variance + at.gram_error + passes, 0.0)
        stds = self.top * np.sqrt(low) * (1.0 - 1e-14), self.top * np.sqrt(high) * (1.0 + 1e-14)
        return (at.mean[0] - off, at.mean[0] + off), stds


def _lengths(columns: FloatArray) -> FloatArray:
    """Return the lengths (p, B) of vectors (p, n, B)."""
    return np.asarray(np.sqrt(np.square(columns).sum(axis=1)))


def _has_sane_scales(read: ProcessPosterior) -> bool:
    """Whether nothing comes near overflow or underflow."""
    sizes = np.append(np.abs(np.diag(read.factor)), read.amplitude)
    others = np.concatenate([np.tril(read.factor).ravel(), read.weights, read.points.ravel()])
    numbers = np.array([read.y_center, read.y_scale, read.reach])
    largest = max(float(np.abs(others).max()), float(np.abs(numbers).max()))
    return bool(sizes.min() > LEAST and sizes.max() < LARGEST and largest < LARGEST)
