"""Figures that the sources print, as far as claims are checked against them.

Names are those of the experiments' files: problems without their options where that is enough,
families by name.
"""

from __future__ import annotations

from collections.abc import Mapping

BUDGETS = (0.1, 0.25, 0.5, 1.0, 2.0)

MEDIANS_GP: Mapping[str, tuple[float, ...]] = {
    "forrester": (8.25e-7, 8.25e-7, 8.25e-7, 8.25e-7, 8.25e-7),
    "levy": (1.76e-6, 1.76e-6, 1.76e-6, 1.76e-6, 2.20e-6),
    "sinone": (1.80e-5, 1.80e-5, 1.80e-5, 1.80e-5, 1.80e-5),
}
"""Source 004, table A.1: median final regret of the Gaussian process by `BUDGETS`."""

MEANS_1D: Mapping[tuple[str, str], tuple[float | None, ...]] = {
    ("forrester", "nomu"): (1.63e-2, 1.54e-2, 1.54e-2, 5.61e-5, 3.90e-4),
    ("forrester", "gp"): (8.25e-7, 8.25e-7, 8.25e-7, 1.02e-6, 2.85e-6),
    ("forrester", "deep_ensemble"): (1.54e-2, 3.62e-5, 3.79e-4, 1.56e-3, 1.72e-3),
    ("forrester", "mc_dropout"): (5.06e-2, 4.76e-2, 3.17e-2, 4.71e-2, 3.11e-2),
    ("levy", "nomu"): (6.51e-3, 6.79e-3, 4.76e-3, 9.25e-4, 7.99e-4),
    ("levy", "gp"): (8.36e-3, 5.30e-6, 7.01e-5, 8.28e-4, 1.33e-3),
    ("levy", "deep_ensemble"): (9.62e-3, 8.00e-3, 3.56e-3, 1.07e-2, 2.63e-2),
    ("levy", "mc_dropout"): (4.31e-3, 4.36e-3, 4.37e-3, 4.84e-3, 8.55e-3),
    ("sinone", "nomu"): (7.32e-2, 6.95e-2, None, 6.72e-2, 5.72e-2),
    ("sinone", "gp"): (5.40e-2, 5.40e-2, 4.21e-2, 2.28e-2, 7.27e-3),
    ("sinone", "deep_ensemble"): (6.88e-2, 6.15e-2, 7.48e-2, 5.71e-2, 4.99e-2),
    ("sinone", "mc_dropout"): (8.08e-2, 7.56e-2, 8.05e-2, 6.73e-2, 8.10e-2),
}
"""Source 004, table 6.2: mean final regret by `BUDGETS`; one cell cannot be read."""

MEDIANS_1D: Mapping[tuple[str, str], tuple[float, ...]] = {
    ("forrester", "nomu"): (6.70e-6, 8.25e-7, 6.70e-6, 6.70e-6, 6.27e-5),
    ("forrester", "deep_ensemble"): (8.25e-7, 6.70e-6, 2.82e-5, 1.40e-4, 9.34e-4),
    ("forrester", "mc_dropout"): (4.98e-5, 6.27e-5, 4.98e-5, 4.98e-5, 2.23e-4),
    ("levy", "nomu"): (3.75e-5, 2.09e-5, 2.09e-5, 1.04e-4, 5.44e-5),
    ("levy", "deep_ensemble"): (8.73e-4, 1.41e-4, 4.98e-4, 4.55e-3, 1.60e-3),
    ("levy", "mc_dropout"): (2.56e-5, 4.25e-5, 4.25e-5, 5.66e-5, 1.04e-4),
    ("sinone", "nomu"): (7.90e-4, 5.45e-4, 5.45e-4, 6.69e-4, 1.38e-3),
    ("sinone", "deep_ensemble"): (3.07e-3, 7.86e-4, 7.29e-4, 7.01e-3, 2.65e-3),
    ("sinone", "mc_dropout"): (2.76e-3, 3.00e-4, 7.90e-4, 1.62e-3, 1.09e-3),
}
"""Source 004, table A.1: median final regret of the networks by `BUDGETS`."""

FACTORS_GP: Mapping[str, tuple[tuple[float, float], ...]] = {
    "forrester": ((0.7, 0.13), (1.6, 0.35), (3.2, 0.67), (6.61, 1.4), (12.59, 2.75)),
    "levy": ((0.3, 0.22), (0.84, 0.57), (1.38, 1.11), (3.36, 2.28), (4.13, 1.58)),
    "sinone": ((0.09, 0.01), (0.23, 0.02), (0.46, 0.05), (0.88, 0.09), (1.71, 0.19)),
}
"""Source 004, table 6.3: mean first factor of the Gaussian process by `BUDGETS`, and half-width."""

NOMU_BY_RULE: Mapping[str, float] = {
    "none": 1.63e-2,
    "linear": 2.14e-4,
    "linear:padding=4": 1.62e-5,
    "exponential:padding=4": 6.24e-6,
}
"""Source 004, table 6.4: mean final regret of NOMU on Forrester with budget 0.1."""

MEANS_2D: Mapping[str, Mapping[str, float]] = {
    "branin": {"gp": 2.36e-6, "pgp": 2.66e-4},
    "rosenbrock": {"gp": 5.47e-6, "pgp": 7.55e-6},
    "camelback": {"gp": 4.00e-5, "pgp": 8.40e-5},
    "perm": {"gp": 1.95e-5, "pgp": 7.77e-4},
    "goldstein_price": {"gp": 1.16e-4, "pgp": 9.58e-5},
}
"""Source 004, table A.5: mean final regret."""

RVFL: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "bohachevsky": {
        "brvfl1": (2.71e-1, 1.89e-1),
        "brvfl2": (3.88e-1, 2.24e-1),
        "brvfl3": (1.33e-3, 1.29e-3),
        "brvfl4": (1.41e-3, 1.44e-3),
    },
    "branin": {
        "brvfl1": (9.54e-4, 6.57e-4),
        "brvfl2": (8.66e-4, 9.85e-4),
        "brvfl3": (1.29e-3, 9.35e-4),
        "brvfl4": (1.11e-3, 6.61e-4),
    },
    "camelback": {
        "brvfl1": (3.01e-4, 3.78e-4),
        "brvfl2": (1.92e-4, 2.28e-4),
        "brvfl3": (1.60e-3, 1.52e-3),
        "brvfl4": (1.61e-3, 1.56e-3),
    },
    "goldstein_price": {
        "brvfl1": (8.64, 1.12e1),
        "brvfl2": (1.10e1, 1.06e1),
        "brvfl3": (9.44, 1.73e1),
        "brvfl4": (1.10e1, 2.16e1),
    },
    "hartmann3": {
        "brvfl1": (1.77e-3, 1.00e-3),
        "brvfl2": (1.81e-3, 9.05e-4),
        "brvfl3": (1.39e-2, 9.47e-3),
        "brvfl4": (1.17e-2, 8.19e-3),
    },
    "hartmann6": {
        "brvfl1": (6.97e-1, 3.22e-1),
        "brvfl2": (6.32e-1, 2.32e-1),
        "brvfl3": (7.50e-1, 3.30e-1),
        "brvfl4": (7.34e-1, 3.50e-1),
    },
    "levy:dimension=10,source=000": {
        "brvfl1": (5.82, 1.55e1),
        "brvfl2": (1.19, 2.50e-1),
        "brvfl3": (1.11, 1.96e-1),
        "brvfl4": (1.09, 2.22e-1),
    },
    "levy:dimension=2,source=000": {
        "brvfl1": (9.77e-2, 2.90e-1),
        "brvfl2": (8.36e-3, 1.90e-2),
        "brvfl3": (3.34e-3, 6.83e-3),
        "brvfl4": (3.87e-3, 6.92e-3),
    },
    "levy:dimension=5,source=000": {
        "brvfl1": (2.17, 2.51),
        "brvfl2": (3.53, 3.61),
        "brvfl3": (6.30e-1, 2.14e-1),
        "brvfl4": (6.32e-1, 4.03e-1),
    },
    "rosenbrock:dimension=2,source=000": {
        "brvfl1": (1.33, 1.96),
        "brvfl2": (1.42, 2.00),
        "brvfl3": (2.95, 4.12),
        "brvfl4": (3.02, 4.37),
    },
    "rosenbrock:dimension=5,source=000": {
        "brvfl1": (2.27e2, 3.06e2),
        "brvfl2": (1.42e2, 2.24e2),
        "brvfl3": (1.46e2, 1.80e2),
        "brvfl4": (1.41e2, 1.76e2),
    },
    "sintwo": {
        "brvfl1": (3.70e-3, 3.96e-3),
        "brvfl2": (2.69e-3, 2.56e-3),
        "brvfl3": (3.79e-3, 2.49e-3),
        "brvfl4": (3.29e-3, 2.10e-3),
    },
}
"""Source 000, tables 4.6 to 4.9, learned precision: mean and deviation of the regret, 30 runs."""

RANDOM: Mapping[str, tuple[float, float]] = {
    "bohachevsky": (9.68e1, 8.06e1),
    "branin": (2.28e-1, 2.16e-1),
    "camelback": (9.18e-2, 7.62e-2),
    "goldstein_price": (1.26e1, 1.12e1),
    "hartmann3": (1.49e-1, 1.08e-1),
    "hartmann6": (1.01, 3.34e-1),
    "levy:dimension=10,source=000": (4.34e1, 9.55),
    "levy:dimension=2,source=000": (2.07e-1, 1.31e-1),
    "levy:dimension=5,source=000": (7.90, 3.82),
    "rosenbrock:dimension=2,source=000": (3.05, 2.89),
    "rosenbrock:dimension=5,source=000": (3.05e3, 3.12e3),
    "sintwo": (7.47e-3, 4.72e-3),
}
"""The same of random points."""
