"""`nnbo-mip compare`: its table, its picture, its exit codes, and what it refuses."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import nnbo_mip as nm
from nnbo_mip.cli.app import app
from nnbo_mip.cli.learned import listed
from nnbo_mip.cli.stages import Stages
from nnbo_mip.core.control import Progress
from nnbo_mip.loop.designs.spread import Sobol
from nnbo_mip.maximizers.compare import MAXIMIZERS

QUICK = "--surrogate brvfl:n_hidden=20 --acquisition ucb --maximizers bab,random:evaluations=5"

SPACE = """
[[dimensions]]
name = "rate"
lower = 1e-4
upper = 0.1
log = true

[[dimensions]]
kind = "integer"
name = "layers"
lower = 1
upper = 4
"""

RUNS = """rate,layers,loss,note
0.001,1,2.5,a
0.01,2,1.0,b
0.1,4,3.0,c
0.0001,3,,lost
0.03,3,1.5,e
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("space.toml").write_text(SPACE)
    Path("runs.csv").write_text(RUNS)
    return tmp_path


def run(arguments: str) -> Result:
    return CliRunner().invoke(app, ["compare", *arguments.split()])


def answer(arguments: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(run(f"{arguments} --json").stdout)
    return parsed


def test_the_table_of_a_problem() -> None:
    result = run(f"--problem forrester {QUICK} --points 6")
    assert result.exit_code == 0
    first, *lines = result.stdout.splitlines()
    assert first.startswith("brvfl:n_hidden=20 learned from 6 Sobol points of forrester in ")
    assert first.endswith(", minimized: scores are those of -y")
    assert lines[0].startswith("ucb, best ")
    assert "certified: at most" in lines[0]
    assert [line.split()[0] for line in lines[2:4]] == ["bab", "random:evaluations=5"]
    assert lines[4].startswith("best point, by bab: x = [")
    assert result.stderr.splitlines() == [
        "nnbo-mip: brvfl:n_hidden=20 learns from 6 Sobol points of forrester",
        "nnbo-mip: bab",
        "nnbo-mip: random:evaluations=5",
    ]


def test_the_numbers_are_those_of_compare() -> None:
    found = answer(f"--problem branin {QUICK} --points 9 --seed 4 --acquisition ei --gap 1e-5")
    problem = nm.problems.create("branin")
    X = Sobol(9).points(problem.space, 4)
    y = -problem.evaluate(problem.space.decode(X))
    belief = nm.surrogates.create("brvfl:n_hidden=20", seed=4).fit(X, y)
    table = nm.compare(
        belief,
        "ei",
        problem.space.model(),
        ["bab", "random:evaluations=5"],
        X=X,
        y=y,
        gap=1e-5,
        seed=4,
    )
    assert (found["head"], found["certified"], found["direction"]) == ("ei", True, "minimize")
    assert found["best_observed"] == -y.max()
    for shown, row in zip(found["maximizers"], table, strict=True):
        assert row.proposal is not None
        assert (shown["maximizer"], shown["value"]) == (row.maximizer, row.value)
        assert shown["x"] == problem.space.decode(row.proposal.x).tolist()
        assert shown["largest_regret"] == row.largest_regret
    assert [row["bound"] == "inf" for row in found["maximizers"]] == [False, True]


@pytest.mark.usefixtures("folder")
def test_a_table_of_observations() -> None:
    found = answer(f"--observations runs.csv --space space.toml --value loss {QUICK}")
    assert found["source"] == "5 rows of runs.csv"
    assert (found["observations"], found["best_observed"]) == (5, 1.0)
    assert set(found["maximizers"][0]["x"]) == {"rate", "layers"}
    space = nm.Space([nm.Real("rate", 1e-4, 0.1, log=True), nm.Integer("layers", 1, 4)])
    X = space.encode(
        [
            {"rate": rate, "layers": layers}
            for rate, layers in [(0.001, 1), (0.01, 2), (0.1, 4), (0.0001, 3), (0.03, 3)]
        ]
    )
    # The lost one counts as the worst.
    belief = nm.surrogates.create("brvfl:n_hidden=20").fit(X, [-2.5, -1.0, -3.0, -3.0, -1.5])
    best = nm.maximize(belief, "ucb", space.model(), maximizer="bab")
    assert found["maximizers"][0]["value"] == pytest.approx(best.value, rel=1e-9)


@pytest.mark.usefixtures("folder")
def test_maximizing_a_table() -> None:
    table = f"--observations runs.csv --space space.toml --value loss {QUICK}"
    result = run(f"{table} --direction maximize")
    assert result.exit_code == 0
    assert "best y 3, maximized\n" in result.stdout


def test_what_is_not_certified_exits_with_1() -> None:
    arguments = "--problem forrester --surrogate brvfl:n_hidden=20 --maximizers grid,sobol"
    result = run(arguments)
    assert result.exit_code == 1
    assert "not certified" in result.stdout
    parsed = answer(f"{arguments} --evaluations 3000")
    assert [row["evaluations"] for row in parsed["maximizers"]] == [2000, 3000]
    assert (parsed["bound"], parsed["maximizers"][0]["miss"]) == ("inf", None)


def test_auto_says_in_its_row_that_it_could_not_prove(recwarn: pytest.WarningsRecorder) -> None:
    result = run(
        "--problem sinone --points 5 --surrogate gp --acquisition ts --maximizers auto,mip"
    )
    assert result.exit_code == 1
    assert "mip: 'mip' must be able to do what is asked" in result.stdout
    assert "auto: a draw of a Gaussian process is a sum of many waves" in result.stdout
    assert not [str(w.message) for w in recwarn if issubclass(w.category, nm.NnboWarning)]


def test_nobody_can_serve() -> None:
    result = run(
        "--problem sinone --points 5 --surrogate brvfl:n_hidden=20 --acquisition ei "
        "--maximizers mip,enumerate"
    )
    assert result.exit_code == 2
    assert result.stdout.count("refused") == 2
    assert "one maximizer at least must be able to serve" in result.stderr


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipydirect", None)
    arguments = f"--problem forrester {QUICK} --maximizers scipydirect"
    result = run(arguments)
    assert result.exit_code == 4
    assert "build_scipydirect" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    beside_another = run(f"{arguments},bab")
    assert beside_another.exit_code == 0
    assert "scipydirect: the maximizer 'scipydirect' needs" in beside_another.stdout


@pytest.mark.usefixtures("folder")
def test_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run(f"--problem forrester --points 6 {QUICK} --plot found.png")
    assert result.exit_code == 0
    assert result.stdout.endswith("drawn to found.png\n")
    assert Path("found.png").read_bytes().startswith(b"\x89PNG")
    assert answer(f"--problem forrester --points 6 {QUICK} --plot found.svg")["certified"]
    assert Path("found.svg").exists()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    absent = run(f"--problem forrester {QUICK} --plot found.png")
    assert absent.exit_code == 4
    assert 'pip install "nnbo_mip[plots]"' in absent.stderr
    assert len(absent.stderr.splitlines()) == 1


TABLE = "--observations runs.csv --space space.toml --value loss"
PYTHON = re.compile(r"Traceback|__|math\.inf|pass |\w=…|None|outside=")
"""What tells nothing to somebody who typed a command."""


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ("", "--problem or by --observations; got none of them; write --problem branin"),
        (f"--problem branin {TABLE}", "got both; drop one"),
        ("--problem brannin", "did you mean 'branin'"),
        ("--problem levy:dim=3", "the options of 'levy' are dimension, source; got 'dim'"),
        ("--problem branin --space space.toml", "--space does not go with --problem"),
        ("--problem branin --value y", "--value does not go with --problem"),
        (f"{TABLE} --points 9", "--points does not go with --observations"),
        ("--observations runs.csv", "--observations needs --space"),
        ("--observations none.csv --space space.toml", "got 'none.csv'"),
        ("--observations runs.csv --space none.toml", "got 'none.toml'"),
        ("--observations runs.csv --space space.toml", "must have a column 'y'; got rate"),
        ("--observations short.csv --space space.toml", "at least 2 values; got 1"),
        ("--observations runs.csv --space domain.json", "a domain of plain coordinates"),
        ("--problem branin --points 1", "--points must be a whole number from 2; got '1'"),
        ("--problem branin --points many", "--points must be a whole number from 2; got 'many'"),
        ("--problem branin --evaluations 0", "--evaluations must be a whole number from 1"),
        ("--problem branin --direction up", "maximize, minimize"),
        ("--problem branin --surrogate nmu", "did you mean 'nomu'"),
        ("--problem branin --surrogate gp --acquisition empirical_ei", "a gp belief offers"),
        ("--problem branin --acquisition ubc", "did you mean 'ucb'"),
        ("--problem branin --maximizers auto,lbgfs", "did you mean 'lbfgs'"),
        ("--problem branin --maximizers auto,lbfgs:start=3", "did you mean 'starts'"),
        ("--problem branin --maximizers ,", "--maximizers must name one at least"),
        ("--problem branin --maximizers mip --evaluations 9", "got 'evaluations', which none has"),
        ("--problem branin --gap -1", "--gap must be >= 0"),
        ("--problem branin --time-limit 0", "--time-limit must be > 0 seconds"),
        ("--problem branin --seed one", "--seed must be a whole number"),
        ("--problem branin --plot a.gif", "a picture ends in .png, .svg or .pdf; got 'a.gif'"),
        ("--problem branin --plot no/a.png", "--plot must name a file in an existing folder"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments: str, part: str) -> None:
    Path("short.csv").write_text("rate,layers,y\n0.001,1,2.5\n0.01,2,\n")
    domain = nm.Space.box([0.0], [1.0]).numeric()
    Path("domain.json").write_text(json.dumps(domain.to_dict()))
    result = run(arguments)
    assert result.exit_code == 2
    assert part in result.stderr
    (line,) = result.stderr.splitlines()
    assert "; " in line  # what, expected, got; do
    assert not PYTHON.search(line)
    assert not result.stdout


def test_a_list_of_names_with_options() -> None:
    assert listed("mip,grid:points=50,time_limit=2, lbfgs ") == [
        "mip",
        "grid:points=50,time_limit=2",
        "lbfgs",
    ]
    assert listed("lbfgs:weak,direct:variant=l,evaluations=9") == [
        "lbfgs:weak",
        "direct:variant=l,evaluations=9",
    ]


def test_the_default_maximizers_are_those_of_compare() -> None:
    text = " ".join(run("--help").stdout.replace("│", " ").split())
    assert f"[default: {','.join(MAXIMIZERS)}]" in text.replace(", ", ",").replace(" ]", "]")
    assert "Example: nnbo-mip compare --problem branin" in text
    assert "Exit codes: 0 a maximizer closed its gap" in text


def test_stages_show_the_time_and_what_a_search_says(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])
    stages = Stages(live=True)
    stages.begin("nomu learns from 20 Sobol points of branin")
    clock[0] += 3.0
    assert stages.line() == "nomu learns from 20 Sobol points of branin  3 s"
    stages.begin("bab")
    stages.receive(Progress("boxes", 1.5, 2.0, 4.0, math.inf, {"boxes": 7}))
    clock[0] += 1.0
    assert stages.line() == "bab  boxes    value 1.5  bound 2  absolute gap 0.5  5 s  7 boxes"
    stages.begin("grid")
    assert stages.line() == "grid  0 s"


@pytest.mark.parametrize("problem", ["forrester", "ackley:dimension=4"])
def test_what_is_left_open_is_what_a_run_takes(problem: str) -> None:
    found = answer(f"--problem {problem} --points 8 --maximizers random")
    run_of = nm.BayesianOptimizer(nm.problems.create(problem).space).settings
    assert found["surrogate"] == run_of.surrogate.name
    assert found["acquisition"] == run_of.acquisition.name


@pytest.mark.parametrize("problem", ["forrester", "ackley:dimension=4"])
def test_a_seed_of_its_own_is_kept(problem: str) -> None:
    # In four dimensions a run adds options of its own to those that are named.
    quick = "--points 8 --seed 2 --maximizers random:evaluations=5 --surrogate brvfl"
    own = answer(f"--problem {problem} {quick}:seed=7,alpha=1.0")
    other = answer(f"--problem {problem} {quick}:alpha=1.0")
    assert own["best_observed"] == other["best_observed"]
    assert own["best"] != other["best"]
    assert listed("random(evaluations=9),lbfgs(starts=2,raw_samples=20),grid(points=30)") == [
        "random(evaluations=9)",
        "lbfgs(starts=2,raw_samples=20)",
        "grid(points=30)",
    ]
