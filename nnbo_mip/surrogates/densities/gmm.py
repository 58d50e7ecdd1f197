r"""Gaussian mixture regression: a mixture of full covariances over input and value, by EM.

scikit-learn's `GaussianMixture` learns K components (u, v) ~ N(mu_k, S_k), a ridge of 1e-6 on the
diagonals; conditioned on u each is a line with a constant standard deviation (`gaussian_joint`). K
and the weight Delta have the highest held-out density (`held_out`). It is plain maximum likelihood:
with few observations it is far too certain, which the background can only blur.

References
----------
Dempster et al. (1977), EM [Dempster1977].
Ghahramani and Jordan (1994), regression by a mixture [GhahramaniJordan1994].
Kruse (2022), as a surrogate [Kruse2022].
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count, check_number, check_widths
from nnbo_mip.surrogates.densities.gaussian_joint import GaussianJoint
from nnbo_mip.surrogates.densities.held_out import Choice, HeldOut, best, folds_of
from nnbo_mip.surrogates.densities.joint_regression import JointRegression


@dataclass(frozen=True)
class Gmm(JointRegression[int]):
    """Options of Gaussian mixture regression.

    Parameters
    ----------
    n_components : int or tuple of int
        K, or those among which the held-out density chooses; never more than half the
        observations.
    n_restarts : int
        Random starts of the last fit; folds take one.
    ridge : float
        Added to the diagonals of the covariances, in standardized units.
    epochs : int
        Steps of EM at most.
    tolerance : float
        Rise of the mean log likelihood at which EM ends.
    delta, background, blend, folds, y_range, seed
        See `JointRegression`; the seed is that of starts and folds.
    """

    name: ClassVar[str] = "gmm"

    n_components: int | tuple[int, ...] = (1, 2, 3, 4, 6, 8, 12, 16, 20)
    n_restarts: int = 20
    ridge: float = 1e-6
    epochs: int = 100
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        check_widths("n_components", self.n_components)
        if isinstance(self.n_components, list):  # as JSON and TOML have it
            object.__setattr__(self, "n_components", tuple(self.n_components))
        check_count("n_restarts", self.n_restarts)
        check_number("ridge", self.ridge, above=0.0)
        check_count("epochs", self.epochs)
        check_number("tolerance", self.tolerance, above=0.0)

    def _joint(self, u: FloatArray, v: FloatArray, setting: int) -> GaussianJoint:
        """Learn so many components."""
        return self._learned(u, v, setting, self.n_restarts)

    def _tuned(self, u: FloatArray, v: FloatArray) -> Choice[int]:
        if len(v) == 1:
            return self._untuned(1)
        folds = folds_of(len(v), self.folds, self.seed)
        fewest = len(v) - int(np.bincount(folds).max())
        distinct = len(np.unique(np.column_stack([u, v]), axis=0))
        most = max(1, min(fewest, distinct - (len(v) - fewest)) // 2)
        asked = self.n_components if isinstance(self.n_components, tuple) else (self.n_components,)
        counts = sorted({min(count, most) for count in asked})
        background = self._held_out_background(fewest)

        def held_out(count: int) -> HeldOut:
            joints = (
                self._learned(u[folds != k], v[folds != k], count, 1)
                for k in range(int(folds.max()) + 1)
            )
            return HeldOut.gathered(folds, joints, u, v)

        return best(counts, held_out, v, background, self._deltas)

    def _learned(self, u: FloatArray, v: FloatArray, count: int, starts: int) -> GaussianJoint:
        """Return the most likely of several mixtures of `count` components."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.mixture import GaussianMixture

        model = GaussianMixture(
            count,
            tol=self.tolerance,
            reg_covar=self.ridge,
            max_iter=self.epochs,
            n_init=starts,
            random_state=self.seed,
        )
        data = np.column_stack([u, v])
        if len(data) == 1:  # scikit-learn asks for two
            data = np.repeat(data, 2, axis=0)
        with warnings.catch_warnings():
            # A start that ends after `epochs` steps is a start like any other.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(data)
        return GaussianJoint.of_covariances(model.weights_, model.means_, model.covariances_)
