"""docs/guide/choosing.md against what is taken where nothing is chosen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import nnbo_mip as nm
from nnbo_mip.loop.settings.settings import DOORS, Settings
from nnbo_mip.space import Space
from nnbo_mip.surrogates.base.families import registry as surrogates

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "choosing.md").read_text(encoding="utf-8")


def settings(dimension: int = 2, **options: Any) -> Settings:
    """Return the settings of a run in so many dimensions."""
    return nm.BayesianOptimizer(Space.box([0.0] * dimension, [1.0] * dimension), **options).settings


def rows(first_cell: str) -> list[list[str]]:
    """Return the rows of the table whose head begins so."""
    lines = PAGE.partition(f"| {first_cell} |")[2].splitlines()[2:]
    end = next(k for k, line in enumerate(lines) if not line.startswith("|"))
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[:end]]
    assert cells
    return cells


def taken(option: str, condition: str) -> str:
    """Return what the page says of an option under a condition."""
    current = ""
    for name, when, what in rows("left open"):
        current = name.strip("`") or current
        if current == option and condition in when:
            return what
    raise AssertionError(f"the page says nothing of {option!r} with {condition!r}")


def code(text: str) -> str:
    """Return the first piece of code in a cell."""
    found = re.search(r"`([^`]+)`", text)
    assert found is not None, text
    return found[1]


def options_of(text: str) -> dict[str, Any]:
    """Return the options of a family that is written with them."""
    return surrogates.parsed(text)[1]


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(block, "choosing.md", "exec"), {})
    assert capsys.readouterr().out == block.partition("# ")[2]


def test_the_family_and_its_options() -> None:
    families = {d: "up to 20" if d <= 20 else "21 and more" for d in (1, 6, 7, 20, 21)}
    (name, dimension, options), (_, beyond_20, more), *others = rows("name")
    assert (name, dimension, beyond_20) == ("`gp`, alone", "all", "21 and more")
    for d, condition in families.items():
        family = code(taken("surrogate", condition))
        assert settings(d).surrogate.name == family
        assert settings(d).surrogate == settings(d, surrogate=family).surrogate
        taken_alone = options_of(code(options)) | (options_of(f"gp:{code(more)}") if d > 20 else {})
        expected = surrogates.create("gp", **taken_alone)
        assert settings(d, surrogate="gp").surrogate == expected
    beyond = {"brvfl": (4, 5, 6, 7), "nomu": (7, 8, 30)}
    assert {code(name) for name, *_ in others} == set(beyond)
    for cell, coordinates, what in others:
        family = code(cell)
        first, last = coordinates.split(" and ")
        for d in beyond[family]:
            holds = int(first) <= d and (last == "more" or d <= int(last))
            expected = f"{family}:{code(what)}" if holds else family
            assert settings(d, surrogate=family).surrogate == surrogates.create(expected)


def test_acquisitions_and_warps() -> None:
    for family in ("nomu", "tpe", "bore", "boggn"):
        assert settings(surrogate=family).acquisition.name == code(
            taken("acquisition", f"`{family}`")
        )
    for family in ("gp", "brvfl", "deep_ensemble"):
        assert settings(surrogate=family).acquisition.name == code(
            taken("acquisition", "all other")
        )
        for d in (1, 6, 7, 20, 30):
            condition = "up to 20" if family == "gp" and d <= 20 else "all other"
            expected = DOORS["warp"](code(taken("warp", condition)))
            assert settings(d, surrogate=family).warp == expected


def test_escape_maximizer_region_and_starts() -> None:
    chosen = settings()
    said = taken("escape", "")
    (distance,) = map(float, re.findall(r"([\d.]+\d) away", said))
    assert chosen.escape.name == code(said)
    for step in (0, 7, 500):
        assert chosen.escape.eps(step, 12, 2) == pytest.approx(distance, rel=1e-12)
    said = taken("maximizer", "")
    assert chosen.maximizer.name == code(said)
    assert f", {chosen.time_limit:g} s an ask" in said
    for family, conditions in {
        "gp": {1: "`gp`, up to 20", 20: "`gp`, up to 20", 21: "`gp` and `portfolio`"},
        "brvfl": {1: "others, up to 6", 6: "others, up to 6", 7: "all others"},
    }.items():
        for d, condition in conditions.items():
            what = taken("region", condition)
            expected = DOORS["region"](None if what == "none" else code(what))
            assert settings(d, surrogate=family).region == expected
    assert taken("initial", "") == "3 + d Sobol points, from 5 to 10"
    for d in (1, 4, 40):
        assert chosen.initial.name == "sobol"
        run = nm.BayesianOptimizer(Space.box([0.0] * d, [1.0] * d))
        assert run.starts == min(max(3 + d, 5), 10)
