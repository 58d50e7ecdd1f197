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

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FOLDERS = ("nnbo_mip", "tests", "benchmarks", "docs", ".ci")
TEXT_ENDINGS = {"", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yaml"}
FILES = sorted(
    path
    for path in [*ROOT.glob("*"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*"))]
    if path.is_file() and path.suffix in TEXT_ENDINGS
)
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LINE_CEILING = 500
HEAVY = (
    "gurobipy",
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


def test_no_module_is_longer_than_the_ceiling() -> None:
    lines = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n")
        for path in FILES
        if path.suffix == ".py"
    }
    assert "nnbo_mip/core/errors.py" in lines
    too_long = {name: count for name, count in lines.items() if count > LINE_CEILING}
    assert not too_long, "split them: one idea a module"


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


def test_no_path_of_a_machine_is_written_down() -> None:
    absolute = re.compile(r"(?<![\w.$}])(?:/(?:home|root|work|Users|mnt|tmp)/\w|[A-Z]:\\\w)")
    assert absolute.search("see " + "/".join(["", "home", "someone", "net.npz"]))
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in FILES
        for line in path.read_text(encoding="utf-8").splitlines()
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
