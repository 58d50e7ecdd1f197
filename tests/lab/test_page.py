"""What docs/guide/lab.md shows is what can be run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nnbo_mip.cli.space_file import read_space
from nnbo_mip.lab.peers.catalogue import registry as peers
from nnbo_mip.lab.plan.experiment import KEYS, planned
from nnbo_mip.lab.plan.methods import OPTIONS
from nnbo_mip.lab.plan.outside import ENTRY_KEYS, PEER_KEYS
from nnbo_mip.lab.run.unit_run import run_unit
from nnbo_mip.lab.store.schema import TABLES

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "lab.md").read_text(encoding="utf-8")
EXAMPLE, OTHERS, OWN_STARTS, SPACE = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
CLIMBER = next(
    text for text in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL) if "Climber" in text
)


def test_the_example_is_planned() -> None:
    plan = planned(EXAMPLE, "lab.md", "lab")
    methods = {one.method for one in plan}
    assert len(methods) == 2 * 3 * 2 + 1 + 2
    assert "pure GP" in methods
    assert len(plan) == len(methods) * 2 * 10


def test_the_example_of_own_starts_is_planned() -> None:
    ours = OWN_STARTS[: OWN_STARTS.index("[[methods]]\npeer")]  # its peers need packages
    plan = planned(ours, "lab.md", "lab")
    assert {one.method for one in plan} == {"default", "five starts", "random"}
    assert len(plan) == 3 * 2 * 10


def test_the_space_is_read(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text(SPACE, encoding="utf-8")
    assert [one.name for one in read_space(path).dimensions] == ["rate", "width", "activation"]


def test_the_other_optimizers_are_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "climber.py").write_text(CLIMBER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    text = OTHERS.replace("instances = 5", "instances = 1").replace("steps = 30", "steps = 3")
    for package in ("optuna", "botorch", "greenlet"):
        pytest.importorskip(package)
    plan = planned(text, "lab.md", "lab")
    labels = ["gp", "my climber", "optuna:sampler=tpe", "botorch", "random"]
    assert sorted({one.method for one in plan}) == sorted(labels)
    for one in plan:
        if one.method == "my climber":
            assert len(run_unit(one.unit)["observations"]["y"]) == 15


def test_every_peer_is_named() -> None:
    for name in peers.available():
        assert f"`{name}" in PAGE


def test_every_key_option_and_table_is_named() -> None:
    tables = [re.findall(r"CREATE TABLE (\w+)", text)[0] for text in TABLES]
    for word in (*KEYS, *OPTIONS, *ENTRY_KEYS, *PEER_KEYS, *tables):
        assert re.search(rf"\b{word}\b", PAGE), word
