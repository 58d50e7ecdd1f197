"""The registry of surrogates."""

from __future__ import annotations

from nnbo_mip.registry import Registry
from nnbo_mip.surrogates.abstract import Surrogate

_ROOM = "nnbo_mip.surrogates"

registry: Registry[Surrogate] = Registry(
    "surrogate",
    Surrogate,  # type: ignore[type-abstract]
    {
        "nomu": f"{_ROOM}.nomu:Nomu",
        "nomu:thesis": f"{_ROOM}.nomu:thesis",
        "deep_ensemble": f"{_ROOM}.deep_ensemble:DeepEnsemble",
        "mc_dropout": f"{_ROOM}.mc_dropout:McDropout",
        "brvfl": f"{_ROOM}.brvfl:Brvfl",
        **{f"brvfl{k}": f"{_ROOM}.rvfl_presets:brvfl{k}" for k in range(1, 5)},
        "ervfl": f"{_ROOM}.ervfl:Ervfl",
        **{f"ervfl{k}": f"{_ROOM}.rvfl_presets:ervfl{k}" for k in range(1, 5)},
        "elm": f"{_ROOM}.elm:Elm",
        "gp": f"{_ROOM}.gp:GaussianProcess",
        "pgp": f"{_ROOM}.gp:pure",
        "average": f"{_ROOM}.average:Average",
        "empirical": f"{_ROOM}.empirical:Empirical",
        "kde": f"{_ROOM}.kde:Kde",
        "gmm": f"{_ROOM}.gmm:Gmm",
        "spn": f"{_ROOM}.spn:Spn",
    },
    group="nnbo_mip.surrogates",
)
"""Filled by the package, by entry points, and by `register`."""
