r"""The std of members and of features with uncertain weights, and its slopes.

members    std^2 = mean_m (f_m - mean_m f_m)^2 + noise^2, or the square of that (variance)
features   std^2 = |root . psi|^2 + noise^2
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray


def std_of_members(members: FloatArray, spread: str, unit: float, noise: float) -> FloatArray:
    """Return the std (n,) of predictions (n, M); `unit` divides a ``variance``."""
    off = members - members.mean(axis=1, keepdims=True)
    variance = np.square(off).mean(axis=1)
    size = variance / unit if spread == "variance" else np.sqrt(variance)
    return np.asarray(np.hypot(size, noise))


def slopes_by_members(members: FloatArray, spread: str, unit: float, noise: float) -> FloatArray:
    """Return the derivatives (n, M) of the std by each prediction; 0 where they are infinite."""
    off = members - members.mean(axis=1, keepdims=True)
    variance = np.square(off).mean(axis=1)
    by_variance = _by_variance(variance, spread, unit, noise)
    return np.asarray(by_variance[:, None] * 2.0 * off / off.shape[1])


def std_of_features(psi: FloatArray, root: FloatArray, noise: float) -> FloatArray:
    """Return the std (n,) at features (n, k)."""
    return np.asarray(np.hypot(np.linalg.norm(psi @ root.T, axis=1), noise))


def slopes_by_features(psi: FloatArray, root: FloatArray, noise: float) -> FloatArray:
    """Return the derivatives (n, k) of the std by each feature; 0 where it is 0."""
    std = std_of_features(psi, root, noise)
    safe = np.where(std > 0.0, std, np.inf)
    return np.asarray((psi @ root.T) @ root / safe[:, None])


def _by_variance(variance: FloatArray, spread: str, unit: float, noise: float) -> FloatArray:
    """Return the derivative of the std by the members' variance."""
    if spread == "variance":
        size = variance / unit
        total = np.hypot(size, noise)
        return np.where(total > 0.0, size, 1.0) / (np.where(total > 0.0, total, 1.0) * unit)
    total = np.sqrt(variance + noise**2)
    return 0.5 / np.where(total > 0.0, total, np.inf)
