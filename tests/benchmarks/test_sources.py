"""The experiments of the sources are planned as the lab plans them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nnbo_mip.lab.plan.experiment import read_experiment

FILES = sorted((Path(__file__).parents[2] / "benchmarks" / "sources").glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_experiment_can_be_planned(path: Path) -> None:
    plan = read_experiment(path)
    assert len({one.unit.key for one in plan}) == len(plan)
    assert len({one.unit.instance for one in plan}) > 1
    starts: dict[tuple[str, int], object] = {}
    for one in plan:
        drawn = (one.unit.starts, one.unit.n_starts)
        assert starts.setdefault((one.problem, one.unit.instance), drawn) == drawn
