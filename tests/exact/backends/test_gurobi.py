"""What Gurobi's licence refuses is said in a sentence, and stops nothing else."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import SolverError
from nnbo_mip.exact.backends import SolveRequest, get_backend
from nnbo_mip.exact.backends.catalogue import second_opinions
from nnbo_mip.testing.programs import hard, knapsack
from tests.exact.backends.extras import needs_gurobi

pytestmark = needs_gurobi


def test_a_program_that_is_too_large() -> None:
    with pytest.raises(SolverError, match=r"3012 columns and 6 rows.*size-limited.*'highs'"):
        get_backend("gurobi").solve(hard(columns=3000), SolveRequest())


@pytest.mark.parametrize("text", [None, "TYPE=NODE\nVERSION=13\nEXPIRATION=2020-01-01\n"])
def test_a_licence_that_is_missing_or_no_longer_holds(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gurobi.lic"
    if text is not None:
        path.write_text(text)
    monkeypatch.setenv("GRB_LICENSE_FILE", str(path))
    with pytest.raises(SolverError, match=r"Gurobi's licence must.*install a licence that does"):
        get_backend("gurobi").solve(knapsack(), SolveRequest())


def test_certify_says_so_and_still_gives_value_and_bound() -> None:
    rng = np.random.default_rng(0)
    wide = nm.Network.from_layers(
        [
            (rng.normal(size=(900, 4)), rng.normal(size=900)),
            (rng.normal(size=(1, 900)), np.zeros(1)),
        ]
    )
    result = nm.certify(wide, [(-1.0, 1.0)] * 4, method="mip", solver="gurobi", time_limit=20.0)
    assert result.status == "feasible"
    assert result.kind == "rigorous"
    assert result.value <= result.bound < math.inf
    assert "Gurobi's licence must allow" in result.message


def test_it_is_asked_only_by_those_who_name_it() -> None:
    assert get_backend("gurobi").proves
    assert "gurobi" not in [one.name for one in second_opinions([])]


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    get_backend("gurobi").solve(knapsack(), SolveRequest())
    assert capfd.readouterr() == ("", "")
