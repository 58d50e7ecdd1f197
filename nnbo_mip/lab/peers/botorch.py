"""BoTorch's usual loop: a Gaussian process and LogEI, as its documentation has it.

`SingleTaskGP` with its default priors, inputs in the unit cube, values standardized by its default
transform; `LogExpectedImprovement`; `optimize_acqf` with 20 restarts of 1024 raw samples. Log
dimensions are modelled in their logarithm. Integers and categories (one-hot) are relaxed, and the
point that was found is rounded; linear constraints are passed on where there are neither. Without
shared starts it begins with twice as many uniform points as there are dimensions, at least five.

References
----------
Balandat et al. (2020), BoTorch [Balandat2020].
Ament et al. (2023), the acquisition, LogEI [Ament2023].
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nnbo_mip.lab.peers.base import MethodTask, Peer
from nnbo_mip.space.space import Space

if TYPE_CHECKING:
    import torch
    from botorch.models import SingleTaskGP

RESTARTS, RAW_SAMPLES = 20, 1024

LEAST_STARTS = 5


@dataclass(frozen=True)
class BoTorch(Peer):
    """SingleTaskGP and LogEI."""

    name: ClassVar[str] = "botorch"
    packages: ClassVar[tuple[str, ...]] = ("botorch", "gpytorch")

    def begin(self, task: MethodTask) -> GaussianProcessLoop:
        """Start it."""
        return GaussianProcessLoop(task)

    def refused(self, space: Space) -> str:
        """Return why it cannot search a space: rounding would leave what is constrained."""
        is_discrete = any(grid is not None for grid in space.model().grids)
        if space.constraints and is_discrete:
            return "takes no linear constraints beside integers or categories"
        return ""


class GaussianProcessLoop:
    """The loop in model coordinates, those with more than one value scaled to the unit cube.

    Parameters
    ----------
    task : MethodTask
    """

    def __init__(self, task: MethodTask) -> None:
        import torch

        domain = task.space.model()
        self._task, self._domain = task, domain
        self._free = np.flatnonzero(domain.lower < domain.upper)
        self._lower = domain.lower[self._free]
        self._width = domain.upper[self._free] - self._lower
        self._unit = np.empty((0, len(self._free)))
        self._y = np.empty(0)
        size = len(self._free)
        self._box = torch.stack([torch.zeros(size), torch.ones(size)]).double()
        torch.manual_seed(task.seed)
        self._own_starts = 0 if task.starts else max(LEAST_STARTS, 2 * size)
        self._rng = np.random.default_rng(task.seed)
        self.message = ""
        self.fit_seconds = 0.0

    def ask(self) -> Any:
        """Fit, maximize LogEI; a random point where the fit fails."""
        import torch
        from botorch.exceptions import ModelFittingError

        if len(self._y) < self._own_starts:
            raw = self._task.space.numeric().sample(1, self._rng)[0]
            return self._task.space.from_numeric(raw)
        started = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of line searches and restarts that BoTorch handles
            try:
                model, self.message = self._fitted(), ""
            except ModelFittingError as error:
                model, self.message = None, f"random point: {error}"
            self.fit_seconds = time.perf_counter() - started
            found = torch.rand(1, len(self._free)).double() if model is None else self._best(model)
        z = self._domain.lower.copy()
        z[self._free] += found.detach().numpy()[0] * self._width
        if self._task.space.constraints:  # SciPy may leave them by its tolerance
            repaired = self._domain.repair(z)
            z = z if repaired is None else repaired
        return self._task.space.decode(z)

    def tell(self, x: Any, y: float) -> None:
        """Take the value; a failure counts as the worst one known."""
        told = self._task.sign * y
        if np.isnan(told):
            told = self._y.max() if len(self._y) else 0.0
        z = self._task.space.encode(x)[:, self._free]
        self._unit = np.concatenate([self._unit, (z - self._lower) / self._width])
        self._y = np.append(self._y, told)

    def _fitted(self) -> SingleTaskGP:
        import torch
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Normalize, Standardize
        from gpytorch.mlls import ExactMarginalLogLikelihood

        model = SingleTaskGP(
            torch.as_tensor(self._unit),
            torch.as_tensor(self._y)[:, None],
            input_transform=Normalize(len(self._free), bounds=self._box),
            outcome_transform=Standardize(1),
        )
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def _best(self, model: SingleTaskGP) -> torch.Tensor:
        from botorch.acquisition import LogExpectedImprovement
        from botorch.optim import optimize_acqf

        score = LogExpectedImprovement(model, best_f=float(self._y.min()), maximize=False)
        found: torch.Tensor
        found, _ = optimize_acqf(
            score,
            bounds=self._box,
            q=1,
            num_restarts=RESTARTS,
            raw_samples=RAW_SAMPLES,
            inequality_constraints=self._constraints() or None,
        )
        return found

    def _constraints(self) -> list[tuple[torch.Tensor, torch.Tensor, float]]:
        """Return rows ``A z <= b`` as BoTorch has them: ``sum(a_i u_i) >= c`` of the unit cube."""
        import torch

        fixed = self._domain.lower.copy()
        made = []
        for row, limit in zip(self._domain.A, self._domain.b, strict=True):
            scaled = -row[self._free] * self._width
            used = np.flatnonzero(scaled)
            made.append(
                (torch.as_tensor(used), torch.as_tensor(scaled[used]), float(row @ fixed - limit))
            )
        return made
