"""The no-U-turn sampler of nutpie (extra ``mcmc``): path length and step size by themselves.

References
----------
Hoffman and Gelman (2014), the no-U-turn sampler [HoffmanGelman2014].
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.extras import Extra
from nnbo_mip.surrogates.sampling.energy import Energy

NUTPIE = Extra(
    "mcmc",
    "nutpie.compiled_pyfunc",
    "the no-U-turn sampler",
    "choose the surrogate bnn_hmc, which needs none",
)


def sample_nuts(
    energy: Energy,
    start: FloatArray,
    tune: int,
    n_draws: int,
    seed: int,
    max_depth: int = 10,
    target: float = 0.8,
) -> FloatArray:
    """Return draws (n_draws, C, P).

    Parameters
    ----------
    energy : callable
        See `Energy`; it is called with one chain at a time.
    start : (C, P) array
        First positions.
    tune : int
        Transitions that adapt step size and diagonal masses, before the first draw.
    n_draws : int
        Draws of each chain.
    seed : int
        Source of every random number.
    max_depth : int
        A path has at most 2 to this power leapfrog steps.
    target : float
        Acceptance that the step size aims at.
    """
    nutpie = NUTPIE.load()
    seeds = np.random.SeedSequence(seed).generate_state(len(start), np.uint64)
    size = start.shape[1]

    def log_density() -> Callable[[FloatArray], tuple[float, FloatArray]]:
        def evaluate(position: FloatArray) -> tuple[float, FloatArray]:
            with np.errstate(over="ignore", invalid="ignore"):
                value, gradient = energy(position[None, :])
            return -float(value[0]), -gradient[0]

        return evaluate

    chains = []
    for first, chain_seed in zip(start, seeds, strict=True):
        model = nutpie.compiled_pyfunc.from_pyfunc(
            size,
            log_density,
            lambda *_: lambda position: {"position": np.asarray(position)},
            [np.dtype(np.float64)],
            [(size,)],
            ["position"],
            make_initial_point_fn=lambda _, first=first: first,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of ArviZ and xarray about their own future
            trace = nutpie.sample(
                model,
                draws=n_draws,
                tune=tune,
                chains=1,
                cores=1,
                seed=int(chain_seed >> np.uint64(1)),
                maxdepth=max_depth,
                target_accept=target,
                progress_bar=False,
                save_warmup=False,
            )
        chains.append(np.array(trace.posterior["position"])[0])
    return np.stack(chains, axis=1)
