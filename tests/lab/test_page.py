"""What docs/guide/lab.md shows is what can be run."""

from __future__ import annotations

import re
from pathlib import Path

from nnbo_mip.cli.space_file import read_space
from nnbo_mip.lab.plan.experiment import KEYS, planned
from nnbo_mip.lab.plan.methods import OPTIONS
from nnbo_mip.lab.store.schema import TABLES

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "lab.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_example_is_planned() -> None:
    text, _ = BLOCKS
    plan = planned(text, "lab.md", "lab")
    methods = {one.method for one in plan}
    assert len(methods) == 2 * 3 * 2 + 1 + 2
    assert "pure GP" in methods
    assert len(plan) == len(methods) * 2 * 10


def test_the_space_is_read(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text(BLOCKS[1], encoding="utf-8")
    assert [one.name for one in read_space(path).dimensions] == ["rate", "width", "activation"]


def test_every_key_option_and_table_is_named() -> None:
    tables = [re.findall(r"CREATE TABLE (\w+)", text)[0] for text in TABLES]
    for word in (*KEYS, *OPTIONS, *tables):
        assert re.search(rf"\b{word}\b", PAGE), word
