"""Methods of a user's: planned, run, and what they do wrong said in one sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, MethodError, MissingExtraError, UnsupportedError
from nnbo_mip.lab.plan.environment import digests_of
from nnbo_mip.lab.plan.experiment import planned
from nnbo_mip.lab.plan.plan import PlannedUnit
from nnbo_mip.lab.run.unit_run import run_unit
from tests.lab import outside


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    outside.written(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop(outside.NAME, None)


def units(text: str) -> tuple[PlannedUnit, ...]:
    return planned(text, "file.toml", "name").units


def test_a_function_of_the_users_is_compared_from_the_same_starts() -> None:
    mine, drawn = units(outside.experiment("options = { wrong = '' }\nlabel = 'mine'"))
    assert (mine.method, mine.surrogate, mine.variant) == (
        "mine",
        "",
        "entry=lab_outside:drawing, wrong=",
    )
    assert mine.unit.method == {"entry": "lab_outside:drawing", "options": {"wrong": ""}}
    results = [run_unit(one.unit) for one in (mine, drawn)]
    points = [result["observations"]["x"] for result in results]
    assert points[0][:2] == points[1][:2]
    assert len(points[0]) == 5
    assert run_unit(mine.unit)["observations"]["x"] == points[0]
    steps = results[0]["steps"]
    assert [step["number"] for step in steps] == [2, 3, 4]
    for step in steps:
        assert (step["status"], step["kind"], step["message"]) == ("heuristic", "none", "drawn")
        assert step["fit_seconds"] == 0.25
        assert step["ask_seconds"] > 0.0
    assert results[1]["steps"] == []


def test_only_its_own_units_depend_on_its_module(folder: Path) -> None:
    mine, drawn = units(outside.experiment())
    assert set(mine.unit.imports) == {outside.NAME}
    assert drawn.unit.imports == {}
    path = folder / f"{outside.NAME}.py"
    path.write_text(path.read_text() + "\n# changed\n")
    again, same = units(outside.experiment())
    assert again.unit.key != mine.unit.key
    assert same.unit.key == drawn.unit.key
    versioned, _ = units(outside.experiment("packages = ['pytest']"))
    assert versioned.unit.versions == {**drawn.unit.versions, "pytest": pytest.__version__}


def test_a_changed_module_is_refused_before_it_is_run(folder: Path) -> None:
    mine, _ = units(outside.experiment())
    del sys.modules[outside.NAME]
    (folder / f"{outside.NAME}.py").write_text("raise SystemExit('this was run')\n")
    with pytest.raises(UnsupportedError, match=r"modules must be those .*lab_outside"):
        run_unit(mine.unit)
    assert outside.NAME not in sys.modules


def test_digests_are_of_all_files_that_are_run_and_run_none(folder: Path) -> None:
    package = folder / "lab_package"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('this was run')\n")
    (package / "inner.py").write_text("")
    first = digests_of(["lab_package.inner", outside.NAME])
    assert "lab_package" not in sys.modules
    (package / "__init__.py").write_text("\n")
    second = digests_of(["lab_package.inner", outside.NAME])
    assert first["lab_package.inner"] != second["lab_package.inner"]
    assert first[outside.NAME] == second[outside.NAME]
    for name in ("lab_package.no_such", f"{outside.NAME}.no_such"):
        with pytest.raises(InputError, match="there is no module"):
            digests_of([name])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("raise", "must not raise; ask raised ValueError: two lines:; mend it"),
        ("outside", r"must ask for a point of the space; got array.*must lie"),
        ("batch", r"must ask for a point of the space; .*these are 2 points"),
        ("nothing", "must return an object with ask.* got a NoneType without ask"),
    ],
)
def test_what_a_method_does_wrong_is_one_sentence(wrong: str, sentence: str) -> None:
    mine, _ = units(outside.experiment(f"options = {{ wrong = '{wrong}' }}"))
    with pytest.raises(MethodError, match=sentence) as caught:
        run_unit(mine.unit)
    assert "\n" not in str(caught.value)


def test_a_point_that_a_constraint_excludes_is_refused() -> None:
    def halved() -> nm.problems.Problem:
        space = nm.Space.box([0.0, 0.0], [1.0, 1.0], nm.LinearConstraint({"x0": 1.0}, "<=", 1e-9))
        return nm.problems.Problem("halved", space, lambda X: X[:, 1], optimum=0.0)

    nm.problems.register("halved")(halved)
    try:
        mine, _ = units(outside.experiment(problem="halved"))
        with pytest.raises(MethodError, match="a constraint does not hold"):
            run_unit(mine.unit)
    finally:
        nm.problems.unregister("halved")


@pytest.mark.parametrize(
    ("options", "entry", "sentence"),
    [
        ("", "no_such", r"line 7, methods\[1\].entry: .*has no function 'no_such'"),
        ("", "NOT_A_FUNCTION", "has no function 'NOT_A_FUNCTION'"),
        ("", "a b", "an entry must read module:function"),
        ("escape = 'none'", "drawing", "the keys here are label, entry, options, packages"),
        ("options = 3", "drawing", "it must be a table; got 3"),
        ("options = { a = 2026-01-01 }", "drawing", "a table of numbers and texts"),
    ],
)
def test_wrong_entries_are_refused_when_it_is_planned(
    options: str, entry: str, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        units(outside.experiment(options, entry))


def test_missing_modules_and_packages_are_named_before_anything_runs(folder: Path) -> None:
    text = outside.experiment().replace(outside.NAME, "no_such_module")
    with pytest.raises(InputError, match="'no_such_module' cannot"):
        units(text)
    (folder / "broken_module.py").write_text("1 / 0\n")
    with pytest.raises(InputError, match=r"'broken_module' cannot .ZeroDivisionError: division"):
        units(outside.experiment().replace(outside.NAME, "broken_module"))
    with pytest.raises(MissingExtraError, match="needs the package no-such, which is not inst"):
        units(outside.experiment("packages = ['no-such']"))


def test_two_methods_need_two_labels() -> None:
    twice = outside.experiment("[[methods]]\nentry = 'lab_outside:drawing'")
    with pytest.raises(InputError, match="labels of methods must be distinct"):
        units(twice)
