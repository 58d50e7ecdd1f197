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
from scipy.linalg import solve_triangular

from nnbo_mip.exact.checking.heads.correlations import UNIT, Correlations, gamma
from nnbo_mip.heads.gp_readout import GpReadout
from nnbo_mip.network.affine import FloatArray

LEAST, LARGEST = 1e-60, 1e60
"""Numbers between these are read, so that nothing comes near underflow or overflow."""

LARGEST_ERROR = 0.1
"""By more than so much the approximate inverse of L may not miss it."""


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


class Process:
    """Expansions of one readout.

    Parameters
    ----------
    readout : GpReadout
    correlations : Correlations
        Over the boxes that matter.

    Attributes
    ----------
    norm : float
        ``y_scale sqrt(a) |f|``, rounded up.
    top : float
        ``reach sqrt(a)``, the largest possible std.
    least_noise : float
        No eigenvalue of ``L L^T - a K`` is smaller.
    """

    def __init__(self, readout: GpReadout, correlations: Correlations) -> None:
        self.readout, self.correlations = readout, correlations
        self.is_useful = correlations.has_sane_scales and self._has_sane_scales()
        """Whether the projection exists, and rounding leaves something to be proven."""
        if self.is_useful:
            with np.errstate(all="ignore"):
                self._measure()
            self.is_useful = self.least_noise > 0.0 and bool(np.isfinite(self._own))

    def _has_sane_scales(self) -> bool:
        """Whether nothing comes near overflow or underflow."""
        read = self.readout
        sizes = np.append(np.abs(np.diag(read.factor)), read.amplitude)
        others = np.concatenate([np.tril(read.factor).ravel(), read.weights, read.points.ravel()])
        numbers = np.array([read.y_center, read.y_scale, read.reach])
        largest = max(float(np.abs(others).max()), float(np.abs(numbers).max()))
        return bool(sizes.min() > LEAST and sizes.max() < LARGEST and largest < LARGEST)

    def _measure(self) -> None:
        read, a = self.readout, self.readout.amplitude
        self.top = read.reach * float(np.sqrt(a)) * (1.0 + 4.0 * UNIT)
        factor = np.tril(read.factor)
        n = len(factor)
        inverse = solve_triangular(factor, np.eye(n), lower=True, check_finite=False)
        self._factor, self._inverse = factor, inverse
        self._rounding = gamma(n + 16)
        self._row = float(np.sqrt(np.square(factor).sum(axis=1).max())) * (1.0 + 1e-12)
        size = float(np.linalg.norm(inverse)) * (1.0 + 1e-12)
        missed = float(np.linalg.norm(inverse @ factor - np.eye(n))) * (1.0 + 1e-12)
        missed += 2.0 * self._rounding * float(np.linalg.norm(np.abs(inverse) @ np.abs(factor)))
        self._missed, self._inverse_size = missed, size
        self._largest_inverse = size / (1.0 - missed) if missed < LARGEST_ERROR else np.inf
        self._weight = float(np.abs(read.weights).sum()) * (1.0 + 1e-12)
        gram = self.correlations.gram()
        gram_error = self.correlations.gram_error + self._rounding
        noise = factor @ factor.T - a * gram
        self.least_noise = _least_eigenvalue(
            noise, self._rounding * (np.abs(factor) @ np.abs(factor.T)) + a * gram_error
        )
        by_factor = np.linalg.norm(factor.T @ read.weights) * (1.0 + 1e-12)
        by_factor += self._rounding * np.sqrt(n) * self._row * self._weight
        by_gram = max(float(read.weights @ gram @ read.weights), 0.0) * (1.0 + 1e-12)
        by_gram += 3.0 * gram_error * self._weight**2
        length = min(float(by_factor), float(np.sqrt(a * by_gram)))
        self.norm = abs(read.y_scale) * float(np.sqrt(a)) * length * (1.0 + 1e-12) + 1e-250
        self._own = self._own_error(n)

    def _own_error(self, n: int) -> float:
        """Bound the error of a right hand side that explains what the readout solves."""
        a, own = self.readout.amplitude, self.correlations.own_error + 4.0 * UNIT
        spread = self._largest_inverse * np.sqrt(n)
        grown = spread * self._rounding * self._row
        if not grown < LARGEST_ERROR:
            return np.inf
        length = (np.sqrt(a) + spread * a * own) / (1.0 - grown)
        return float(a * own + self._rounding * self._row * length) * 1.01

    def expand(self, center: FloatArray, half: FloatArray) -> Expansion:
        """Return the expansions at the centers (d, B) of boxes of half widths (d, B)."""
        read, kernel = self.readout, self.correlations
        a, d = read.amplitude, len(center)
        t = kernel.scaled(half)
        columns = kernel.columns(center)
        taylor = columns.taylor
        solved = self._inverse @ taylor * a
        b = self._inverse.T @ solved
        z = self._factor.T @ b
        gram = np.einsum("pnb,qnb->pqb", z, z) / a
        cross = np.einsum("pnb,qnb->pqb", b, taylor)
        gram = gram - cross - cross.transpose(1, 0, 2)
        gram[0, 0] += 1.0
        for j in range(d):
            gram[j + 1, j + 1] += kernel.second

        reach = np.concatenate([np.ones((1, len(t[0]))), t])  # |t_p|, t_0 = 1
        s = np.square(t).sum(axis=0) * (1.0 + 1e-12)
        along = t.sum(axis=0) * (1.0 + 1e-12)
        entry, slope_entry, bend_entry = (
            error + 2.0 * self._rounding * size
            for error, size in zip(kernel.errors, (1.0, 1.0, 4.0), strict=True)
        )
        b_sizes = (np.abs(b).sum(axis=1) * reach).sum(axis=0) * 1.01
        z_sizes = (np.sqrt(np.square(z).sum(axis=1)) * reach).sum(axis=0) * 1.01
        off = self._rounding * self._row * b_sizes  # of z
        entries = entry + slope_entry * along
        error = 2.0 * b_sizes * entries
        error = error + (2.0 * z_sizes * off + off**2 + self._rounding * z_sizes**2) / a
        sums = np.einsum("pqb,pb,qb->b", np.abs(gram), reach, reach)
        error = 1.01 * (
            error + gamma((d + 3) ** 2) * sums + 16.0 * UNIT * (1.0 + kernel.second * s)
        )

        b_center = b[0]
        std_bend = -columns.curved(b_center)
        for j in range(d):
            std_bend[j, j] -= kernel.second
        center_size = np.abs(b_center).sum(axis=0)
        bend_error = 1.01 * along**2 * (center_size * bend_entry + 8.0 * UNIT * kernel.second)

        scale = read.y_scale * a
        mean = scale * np.einsum("n,pnb->pb", read.weights, taylor)
        mean_bend = scale * columns.curved(read.weights[:, None])
        weight = abs(scale) * self._weight
        mean_error = weight * (entries + 0.5 * bend_entry * along**2)
        mean_error = mean_error + 8.0 * UNIT * (
            abs(read.y_center) + (np.abs(mean) * reach).sum(axis=0)
        )
        mean[0] += read.y_center

        missed = np.sqrt(np.square(solved - z).sum(axis=1))
        missed += self._missed / (1.0 - self._missed) * np.sqrt(np.square(solved).sum(axis=1))
        lost = (missed * reach).sum(axis=0) * 1.01 + off
        lost = lost + 1.2 * self._inverse_size * np.sqrt(len(b_center)) * a * entries
        remainders = kernel.remainders(t)
        return Expansion(
            t,
            mean,
            1.01 * mean_error + 1e-250,
            mean_bend,
            gram,
            1.01 * error,
            std_bend,
            bend_error,
            lost / np.sqrt(a) * 1.01,
            remainders,
            b_sizes,
        )

    def ends(
        self, points: FloatArray
    ) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        """Return ends (n,) of mean and std at points (d, n), exact or of any float64 pass."""
        read, a = self.readout, self.readout.amplitude
        at = self.expand(points, np.zeros_like(points))
        n, root = len(read.points), float(np.sqrt(a))
        own = self.correlations.own_error + 2.0 * self._rounding
        spread = abs(read.y_scale) * a * self._weight * own + 8.0 * UNIT * np.abs(at.mean[0])
        off = at.mean_error + spread + 8.0 * UNIT * abs(read.y_center)
        moved = self._largest_inverse * float(np.sqrt(n)) * self._own
        passes = 2.0 * (at.combined * self._own + at.lost * root * moved) + moved**2
        passes = 1.01 * (passes / a + 4.0 * self._rounding * (1.0 + moved / root) ** 2)
        variance = at.gram[0, 0]
        low = np.maximum(variance - at.gram_error - at.lost**2 - passes, 0.0)
        high = np.maximum(variance + at.gram_error + passes, 0.0)
        stds = self.top * np.sqrt(low) * (1.0 - 1e-14), self.top * np.sqrt(high) * (1.0 + 1e-14)
        return (at.mean[0] - off, at.mean[0] + off), stds


def _least_eigenvalue(matrix: FloatArray, error: FloatArray) -> float:
    """Bound the least eigenvalue of a symmetric matrix with uncertain entries from below."""
    others = np.abs(matrix) + error
    np.fill_diagonal(others, 0.0)
    rows = others.sum(axis=1) * (1.0 + 1e-10)
    return float((np.diag(matrix) - np.diag(error) - rows).min())
