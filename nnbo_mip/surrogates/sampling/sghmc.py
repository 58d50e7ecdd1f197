r"""Stochastic-gradient Hamiltonian Monte Carlo whose scales adapt during burn-in.

With a noisy gradient g of the energy, momentum p, friction c and step size l, a step is

    p <- p - l^2 m g - c p + N(0, max(2 l^2 c m - l^4, 1e-16)),   theta <- theta + p.

The scales m = 1 / sqrt(v) are of the size of the gradients. During burn-in only, with moving
averages g' of g and v of g^2 whose memory tau is long where gradients are mostly noise,

    tau <- tau + 1 - tau g'^2 / v,
    g'  <- g' + (g - g') / (tau + 1),
    v   <- v + (g^2 - v) / (tau + 1),

where the right-hand sides hold the values before the step.

References
----------
Chen et al. (2014), stochastic-gradient HMC [Chen2014].
Springenberg et al. (2016), scales that adapt [Springenberg2016].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray

SMALLEST_NOISE = 1e-16
"""Least variance of the noise of a step."""


class AdaptiveSghmc:
    """C chains that advance together, each with scales of its own.

    Parameters
    ----------
    start : (C, P) array
        First positions.
    rng : numpy.random.Generator
        Source of the noise.
    step : float
        l.
    friction : float
        c, the part of the momentum that is lost in a step.
    """

    def __init__(
        self,
        start: FloatArray,
        rng: np.random.Generator,
        step: float = 0.01,
        friction: float = 0.05,
    ) -> None:
        self.position = start.copy()
        self._rng = rng
        self._step = step
        self._friction = friction
        self._momentum = np.zeros_like(start)
        self._memory = np.ones_like(start)
        self._slope = np.ones_like(start)
        self._square = np.ones_like(start)

    @property
    def scales(self) -> FloatArray:
        """The preconditioner m (C, P)."""
        return np.asarray(1.0 / np.sqrt(self._square))

    def advance(self, gradient: FloatArray, adapt: bool) -> None:
        """Make one step with a gradient (C, P) at `position`; see the module for `adapt`."""
        if adapt:
            weight = 1.0 / (self._memory + 1.0)
            self._memory += 1.0 - self._memory * np.square(self._slope) / self._square
            self._slope += (gradient - self._slope) * weight
            self._square += (np.square(gradient) - self._square) * weight
        scales, rate = self.scales, self._step**2
        variance = np.maximum(2.0 * rate * self._friction * scales - rate**2, SMALLEST_NOISE)
        noise = np.sqrt(variance) * self._rng.standard_normal(self.position.shape)
        self._momentum += -rate * scales * gradient - self._friction * self._momentum + noise
        self.position = self.position + self._momentum
