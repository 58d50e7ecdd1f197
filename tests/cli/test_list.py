"""`nnbo-mip list`: what can be chosen by name."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import nnbo_mip as nm
from nnbo_mip.cli.app import app
from nnbo_mip.cli.list import CATALOGUES
from nnbo_mip.core.registry_entries import Entry, Option
from nnbo_mip.exact import backends
from nnbo_mip.lab.peers.catalogue import registry as peers
from nnbo_mip.loop.embeddings import embeddings

AVAILABLE = {
    "problems": nm.problems.available,
    "surrogates": nm.surrogates.available,
    "acquisitions": nm.acquisitions.available,
    "maximizers": nm.maximizers.available,
    "embeddings": embeddings.registry.available,
    "backends": backends.available,
    "peers": peers.available,
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["list", *arguments])


@pytest.mark.parametrize("what", AVAILABLE)
def test_one_line_a_name(what: str) -> None:
    result = run(what)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert tuple(line.split()[0] for line in lines) == AVAILABLE[what]()


def test_a_line_says_what_it_is_and_which_options_it_has() -> None:
    (line,) = (line for line in run("acquisitions").stdout.splitlines() if line.startswith("ucb"))
    assert line.split(maxsplit=1)[1] == (
        "mean + beta factor std.  [beta=1.0, factor=1.0, incumbent=None]"
    )


def test_backends_say_what_they_can_do() -> None:
    (entries,) = json.loads(run("backends", "--json").stdout).values()
    facts = {entry["name"]: entry for entry in entries}
    assert {name for name, fact in facts.items() if fact["role"] == "claimant"} == {"cbc", "pyomo"}
    assert {name for name, fact in facts.items() if fact["sos1"] == "yes"} == {"gurobi", "scip"}
    assert facts["highs"]["installed"] == "yes"
    assert (facts["gurobi"]["extra"], facts["gurobi"]["licence"]) == ("gurobi", "yes")
    (line,) = (line for line in run("backends").stdout.splitlines() if line.startswith("highs"))
    assert "role=prover, formulation=bigm, sos1=no, extra=none" in line


def test_a_backend_whose_extra_is_missing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nnbo_mip.exact.backends.catalogue.find_spec", lambda name: None)
    (entries,) = json.loads(run("backends", "--json").stdout).values()
    assert {entry["installed"] for entry in entries} == {"no"}


def test_the_same_in_json() -> None:
    (entries,) = json.loads(run("problems", "--json").stdout).values()
    assert tuple(entry["name"] for entry in entries) == nm.problems.available()
    noisy = next(entry for entry in entries if entry["name"] == "noisy")
    assert noisy["options"] == {"problem": None, "sd": None, "seed": "0"}


def test_a_line_is_wrapped_below_its_text_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from nnbo_mip.cli import list as cli_list

    entry = Entry("mip", "A solver.", tuple(Option(f"option_{k}", str(k)) for k in range(9)))
    assert "\n" not in cli_list._line(entry, 5)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    first, *others = cli_list._line(entry, 5).splitlines()
    assert first.startswith("mip    A solver.  [option_0=0")
    assert others
    assert all(line.startswith(" " * 7) and len(line) <= 60 for line in others)


EXPERIMENTAL = {"boggn", "spn", "ivbnn", "ivbnn:source", "nn_cl", "goal_seeking", "autoencoder"}


def test_methods_of_research_are_marked_in_lists_and_in_their_documentation() -> None:
    marked = set()
    for what, home in CATALOGUES.items():
        registry = import_module(home).registry
        (entries,) = json.loads(run(what, "--json").stdout).values()
        for entry, line in zip(entries, run(what).stdout.splitlines(), strict=True):
            name = entry["name"]
            assert line.split(maxsplit=1)[1].startswith("Experimental: ") == entry["experimental"]
            marked |= {name} if entry["experimental"] else set()
            factory = registry.factory(name)
            if inspect.isclass(factory):
                said = "\n\n    Experimental: a method of research" in str(factory.__doc__)
                assert said == entry["experimental"], name
    assert marked == EXPERIMENTAL


def test_an_unknown_kind_is_one_sentence() -> None:
    result = run("mximizers")
    assert result.exit_code == 2
    assert "did you mean 'maximizers'?" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_help_has_an_example() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "Example: nnbo-mip list maximizers" in " ".join(result.stdout.split())


MINE = """
import nnbo_mip as nm

def bowl(x):
    return float(x[0] ** 2)

nm.problems.register("my_bowl", nm.problems.Problem.of(bowl, nm.Space.box([-1.0], [2.0])))

@nm.maximizers.register("my_search")
class MySearch(nm.maximizers.Heuristic):
    \"\"\"Look at a few points.\"\"\"
    name = "my_search"
    abilities = nm.maximizers.Abilities(any_belief=True)

    def _search(self, search, request):
        import numpy as np
        search.values(search.target.domain.sample(20, np.random.default_rng(request.seed)))
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "my_parts.py").write_text(MINE)
    (tmp_path / "my_mistake.py").write_text("1 / 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("my_parts", None)
    for registry, name in ((nm.maximizers, "my_search"), (nm.problems, "my_bowl")):
        if name in registry.available():
            registry.unregister(name)


@pytest.mark.usefixtures("mine")
def test_a_module_of_mine_can_be_imported() -> None:
    lines = run("maximizers", "--import", "my_parts").stdout.splitlines()
    assert any(line.startswith("my_search") and "Look at a few points" in line for line in lines)
    asked = ["--problem", "my_bowl", "--points", "6", "--surrogate", "brvfl:n_hidden=12"]
    asked += ["--maximizers", "lbfgs,my_search"]
    result = CliRunner().invoke(app, ["compare", "--import", "my_parts", *asked, "--json"])
    rows = json.loads(result.stdout)["maximizers"]
    assert [row["maximizer"] for row in rows] == ["lbfgs", "my_search"]
    assert rows[1]["evaluations"] >= 20


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("name", ["my_mistake", "nowhere_at_all"])
def test_a_module_that_cannot_be_imported_is_one_sentence(name: str) -> None:
    result = run("maximizers", "--import", name)
    assert result.exit_code in (2, 4)
    assert len(result.stderr.splitlines()) == 1
    assert name in result.stderr
