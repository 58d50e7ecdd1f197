"""BoTorch as a method of `benchmarks.regret`: a Gaussian process and LogEI, as its docs have it.

`SingleTaskGP` with its default priors, inputs in the unit cube, values standardized by its default
transform; `LogExpectedImprovement`; `optimize_acqf` with 20 restarts of 1024 raw samples.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.exceptions import ModelFittingError
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from benchmarks.regret.unit import Task
from nnbo_mip.core.arrays import FloatArray

RESTARTS, RAW_SAMPLES = 20, 1024


class BoTorch:
    """The usual loop.

    Parameters
    ----------
    task : Task
    """

    def __init__(self, task: Task) -> None:
        self._lower, self._width = task.lower, task.upper - task.lower
        self._unit = (task.X - task.lower) / self._width
        self._y = task.y
        self._box = torch.stack([torch.zeros(len(task.lower)), torch.ones(len(task.lower))])
        self._box = self._box.double()
        torch.manual_seed(task.seed)

    def ask(self) -> tuple[FloatArray, dict[str, Any]]:
        """Fit, maximize LogEI; a random point where the fit fails."""
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of line searches and restarts that BoTorch handles
            try:
                model, message = self._fitted(), ""
            except ModelFittingError as error:
                model, message = None, f"random point: {error}"
            fitted = time.perf_counter()
            found = torch.rand(1, len(self._width)).double() if model is None else self._best(model)
        self._unit = np.concatenate([self._unit, found.detach().numpy()])
        ended = time.perf_counter()
        facts = {"fit": fitted - started, "inner": ended - fitted, "message": message}
        return self._lower + self._unit[-1] * self._width, facts

    def tell(self, y: float) -> None:
        """Take the value."""
        self._y = np.append(self._y, y)

    def _fitted(self) -> SingleTaskGP:
        d = len(self._width)
        model = SingleTaskGP(
            torch.as_tensor(self._unit),
            torch.as_tensor(self._y)[:, None],
            input_transform=Normalize(d, bounds=self._box),
            outcome_transform=Standardize(1),
        )
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def _best(self, model: SingleTaskGP) -> torch.Tensor:
        score = LogExpectedImprovement(model, best_f=float(self._y.min()), maximize=False)
        found: tuple[torch.Tensor, torch.Tensor] = optimize_acqf(
            score, bounds=self._box, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES
        )
        return found[0]


def begin(task: Task) -> BoTorch:
    """Start it."""
    return BoTorch(task)
