"""What every Bayesian network does before sampling and after it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.base.observations import Observations, Standardization
from nnbo_mip.surrogates.bnn.layout import Layout, Misfit
from nnbo_mip.surrogates.ensembles.members import MemberBelief
from nnbo_mip.surrogates.sampling.energy import thinned

GRID = 2.0**32
"""Standardized values are rounded to a grid of this many points in a unit. Chains magnify the
last bits of the data; so the units of y change no draw."""


@dataclass(frozen=True, eq=False)
class NetworkData:
    """Standardized observations and the networks that are to explain them.

    Parameters
    ----------
    units : Standardization
        From the user's units to the networks'.
    misfit : Misfit
        Squared errors of networks on the standardized observations.
    """

    units: Standardization
    misfit: Misfit

    @staticmethod
    def of(
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        hidden: tuple[int, ...],
        activation: str,
        standardize: bool,
        y_range: tuple[float, float] | None,
    ) -> NetworkData:
        """Check what a user passed to `fit`.

        Parameters
        ----------
        X, y : arrays
            As in `Surrogate.fit`.
        hidden : tuple of int
            Hidden widths.
        activation : str
            One of `NETWORK_ACTIVATIONS`.
        standardize : bool
            Whether inputs are standardized too, or stay in [-1, 1].
        y_range : (low, high), optional
            As in `Standardization.of`.
        """
        data = Observations.of(X, y)
        units = Standardization.of(data, inputs=standardize, outputs=True, y_range=y_range)
        v = np.round(GRID * units.values_inward(data.y)) / GRID
        layout = Layout(data.n_inputs, hidden)
        return NetworkData(units, Misfit(layout, activation, units.inward(data.X), v))

    @property
    def layout(self) -> Layout:
        """Where the weights stand in a vector."""
        return self.misfit.layout

    @property
    def n(self) -> int:
        """The number of observations."""
        return len(self.misfit.v)

    def belief(
        self,
        family: str,
        theta: FloatArray,
        noise: FloatArray,
        kept: int,
        spread: str,
        include_noise: bool,
    ) -> MemberBelief:
        """Return draws as a belief of members, equally spaced along the chains, one after another.

        Parameters
        ----------
        family : str
            Name of the surrogate.
        theta : (N, C, P) array
            Draws of C chains.
        noise : (N, C) array
            Standardized deviations of the noise that were drawn with them.
        kept : int
            How many draws become members.
        spread, include_noise
            As in `MemberBelief`.
        """
        # Chain by chain: every chain has its share of the members.
        together = thinned(theta.swapaxes(0, 1).reshape(-1, theta.shape[-1]), kept)
        deviations = thinned(noise.T.reshape(-1), kept)
        return MemberBelief(
            family,
            self.layout.stack(together, self.misfit.activation),
            self.units,
            spread,
            noise=float(self.units.y_scale * np.sqrt(np.square(deviations).mean())),
            include_noise=include_noise,
        )
