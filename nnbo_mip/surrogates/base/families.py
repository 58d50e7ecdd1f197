"""The registry of surrogates."""

from __future__ import annotations

from nnbo_mip.core.registry import Registry
from nnbo_mip.surrogates.base.abstract import Surrogate

_ROOM = "nnbo_mip.surrogates"

registry: Registry[Surrogate] = Registry(
    "surrogate",
    Surrogate,
    {
        "nomu": f"{_ROOM}.nomu.nomu:Nomu",
        "nomu:thesis": f"{_ROOM}.nomu.nomu:thesis",
        "deep_ensemble": f"{_ROOM}.ensembles.deep_ensemble:DeepEnsemble",
        "mc_dropout": f"{_ROOM}.ensembles.mc_dropout:McDropout",
        "brvfl": f"{_ROOM}.rvfl.brvfl:Brvfl",
        **{f"brvfl{k}": f"{_ROOM}.rvfl.presets:brvfl{k}" for k in range(1, 5)},
        "ervfl": f"{_ROOM}.rvfl.ervfl:Ervfl",
        **{f"ervfl{k}": f"{_ROOM}.rvfl.presets:ervfl{k}" for k in range(1, 5)},
        "elm": f"{_ROOM}.ensembles.elm:Elm",
        "bnn": f"{_ROOM}.bnn.nuts:BnnInverse",
        "bnn:source": f"{_ROOM}.bnn.nuts:inverse_source",
        "bnn:fast": f"{_ROOM}.bnn.nuts:inverse_fast",
        "bnn_simple": f"{_ROOM}.bnn.nuts:BnnSimple",
        "bnn_simple:source": f"{_ROOM}.bnn.nuts:simple_source",
        "bnn_hierarchical": f"{_ROOM}.bnn.nuts:BnnHierarchical",
        "bnn_hierarchical:source": f"{_ROOM}.bnn.nuts:hierarchical_source",
        "bnn_hmc": f"{_ROOM}.bnn.hmc:BnnHmc",
        "bnn_hmc:source": f"{_ROOM}.bnn.hmc:source",
        "bnn_sghmc": f"{_ROOM}.bnn.sghmc:BnnSghmc",
        "bnn_sghmc:source": f"{_ROOM}.bnn.sghmc:source",
        "bnn_sghmc:robo": f"{_ROOM}.bnn.sghmc:robo",
        "ivbnn": f"{_ROOM}.bnn.ivbnn:Ivbnn",
        "ivbnn:source": f"{_ROOM}.bnn.ivbnn:source",
        "gp": f"{_ROOM}.gp.gp:GaussianProcess",
        "pgp": f"{_ROOM}.gp.gp:pure",
        "gp_mcmc": f"{_ROOM}.gp.mcmc:SampledProcess",
        "spherical_linear": f"{_ROOM}.spherical.spherical_linear:SphericalLinear",
        "sparse_quadratic": f"{_ROOM}.pairs.sparse_quadratic:SparseQuadratic",
        "neural_linear": f"{_ROOM}.rvfl.neural_linear:NeuralLinear",
        "random_forest": f"{_ROOM}.trees.random_forest:RandomForest",
        "tpe": f"{_ROOM}.ratios.tpe:Tpe",
        "bore": f"{_ROOM}.ratios.bore:Bore",
        "boggn": f"{_ROOM}.ratios.boggn:Boggn",
        "average": f"{_ROOM}.combined.average:Average",
        "portfolio": f"{_ROOM}.combined.portfolio:Portfolio",
        "empirical": f"{_ROOM}.combined.empirical:Empirical",
        "kde": f"{_ROOM}.densities.kde:Kde",
        "gmm": f"{_ROOM}.densities.gmm:Gmm",
        "spn": f"{_ROOM}.densities.spn:Spn",
    },
    group="nnbo_mip.surrogates",
    experimental=("ivbnn", "ivbnn:source", "boggn", "spn"),
)
"""Filled by the package, by entry points, and by `register`."""
