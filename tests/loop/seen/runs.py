"""Runs to be looked at: made once a session, in seconds."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

import nnbo_mip as nm

MIXED = nm.Space(
    [
        nm.Real("lr", 1e-4, 1e-1, log=True),
        nm.Integer("width", 4, 64),
        nm.Categorical("act", ["relu", "tanh", "sigmoid"]),
        nm.Real("idle", 0.0, 1.0),
    ],
    nm.LinearConstraint({"width": 1.0, "idle": 40.0}, "<=", 60.0),
)


def tuned(x: dict[str, Any]) -> float:
    """Return a value that depends on all inputs but `idle`; it fails at wide sigmoids."""
    if x["act"] == "sigmoid" and x["width"] > 50:
        raise RuntimeError("diverged")
    worse = {"relu": 0.2, "tanh": 0.0, "sigmoid": 0.6}[x["act"]]
    return float((np.log10(x["lr"]) + 2.3) ** 2 + 0.002 * (x["width"] - 40) ** 2 + worse)


def mixed_run(journal: Path | None = None, n: int = 14) -> nm.OptimizeResult:
    """Run a Gaussian process on the mixed space; most choices are proven in milliseconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nm.EvaluationWarning)
        return nm.optimize(tuned, MIXED, n, journal=journal, time_limit=2.0)
