"""Features that a linear model reads; random ones of a random vector functional link network.

With unit-norm directions v_i and biases b_i, drawn once and frozen,

    psi(u) = [phi(v_1·u + b_1), …, phi(v_h·u + b_h)],   with a direct link also [u_1, …, u_d].

The directions are uniform on the sphere and b_i ~ N(0, 1): on standardized inputs a bias has
the distribution of a datum's coordinate along the direction, so kinks lie where data lie.
The norm of v_i would be redundant, for the output weights rescale every feature.

References
----------
Pao et al. (1994), random vector functional link networks [Pao1994].
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.scores.posteriors.tanh import TanhLayers
from nnbo_mip.surrogates.base.observations import Standardization
from nnbo_mip.surrogates.ensembles.stack import ACTIVATIONS


class Features(abc.ABC):
    """A frozen map from standardized inputs to features."""

    activation: str
    """``relu``, of which a network can be made, or ``tanh``."""

    @property
    @abc.abstractmethod
    def n_inputs(self) -> int:
        """d, the number of inputs."""

    @property
    @abc.abstractmethod
    def n_features(self) -> int:
        """k, the number of features."""

    @abc.abstractmethod
    def evaluate(self, u: FloatArray) -> FloatArray:
        """Return the features (n, k) at standardized inputs (n, d)."""

    @abc.abstractmethod
    def pull_back(self, u: FloatArray, psi: FloatArray, slopes: FloatArray) -> FloatArray:
        """Return gradients (n, d) by u of functions of the features.

        Parameters
        ----------
        u : (n, d) array
            Inputs.
        psi : (n, k) array
            What `evaluate` returned for them.
        slopes : (n, k) array
            Derivatives of each function by each feature.
        """

    @abc.abstractmethod
    def compile(self, builder: GraphBuilder, value: Affine) -> Affine:
        """Add the features of the standardized input `value` to a network."""

    @abc.abstractmethod
    def to_arrays(self) -> dict[str, Array]:
        """Return named arrays for a file."""


@dataclass(frozen=True, eq=False)
class RandomFeatures(Features):
    """The frozen hidden layer.

    Parameters
    ----------
    directions : (h, d) array
        One unit vector a hidden unit.
    biases : (h,) array
        Their biases.
    activation : str
        ``relu`` or ``tanh``.
    direct_link : bool
        Whether the d inputs are features too, after the hidden units.
    """

    directions: FloatArray
    biases: FloatArray
    activation: str
    direct_link: bool

    @staticmethod
    def draw(
        n_hidden: int,
        n_inputs: int,
        activation: str,
        direct_link: bool,
        rng: np.random.Generator,
    ) -> RandomFeatures:
        """Draw directions uniformly from the sphere and biases from N(0, 1)."""
        normal = rng.standard_normal((n_hidden, n_inputs))
        directions = normal / np.linalg.norm(normal, axis=1, keepdims=True)
        return RandomFeatures(directions, rng.standard_normal(n_hidden), activation, direct_link)

    @property
    def n_hidden(self) -> int:
        """h, the number of hidden units."""
        return len(self.biases)

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return int(self.directions.shape[1])

    @property
    def n_features(self) -> int:
        """k, which is h, or h + d with a direct link."""
        return self.n_hidden + (self.n_inputs if self.direct_link else 0)

    def evaluate(self, u: FloatArray) -> FloatArray:
        """Return the features (n, k) at standardized inputs (n, d)."""
        z = u @ self.directions.T + self.biases
        hidden = np.maximum(z, 0.0) if self.activation == "relu" else np.tanh(z)
        return np.hstack([hidden, u]) if self.direct_link else hidden

    def pull_back(self, u: FloatArray, psi: FloatArray, slopes: FloatArray) -> FloatArray:
        """Return gradients (n, d) by u of functions of the features; see `Features`."""
        hidden = psi[:, : self.n_hidden]
        bent = (hidden > 0.0) if self.activation == "relu" else 1.0 - np.square(hidden)
        gradient = (slopes[:, : self.n_hidden] * bent) @ self.directions
        return gradient + slopes[:, self.n_hidden :] if self.direct_link else gradient

    def compile(self, builder: GraphBuilder, value: Affine) -> Affine:
        """Add the features of the standardized input `value` to a network."""
        if self.activation != "relu":
            raise UnsupportedError(
                "a network of ReLUs needs the activation 'relu'; these features have "
                f"{self.activation!r}; choose activation='relu'."
            )
        hidden = builder.relu(builder.affine(value, self.directions, self.biases))
        return builder.concatenate([hidden, value]) if self.direct_link else hidden

    def tanh_layers(self, weights: FloatArray, units: Standardization) -> TanhLayers:
        """Return inner, bias, outer, direct and offset of a `TanhFeatures`: mean, then features.

        Parameters
        ----------
        weights : (k,) array
            What the mean, in standardized units of y, makes of the features.
        units : Standardization
            From the user's units to those of the features.
        """
        h, d = self.directions.shape
        hidden, linked = np.eye(h), np.zeros((h, d))
        shift = np.zeros(h)
        if self.direct_link:
            hidden = np.vstack([hidden, np.zeros((d, h))])
            linked = np.vstack([linked, np.diag(1.0 / units.x_scale)])
            shift = np.append(shift, -units.x_center / units.x_scale)
        of_mean = units.y_scale * weights
        return (
            *units.first_layer(self.directions, self.biases),
            np.vstack([of_mean @ hidden, hidden]),
            np.vstack([of_mean @ linked, linked]),
            np.append(units.y_center + of_mean @ shift, shift),
        )

    def to_arrays(self) -> dict[str, Array]:
        """Return named arrays for a file."""
        return {
            "directions": self.directions,
            "biases": self.biases,
            "activation": np.array(self.activation),
            "direct_link": np.array(self.direct_link),
        }

    @staticmethod
    def from_arrays(arrays: Mapping[str, Array]) -> RandomFeatures:
        """Make the features that `to_arrays` described."""
        directions, biases = arrays["directions"], arrays["biases"]
        activation = str(arrays["activation"])
        if biases.shape != directions.shape[:1] or activation not in ACTIVATIONS:
            raise ValueError("random features that do not fit together")
        return RandomFeatures(directions, biases, activation, bool(arrays["direct_link"]))
