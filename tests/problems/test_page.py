"""docs/guide/problems.md against the registry."""

from __future__ import annotations

import re

import pytest

import nnbo_mip as nm
from docs import make_problems
from tests.problems.catalogue import FROM_FILES, PLAIN, TUNING, WRAPPERS

PAGE = make_problems.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "table"), [*make_problems.tables()])
def test_the_tables_are_those_of_the_registry(name, table) -> None:
    assert make_problems.written(name) == table, "run python -m docs.make_problems"


def test_every_problem_is_in_a_table() -> None:
    assert {spec.partition(":")[0] for spec in make_problems.FUNCTIONS} == set(PLAIN)
    assert set(make_problems.TASKS) == set(TUNING)
    assert set(make_problems.WRAPPERS) == set(WRAPPERS)
    assert sum(map(len, make_problems.BBOB.values())) == 24
    assert {*FROM_FILES, *PLAIN, *TUNING, *WRAPPERS} == set(nm.problems.available())


def test_every_tuning_task_has_its_losses() -> None:
    rows = [line.split("|")[1:-1] for line in make_problems.written("losses").splitlines()[2:]]
    assert len(rows) == 3 * 4 + 5 * 5 + 1
    for spec, *figures in rows:
        nm.problems.create(spec.strip(" `"))
        best, tenth, median, mean, largest = map(float, figures)
        assert 0.0 <= best <= tenth <= median
        assert 0.0 <= mean <= largest


def test_the_names_in_the_text_make_problems() -> None:
    named = set(re.findall(r"`((?:bbob|tuning_\w+|goldstein_price):[\w=,]+)`", PAGE))
    assert "bbob:function=8,dimension=2,instance=3" in named
    for spec in named:
        assert nm.problems.create(spec).space.dimensions


def test_the_examples_run() -> None:
    first, second = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names: dict[str, object] = {}
    exec(first + second, names)
    assert names["branin"]([9.42478, 2.475]) == pytest.approx(0.397887, abs=1e-6)
    assert names["levy"].scaled().score([[0.1] * 5]) == pytest.approx([1.0])
    assert names["wide"].dimension == 1000
