r"""A space seen through the decoder of an autoencoder.

A point z of [-1, 1]^e is a code, c = center + reach z, and stands for the x whose model
coordinates are

    clip(m + L c + W_2 tanh(W_1 c + b_1), -1, 1),

a plane and a bend, rounded as the space rounds. The encoder, of the same form the other way
round, finds the code of an x nearly; least squares from there find it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.space.embedded.embedded_space import EmbeddedSpace, check_embeddable
from nnbo_mip.space.space import Space

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BentMap:
    """``offset + linear x + outer tanh(inner x + bias)``, from a coordinates to b.

    Parameters
    ----------
    offset : (b,) array
    linear : (b, a) array
    inner : (h, a) array
    bias : (h,) array
    outer : (b, h) array
    """

    offset: FloatArray
    linear: FloatArray
    inner: FloatArray
    bias: FloatArray
    outer: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the images (n, b) of points (n, a), each as if it were alone."""
        hidden = np.tanh(_product(X, self.inner) + self.bias)
        return self.offset + _product(X, self.linear) + _product(hidden, self.outer)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Return the derivatives (b, a) at one point (a,)."""
        slopes = 1.0 - np.square(np.tanh(self.inner @ x + self.bias))
        return np.asarray(self.linear + (self.outer * slopes) @ self.inner)


@dataclass(frozen=True, eq=False)
class DecodedSpace(EmbeddedSpace):
    """The image of a box of codes under a decoder.

    Parameters
    ----------
    space : Space
    encoder : BentMap
        From model coordinates (k,) to codes (e,).
    decoder : BentMap
        From codes to model coordinates.
    center, reach : (e,) arrays
        Middle and half of the sides of the box of codes.
    """

    space: Space
    encoder: BentMap
    decoder: BentMap
    center: FloatArray
    reach: FloatArray

    def __post_init__(self) -> None:
        check_embeddable(self.space)

    @property
    def dimension(self) -> int:
        """e, the number of coordinates."""
        return len(self.center)

    def codes(self, model: FloatArray) -> FloatArray:
        """Return the points (n, e) that the encoder gives for model coordinates (n, k)."""
        return (self.encoder(model) - self.center) / self.reach

    def _lifted(self, points: FloatArray) -> FloatArray:
        lifted = self.decoder(self.center + self.reach * points)
        domain = self.space.model()
        return np.where(self._moving, lifted, domain.lower)

    def _guesses(self, wanted: FloatArray) -> list[FloatArray]:
        from scipy.optimize import least_squares

        start = np.clip(self.codes(wanted[None])[0], -1.0, 1.0)
        guesses = []
        inside = self._moving & (np.abs(wanted) < 1.0)  # what was clipped says less
        for rows in (inside, inside & (self._allowed > 0.0)):
            if rows.sum() < self.dimension:
                continue

            def miss(z: FloatArray, rows: Mask = rows) -> FloatArray:
                lifted = self.decoder((self.center + self.reach * z)[None])[0]
                return np.asarray((lifted - wanted)[rows])

            def slope(z: FloatArray, rows: Mask = rows) -> FloatArray:
                rates = self.decoder.jacobian(self.center + self.reach * z) * self.reach
                return np.asarray(rates[rows])

            found = least_squares(
                miss, start, jac=slope, bounds=(-1.0, 1.0), xtol=1e-15, ftol=1e-15, gtol=1e-15
            )
            guesses.append(np.asarray(found.x))
        return [*guesses, start]


def _product(X: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return X matrix^T (n, b), column by column: every sum has the same order in any batch."""
    total = np.zeros((len(X), len(matrix)))
    for column, share in zip(matrix.T, X.T, strict=True):
        total += share[:, None] * column
    return total
