"""The registry of acquisitions."""

from __future__ import annotations

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.core.registry import Registry

_ROOM = "nnbo_mip.acquisitions"

registry: Registry[Acquisition] = Registry(
    "acquisition",
    Acquisition,
    {
        "mean": f"{_ROOM}.mean:Mean",
        "ucb": f"{_ROOM}.ucb:UpperConfidenceBound",
        "ts": f"{_ROOM}.ts:ThompsonSample",
        "ei": f"{_ROOM}.ei:Ei",
        "logei": f"{_ROOM}.logei:LogEi",
        "pi": f"{_ROOM}.pi:Pi",
        "empirical_ei": f"{_ROOM}.empirical_ei:EmpiricalEi",
        "empirical_pi": f"{_ROOM}.empirical_pi:EmpiricalPi",
        "ei_mixture": f"{_ROOM}.ei_mixture:EiMixture",
        "ei_sampled": f"{_ROOM}.ei_sampled:EiSampled",
        "pi_mixture": f"{_ROOM}.pi_mixture:PiMixture",
        "quantile_mixture": f"{_ROOM}.quantile_mixture:QuantileMixture",
        "mes": f"{_ROOM}.mes:MaxValueEntropySearch",
        "aei": f"{_ROOM}.aei:AugmentedEi",
        "nei": f"{_ROOM}.nei:NoisyEi",
        "eqi": f"{_ROOM}.eqi:ExpectedQuantileImprovement",
        "gp_cl": f"{_ROOM}.gp_cl:GpCl",
        "goal_seeking": f"{_ROOM}.gp_cl:GoalSeeking",
        "nn_cl": f"{_ROOM}.nn_cl:NnCl",
        "ratio": f"{_ROOM}.ratio:Ratio",
    },
    group="nnbo_mip.acquisitions",
    experimental=("goal_seeking", "nn_cl"),
)
"""Filled by the package, by entry points, and by `register`."""
