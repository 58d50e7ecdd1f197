"""What networks with random features share: options, their checks, the layer, the precision."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.checks import check_choice, check_count, check_flag, check_number, check_size
from nnbo_mip.surrogates.base.abstract import Surrogate
from nnbo_mip.surrogates.base.observations import check_y_range
from nnbo_mip.surrogates.ensembles.stack import ACTIVATIONS
from nnbo_mip.surrogates.rvfl.bayesian_linear import Spectrum
from nnbo_mip.surrogates.rvfl.evidence import check_alpha, learn_alpha
from nnbo_mip.surrogates.rvfl.features import RandomFeatures


class RandomFeatureSurrogate(Surrogate):
    """The options that such families have in common; they are fields of each family."""

    n_hidden: int
    activation: str
    direct_link: bool
    alpha: float | str
    beta: float
    tolerance: float
    max_iterations: int
    include_noise: bool
    y_range: tuple[float, float] | None
    seed: int

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_size("n_hidden", self.n_hidden)
        check_choice("activation", self.activation, ACTIVATIONS)
        check_flag("direct_link", self.direct_link)
        check_alpha(self.alpha)
        check_number("beta", self.beta, above=0.0)
        check_number("tolerance", self.tolerance, above=0.0, below=1.0)
        check_count("max_iterations", self.max_iterations)
        check_flag("include_noise", self.include_noise)
        check_y_range(self.y_range)
        check_count("seed", self.seed, least=0)

    def _layer(self, n_inputs: int, rng: np.random.Generator) -> RandomFeatures:
        """Draw a hidden layer."""
        return RandomFeatures.draw(self.n_hidden, n_inputs, self.activation, self.direct_link, rng)

    @property
    def _given(self) -> float | None:
        """The prior precision, where it is not learned."""
        return None if isinstance(self.alpha, str) else float(self.alpha)

    def _learned(self, spectrum: Spectrum) -> float:
        """Return the prior precision of largest evidence."""
        return learn_alpha(spectrum, self.beta, self.tolerance, self.max_iterations)
