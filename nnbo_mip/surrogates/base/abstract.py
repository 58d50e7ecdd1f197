"""What a surrogate and a belief are, and what they declare they can do."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.core.extras import Extra
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.posteriors.compiled import MembersPosterior, PlainPosterior, Posterior
from nnbo_mip.surrogates.base.mixture import Mixture, MixtureSlopes


class Capability(StrEnum):
    """What a belief offers; asked before anything is built."""

    MEAN = "mean"
    STD = "std"
    MEMBERS = "members"
    """`Belief.members`: several predictions whose spread is the std."""
    DRAWS = "draws"
    """`Belief.draw`: a member or a weight draw as a belief of its own (Thompson sampling)."""
    NETWORK = "network"
    """`Belief.network`: the piecewise-linear network of the outputs it names; of a ratio, that of
    `Belief.latent`."""
    GRADIENT = "gradient"
    """`Belief.differentiate`; of a ratio, the mean and std of `Belief.latent`."""
    NOISE = "noise"
    """`Belief.noise_std` is an estimate; without it, it is zero by definition."""
    TREES = "trees"
    """An attribute `trees`: mean and members are those of trees, constant between thresholds; of a
    ratio, that of `Belief.latent`."""
    MIXTURE = "mixture"
    """`Belief.mixture`: the normal components of a predictive that is not normal itself."""
    RATIO = "ratio"
    """`Belief.ratio` and `Belief.latent` instead of mean and std: a density ratio."""
    CANDIDATES = "candidates"
    """`Belief.candidates`: draws of points that are likely to be good."""


@dataclass(frozen=True, eq=False)
class ValueGradient:
    """A belief at n points and its slopes there.

    Parameters
    ----------
    mean, std : (n,) arrays
        As `Belief.mean` and `Belief.std`.
    mean_gradient, std_gradient : (n, d) arrays
        Their derivatives; one-sided at a kink.
    """

    mean: FloatArray
    std: FloatArray
    mean_gradient: FloatArray
    std_gradient: FloatArray


class Belief(abc.ABC):
    """What was learned from observations: immutable, in model coordinates, to be maximized.

    Notes
    -----
    Points are (n, d) arrays, a single (d,) point counts as n = 1. What is not among
    `capabilities` raises `UnsupportedError`.
    """

    family: str
    """Name of the surrogate in the registry; a file carries it."""

    @property
    @abc.abstractmethod
    def n_inputs(self) -> int:
        """d, the number of inputs."""

    @property
    @abc.abstractmethod
    def capabilities(self) -> frozenset[Capability]:
        """What this belief offers."""

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return expected values (n,)."""
        raise self._lacks(Capability.MEAN)

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Uncertainty (n,) of the function, in units of y, times the outside scale."""
        raise self._lacks(Capability.STD)

    def noise_std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the std (n,) of an observation about the function; 0 for a noise-free family."""
        return np.zeros(len(self.check_points(X)))

    @property
    def length_scales(self) -> FloatArray | None:
        """Distances (d,) over which the function changes; None where none are learned."""
        return None

    def predict(
        self, X: npt.ArrayLike, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Mean, or mean and std, as scikit-learn's regressors give them."""
        return (self.mean(X), self.std(X)) if return_std else self.mean(X)

    def members(self, X: npt.ArrayLike) -> FloatArray:
        """Predictions (n, M) of the members."""
        raise self._lacks(Capability.MEMBERS)

    def member_gradients(self, X: npt.ArrayLike) -> FloatArray:
        """Gradients (n, M, d) of the members."""
        raise UnsupportedError(
            f"the members of a {self.family} belief must have gradients for this; it has no "
            "member_gradients; choose a maximizer without gradients."
        )

    def mixture(self, X: npt.ArrayLike) -> Mixture:
        """Weights, means and stds (n, K) of the components of the predictive."""
        raise self._lacks(Capability.MIXTURE)

    def mixture_slopes(self, X: npt.ArrayLike) -> MixtureSlopes:
        """Gradients (n, K, d) of the weights, means and stds of `mixture`."""
        raise UnsupportedError(
            f"the components of a {self.family} belief must have gradients for this; it has no "
            "mixture_slopes; choose a maximizer without gradients."
        )

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Mean, std and their gradients."""
        raise self._lacks(Capability.GRADIENT)

    def draw(self, seed: int) -> Belief:
        """Return one sampled function as a belief that has a mean, for Thompson sampling."""
        raise self._lacks(Capability.DRAWS)

    def ratio(self, X: npt.ArrayLike) -> FloatArray:
        """Density ratio (n,) that takes the place of mean and std."""
        raise self._lacks(Capability.RATIO)

    def latent(self) -> Belief:
        """Return the belief in a function that the ratio rises with, and that never saturates.

        It has a mean, as a rule log-odds. Where it has no std the ratio rises with the mean; where
        it has one, with mean / std.
        """
        raise self._lacks(Capability.RATIO)

    def candidates(self, n: int, seed: int) -> FloatArray:
        """Draw points (n, d), in model coordinates, that are likely to be good."""
        raise self._lacks(Capability.CANDIDATES)

    def network(self) -> Network:
        """Return the piecewise-linear network; its `output_names` say what it computes."""
        raise self._lacks(Capability.NETWORK)

    def posterior(self, members: bool = False) -> Posterior:
        """Return mean and std as functions that can be bounded, equal to the belief to rounding.

        The outputs ``mean`` and ``std`` of `network` serve as they are; a belief whose std is
        another function of outputs, or that has no network, returns a form of
        `nnbo_mip.scores` instead.

        Parameters
        ----------
        members : bool
            Whether the members are read rather than mean and std.

        Raises
        ------
        UnsupportedError
            Where nothing is proven about this belief.
        """
        network = self.network()
        if members and {"mean", "member0"} <= set(network.output_names):
            return MembersPosterior(network)
        if {"mean", "std"} <= set(network.output_names):
            return PlainPosterior(network)
        raise UnsupportedError(
            "the network of a belief must have the outputs mean and std to be maximized exactly; "
            f"that of a {self.family} belief has {', '.join(network.output_names[:6])}; choose "
            "another surrogate, or a heuristic maximizer."
        )

    @abc.abstractmethod
    def scaled(self, factor: float) -> Self:
        """Return this belief with its uncertainty multiplied by `factor`."""

    @abc.abstractmethod
    def to_arrays(self) -> dict[str, Array]:
        """Return arrays of numbers (never NaN) or text, of which `from_arrays` makes it again."""

    @classmethod
    @abc.abstractmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Self:
        """Make the belief that `to_arrays` described."""

    def save(self, path: str | Path) -> None:
        """Write ``.npz`` without pickle; `nnbo_mip.surrogates.load` reads it."""
        from nnbo_mip.surrogates.base.storage import save

        save(self, path)

    def check_points(self, X: npt.ArrayLike) -> FloatArray:
        """Return points as an (n, d) float64 batch."""
        try:
            points = np.ascontiguousarray(X, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"X must be numbers of shape (n, {self.n_inputs}); got {X!r:.60} ({error}); "
                "pass an array of floats."
            ) from error
        if points.shape == (self.n_inputs,):
            points = points[None, :]
        if points.ndim != 2 or points.shape[1] != self.n_inputs:
            raise InputError(
                f"X must have shape (n, {self.n_inputs}), one row a point; got shape "
                f"{points.shape}; reshape it."
            )
        return points

    def _lacks(self, capability: Capability) -> UnsupportedError:
        offered = ", ".join(sorted(self.capabilities))
        return UnsupportedError(
            f"a {self.family} belief must offer {capability.value!r} for this; it offers "
            f"{offered}; choose another surrogate, or other options of this one."
        )


def check_belief(given: object) -> None:
    """Refuse what is no belief."""
    if not isinstance(given, Belief):
        raise InputError(
            f"a belief must be what a surrogate's fit returns; got a {type(given).__name__}; fit "
            'one, as in nm.surrogates.create("brvfl").fit(X, y).'
        )


class Surrogate(abc.ABC):
    """A frozen dataclass of options, one of them `seed`, that learns from observations."""

    name: ClassVar[str]
    """Its name in the registry."""

    belief_type: ClassVar[type[Belief]]
    """What `fit` returns; `nnbo_mip.surrogates.load` makes it again from a file."""

    weighs_noise: ClassVar[bool] = False
    """Whether `fit_with_noise` believes uncertain values less."""

    extra: ClassVar[Extra | None] = None
    """An optional package that `fit` cannot do without."""

    seed: int

    def check_installed(self) -> None:
        """Raise `MissingExtraError` where `fit` would: before anything is evaluated for it."""
        if self.extra is not None:
            self.extra.load()

    @property
    @abc.abstractmethod
    def capabilities(self) -> frozenset[Capability]:
        """What the belief will offer, known before anything is fitted."""

    @property
    def scalable(self) -> bool:
        """Whether a loop may scale the uncertainty (mean-width scaling, dynamic c)."""
        return True

    def converted(self, convert: Callable[[float], float]) -> Self:
        """Return it with its known range of y, if it has one, in other units.

        Parameters
        ----------
        convert : callable
            From a value to a value, rising or falling; a falling one turns the range round.
        """
        known = getattr(self, "y_range", None)
        if known is None:
            return self
        low, high = sorted(convert(float(end)) for end in known)
        if not low < high:
            raise InputError(
                f"y_range must hold the values that are told; got {known!r}, of which they are no "
                "part that can be told from zero; give their range."
            )
        made: Any = self
        converted: Self = replace(made, y_range=(low, high))
        return converted

    def with_categories(self, groups: tuple[tuple[int, ...], ...]) -> Self:
        """Return it told which inputs are the levels of one category; most families need not know.

        Parameters
        ----------
        groups : tuple of tuple of int
            Disjoint groups of inputs, of which one is 1 and the others are 0.
        """
        return self

    @abc.abstractmethod
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Belief:
        """Learn from scratch.

        Parameters
        ----------
        X : (n, d) array
            Points in model coordinates, [-1, 1]^d.
        y : (n,) array
            Their values; larger is better.
        """

    def fit_with_noise(self, X: npt.ArrayLike, y: npt.ArrayLike, noise: npt.ArrayLike) -> Belief:
        """Learn from values of known uncertainty, which most families leave out of account.

        Parameters
        ----------
        X, y : (n, d) and (n,) arrays
            As in `fit`.
        noise : (n,) array
            Standard deviations of the values from the function.
        """
        return self.fit(X, y)

    def noise_in(self, X: npt.ArrayLike, y: npt.ArrayLike) -> float:
        """Return the deviation that it believes values have where none is told; 0 for none.

        `fit` takes it into account, `fit_with_noise` does not estimate it.
        """
        return 0.0


def check_scale(factor: float) -> float:
    """Refuse a multiplier of uncertainty that is no positive number."""
    if not (np.isfinite(factor) and factor > 0.0):
        raise InputError(
            f"the scale of uncertainty must be a positive number; got {factor!r}; choose one."
        )
    return float(factor)
