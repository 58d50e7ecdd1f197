"""Other packages in pilots: BoTorch's Gaussian process with log EI, and CMA-ES."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from nnbo_mip.core.arrays import FloatArray


class Other(Protocol):
    """What chooses points of the unit cube."""

    def ask(self) -> FloatArray:
        """Return a point (d,)."""

    def tell(self, y: float) -> None:
        """Take its value; smaller is better."""


class BoTorch:
    """`SingleTaskGP` with its own priors, log EI, points around the best one among its starts.

    Parameters
    ----------
    d, seed : int
    n_starts : int
        Sobol points before the first model.
    """

    def __init__(self, d: int, seed: int, n_starts: int = 10) -> None:
        import torch
        from scipy.stats.qmc import Sobol

        torch.manual_seed(seed)
        torch.set_num_threads(1)
        self._d = d
        self._ahead = list(Sobol(d, seed=seed).random(n_starts))
        self._X: list[FloatArray] = []
        self._y: list[float] = []

    def ask(self) -> FloatArray:
        """Return a Sobol point, or the maximum of log EI that was found."""
        self._X.append(self._ahead.pop(0) if self._ahead else self._chosen())
        return self._X[-1]

    def tell(self, y: float) -> None:
        """Keep a value."""
        self._y.append(y)

    def _chosen(self) -> FloatArray:
        import torch
        from botorch.acquisition import LogExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X, y = torch.tensor(np.array(self._X)), -torch.tensor(self._y).double()[:, None]
            model = SingleTaskGP(X, y)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            found, _ = optimize_acqf(
                LogExpectedImprovement(model, best_f=y.max()),
                bounds=torch.stack([torch.zeros(self._d), torch.ones(self._d)]).double(),
                q=1,
                num_restarts=4,
                raw_samples=512,
                options={"sample_around_best": True, "maxiter": 200, "batch_limit": 4},
            )
        return np.asarray(found[0].numpy())


class Cma:
    """CMA-ES from the middle, with the package's own population.

    Parameters
    ----------
    d, seed : int
    """

    def __init__(self, d: int, seed: int) -> None:
        import cma

        options = {"bounds": [0, 1], "seed": seed + 1, "verbose": -9}
        self._search = cma.CMAEvolutionStrategy(d * [0.5], 0.25, options)
        self._asked: list[FloatArray] = []
        self._told: list[float] = []

    def ask(self) -> FloatArray:
        """Return the next of a generation."""
        if len(self._told) == len(self._asked):
            self._asked, self._told = self._search.ask(), []
        return np.asarray(self._asked[len(self._told)])

    def tell(self, y: float) -> None:
        """Take a value; a generation ends with its last one."""
        self._told.append(y)
        if len(self._told) == len(self._asked):
            self._search.tell(self._asked, self._told)


OTHERS: Mapping[str, Callable[[int, int], Any]] = MappingProxyType({"botorch": BoTorch, "cma": Cma})
"""By the name of their way."""
