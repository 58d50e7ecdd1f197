r"""Sum-product network regression: deep mixtures of axis-aligned leaves (`sum_product`).

Random pairs of variables with C leaves each, as random tensorized sum-product networks have
them, learned by EM for the most probable parameters (`sum_product_em`); the conditional of the
value is a mixture of the T C leaves of y. The shapes alpha of the priors of the leaves'
variances, one for the inputs and one for y, and the weight Delta have the highest held-out
density (`held_out`).

References
----------
Poon and Domingos (2011), sum-product networks [PoonDomingos2011].
Peharz et al. (2019), their random structure [Peharz2019].
Kruse (2022), as a surrogate [Kruse2022].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count, check_number
from nnbo_mip.surrogates.densities.held_out import (
    Choice,
    HeldOut,
    Range,
    best,
    check_range,
    folds_of,
    searched,
)
from nnbo_mip.surrogates.densities.joint_density import JointDensity
from nnbo_mip.surrogates.densities.joint_regression import JointRegression
from nnbo_mip.surrogates.densities.sum_product import random_track
from nnbo_mip.surrogates.densities.sum_product_em import Learned, learn

ROUGH_EPOCHS = 30
"""Steps of EM, at most, of the networks that are only there to be scored."""

FEW_INPUTS = 2
CHANNELS_FOR_FEW, TRACKS_FOR_FEW = 10, 1
CHANNELS_FOR_MANY, TRACKS_FOR_MANY = 4, 2
"""What is taken where it is left open, up to `FEW_INPUTS` inputs and beyond; a step of EM takes
time in C^3 T d."""


@dataclass(frozen=True)
class Spn(JointRegression[tuple[float, ...]]):
    """Options of sum-product network regression.

    Experimental: a method of research, which may change or go.

    Parameters
    ----------
    channels : int, optional
        C, leaves of a variable and sums of a pair; 10 up to two inputs, else 4.
    tracks : int, optional
        T, networks of different pairs that are mixed; 1 up to two inputs, else 2.
    alpha : (low, high)
        Range of the shapes of the priors of the variances; large ones make narrow leaves.
    candidates : int
        Pairs of shapes that are tried, on a grid and a finer one.
    n_restarts : int
        Random starts of the last fit; folds take one.
    epochs : int
        Steps of EM at most.
    tolerance : float
        Rise of the mean log density at which EM ends.
    delta, background, blend, folds, y_range, seed
        See `JointRegression`; the seed is that of pairs, starts and folds.
    """

    name: ClassVar[str] = "spn"

    channels: int | None = None
    tracks: int | None = None
    alpha: Range = (1.0, 200.0)
    candidates: int = 13
    n_restarts: int = 3
    folds: int = 5
    epochs: int = 1000
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        super().__post_init__()
        object.__setattr__(self, "alpha", check_range("alpha", self.alpha))
        for name in ("channels", "tracks", "n_restarts", "epochs"):
            if name in ("n_restarts", "epochs") or getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        check_count("candidates", self.candidates, least=8)
        check_number("tolerance", self.tolerance, above=0.0)

    def _joint(self, u: FloatArray, v: FloatArray, setting: tuple[float, ...]) -> JointDensity:
        """Learn under these priors, and keep the most probable of several starts."""
        present = np.ones((self.n_restarts, len(v)))
        settings = np.tile(setting, (self.n_restarts, 1))
        learned = self._learned(u, v, present, settings, self.epochs)
        return learned.networks[int(learned.objectives[-1].argmax())]

    def _tuned(self, u: FloatArray, v: FloatArray) -> Choice[tuple[float, ...]]:
        lower, upper = np.array([self.alpha, self.alpha]).T
        if len(v) == 1:
            middle = tuple(np.sqrt(lower * upper).tolist())
            return self._untuned(middle)
        folds = folds_of(len(v), self.folds, self.seed)
        present = (np.arange(int(folds.max()) + 1)[:, None] != folds).astype(np.float64)
        background = self._held_out_background(int(present.sum(axis=1).min()))

        def tune(settings: FloatArray) -> Choice[tuple[float, ...]]:
            # All settings and folds learn as one batch: the networks are small.
            learned = self._learned(
                u,
                v,
                np.tile(present, (len(settings), 1)),
                np.repeat(settings, len(present), axis=0),
                min(self.epochs, ROUGH_EPOCHS),
            )
            count = len(present)
            said = {
                tuple(setting): HeldOut.gathered(
                    folds, learned.networks[k * count : (k + 1) * count], u, v
                )
                for k, setting in enumerate(settings.tolist())
            }
            return best(said, said.__getitem__, v, background, self._deltas)

        return searched(lower, upper, self.candidates, tune)

    def _learned(
        self,
        u: FloatArray,
        v: FloatArray,
        present: FloatArray,
        settings: FloatArray,
        epochs: int,
    ) -> Learned:
        """Return networks that learned from the observations present.

        Parameters
        ----------
        u, v : (n, d) and (n,) arrays
        present : (B, n) array
        settings : (B, 2) array
            alpha of the inputs' leaves and of the value's.
        epochs : int
        """
        d = u.shape[1]
        rng = np.random.default_rng(self.seed)
        few = d <= FEW_INPUTS
        channels = self.channels or (CHANNELS_FOR_FEW if few else CHANNELS_FOR_MANY)
        count = self.tracks or (TRACKS_FOR_FEW if few else TRACKS_FOR_MANY)
        tracks = [random_track(d + 1, rng) for _ in range(count)]
        shapes = np.column_stack([np.repeat(settings[:, :1], d, axis=1), settings[:, 1]])
        data = np.column_stack([u, v])
        return learn(data, present, tracks, channels, shapes, epochs, self.tolerance, rng)
