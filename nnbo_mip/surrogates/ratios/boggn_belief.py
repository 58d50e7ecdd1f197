r"""A Bayesian classifier by Laplace: log-odds that are normal at every point.

With the network f at theta*, its derivative J and the posterior N(0, Sigma) of theta - theta*,

    f_lin(x, theta) = f(x) + J(x) (theta - theta*),     v(x) = scale^2 J Sigma J^T,

P(good) = E logistic(f + sqrt(v) Z) and the ratio is P(good) / share. A draw is one f_lin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray, blocks
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.surrogates.base.abstract import Belief, Capability, Local, check_scale
from nnbo_mip.surrogates.ensembles.stack import Stack
from nnbo_mip.surrogates.ratios.estimators.class_probability import monte_carlo, probit, quadrature
from nnbo_mip.surrogates.ratios.estimators.jacobian import Linearization
from nnbo_mip.surrogates.ratios.estimators.labels import odds_of_probability, slope_of_odds
from nnbo_mip.surrogates.ratios.estimators.laplace import laplace_of
from nnbo_mip.surrogates.ratios.estimators.stack_odds import StackOdds
from nnbo_mip.surrogates.rvfl.bayesian_linear import WeightPosterior

PREDICTIONS = ("probit", "quadrature", "monte_carlo")


def boggn_capabilities(last: bool, prediction: str, is_draw: bool = False) -> frozenset[Capability]:
    """Return what a belief offers, from what is known before fitting."""
    compiles = {Capability.NETWORK} if last and (is_draw or prediction == "probit") else set()
    if is_draw:
        return frozenset({Capability.MEAN, Capability.GRADIENT} | compiles)
    return frozenset({Capability.RATIO, Capability.DRAWS, Capability.GRADIENT} | compiles)


@dataclass(frozen=True, eq=False)
class BoggnBelief(Belief):
    """Normal log-odds, or one draw of them.

    Parameters
    ----------
    network_at : Linearization
        The network at theta*, and whether all of its layers are uncertain or the last one.
    weights : WeightPosterior
        Of theta - theta*.
    delta : float
        Precision of the prior that was given or chosen.
    share : float
        Of good observations.
    prediction : str
        ``probit``, ``quadrature`` or ``monte_carlo``.
    samples : (S, P) array
        Of theta - theta*, for Monte Carlo; else none.
    scale : float
        Multiplier of the deviation of the log-odds.
    move : (P,) array, optional
        theta - theta* of a draw, which has a mean and no ratio.
    """

    network_at: Linearization
    weights: WeightPosterior
    delta: float
    share: float
    prediction: str
    samples: FloatArray
    scale: float = 1.0
    move: FloatArray | None = None

    family = "boggn"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.network_at.stack.n_inputs

    @property
    def is_last(self) -> bool:
        """Whether the last layer alone is uncertain, so that everything is continuous."""
        return self.network_at.first == len(self.network_at.stack.weights) - 1

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this belief offers."""
        return boggn_capabilities(self.is_last, self.prediction, self.move is not None)

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the log-odds (n,) of a draw."""
        if self.move is None:
            raise self._lacks(Capability.MEAN)
        return self.network_at.tangent_values(self.check_points(X), self.move)

    def moments(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean f and variance v (n,) of the log-odds."""
        points = self.check_points(X)
        parts = [self.weights.variance(J) for _, J in self._jacobians(points)]
        return self._at_maximum(points), self.scale**2 * np.concatenate(parts)

    def probability(self, X: npt.ArrayLike) -> FloatArray:
        """Return the probability (n,) that a point is good, as `prediction` says."""
        points = self.check_points(X)
        if self.prediction == "monte_carlo":
            return monte_carlo(self._sampled(points))[0]
        f, v = self.moments(points)
        return probit(f, v) if self.prediction == "probit" else quadrature(f, v)[0]

    def ratio(self, X: npt.ArrayLike) -> FloatArray:
        """Return the ratio (n,) of the density of good points to that of all, at most 1 / share."""
        self._refuse_draws()
        return self.probability(X) / self.share

    def latent(self) -> Belief:
        """Return mean and std behind the probit formula, or the log-odds of the probability."""
        from nnbo_mip.surrogates.ratios.boggn_latent import PredictedOdds, ProbitLatent

        self._refuse_draws()
        return ProbitLatent(self) if self.prediction == "probit" else PredictedOdds(self)

    def differentiate(self, X: npt.ArrayLike) -> Local:
        """Return what `latent` differentiates; of a draw, its log-odds."""
        if self.move is None:
            return self.latent().differentiate(X)
        points = self.check_points(X)
        tangent = self.network_at.tangent(points, self.move)
        gradient = tangent.value_gradient + tangent.change_gradient
        zeros = np.zeros(len(points))
        return Local(tangent.value + tangent.change, zeros, gradient, np.zeros_like(gradient))

    def differentiate_moments(
        self, X: npt.ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return f and v (n,), and their gradients (n, d)."""
        parts = []
        for block, jacobian in self._jacobians(self.check_points(X)):
            # v = J Sigma J^T: half of its slope is that of J a with a = Sigma J^T held fixed.
            white = self.weights.whiten(jacobian)
            tangent = self.network_at.tangent(block, self.weights.spread(white))
            variance = np.square(white).sum(axis=1)
            parts.append(
                (
                    *(tangent.value, self.scale**2 * variance, tangent.value_gradient),
                    2.0 * self.scale**2 * tangent.change_gradient,
                )
            )
        f, v, f_gradient, v_gradient = map(np.concatenate, zip(*parts, strict=True))
        return f, v, f_gradient, v_gradient

    def predicted_odds(self, X: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the log-odds (n,) of the predicted probability, and their gradients (n, d)."""
        points = self.check_points(X)
        if self.prediction == "monte_carlo":
            p, slopes = monte_carlo(self._sampled(points))
            tangent = self.network_at.tangent(points, self.scale * slopes @ self.samples)
            by_f = slopes.sum(axis=1)[:, None]
            gradient = by_f * tangent.value_gradient + tangent.change_gradient
        else:
            f, v, f_gradient, v_gradient = self.differentiate_moments(points)
            p, of_f, of_v = quadrature(f, v)
            gradient = of_f[:, None] * f_gradient + of_v[:, None] * v_gradient
        return odds_of_probability(p), slope_of_odds(p)[:, None] * gradient

    def draw(self, seed: int) -> BoggnBelief:
        """Return the log-odds of one draw of the weights, as a mean; its std is zero."""
        self._refuse_draws(Capability.DRAWS)
        move = self.weights.sample(np.random.default_rng(seed), self.scale)
        return replace(self, move=move, scale=1.0)

    def network(self) -> Network:
        """Return ``mean`` and ``feature0…``, or the network of a draw.

        Only where the last layer alone is uncertain: the tangent in other weights jumps at kinks.
        """
        if Capability.NETWORK not in self.capabilities:
            raise UnsupportedError(
                "log-odds must be a network of ReLUs to be maximized with a proof; with "
                f"prediction={self.prediction!r} those of this boggn belief are none"
                f"{'' if self.is_last else ', and the tangent in all weights jumps at kinks'}; "
                'take weights="last" and prediction="probit", or a heuristic maximizer.'
            )
        stack = self.network_at.stack
        if self.move is not None:
            weights = stack.weights[-1] + self.move[:-1]
            bias = stack.biases[-1] + self.move[-1]
            moved = replace(
                stack, weights=(*stack.weights[:-1], weights), biases=(*stack.biases[:-1], bias)
            )
            return StackOdds(moved, self.family).network()
        builder = GraphBuilder(self.n_inputs)
        width = stack.weights[-1].shape[2]
        upto = (*stack.weights[:-1], np.eye(width)[None])
        hidden = Stack(upto, (*stack.biases[:-1], np.zeros((1, width))))
        values = hidden.compile(builder, builder.input)[0]
        one = builder.constant([1.0])
        mean = builder.affine(values, stack.weights[-1][0], stack.biases[-1][0])
        return builder.finish({"mean": mean, "feature": builder.concatenate([values, one])})

    def scaled(self, factor: float) -> BoggnBelief:
        """Return this belief with the deviation of the log-odds multiplied by `factor`."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        posterior = {f"posterior_{k}": part for k, part in self.weights.to_arrays().items()}
        stack = self.network_at.stack.to_arrays()
        return {
            **{f"stack_{name}": part for name, part in stack.items()},
            **posterior,
            "first": np.array(self.network_at.first),
            "delta": np.array(self.delta),
            "share": np.array(self.share),
            "prediction": np.array(self.prediction),
            "samples": self.samples,
            "scale": np.array(self.scale),
            **({} if self.move is None else {"move": self.move}),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> BoggnBelief:
        """Make the belief that `to_arrays` described."""
        network = Linearization(Stack.from_arrays(_under("stack_", arrays)), int(arrays["first"]))
        prediction, share = str(arrays["prediction"]), float(arrays["share"])
        if prediction not in PREDICTIONS or not 0.0 < share < 1.0:
            raise ValueError("a prediction or a share that is none")
        return cls(
            network,
            laplace_of(_under("posterior_", arrays)),
            float(arrays["delta"]),
            share,
            prediction,
            arrays["samples"],
            float(arrays["scale"]),
            arrays.get("move"),
        )

    # -- parts ------------------------------------------------------------------------

    def _at_maximum(self, points: FloatArray) -> FloatArray:
        return np.asarray(self.network_at.stack.evaluate(points)[0, :, 0])

    def _jacobians(self, points: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return blocks of points with the derivatives there."""
        parts = [points[rows] for rows in blocks(len(points), len(self.weights.mean))]
        return [(block, self.network_at.jacobian(block)) for block in parts]

    def _sampled(self, points: FloatArray) -> FloatArray:
        """Return the samples (n, S) of the log-odds."""
        changes = [J @ self.samples.T for _, J in self._jacobians(points)]
        return self._at_maximum(points)[:, None] + self.scale * np.concatenate(changes)

    def _refuse_draws(self, wanted: Capability = Capability.RATIO) -> None:
        if self.move is not None:
            raise self._lacks(wanted)


def _under(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays whose names begin so, without the prefix."""
    return {
        name.removeprefix(prefix): part for name, part in arrays.items() if name.startswith(prefix)
    }
