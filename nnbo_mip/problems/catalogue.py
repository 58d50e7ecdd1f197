"""The registry of problems."""

from __future__ import annotations

from nnbo_mip.core.registry import Registry
from nnbo_mip.problems.problem import Problem

_TESTS = {
    "test1": "smooth",
    "test2": "steps",
    "test3": "two_valued",
    "test3b": "tilted_two_valued",
    "test4": "varying",
    "test4b": "hollow",
}
"""Source 001 numbers its functions."""

_MODULES = {
    "one_dimensional": ("forrester", "sinone", "sine_cosine", "sine_parabola"),
    "two_dimensional": (
        "bohachevsky",
        "branin",
        "camelback",
        "goldstein_price",
        "mccormick",
        "sintwo",
        "three_hump_camel",
    ),
    "scalable": ("g_function", "levy", "perm", "powell", "rosenbrock"),
    "multimodal": ("ackley", "griewank", "michalewicz", "styblinski_tang"),
    "physics": (
        "borehole",
        "cantilever",
        "flood",
        "otl_circuit",
        "piston",
        "robot_arm",
        "short_column",
        "wing_weight",
    ),
    "hartmann": ("hartmann3", "hartmann6"),
    "bbob": ("bbob",),
    "tabulated": ("fcnet",),
    "tuning_kernel": ("tuning_svm",),
    "tuning_network": ("tuning_layers", "tuning_mlp"),
    "tuning_pipelines": (
        "tuning_elastic_net",
        "tuning_logistic",
        "tuning_neighbors",
        "tuning_pipeline",
    ),
    "tuning_trees": ("tuning_boosting", "tuning_forest"),
    "noise": ("noisy",),
    "constrained": ("constrained",),
    "integer": ("integer",),
    "embedded": ("embedded",),
}

registry: Registry[Problem] = Registry(
    "problem",
    Problem,
    {
        **{
            name: f"nnbo_mip.problems.{module}:{name}"
            for module, names in _MODULES.items()
            for name in names
        },
        **{name: f"nnbo_mip.problems.regression_tests:{f}" for name, f in _TESTS.items()},
    },
    group="nnbo_mip.problems",
)
"""Filled by the package, by entry points, and by `register`."""
