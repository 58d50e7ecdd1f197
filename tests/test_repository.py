"""Rules of the repository itself: sizes, imports, pins, nothing of anybody's machine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib.metadata import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
FOLDERS = (
    "nnbo_mip",
    "tests",
    "benchmarks",
    "docs",
    "integrations",
    "changelog.d",
    ".ci",
    ".github",
)
TEXT_ENDINGS = {"", ".cff", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml"}
FILES = sorted(
    path
    for path in [*ROOT.glob("*"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*"))]
    if path.is_file() and path.suffix in TEXT_ENDINGS and path.name != ".git"  # of a work tree
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


def _yaml(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_citation_is_of_this_version_and_licence() -> None:
    citation, project = _yaml("CITATION.cff"), PYPROJECT["project"]
    assert {"cff-version", "message", "title", "authors"} <= set(citation)  # the format wants them
    assert str(citation["version"]) == project["version"]
    assert citation["license"] == project["license"] == metadata("nnbo_mip")["License-Expression"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in project["authors"]
    ]
    assert citation["keywords"] == project["keywords"]
    assert ("date-released" in citation) is ("(unreleased)" not in _newest_heading())


def test_the_licence_is_the_one_that_is_named() -> None:
    project = PYPROJECT["project"]
    assert project["license-files"] == ["LICENSE"]
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert licence.startswith(f"{project['license']} License")
    assert all(author["name"] in licence for author in project["authors"])


def _newest_heading() -> str:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return next(line for line in changelog.splitlines() if line.startswith("## "))


def test_fragments_of_the_changelog_have_names_that_towncrier_reads() -> None:
    towncrier = PYPROJECT["tool"]["towncrier"]
    changelog = (ROOT / towncrier["filename"]).read_text(encoding="utf-8")
    assert changelog.partition(towncrier["start_string"])[2].lstrip().startswith("## ")
    kinds = "|".join(kind["directory"] for kind in towncrier["type"])
    name = re.compile(rf"(\d+|\+[a-z0-9-]+)\.({kinds})\.md")
    assert name.fullmatch("31.fixed.md")
    assert not name.fullmatch("31.md")
    folder = [path.name for path in (ROOT / towncrier["directory"]).iterdir()]
    assert "README.md" in folder
    assert not [one for one in folder if one != "README.md" and not name.fullmatch(one)]


def test_the_workflow_calls_what_a_maintainer_calls() -> None:
    jobs = _yaml(".github/workflows/ci.yml")["jobs"]
    runs = {
        name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()
    }
    assert runs == {"run": ["bash .ci/run"], "wheel": ["bash .ci/wheel"]}
    assert all((ROOT / command.split()[1]).is_file() for (command,) in runs.values())
    declared = [line.rpartition(" ")[2] for line in PYPROJECT["project"]["classifiers"]]
    versions = jobs["wheel"]["strategy"]["matrix"]["python-version"]
    assert versions == [version for version in declared if version.startswith("3.")]


def test_hooks_before_a_commit_are_what_ci_calls() -> None:
    (repository,) = _yaml(".pre-commit-config.yaml")["repos"]
    hooks = {hook["name"]: hook for hook in repository["hooks"]}
    assert set(hooks) == {"ruff check", "ruff format", "mypy"}
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for name, hook in hooks.items():
        assert hook["entry"].startswith(name)
        assert f".venv-test/bin/{name} " in ci.replace("\n", " ")
    typed = {f for f in FOLDERS if re.match(hooks["mypy"]["files"], f"{f}/module.py")}
    assert typed == set(PYPROJECT["tool"]["mypy"]["files"])


def test_templates_for_issues_name_themselves() -> None:
    templates = {path.stem: path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md")}
    assert sorted(templates) == ["bug", "question", "wrong_proof"]
    for path in templates.values():
        _, header, body = path.read_text(encoding="utf-8").split("---\n", 2)
        assert {"name", "about", "labels"} == set(yaml.safe_load(header))
        assert body.strip()
    assert "changelog.d/" in (ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md").read_text("utf-8")


def test_the_sdist_holds_what_the_tests_read() -> None:
    included = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    pages = [path.name for path in ROOT.glob("*.md")]
    read = [*FOLDERS, *pages, "CITATION.cff", "constraints.txt", ".pre-commit-config.yaml"]
    assert not [name for name in read if not any(fnmatch(f"/{name}", one) for one in included)]


def test_type_checkers_may_read_the_annotations() -> None:
    assert files("nnbo_mip").joinpath("py.typed").is_file()
