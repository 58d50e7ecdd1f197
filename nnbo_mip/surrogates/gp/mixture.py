r"""A mixture of Gaussian processes with its moments: what a fully Bayesian process believes.

Of processes with means m_k and standard deviations s_k, k = 1 … K, each as likely as the others,

    mean   m = mean_k m_k
    std    scale sqrt(mean_k s_k^2 + mean_k (m_k - m)^2),

the moments of the mixture. An acquisition reads these; it is not averaged over the processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.surrogates.base.abstract import Belief, Capability, ValueGradient, check_scale
from nnbo_mip.surrogates.gp.belief import GpBelief, gp_capabilities


@dataclass(frozen=True, eq=False)
class ProcessMixture(Belief):
    """Gaussian processes that differ by their hyper-parameters.

    Parameters
    ----------
    processes : tuple of GpBelief
        At least one; none of them is scaled.
    noisy : bool
        Whether the noise is an estimate.
    scale : float
        Multiplier of the uncertainty.
    family : str
        Name of the surrogate that made it.
    """

    processes: tuple[GpBelief, ...]
    noisy: bool = True
    scale: float = 1.0
    family: str = "gp_mcmc"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.processes[0].n_inputs

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this belief offers."""
        return gp_capabilities(self.noisy)

    @property
    def length_scales(self) -> FloatArray:
        """Geometric means (d,) of the processes' length-scales."""
        return np.asarray(np.exp(np.mean([np.log(p.length_scales) for p in self.processes], 0)))

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Mean (n,) of the processes' means."""
        points = self.check_points(X)
        return np.asarray(np.mean([process.mean(points) for process in self.processes], axis=0))

    def std(self, X: npt.ArrayLike) -> FloatArray:
        """Return the std (n,) of the mixture, times the scale; the noise is not in it."""
        points = self.check_points(X)
        means = np.array([process.mean(points) for process in self.processes])
        stds = np.array([process.std(points) for process in self.processes])
        off = means - means.mean(axis=0)
        return np.asarray(self.scale * np.sqrt((np.square(stds) + np.square(off)).mean(axis=0)))

    def noise_std(self, X: npt.ArrayLike) -> FloatArray:
        """Root (n,) of the mean of the processes' noise variances, the same everywhere."""
        noise = np.sqrt(np.mean([process.noise**2 for process in self.processes]))
        return np.full(len(self.check_points(X)), noise if self.noisy else 0.0)

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        """Mean, std and their gradients; 0 is taken for the slope of a std of zero."""
        parts = [process.differentiate(X) for process in self.processes]
        means, stds = (np.array([getattr(p, name) for p in parts]) for name in ("mean", "std"))
        mean_slopes = np.array([part.mean_gradient for part in parts])
        std_slopes = np.array([part.std_gradient for part in parts])
        mean, mean_gradient = means.mean(axis=0), mean_slopes.mean(axis=0)
        off, off_slopes = means - mean, mean_slopes - mean_gradient
        root = np.sqrt((np.square(stds) + np.square(off)).mean(axis=0))
        slope = (stds[..., None] * std_slopes + off[..., None] * off_slopes).mean(axis=0)
        safe = np.where(root > 0.0, root, np.inf)[:, None]
        return ValueGradient(mean, self.scale * root, mean_gradient, self.scale * slope / safe)

    def draw(self, seed: int) -> ProcessMixture:
        """Return one function of one of the processes, both chosen by the seed; its std is zero.

        The outside scale moves the draw away from that process's mean.
        """
        rng = np.random.default_rng(seed)
        chosen = self.processes[int(rng.integers(len(self.processes)))]
        wide = chosen if self.scale == 1.0 else chosen.scaled(self.scale)
        drawn = wide.draw(int(rng.integers(2**31)))
        return replace(self, processes=(drawn,), scale=1.0)

    def scaled(self, factor: float) -> ProcessMixture:
        """Return this belief with its std multiplied by `factor`."""
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        arrays: dict[str, Array] = {
            "n_processes": np.array(len(self.processes)),
            "noisy": np.array(self.noisy),
            "scale": np.array(self.scale),
            "family": np.array(self.family),
        }
        for index, process in enumerate(self.processes):
            arrays |= {f"p{index}_{name}": part for name, part in process.to_arrays().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> ProcessMixture:
        """Make the belief that `to_arrays` described."""
        processes = []
        for index in range(int(arrays["n_processes"])):
            prefix = f"p{index}_"
            mine = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
            processes.append(GpBelief.from_arrays(mine))
        if not processes or len({process.n_inputs for process in processes}) > 1:
            raise ValueError("processes that do not fit together")
        noisy, scale = bool(arrays["noisy"]), float(arrays["scale"])
        return cls(tuple(processes), noisy, scale, str(arrays["family"]))
