r"""Functions round mean and std of a Gaussian process in boxes, from its expansions (`process`).

With V(t) = |r(t)|^2, T the largest std, g_ij = <r_i, r_j> and h_ij = <r_0, d_i d_j k_c>, above

    std / T <= |r(t)| + R_1                                                          convex,
    std / T <= (V_0 + 2 g_0 . t + max t'(g + h) t + 2 |r - r_0| |q| + |q|^2 + s^2) / (2 s) + R_2,

affine, for any s > 0: a tangent of the root. Below, as P k_x is no shorter than its part along
P r_0, and |P r_0| <= |r_0|,

    std / T >= (V_0 + g_0 . t + min t'h t / 2) / |r_0| - R_2 - what rho may cost,

and the same with R_1 in place of the second-order terms. Where these are larger than what is known
without any slope, constants are taken. Weighted sums of mean and std have one affine function
above them, in which the second-order terms of both are summed before they are bounded.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.heads.correlations import UNIT
from nnbo_mip.exact.checking.heads.process import Expansion, Process
from nnbo_mip.exact.checking.heads.stds import Std

RELATIVE = 1e-14
"""Relative error of the few operations that make a line."""

LEAST = 1e-9
"""Tangents of the root are taken at no smaller share of the largest std."""

EIGENVALUES = 1e-9
"""Error of computed eigenvalues, as a share of the matrix's norm."""


class ProcessBounds:
    """What is above and below mean and std on B boxes.

    Parameters
    ----------
    process : Process
    at : Expansion
    free : (k,) array
        The coordinates in which some box is wide.
    """

    def __init__(self, process: Process, at: Expansion, free: npt.NDArray[np.intp]) -> None:
        self.process, self.at, self.free = process, at, free
        self.is_twice_smooth = process.correlations.is_twice_smooth
        self.ends = _ends(at.half[free])
        self._variance = at.gram[0, 0]
        self.root = np.sqrt(np.maximum(self._variance, 0.0) + at.gram_error) * (1.0 + RELATIVE)
        """(B,), at least |r_0|."""

    @cached_property
    def mean(self) -> FloatArray:
        """(V, B) values of an affine function above the mean."""
        at, norm = self.at, self.process.norm
        rising = self._at_vertices(at.mean[1:])
        rest = norm * at.remainders[1]
        if self.is_twice_smooth:
            rest = np.minimum(rest, self._largest(0.5 * at.mean_bend) + norm * at.remainders[2])
        values = at.mean[0] + rising + rest * (1.0 + RELATIVE) + at.mean_error
        flat = at.mean[0] + norm * at.remainders[0] * (1.0 + RELATIVE) + at.mean_error
        center = self.process.posterior.y_center
        flat = np.minimum(flat, center + norm + RELATIVE * (abs(center) + norm))
        return np.asarray(np.where(values.max(axis=0) <= flat, values, flat))

    @cached_property
    def cone(self) -> FloatArray:
        """(V, B) values of a convex function above the std."""
        at = self.at
        square = self._variance + 2.0 * self._at_vertices(at.gram[0, 1:])
        square = square + self._squares(at.gram[1:, 1:])
        length = np.sqrt(np.maximum(square + at.gram_error, 0.0))
        return self._capped(length + at.remainders[1])

    @cached_property
    def line(self) -> FloatArray:
        """(V, B) values of an affine function above the std."""
        slope, constant = self._tangent
        first = self._largest(self.at.gram[1:, 1:]) / (2.0 * self._touch) + self.at.remainders[1]
        if self.is_twice_smooth:
            second = self._largest(self._spread) + self._cubic
            second = second / (2.0 * self._touch) + self.at.remainders[2]
            first = np.minimum(first, second)
        return self._capped(constant + self._at_vertices(slope) + first * (1.0 + RELATIVE))

    @cached_property
    def below(self) -> FloatArray:
        """(V, B) values of an affine function below the std."""
        at, root = self.at, self.root
        rising = self._at_vertices(at.gram[0, 1:]) / root
        lost = at.gram_error + at.lost**2
        first = lost / root + at.remainders[1]
        if self.is_twice_smooth:
            second = self._largest(-0.5 * at.std_bend) + 0.5 * at.bend_error
            second = second + at.lost * self._second_order + lost
            first = np.minimum(first, second / root + at.remainders[2])
        sizes = (np.abs(self._variance) / root + np.abs(rising).max(axis=0)) * 4.0 * RELATIVE
        value = self._variance / root + rising - first * (1.0 + RELATIVE) - sizes
        return np.asarray(self.process.top * (value - 16.0 * UNIT * np.abs(value)))

    def joint(self, mean_weight: FloatArray, std_weight: FloatArray) -> FloatArray:
        """Return values (V, B) of an affine function above a sum; weights (B,), of mean and std.

        The weight of the mean is not negative.
        """
        at, process = self.at, self.process
        if not self.is_twice_smooth:
            return np.full((1 << len(self.free), at.count), np.inf)
        a, b = mean_weight, std_weight * process.top
        up = b > 0.0
        slope, constant = self._tangent
        lost = at.gram_error + at.lost**2 + at.lost * self._second_order + 0.5 * at.bend_error
        slope = np.where(up, slope, at.gram[0, 1:] / self.root)
        lowest = (self._variance - lost) / self.root - 4.0 * RELATIVE * self.root
        constant = np.where(up, constant + self._cubic / (2.0 * self._touch), lowest)
        curve = np.where(up, self._spread / (2.0 * self._touch), 0.5 * at.std_bend / self.root)
        curve = 0.5 * a * at.mean_bend + b * curve
        rest = self._largest(curve) + (a * process.norm + np.abs(b)) * at.remainders[2]
        slopes = a * at.mean[1:] + b * slope
        rising = self._at_vertices(slopes)
        base = a * at.mean[0] + b * constant
        sizes = np.abs(a * at.mean[0]) + np.abs(b * constant) + rest
        sizes = sizes + (np.abs(a * at.mean[1:]) + np.abs(b * slope)).sum(
            axis=0, where=at.half > 0.0
        ) * at.half.max(axis=0)
        return np.asarray(base + rising + rest + a * at.mean_error + 4.0 * RELATIVE * sizes)

    # -- parts --------------------------------------------------------------------------

    @cached_property
    def _touch(self) -> FloatArray:
        """Where the root is touched, (B,): between its values at the center and at the largest."""
        at = self.at
        farthest = self._variance + 2.0 * np.abs(at.gram[0, 1:] * at.half).sum(axis=0)
        both = np.sqrt(np.maximum(self._variance, 0.0)) + np.sqrt(np.maximum(farthest, 0.0))
        return np.asarray(np.maximum(0.5 * both, LEAST))

    @cached_property
    def _tangent(self) -> tuple[FloatArray, FloatArray]:
        """Slopes (d, B) and constant (B,) without the second-order terms."""
        at, touch = self.at, self._touch
        slope = at.gram[0, 1:] / touch
        constant = (np.maximum(self._variance, 0.0) + at.gram_error + touch**2) / (2.0 * touch)
        sizes = constant + (np.abs(slope) * at.half).sum(axis=0)
        return slope, constant + 4.0 * RELATIVE * sizes

    @property
    def _spread(self) -> FloatArray:
        """The matrices (d, d, B) of the second-order terms of V."""
        return np.asarray(self.at.gram[1:, 1:] + self.at.std_bend)

    @cached_property
    def _second_order(self) -> FloatArray:
        """(B,), no q(t) is longer."""
        s = np.square(self.at.half).sum(axis=0) * (1.0 + 1e-12)
        fourth = self.process.correlations.fourth
        return np.asarray(0.5 * np.sqrt(fourth) * s * (1.0 + RELATIVE))

    @cached_property
    def _cubic(self) -> FloatArray:
        """(B,), all terms of V beyond the second order, and the errors of those."""
        moved = np.sqrt(self._largest(self.at.gram[1:, 1:]) + self.at.gram_error)
        beyond = 2.0 * moved * self._second_order + self._second_order**2
        return np.asarray(beyond * (1.0 + RELATIVE) + self.at.bend_error)

    def _capped(self, share: FloatArray) -> FloatArray:
        """Return values (V, B) in units of y, those of a constant where this is lower."""
        flat = np.minimum(1.0, self.root + self.at.remainders[0])
        lower = np.asarray(share.max(axis=0) <= flat)
        return np.asarray(self.process.top * (np.where(lower, share, flat) * (1.0 + RELATIVE)))

    def _at_vertices(self, slopes: FloatArray) -> FloatArray:
        """Return slopes (d, B) times t at the vertices: (V, B)."""
        return np.asarray(np.einsum("vkb,kb->vb", self.ends, slopes[self.free]))

    def _squares(self, matrix: FloatArray) -> FloatArray:
        """Return t' matrix t at the vertices: (V, B)."""
        free = matrix[self.free][:, self.free]
        return np.asarray(np.einsum("vkb,klb,vlb->vb", self.ends, free, self.ends, optimize=True))

    def _largest(self, matrix: FloatArray) -> FloatArray:
        """Bound t' matrix t (B,) in the boxes, from above and by zero from below."""
        half = self.at.half[self.free]
        scaled = matrix[self.free][:, self.free] * half[:, None] * half[None]
        sizes = np.abs(scaled).sum(axis=(0, 1))
        diagonal = np.einsum("kkb->kb", scaled)
        rows = sizes - np.abs(diagonal).sum(axis=0) + np.maximum(diagonal, 0.0).sum(axis=0)
        known = np.where(np.isfinite(scaled), scaled, 0.0)
        eigenvalues = np.linalg.eigvalsh(np.moveaxis(known, 2, 0))
        largest = np.maximum(eigenvalues[:, -1] if len(half) else 0.0, 0.0)
        by_norm = len(half) * (largest + EIGENVALUES * sizes)
        bound = np.minimum(np.maximum(rows, 0.0), by_norm) + 16.0 * UNIT * (len(half) + 2) * sizes
        return np.asarray(np.where(np.isfinite(sizes), bound, np.inf))


class ConvexStd(Std):
    """The std below a cone."""

    def __init__(self, bounds: ProcessBounds) -> None:
        self._bounds = bounds

    @cached_property
    def above(self) -> FloatArray:
        """Vertices of the cone."""
        return self._bounds.cone

    @cached_property
    def below(self) -> FloatArray:
        """Vertices of the lower line."""
        return self._bounds.below


class AffineStd(ConvexStd):
    """The std below a line, which can be summed with the mean."""

    @cached_property
    def above(self) -> FloatArray:
        """Vertices of the upper line."""
        return self._bounds.line

    def joint_above(self, mean_weight: FloatArray, std_weight: FloatArray) -> FloatArray:
        """Sum mean and std before their second-order terms are bounded."""
        return self._bounds.joint(mean_weight, std_weight)


def _ends(half: FloatArray) -> FloatArray:
    """Return the vertices (2^k, k, B) of boxes about zero; bit i is the end of coordinate i."""
    k = len(half)
    bits = np.arange(1 << k)[:, None] >> np.arange(k)[None] & 1
    return np.where(bits[:, :, None] == 1, half[None], -half[None])
