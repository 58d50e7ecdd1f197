r"""Where a network would most willingly take an improved value: conditional MAP.

With E[y*] = best value + max EI, a network f_w with tanh units is trained jointly with an unknown
place x,

    min over w, x  1/(n + 1) [ sum_i (f_w(x_i) - y_i)^2 + (f_w(x) - E[y*])^2 ]
                   + ridge sum_w w^2 + lasso sum_w |w|,

in standardized values, and x is next. Adam moves weights and places; places stay in the box.
Several networks with places of their own are trained side by side, and the least loss wins.

References
----------
Aryan (2020), conditional MAP with a network [Aryan2020].
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from nnbo_mip.acquisitions.base.context import Context, check_incumbent
from nnbo_mip.acquisitions.base.criterion import Choice, Criterion, candidates
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count, check_number, check_size, check_widths
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.space.domain import Domain
from nnbo_mip.surrogates.base.abstract import Belief, Capability

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class NnCl(Criterion):
    """The place of E[y*] at which a network fits best; see the module.

    Experimental: a method of research, which may change or go.

    Parameters
    ----------
    hidden : tuple of int
        Widths of the layers of tanh units.
    ridge, lasso : float
        Penalties of weights.
    steps : int
        Of Adam.
    learning_rate : float
        Of Adam at the start; it decays like a cosine.
    starts : int
        Networks with a place each: the first starts where EI is largest, the others at random.
    samples : int
        Random points at which EI is maximized.
    incumbent : float, optional
        Stands for the best value so far.
    """

    name: ClassVar[str] = "nn_cl"
    needs = frozenset({Capability.MEAN, Capability.STD})

    hidden: tuple[int, ...] = (50, 50)
    ridge: float = 5e-5
    lasso: float = 5e-5
    steps: int = 1000
    learning_rate: float = 1e-2
    starts: int = 4
    samples: int = 500
    incumbent: float | None = None

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        object.__setattr__(self, "hidden", check_widths("hidden", self.hidden))
        check_number("ridge", self.ridge, least=0.0)
        check_number("lasso", self.lasso, least=0.0)
        check_count("steps", self.steps)
        check_number("learning_rate", self.learning_rate, above=0.0)
        check_size("starts", self.starts)
        check_size("samples", self.samples)
        check_incumbent(self.incumbent)

    def choose(
        self, belief: Belief, domain: Domain, context: Context, rng: np.random.Generator
    ) -> Choice | None:
        """Return the place whose network has the least loss."""
        X, y = context.observations()
        points = candidates(domain, self.samples, rng)
        if not len(points):
            return None
        best = context.incumbent(self.incumbent)
        mean, std = belief.mean(points), belief.std(points)
        improvement = ExpectedImprovement(best).score(mean, std)
        center, scale = float(y.mean()), float(y.std()) or 1.0
        goal = (best + float(improvement.max()) - center) / scale
        chosen = np.append(improvement.argmax(), rng.integers(len(points), size=self.starts - 1))
        training = JointTraining(
            (X.shape[1], *self.hidden, 1), X, (y - center) / scale, goal, points[chosen], rng
        )
        places = training.run(self, domain.lower, domain.upper)
        found = [domain.repair(place) for place in places]
        kept = [k for k, place in enumerate(found) if place is not None]
        if not kept:
            return Choice(points[int(improvement.argmax())], -np.inf, self.steps)
        repaired = np.array([places[k] if p is None else p for k, p in enumerate(found)])
        losses = training.losses(repaired, self.ridge, self.lasso)
        winner = min(kept, key=lambda k: losses[k])
        return Choice(repaired[winner], -float(losses[winner]), self.steps)


class JointTraining:
    """Networks side by side, each with a place at which it should take a value.

    Parameters
    ----------
    widths : tuple of int
        From the inputs to the output.
    X, y : (n, d) and (n,) arrays
        Standardized observations.
    goal : float
        E[y*], standardized.
    places : (m, d) array
        Where the places start.
    rng : numpy.random.Generator
        Draws the first weights.
    """

    def __init__(
        self,
        widths: tuple[int, ...],
        X: FloatArray,
        y: FloatArray,
        goal: float,
        places: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        import torch

        m = len(places)
        self._X, self._y, self._goal = torch.from_numpy(X), torch.from_numpy(y), goal
        self.places = torch.from_numpy(places.copy()).requires_grad_()
        self.weights, self.biases = [], []
        for n_in, n_out in itertools.pairwise(widths):
            weights = rng.standard_normal((m, n_in, n_out)) / np.sqrt(n_in)
            self.weights.append(torch.from_numpy(weights).requires_grad_())
            biases = rng.uniform(-1.0, 1.0, (m, 1, n_out)) / np.sqrt(n_in)
            self.biases.append(torch.from_numpy(biases).requires_grad_())

    def run(self, options: NnCl, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Train, and return the places (m, d)."""
        import torch

        moved = [self.places, *self.weights, *self.biases]
        optimizer = torch.optim.Adam(moved, lr=options.learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps)
        low, high = torch.from_numpy(lower.copy()), torch.from_numpy(upper.copy())
        for _ in range(options.steps):
            optimizer.zero_grad(set_to_none=True)
            loss = self._losses(self.places, options.ridge, options.lasso).sum()
            loss.backward()
            optimizer.step()
            schedule.step()
            with torch.no_grad():
                self.places.copy_(torch.minimum(torch.maximum(self.places, low), high))
        return np.array(self.places.detach().numpy())

    def losses(self, places: FloatArray, ridge: float, lasso: float) -> FloatArray:
        """Return the losses (m,) of the networks with other places (m, d)."""
        import torch

        with torch.no_grad():
            found = self._losses(torch.from_numpy(places.copy()), ridge, lasso)
        return np.asarray(np.nan_to_num(found.numpy(), nan=np.inf))

    def values(self, points: torch.Tensor) -> torch.Tensor:
        """Return what the networks (m,) say at points (m, n, d)."""
        import torch

        value = points
        for layer, (weights, biases) in enumerate(zip(self.weights, self.biases, strict=True)):
            value = torch.baddbmm(biases, value, weights)
            if layer < len(self.weights) - 1:
                value = value.tanh()
        return value[:, :, 0]

    def _losses(self, places: torch.Tensor, ridge: float, lasso: float) -> torch.Tensor:
        import torch

        points = torch.cat([self._X.expand(len(places), -1, -1), places[:, None, :]], dim=1)
        goal = torch.full((1,), self._goal, dtype=torch.float64)
        errors = self.values(points) - torch.cat([self._y, goal])
        loss = errors.square().mean(dim=1)
        for tensor in (*self.weights, *self.biases):
            loss = loss + ridge * tensor.square().sum(dim=(1, 2))
            loss = loss + lasso * tensor.abs().sum(dim=(1, 2))
        return loss
