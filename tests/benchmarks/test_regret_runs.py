"""Runs are units of the lab: what is there is not run again, and an archive begins a store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nnbo_mip as nm
from benchmarks.regret import __main__ as regret
from benchmarks.regret import methods as regret_methods
from benchmarks.regret.experiment import plan_of, text_of
from benchmarks.regret.options import pack, unpack
from benchmarks.regret.plot import draw
from benchmarks.regret.problems import AX, FUNCTIONS, SUITES, Case
from benchmarks.regret.results import Results, Run, read_runs
from benchmarks.regret.starts import SeededSobol
from nnbo_mip.lab.plan.starts import design_for, shared_starts
from nnbo_mip.lab.run.unit_run import run_unit
from nnbo_mip.lab.store.results import Results as Stored
from nnbo_mip.lab.store.store import opened
from tests.lab.stores import answer

BRANIN = replace(FUNCTIONS[0], starts=4, evaluations=7)
QUICK = {"surrogate": "brvfl:n_hidden=10", "maximizer": "random:evaluations=64"}
ARCHIVES = Path(__file__).parents[2] / "benchmarks" / "archives"


def test_the_plan_is_that_of_a_file_which_the_lab_reads() -> None:
    methods = {"ours": QUICK, "smac": regret_methods.PEERS["smac"], "random": None}
    pytest.importorskip("smac")
    plan = plan_of("some", [BRANIN], methods, [3, 5], 2.5)
    assert plan.file == text_of("some", [BRANIN], methods, [3, 5], 2.5)
    assert [(one.method, one.unit.instance) for one in plan] == [
        ("ours", 3),
        ("smac", 3),
        ("random", 3),
        ("ours", 5),
        ("smac", 5),
        ("random", 5),
    ]
    ours, smac, _ = plan.units[:3]
    assert (ours.unit.n_starts, ours.unit.steps) == (4, 3)
    assert ours.unit.method["options"]["time_limit"] == 2.5
    assert smac.unit.method == {"peer": {"name": "smac", "facade": "blackbox"}}


@pytest.mark.parametrize("suite", SUITES)
def test_no_run_is_planned_twice_and_none_is_left_out(suite: str) -> None:
    ours = {**regret_methods.OURS, **regret_methods.DRAWN}
    for case in SUITES[suite].values():
        assert len(plan_of(suite, [case], ours, [0], 5.0)) == len(ours)


def test_every_method_is_one_of_ours_a_peer_or_a_baseline() -> None:
    for method in regret_methods.OURS.values():
        nm.BayesianOptimizer([(0.0, 1.0)] * 2, **method)
    known = {**regret_methods.OURS, **regret_methods.PEERS, **regret_methods.DRAWN}
    assert list(known) == list(regret_methods.METHODS)


@pytest.mark.parametrize("case", [*FUNCTIONS, *AX], ids=lambda case: case.spec)
def test_starts_are_points_of_the_box_and_those_of_their_seed(case: Case) -> None:
    space = case.problem.space
    starts = f"seeded_sobol:n={case.starts},seed={{instance}}"
    first, again, other = (shared_starts(design_for(starts, seed), space, 99) for seed in (4, 4, 5))
    assert first.tolist() == again.tolist()
    assert first.shape == (case.starts, case.problem.dimension)
    assert space.model().admissible(first).all()
    assert not np.any(first == other)


def test_more_points_of_a_sequence_begin_with_the_fewer() -> None:
    space = nm.Space.box(np.zeros(3), np.ones(3))
    many = SeededSobol(40, 1).points(space)
    assert SeededSobol(14, 1).points(space).tolist() == many[:14].tolist()
    counts = np.histogram(many[:32, 1], bins=32, range=(-1.0, 1.0))[0]
    assert set(counts.tolist()) == {1}  # one in each of 32 slices, as Sobol points have it
    assert SeededSobol(40, 1).again(space, 14) == SeededSobol(14, 1)


def test_ours_is_asked_after_the_shared_starts() -> None:
    ours, drawn = plan_of("some", [BRANIN], {"ours": QUICK, "random": None}, [0], 5.0).units
    first, second = (run_unit(one.unit)["observations"] for one in (ours, drawn))
    assert first["x"][:4] == second["x"][:4]
    assert first["y"][:4] == second["y"][:4]


def written(store: Path, runs: list[tuple[str, int, list[float] | None]]) -> None:
    """Write runs of some methods and seeds as if they had been run."""
    methods = dict.fromkeys(method for method, _, _ in runs)
    plan = plan_of("functions quick", [BRANIN], {**methods}, sorted({s for _, s, _ in runs}), 5.0)
    values = {(method, seed): y for method, seed, y in runs}
    chosen = [one for one in plan if (one.method, one.unit.instance) in values]
    with opened(store) as results:
        results.write_plan(replace(plan, units=tuple(chosen)))
        for one in chosen:
            y = values[one.method, one.unit.instance]
            if y is not None:
                results.add([answer(one.unit, y, is_baseline=True)])


def test_a_run_comes_back_from_the_store(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    assert read_runs(store, "functions quick") == []
    written(store, [("random", 0, [0.1 + 0.2] * 7), ("random", 1, None)])
    first, second = read_runs(store, "functions quick")
    assert (first.label, first.y, first.is_done) == (("branin", "random", 0), [0.1 + 0.2] * 7, True)
    assert (second.y, second.is_done) == ([], False)
    assert read_runs(store, "functions") == []


def test_what_is_maximized_comes_back_to_be_minimized(tmp_path: Path) -> None:
    case = Case("flipped", "flipped", 2, 3)

    def flipped() -> nm.problems.Problem:
        space = nm.Space.box([0.0], [1.0])
        return nm.problems.Problem(
            "flipped", space, lambda X: X[:, 0], direction="maximize", optimum=1.0
        )

    nm.problems.register("flipped")(flipped)
    try:
        plan = plan_of("some", [case], {"random": None}, [0], 5.0)
    finally:
        nm.problems.unregister("flipped")
    with opened(tmp_path / "runs.db") as results:
        results.write_plan(plan)
        results.add([answer(plan.units[0].unit, [0.25, 0.5, 0.75], is_baseline=True)])
    (run,) = read_runs(tmp_path / "runs.db", "some")
    assert run.y == [-0.25, -0.5, -0.75]


def test_the_command_runs_what_is_missing_and_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "runs.db"
    arguments = ["--quick", "--problems", "branin", "--seeds", "2", "--store", str(store)]
    arguments += ["--archive", ""]
    written(store, [("random", 0, [float(k) for k in range(9, 2, -1)])])
    assert regret.main([*arguments, "--methods", "sobol", "random", "--jobs", "2"]) == 0
    first = capsys.readouterr()
    assert "3 runs are missing, 1 in the store" in first.err
    assert "| branin | sobol |" in first.out
    kept = {run.label: run.y for run in read_runs(store, "functions quick")}
    assert len(kept) == 4
    assert kept["branin", "random", 0] == [float(k) for k in range(9, 2, -1)]
    # Another method later: what was there stays, also in the report.
    more = ["--methods", "sobol", "random", "--report"]
    assert regret.main([*arguments, *more]) == 0
    assert capsys.readouterr().out == first.out
    assert regret.main([*arguments, "--methods", "random"]) == 0
    assert "0 runs are missing, 2 in the store" in capsys.readouterr().err
    assert len(read_runs(store, "functions quick")) == 4


def test_the_suite_of_published_figures_runs_peers_only_if_they_are_named() -> None:
    def chosen(*words: str) -> list[str]:
        return regret.methods_of(regret.parser().parse_args(["--full", *words]))

    assert chosen() == list(regret_methods.METHODS)
    assert set(chosen()) - set(chosen("--suite", "ax")) == set(regret_methods.PEERS)
    assert chosen("--suite", "ax", "--methods", "smac") == ["smac"]


def test_an_unknown_function_is_named() -> None:
    with pytest.raises(SystemExit, match=r"the suite 'functions' has branin.*got 'sphere'"):
        regret.main(["--quick", "--problems", "sphere", "--methods", "sobol"])


def test_what_is_no_store_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    path.write_text("no database, but long enough to be read as the header of one " * 9)
    with pytest.raises(SystemExit, match="must be a store of results"):
        regret.main(["--quick", "--methods", "sobol", "--store", str(path), "--report"])


def test_a_plot_shows_what_has_runs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    runs = [Run("branin", "sobol", seed, [9.0 - k for k in range(7)]) for seed in (0, 1)]
    results = Results([BRANIN], ["sobol"], runs)
    draw(results, tmp_path / "out.png", ["sobol", "botorch"])
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SystemExit, match="the store has none of random"):
        draw(results, tmp_path / "none.png", ["random"])


def test_an_archive_keeps_everything_but_points(tmp_path: Path) -> None:
    store, archive, again = tmp_path / "runs.db", tmp_path / "kept.xz", tmp_path / "again.db"
    written(store, [("random", 0, [1.0 / 3.0] * 7), ("random", 1, None)])
    pack(store, archive)
    unpack(archive, again)
    kept = Stored.open(again)
    assert [run.y for run in read_runs(again, "functions quick")] == [[1.0 / 3.0] * 7, []]
    assert [len(point) for point in kept.points(int(kept.units["unit"][0]))] == [0] * 7
    unpack(tmp_path / "none.xz", tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    ("archive", "counts"),
    [
        ("regret", {"functions": 1200, "ax": 364}),
        ("highdim", {"highdim 30 s": 28, "highdim 5 s": 24}),
    ],
)
def test_no_run_of_the_archives_is_lost(
    archive: str, counts: dict[str, int], tmp_path: Path
) -> None:
    unpack(ARCHIVES / f"{archive}.db.xz", tmp_path / "runs.db")
    for name, count in counts.items():
        runs = read_runs(tmp_path / "runs.db", name)
        assert len({run.label for run in runs}) >= count
        assert all(run.is_done for run in runs)
