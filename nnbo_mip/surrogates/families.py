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
        "bnn": f"{_ROOM}.bnn_nuts:BnnInverse",
        "bnn:source": f"{_ROOM}.bnn_nuts:inverse_source",
        "bnn:fast": f"{_ROOM}.bnn_nuts:inverse_fast",
        "bnn_simple": f"{_ROOM}.bnn_nuts:BnnSimple",
        "bnn_simple:source": f"{_ROOM}.bnn_nuts:simple_source",
        "bnn_hierarchical": f"{_ROOM}.bnn_nuts:BnnHierarchical",
        "bnn_hierarchical:source": f"{_ROOM}.bnn_nuts:hierarchical_source",
        "bnn_hmc": f"{_ROOM}.bnn_hmc:BnnHmc",
        "bnn_hmc:source": f"{_ROOM}.bnn_hmc:source",
        "bnn_sghmc": f"{_ROOM}.bnn_sghmc:BnnSghmc",
        "bnn_sghmc:source": f"{_ROOM}.bnn_sghmc:source",
        "bnn_sghmc:robo": f"{_ROOM}.bnn_sghmc:robo",
        "ivbnn": f"{_ROOM}.ivbnn:Ivbnn",
        "ivbnn:source": f"{_ROOM}.ivbnn:source",
        "gp": f"{_ROOM}.gp:GaussianProcess",
        "pgp": f"{_ROOM}.gp:pure",
        "gp_mcmc": f"{_ROOM}.gp_mcmc:SampledProcess",
        "neural_linear": f"{_ROOM}.neural_linear:NeuralLinear",
        "random_forest": f"{_ROOM}.random_forest:RandomForest",
        "tpe": f"{_ROOM}.tpe:Tpe",
        "bore": f"{_ROOM}.bore:Bore",
        "boggn": f"{_ROOM}.boggn:Boggn",
        "average": f"{_ROOM}.average:Average",
        "empirical": f"{_ROOM}.empirical:Empirical",
        "kde": f"{_ROOM}.kde:Kde",
        "gmm": f"{_ROOM}.gmm:Gmm",
        "spn": f"{_ROOM}.spn:Spn",
    },
    group="nnbo_mip.surrogates",
)
"""Filled by the package, by entry points, and by `register`."""
