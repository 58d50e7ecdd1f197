"""A package that is missing is missed before anything is evaluated for it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import nnbo_mip as nm
from nnbo_mip.lab.plan.experiment import planned
from nnbo_mip.surrogates.base.families import registry
from tests.loop.runs import BOX, advance

PACKAGES = {
    "bnn": "nutpie",
    "bnn_simple:source": "nutpie",
    "bnn_hierarchical": "nutpie",
    "gp_mcmc": "emcee",
    "average:members=('gp_mcmc', 'kde')": "emcee",
}
EXTRA = re.escape("nnbo_mip[mcmc]")


def unwanted(x: Any) -> float:
    raise AssertionError("nothing may be evaluated")


@pytest.mark.parametrize("surrogate", PACKAGES)
def test_runs_are_refused_before_the_first_evaluation(
    surrogate: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "run.db"
    registry.create(surrogate).check_installed()
    advance(nm.BayesianOptimizer(BOX, surrogate, initial=4, journal=path), 1, lambda x: 1.0)
    monkeypatch.setitem(sys.modules, PACKAGES[surrogate], None)
    with pytest.raises(nm.MissingExtraError, match=EXTRA):
        nm.optimize(unwanted, BOX, 8, surrogate=surrogate)
    with pytest.raises(nm.MissingExtraError, match=EXTRA):
        nm.BayesianOptimizer(BOX, surrogate)
    with pytest.raises(nm.MissingExtraError, match=EXTRA):
        nm.optimize(unwanted, BOX, 8, surrogate=surrogate, initial=4, journal=path)
    assert len(nm.BayesianOptimizer.open(path).history) == 1  # what is known may be read


def test_experiments_are_refused_when_they_are_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
    steps = 2
    starts = 2
    instances = 1
    problems = ["branin"]
    [methods]
    surrogate = "bnn"
    """
    monkeypatch.setitem(sys.modules, "nutpie", None)
    with pytest.raises(nm.MissingExtraError, match=EXTRA):
        planned(text, "file.toml", "name")


def test_every_family_that_needs_a_package_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is registered can be made without extras, so that it can be listed."""
    for package in ("nutpie", "emcee"):
        monkeypatch.setitem(sys.modules, package, None)
    needy = {name for name in registry.available() if registry.create(name).extra is not None}
    assert {name.partition(":")[0] for name in needy} == {
        "bnn",
        "bnn_simple",
        "bnn_hierarchical",
        "gp_mcmc",
    }
