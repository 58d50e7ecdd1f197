"""Marks of tests that need a solver which may be missing."""

from __future__ import annotations

import importlib.util

import pytest

needs_scip = pytest.mark.skipif(
    importlib.util.find_spec("pyscipopt") is None, reason="the extra 'scip' is not installed"
)
needs_gurobi = pytest.mark.skipif(
    importlib.util.find_spec("gurobipy") is None, reason="the extra 'gurobi' is not installed"
)
SCIP = pytest.param("scip", marks=needs_scip)
GUROBI = pytest.param("gurobi", marks=needs_gurobi)
