"""Compare an imported network with the module it came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from nnbo_mip.errors import UnsupportedError
from nnbo_mip.network.affine import Affine, FloatArray, Matrix
from nnbo_mip.network.graph import Network

N_PROBES = 256
SEED = 20_240_229
SAFETY = 100.0
"""Factor on the rounding that a forward pass in the module's precision may show."""


def probe_points(n_inputs: int) -> FloatArray:
    """Return the (256, d) points in [-1, 1]^d at which importers compare functions."""
    return np.random.default_rng(SEED).uniform(-1.0, 1.0, (N_PROBES, n_inputs))


def float32_difference(module: nn.Module, network: Network) -> float | None:
    """Return the largest difference between a module and the network imported from it.

    Parameters
    ----------
    module : torch.nn.Module
        Run as it is, in its own precision.
    network : Network
        Evaluated in float64 at the same points.

    Returns
    -------
    float or None
        None where PyTorch cannot run the module in its precision on this machine. Points
        where the module overflows do not count.

    Raises
    ------
    UnsupportedError
        When the difference cannot be rounding: the module does something that tracing
        does not show, such as changing a tensor through a view.
    """
    tensor = next((p for p in module.parameters() if p.is_floating_point()), None)
    dtype = torch.get_default_dtype() if tensor is None else tensor.dtype
    points = torch.from_numpy(probe_points(network.n_inputs)).to(dtype)
    try:
        with torch.no_grad():
            result = module(points if tensor is None else points.to(tensor.device))
    except (RuntimeError, NotImplementedError):
        return None
    seen = _columns(result)
    exact_points = points.to(torch.float64).numpy()
    values = network.evaluate(exact_points)
    if seen.shape != values.shape:
        raise UnsupportedError(
            f"the module returned shape {seen.shape} for {N_PROBES} points where its trace gives "
            f"{values.shape}; make each row of the output depend on one row of the input."
        )
    with np.errstate(invalid="ignore"):
        difference = np.where(seen == values, 0.0, np.abs(seen - values))
    allowed = SAFETY * _rounding(network, exact_points, torch.finfo(dtype).eps)
    if bool((difference > allowed)[np.isfinite(seen)].any()):
        raise UnsupportedError(
            f"the module and its trace differ by {np.nanmax(difference):.3g}, more than rounding "
            "explains: it does something that tracing does not show; avoid in-place changes "
            "and operations across the batch."
        )
    return float(np.max(difference[np.isfinite(difference)], initial=0.0))


def _columns(result: Any) -> FloatArray:
    """Return the outputs of a module side by side: (n, m)."""
    parts = list(result.values()) if isinstance(result, Mapping) else result
    parts = [parts] if isinstance(parts, torch.Tensor) else list(parts)
    columns = [part.detach().to("cpu", torch.float64).numpy() for part in parts]
    return np.concatenate([part.reshape(len(part), -1) for part in columns], axis=1)


def _rounding(network: Network, points: FloatArray, unit: float) -> FloatArray:
    """Bound the rounding error of a forward pass: ``unit * operations * magnitudes``, (n, m)."""
    magnitudes = Network(
        network.n_inputs, tuple(_absolute(a) for a in network.layers), _absolute(network.head)
    )
    affines = (*network.layers, network.head)
    operations = sum(max([w.shape[1] for w in a.terms.values()], default=1) + 2 for a in affines)
    with np.errstate(over="ignore"):
        return unit * operations * magnitudes.evaluate(np.abs(points))


def _absolute(affine: Affine) -> Affine:
    terms: dict[int, Matrix] = {k: abs(w) for k, w in affine.terms.items()}
    return Affine(np.abs(affine.bias), terms)
