"""Gaussian processes: a kernel, its hyper-parameters by maximum likelihood, an exact posterior.

The likelihood is our own or scikit-learn's (`direct`, `sklearn`), the search is in `fitting`, the
belief in `belief`.

A category is coded as one input a level, of which one is 1. Where two levels differ, |x - x'|^2 = 2
in these inputs. With one length-scale l for all of them they add 2 / l^2 to r^2 then, and nothing
else: an overlap (Hamming) kernel, with one parameter a category.

References
----------
Rasmussen and Williams (2006), Gaussian processes [RasmussenWilliams2006].
Kandasamy et al. (2015), sums over groups of inputs [Kandasamy2015].
Hutter et al. (2011), a Hamming distance with a learned scale for categories [Hutter2011].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_solve, cholesky

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_choice, check_count, check_flag, check_number
from nnbo_mip.core.errors import InputError, TrainingError, UnsupportedError
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Surrogate
from nnbo_mip.surrogates.base.observations import (
    NEGLIGIBLE_SPREAD,
    Observations,
    Standardization,
    check_y_range,
)
from nnbo_mip.surrogates.gp.belief import GpBelief, gp_capabilities
from nnbo_mip.surrogates.gp.direct import direct_likelihood
from nnbo_mip.surrogates.gp.fitting import (
    MOST_STEPS,
    Hyperparameters,
    LogNormal,
    maximize_likelihood,
)
from nnbo_mip.surrogates.gp.kernels import FORMS, LARGEST_NU, Kernel
from nnbo_mip.surrogates.gp.noise import MOST, priors_among_noise, unknown_noise
from nnbo_mip.surrogates.gp.options import check_categories, check_groups, check_range
from nnbo_mip.surrogates.gp.screening import screened_starts
from nnbo_mip.surrogates.gp.sklearn import sklearn_likelihood

__all__ = ["GaussianProcess", "GpBelief", "pure"]

LIKELIHOODS = {
    "direct": direct_likelihood,
    "sklearn": sklearn_likelihood,
}
PRIORS = ("none", "dimension", "hierarchical")
STARTS = ("around", "screened")

LEAST_APART, APART_OF_ONE = 0.25, 2.0
"""Scale of the factors, as logarithms, by which d length-scales differ under `hierarchical`: the
second over d, and not less than the first. The more there are, the less values say of each."""
LISTS = (
    "length_scale",
    "length_scale_bounds",
    "amplitude_bounds",
    "mixture_bounds",
    "noise_bounds",
    "y_range",
)
"""Options that can be several numbers."""

MOST_SEARCHED, SEARCHED = 200, 150
"""Observations up to which all climbs are over all of them, and how many are taken of more."""

LAST_STEPS = 40
"""Steps of the climb over all observations that follows."""

Range = tuple[float, float] | str


@dataclass(frozen=True)
class GaussianProcess(Surrogate):
    """Options of a Gaussian process with a zero mean in standardized units.

    Parameters
    ----------
    kernel : str
        ``rbf``, ``matern`` or ``rational_quadratic``.
    nu : float
        Smoothness of ``matern``, at most 30.
    ard : bool
        Whether every input has its own length-scale.
    length_scale : float or tuple of float
        Where the search starts; with `ard` also one an input.
    groups : tuple of tuple of int, optional
        Disjoint groups of inputs, counted from 0, that hold all of them: the function is a sum of
        functions of one group each, of equal variance. With the backend ``direct``.
    categories : tuple of tuple of int, optional
        Inputs that are the levels of one category, 0 or 1 each. With `ard` they have one
        length-scale: an overlap kernel, see the module. Left out, a run says what its space has,
        and `fit` alone knows of none; ``()`` is for one length-scale a level.
    amplitude : float
        Variance of the function in standardized units: where the search starts.
    mixture : float
        Exponent of ``rational_quadratic``: where the search starts.
    noise : float
        Variance of an observation about the function, in standardized units: known, or
        where the search starts.
    length_scale_prior : {"none", "dimension", "hierarchical"}
        ``dimension``: a log-normal prior whose typical length grows with the root of the number
        of inputs, for inputs in [-1, 1]; it helps where inputs are many or observations few.
        ``hierarchical``: that for the mean of their logarithms, about which each has a Cauchy
        distribution (`fitting`).
    length_scale_bounds, amplitude_bounds, mixture_bounds, noise_bounds : (low, high) or "fixed"
        Where each is searched; ``"fixed"`` keeps the value.
    alpha : float
        Variance that is added to the diagonal for stability and not reported as noise.
    n_restarts : int
        Climbs of the likelihood from random points within a factor of 30 of the values
        above, beside the climb from those. With more than 200 observations they are over 150 of
        these, chosen by the seed; a short climb over all follows from where the best of them ended.
        Where inputs are many too, that part may not show which of them matter.
    starts : {"around", "screened"}
        Where climbs begin: ``around`` the values above, or ``screened``, for many inputs, of which
        all may matter alike, or few (`screening`); the values above, and `n_restarts`, are left
        out then. It needs `ard` and a prior of length-scales.
    normalize : bool
        Whether y is standardized; otherwise the prior's mean is y = 0.
    y_range : (low, high), optional
        Known range of y, mapped to [-1, 1] instead of standardizing.
    standardize_inputs : bool
        Whether inputs are standardized; they are meant to come in model coordinates.
    backend : str
        Whose likelihood is climbed: ``direct``, our own and the quickest, or ``sklearn``.
    learns_noise : bool
        Whether values of which no deviation is told may have a noise, the same for all: it is
        believed where they speak for it clearly (`noise`). It needs `noise=0`.
    pure : bool
        Says to a loop that the uncertainty is to be used as it is; see `scalable`.
    seed : int
        Of the random starts.

    Notes
    -----
    Constant values of y, those of a single observation for one, say nothing about
    hyper-parameters, and the given ones are kept.

    Where rounding makes the kernel matrix singular (points that repeat, with ``alpha=0``),
    its diagonal is raised, from 1e-10 of the amplitude on tenfold, until it can be factorized.
    A point with several values is believed to have their average.
    """

    name: ClassVar[str] = "gp"
    belief_type: ClassVar[type[Belief]] = GpBelief
    weighs_noise: ClassVar[bool] = True

    kernel: str = "rbf"
    nu: float = 2.5
    ard: bool = False
    length_scale: float | tuple[float, ...] = 1.0
    groups: tuple[tuple[int, ...], ...] | None = None
    categories: tuple[tuple[int, ...], ...] | None = None
    length_scale_prior: str = "none"
    amplitude: float = 1.0
    mixture: float = 1.0
    noise: float = 0.0
    length_scale_bounds: Range = (1e-5, 1e5)
    amplitude_bounds: Range = (1e-5, 1e5)
    mixture_bounds: Range = (1e-5, 1e5)
    noise_bounds: Range = "fixed"
    alpha: float = 1e-7
    n_restarts: int = 10
    starts: str = "around"
    normalize: bool = True
    y_range: tuple[float, float] | None = None
    standardize_inputs: bool = False
    backend: str = "direct"
    learns_noise: bool = False
    pure: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        for name in LISTS:
            given = getattr(self, name)
            if isinstance(given, list):  # as JSON and TOML have it
                object.__setattr__(self, name, tuple(given))
        if self.groups is not None:
            object.__setattr__(self, "groups", check_groups(self.groups))
        if self.categories is not None:
            object.__setattr__(self, "categories", check_categories(self.categories))
        check_choice("kernel", self.kernel, FORMS)
        check_choice("backend", self.backend, tuple(LIKELIHOODS))
        check_choice("length_scale_prior", self.length_scale_prior, PRIORS)
        check_choice("starts", self.starts, STARTS)
        for name in ("ard", "normalize", "standardize_inputs", "learns_noise", "pure"):
            check_flag(name, getattr(self, name))
        check_number("nu", self.nu, above=0.0, below=np.nextafter(LARGEST_NU, np.inf))
        check_number("alpha", self.alpha, least=0.0)
        check_count("n_restarts", self.n_restarts, least=0)
        check_count("seed", self.seed, least=0)
        check_y_range(self.y_range)
        lengths = self.length_scale
        for length in lengths if isinstance(lengths, tuple | list) else [lengths]:
            check_range("length_scale", length, self.length_scale_bounds)
        check_range("amplitude", self.amplitude, self.amplitude_bounds)
        check_range("mixture", self.mixture, self.mixture_bounds)
        check_number("noise", self.noise, least=0.0)
        if self.noise_bounds != "fixed":
            check_range("noise", self.noise, self.noise_bounds)
        self._check_combination()

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer; `noise_std` where a noise is given or estimated."""
        return gp_capabilities(self.noise > 0.0)

    @property
    def scalable(self) -> bool:
        """Whether a loop may scale the uncertainty: False in pure use."""
        return not self.pure

    def with_categories(self, groups: tuple[tuple[int, ...], ...]) -> Self:
        """Return it with these categories, unless it was given its own."""
        return self if self.categories is not None else replace(self, categories=groups)

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> GpBelief:
        """Find hyper-parameters of largest likelihood and condition on all observations."""
        return self.fit_with_noise(X, y, self.noise_in(X, y))

    def fit_with_noise(self, X: npt.ArrayLike, y: npt.ArrayLike, noise: npt.ArrayLike) -> GpBelief:
        """Do so with the variance of every value on the diagonal, beside the option `noise`."""
        data = Observations.of(X, y)
        units = Standardization.of(data, self.standardize_inputs, self.normalize, self.y_range)
        points, values = units.inward(data.X), units.values_inward(data.y)
        hyper = self._start(data.n_inputs)
        told = np.square(data.deviations(noise) / units.y_scale)
        if told.any():
            hyper = replace(hyper, priors=priors_among_noise(hyper, told))
        known = self.alpha + told
        diagonal = known + factorize(hyper, points, known)[1]
        if hyper.free and varies(data.y):
            hyper = self._searched(hyper, points, values, diagonal)
        return conditioned(hyper, points, values, units, diagonal)

    def _searched(
        self,
        hyper: Hyperparameters,
        points: FloatArray,
        values: FloatArray,
        diagonal: float | FloatArray,
    ) -> Hyperparameters:
        """Return hyper-parameters of large likelihood.

        Where observations are many, a random part of them says where the climb over all begins.
        """
        likelihood_of = LIKELIHOODS[self.backend]
        n, restarts, steps = len(points), self.n_restarts, MOST_STEPS
        screened = self.starts == "screened"
        if n > MOST_SEARCHED and (restarts or screened):
            chosen = np.random.default_rng(self.seed).choice(n, SEARCHED, replace=False)
            own = diagonal[chosen] if isinstance(diagonal, np.ndarray) else diagonal
            part = likelihood_of(hyper, points[chosen], values[chosen], own)
            starts = self._screened(hyper, points[chosen], values[chosen], own)
            hyper, _ = maximize_likelihood(part, hyper, restarts, self.seed, starts=starts)
            restarts, steps, screened = 0, LAST_STEPS, False
        likelihood = likelihood_of(hyper, points, values, diagonal)
        starts = self._screened(hyper, points, values, diagonal) if screened else None
        return maximize_likelihood(likelihood, hyper, restarts, self.seed, steps, starts)[0]

    def _screened(
        self,
        hyper: Hyperparameters,
        points: FloatArray,
        values: FloatArray,
        diagonal: float | FloatArray,
    ) -> FloatArray | None:
        """Return where to climb from, None for the values that were given and random ones."""
        if self.starts != "screened":
            return None
        likelihood_of = LIKELIHOODS[self.backend]
        return screened_starts(
            lambda more: likelihood_of(hyper, points, values, diagonal + more),
            hyper,
            points,
            values,
            diagonal,
        )

    def noise_in(self, X: npt.ArrayLike, y: npt.ArrayLike) -> float:
        """Return the deviation of values of which none was told; 0 unless `learns_noise`."""
        if not self.learns_noise:
            return 0.0
        data = Observations.of(X, y)
        if not varies(data.y):
            return 0.0
        units = Standardization.of(data, self.standardize_inputs, self.normalize, self.y_range)
        chosen = slice(None, None, -(-len(data.y) // MOST))
        points, values = units.inward(data.X)[chosen], units.values_inward(data.y)[chosen]
        hyper = self._start(data.n_inputs)
        diagonal = self.alpha + factorize(hyper, points, self.alpha)[1]
        variance = unknown_noise(
            hyper,
            lambda some: LIKELIHOODS[self.backend](some, points, values, diagonal),
            self.seed,
            self._screened(hyper, points, values, diagonal),
        )
        return float(np.sqrt(variance)) * units.y_scale

    def _start(self, d: int) -> Hyperparameters:
        lengths = np.array(self.length_scale, dtype=np.float64)
        if lengths.ndim == 1 and len(lengths) != d:
            raise InputError(
                f"length_scale must be a number or one for each of the {d} inputs; got "
                f"{self.length_scale!r}; give as many as X has columns."
            )
        if self.groups and sum(map(len, self.groups)) != d:
            raise InputError(
                f"the groups must hold each of the {d} inputs once; got {self.groups!r:.80}; give "
                "as many inputs as X has columns."
            )
        kernel = Kernel(
            self.kernel,
            np.broadcast_to(lengths, (d,)).copy(),
            float(self.amplitude),
            float(self.nu),
            float(self.mixture),
            self.groups or (),
        )
        bounds = {
            "amplitude": self.amplitude_bounds,
            "length_scale": self.length_scale_bounds,
            "noise": self.noise_bounds,
        }
        if self.kernel == "rational_quadratic":
            bounds["mixture"] = self.mixture_bounds
        ranges = {
            name: (float(ends[0]), float(ends[1]))
            for name, ends in bounds.items()
            if not isinstance(ends, str)
        }
        tied = self.categories or ()
        if max((max(group) for group in tied), default=-1) >= d:
            raise InputError(
                f"categories must name some of the {d} inputs, 0 to {d - 1}; got {tied!r:.80}; "
                "give columns of X."
            )
        priors = {}
        if self.length_scale_prior != "none" and "length_scale" in ranges:
            n_parameters = d - sum(len(group) - 1 for group in tied)
            is_joint = self.length_scale_prior == "hierarchical"
            apart = max(LEAST_APART, APART_OF_ONE / n_parameters) if is_joint else np.inf
            priors["length_scale"] = LogNormal.of_length_scales(n_parameters, apart)
        return Hyperparameters(kernel, float(self.noise), ranges, self.ard, priors, tied)

    def _check_combination(self) -> None:
        if isinstance(self.length_scale, tuple | list) and not self.ard:
            raise InputError(
                f"one length-scale an input needs ard=True; got length_scale={self.length_scale!r} "
                "with ard=False; set ard=True or give one number."
            )
        if self.starts == "screened" and not (
            self.ard
            and self.length_scale_prior != "none"
            and self.length_scale_bounds != "fixed"
            and not self.groups
        ):
            raise InputError(
                "screened starts need length-scales that are free one by one and have a prior, and "
                f"no groups; got ard={self.ard}, length_scale_prior={self.length_scale_prior!r}, "
                f"length_scale_bounds={self.length_scale_bounds!r}, groups={self.groups!r:.40}; "
                "set ard=True and length_scale_prior='hierarchical'."
            )
        if not self.normalize and self.y_range is not None:
            raise InputError(
                f"y_range takes the place of standardizing; got y_range={self.y_range!r} with "
                "normalize=False; drop one of them."
            )
        if self.learns_noise and self.noise > 0.0:
            raise InputError(
                "learns_noise estimates the noise of values and needs noise=0; got "
                f"noise={self.noise!r}; drop one of them."
            )
        if self.groups and self.backend != "direct":
            raise UnsupportedError(
                "a process that is a sum over groups must have backend='direct', as libraries have "
                f"no such kernel; got {self.backend!r}; choose it, or drop the groups."
            )
        if self.backend == "sklearn" and self.kernel == "rational_quadratic" and self.ard:
            raise UnsupportedError(
                "scikit-learn's rational quadratic kernel must have one length-scale; got "
                "ard=True; choose ard=False, or backend='direct'."
            )


pure = partial(GaussianProcess, pure=True)
"""The preset ``pgp``: the same process, whose uncertainty a loop uses as it is."""


def conditioned(
    hyper: Hyperparameters,
    points: FloatArray,
    values: FloatArray,
    units: Standardization,
    diagonal: float | FloatArray,
) -> GpBelief:
    """Return the posterior of a process with known hyper-parameters.

    Parameters
    ----------
    hyper : Hyperparameters
        Kernel and noise.
    points, values : (n, d) and (n,) arrays
        Standardized observations.
    units : Standardization
        From the user's units to these.
    diagonal : float or (n,) array
        What is on the diagonal beside the noise; more where the matrix would be singular.
    """
    factor, jitter = factorize(hyper, points, diagonal)
    return GpBelief(
        hyper.kernel,
        points,
        factor,
        cho_solve((factor, True), values, check_finite=False),
        units,
        diagonal + jitter + hyper.noise,
        float(np.sqrt(hyper.noise)) * units.y_scale,
    )


def varies(y: FloatArray) -> bool:
    """Return whether values differ by more than rounding."""
    quarter = 0.25 * y  # so that the difference of the largest numbers is finite
    return bool(np.ptp(quarter) > NEGLIGIBLE_SPREAD * np.abs(quarter).max())


def factorize(
    hyper: Hyperparameters, points: FloatArray, diagonal: float | FloatArray
) -> tuple[FloatArray, float]:
    """Return the Cholesky factor of the kernel matrix, and what had to be added for it.

    Parameters
    ----------
    hyper : Hyperparameters
        Kernel and noise.
    points : (n, d) array
    diagonal : float or (n,) array
        What is on the diagonal beside the noise.
    """
    covariance = hyper.kernel(points, points)
    amplitude, unit = hyper.kernel.amplitude, np.eye(len(points))
    # Pivots below this are rounding errors of the factorization, by a tenth or more.
    least = 10.0 * len(points) * np.finfo(np.float64).eps * amplitude
    for jitter in (0.0, *(10.0**power * amplitude for power in range(-10, 3))):
        try:
            matrix = covariance + (diagonal + hyper.noise + jitter) * unit
            factor = cholesky(matrix, lower=True, check_finite=False)
        except LinAlgError:
            continue
        if np.square(factor.diagonal()).min() >= least:
            return np.ascontiguousarray(factor), jitter
    raise TrainingError(
        "the kernel matrix must have a Cholesky factor; it has none at any diagonal, so X holds "
        "numbers that are too large; scale X to [-1, 1]."
    )
