"""Rules of the repository itself: sizes, imports, pins, nothing of anybody's machine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import metadata
from importlib.resources import files
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    path.relative_to(ROOT)
    for folder in ("nnbo_mip", "tests", "benchmarks", "docs")
    for path in (ROOT / folder).rglob("*.py")
)
TEXTS = sorted(
    {path.relative_to(ROOT) for ending in ("md", "toml", "txt") for path in ROOT.glob(f"*.{ending}")}
    | {Path(".ci/run"), *MODULES}
    | {
        path.relative_to(ROOT)
        for ending in ("md", "sh", "json")
        for path in (ROOT / "docs").rglob(f"*.{ending}")
    }
)
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINE_CEILING = 500
HEAVY = (
    "highspy",
    "matplotlib",
    "numba",
    "onnx",
    "pulp",
    "pyomo",
    "pyscipopt",
    "scipy.optimize",
    "sklearn",
    "torch",
)


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_no_module_is_longer_than_the_ceiling(module: Path) -> None:
    lines = (ROOT / module).read_text(encoding="utf-8").count("\n")
    assert lines <= LINE_CEILING, "split it: one idea a module"


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = "import json, sys, nnbo_mip; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        check=True,
        cwd=ROOT,
        text=True,
    )
    imported = set(json.loads(run.stdout))
    assert "nnbo_mip" in imported
    assert imported.isdisjoint(HEAVY)


@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_no_path_of_a_machine_is_written_down(text: Path) -> None:
    absolute = re.compile(r"(?<![\w.$}])(?:/(?:home|root|work|Users|mnt|tmp)/\w|[A-Z]:\\\w)")
    found = [
        line
        for line in (ROOT / text).read_text(encoding="utf-8").splitlines()
        if absolute.search(line)
    ]
    assert not found


def test_every_direct_dependency_is_pinned_within_its_range() -> None:
    pins = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, pinned = line.partition("==")
            pins[canonicalize_name(name)] = pinned
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"].values()
    wanted = [
        requirement
        for text in [*project["dependencies"], *(line for extra in extras for line in extra)]
        if (requirement := Requirement(text)).name != project["name"]
    ]
    unmet = [
        str(requirement)
        for requirement in wanted
        if not requirement.specifier.contains(pins.get(canonicalize_name(requirement.name), "0"))
    ]
    assert len(wanted) > 10
    assert not unmet


def test_the_installed_version_is_the_newest_one_of_the_changelog() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\d+\.\d+\.\d+)", changelog, flags=re.MULTILINE)
    assert newest is not None
    assert newest[1] == PYPROJECT["project"]["version"] == metadata("nnbo_mip")["Version"]


def test_type_checkers_may_read_the_annotations() -> None:
    assert files("nnbo_mip").joinpath("py.typed").is_file()
