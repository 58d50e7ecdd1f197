"""Columns of the frames of `nnbo_mip.lab.store.results`, and what they hold."""

from __future__ import annotations

from collections.abc import Mapping

PLAN: Mapping[str, type] = {
    "position": int,
    "problem": str,
    "method": str,
    "surrogate": str,
    "acquisition": str,
    "maximizer": str,
    "budget": float,
    "variant": str,
}

UNITS: Mapping[str, type] = {
    "key": str,
    "instance": int,
    "starts": int,
    "steps": int,
    "dimension": int,
    "direction": str,
    "optimum": float,
    "scaled": bool,
    "status": str,
    "environment": float,
    "started": float,
    "seconds": float,
    "cpu_seconds": float,
    "message": str,
}

OBSERVATIONS: Mapping[str, type] = {
    "unit": int,
    "number": int,
    "y": float,
    "truth": float,
    "seconds": float,
}

STEPS: Mapping[str, type] = {
    "unit": int,
    "number": int,
    "status": str,
    "value": float,
    "bound": float,
    "gap": float,
    "kind": str,
    "engine": str,
    "head": str,
    "mean": float,
    "std": float,
    "c": float,
    "eps": float,
    "doublings": int,
    "seconds": float,
    "fit_seconds": float,
    "ask_seconds": float,
    "evaluations": int,
    "time_limited": bool,
    "message": str,
}

ATTEMPTS: Mapping[str, type] = {
    "unit": int,
    "number": int,
    "outcome": str,
    "started": float,
    "seconds": float,
    "host": str,
    "message": str,
}
