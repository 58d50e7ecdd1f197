"""From the text of an experiment to its plan, and what is refused on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from nnbo_mip.core.errors import FileFormatError, InputError, NnboError, UnsupportedError
from nnbo_mip.lab.plan.experiment import planned, read_experiment
from nnbo_mip.lab.plan.plan import Plan
from nnbo_mip.lab.plan.unit import Unit

FIRST = """
name = "first"
problems = ["branin", "hartmann6"]
instances = 2
starts = 4
steps = 3
baselines = ["random"]

[methods]
surrogate = ["brvfl:n_hidden=12", "gp"]
acquisition = "ucb"
maximizer = ["lbfgs", "auto"]
"""


def plan(text: str) -> Plan:
    return planned(text, "first.toml", "stem")


def test_an_experiment_is_the_product_of_its_lists() -> None:
    made = plan(FIRST)
    assert made.name == "first"
    assert made.metrics == ("regret",)
    assert len(made) == 2 * 2 * (2 * 2 + 1)
    assert len({one.unit.key for one in made}) == len(made)
    assert [one.method for one in made][:5] == [
        "brvfl:n_hidden=12, lbfgs",
        "brvfl:n_hidden=12, auto",
        "gp, lbfgs",
        "gp, auto",
        "random",
    ]
    # One instance of everything before the next one: a part of a run is a fair part.
    assert [one.unit.instance for one in made] == [0] * 10 + [1] * 10
    assert {(one.problem, one.dimension) for one in made} == {("branin", 2), ("hartmann6", 6)}
    assert {(one.surrogate, one.acquisition, one.maximizer) for one in made} >= {
        ("gp", "ucb", "auto"),
        ("", "", ""),
    }


def test_a_key_depends_on_everything_that_an_outcome_depends_on() -> None:
    key = plan(FIRST).units[0].unit.key
    assert plan(FIRST).units[0].unit.key == key
    assert plan(FIRST.replace('"first"', '"other name"')).units[0].unit.key == key
    for old, new in (
        ("starts = 4", "starts = 5"),
        ("steps = 3", "steps = 4"),
        ("starts = 4", 'starts = "uniform:n=4"'),
        ("n_hidden=12", "n_hidden=13"),
        ('"ucb"', '"ei"'),
        ('["lbfgs"', '["lbfgs:starts=3"'),
        ('"branin"', '"camelback"'),
        ("instances = 2", "instances = [3, 4]"),
        ("steps = 3", "steps = 3\nscaled = true"),
        ("[methods]", "[methods]\ngap = 0.01"),
    ):
        assert plan(FIRST.replace(old, new)).units[0].unit.key != key


def test_what_is_left_open_is_written_out() -> None:
    method = plan(FIRST).units[0].unit.method["options"]
    assert method["surrogate"]["activation"] == "relu"
    assert method["escape"]["name"] == "exclude"
    assert method["time_limit"] == 10.0
    assert Unit.from_text(plan(FIRST).units[0].unit.to_text()) == plan(FIRST).units[0].unit


def test_labels_say_what_varies() -> None:
    text = """
problems = ["branin"]
steps = 5
starts = 3
scaled = true
[options]
escape = "exponential:padding=4"
[[methods]]
surrogate = "brvfl:n_hidden=12"
acquisition = "ucb"
budget = [0.05, 0.5]
[[methods]]
label = "pure"
surrogate = "pgp"
acquisition = "ucb"
escape = ["none", "exclude"]
"""
    made = plan(text)
    assert made.name == "stem"
    assert [one.method for one in made] == [
        "budget 0.05",
        "budget 0.5",
        "pure, escape none",
        "pure, escape exclude",
    ]
    assert [one.budget for one in made] == [0.05, 0.5, None, None]
    assert made.units[0].variant == "escape=exponential:padding=4"
    assert made.units[2].variant == "escape=none"
    scaling = made.units[0].unit.method["options"]["scaling"]
    assert (scaling["name"], scaling["budget"], scaling["unit"]) == ("mean_width", 0.05, 1.0)
    assert {(one.direction, one.optimum) for one in made} == {("maximize", 1.0)}


def test_a_problem_may_have_a_budget_and_a_label_of_its_own() -> None:
    text = """
instances = [4]
starts = 3
steps = 2
baselines = ["random", "sobol"]
problems = [
  "branin",
  { name = "levy", dimension = 3 },
  { spec = "levy:dimension=5", label = "Levy", starts = 7, steps = 9, scaled = true },
  "noisy:problem=forrester,sd=0.1,seed={instance}",
]
"""
    made = plan(text)
    assert [one.problem for one in made][::2] == [
        "branin",
        "levy:dimension=3",
        "Levy",
        "noisy:problem=forrester,sd=0.1,seed={instance}",
    ]
    assert [(one.unit.n_starts, one.unit.steps) for one in made][::2] == [
        (3, 2),
        (3, 2),
        (7, 9),
        (3, 2),
    ]
    assert [one.direction for one in made][::2] == ["minimize", "minimize", "maximize", "minimize"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("steps = 3", "step = 3", "line 6: the keys here are .*; got 'step'; did you mean 'steps'"),
        ("steps = 3", "", "first.toml, steps: it must be a whole number from 1; got nothing"),
        ("steps = 3", "steps = 0", "line 6, steps: steps must be an integer >= 1; got 0"),
        ("steps = 3", 'steps = "3"', "line 6, steps: steps must be an integer >= 1; got '3'"),
        ("instances = 2", "instances = [1, 1]", "line 4, instances: .*got \\[1, 1\\]"),
        ("instances = 2", "instances = -1", "line 4, instances: .*got -1"),
        ("starts = 4", "starts = -1", "line 5, starts: "),
        ("starts = 4", "starts = 4\ntold = true", "told = true needs a problem with normal noise"),
        (
            "starts = 4",
            "starts = 4\nclock = 'sun'",
            "line 6, clock: clock must be one of wall",
        ),
        (
            "starts = 4",
            "starts = 4\nreports = [0]",
            "line 6, reports: it must be a list of",
        ),
        (
            "[methods]",
            "[methods]\ninitial = 3",
            "initial points are a method's own where starts is 0; got initial and 4",
        ),
        ("starts = 4", 'starts = "sobl"', "line 5, starts: .*did you mean 'sobol'"),
        ('"hartmann6"', '"hartman6"', "line 3, problems\\[2\\]: .*did you mean 'hartmann6'"),
        ('"hartmann6"', '{ name = "embedded" }', "line 3, problems\\[2\\]: 'embedded' needs"),
        ('"hartmann6"', "7", "line 3, problems\\[2\\]: .*got 7"),
        ('"hartmann6"', '"branin"', "labels of problems must be distinct; got 'branin' twice"),
        (
            '"hartmann6"',
            '{ spec = "levy:dimension=2", step = 3 }',
            "line 3, problems\\[2\\]: .*got 'step'; did you mean 'steps'",
        ),
        (
            '"hartmann6"',
            '{ spec = "levy:dimension=2", steps = 0 }',
            "line 3, problems\\[2\\].steps: steps must be an integer >= 1; got 0",
        ),
        (
            '"hartmann6"]',
            '"bbob:function=1",\n  { spec = "bbob:function=2", scaled = true },\n]',
            "line 4, problems\\[3\\]: a scaled problem must have .* write scaled = false",
        ),
        ('"gp"', '"nommu"', "line 10, methods.surrogate: .*did you mean 'nomu'"),
        ("n_hidden=12", "n_hiden=12", "line 10, methods.surrogate: .*did you mean 'n_hidden'"),
        ('"ucb"', '"ubc"', "line 11, methods.acquisition: .*did you mean 'ucb'"),
        ('"lbfgs", ', '"lbgfs", ', "line 12, methods.maximizer: .*did you mean 'lbfgs'"),
        ('["lbfgs", "auto"]', "[]", "line 12, methods.maximizer: .*got \\[\\]"),
        ("[methods]", "[methods]\nmaximiser = 1", "line 10: .*did you mean 'maximizer'"),
        (
            "[methods]",
            "[methods]\nescape = 'non'",
            "line 10, methods.escape: .*did you mean 'none'",
        ),
        ("[methods]", "[methods]\ngap = 'small'", "line 10, methods.gap: .*got 'small'"),
        ("[methods]", "[methods]\nbudget = -1.0", "line 10, methods.budget: "),
        (
            "[methods]",
            "[methods]\nbudget = 1.0\nscaling = 'none'",
            "line 10, methods.budget: it must be the only scaling",
        ),
        ('["random"]', '["randm"]', "line 7, baselines: a baseline must be one of random, sobol"),
        ('["random"]', '"random"\nmetrics = ["regrt"]', "line 8, metrics: .*did you mean 'regret'"),
        ('["random"]', '"random"\nimports = ["no_such"]', "line 8, imports: .*'no_such' cannot"),
        ('["random"]', '"random"\nscaled = 1', "scaled must be True or False; got 1"),
        ('name = "first"', "name = 1", "line 2, name: it must be a text; got 1"),
        ("instances = 2", "instances = 2147483648", "instances must be at most 100000; got 2147"),
        ("instances = 2", "instances = 0x1ffffffffffffffff", "an integer of TOML has 64 bits"),
        ("instances = 2", "instances = 90000", "at most 100000 runs; got 90000 instances of 5 me"),
        ("steps = 3", "steps = 1000001", "line 6, steps: steps must be at most 1000000; got 1000"),
        ("starts = 4", "starts = 2147483648", "line 5, starts: n must be at most 100000; got 214"),
        (
            "starts = 4",
            'starts = "maximin:n=90000"',
            "line 5, starts: maximin must compare at most 1073741824 coordinates; got 90000",
        ),
        ('"hartmann6"', '{ spec = "branin", label = 7 }', "label: it must be a text; got 7"),
        (
            '["lbfgs", "auto"]',
            str(["lbfgs"] * 300),
            "line 9, methods: a table of methods stands for at most 500 of them; got 600",
        ),
        (
            "n_hidden=12",
            "n_hidden=2147483648",
            "line 10, methods.surrogate: n_hidden must be at most 100000; got 2147483648",
        ),
        ('name = "first"', 'name = "first', "first.toml must be valid TOML; .*line 2"),
        ('["lbfgs", "auto"]', '["lbfgs", "lbfgs"]', "labels of methods must be distinct"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, message: str) -> None:
    assert old in FIRST
    with pytest.raises(NnboError, match=message) as raised:
        plan(FIRST.replace(old, new))
    assert str(raised.value).count("first.toml") == 1


@pytest.mark.parametrize(
    ("surrogate", "option", "message"),
    [
        ("gp", "maximizer = 'mip'", "the maximizer 'mip' needs networks of ReLUs"),
        ("pgp", "budget = 0.5", "multiplies the uncertainty, which these options of gp do not"),
    ],
)
def test_impossible_combinations_are_refused_before_anything_runs(
    surrogate: str, option: str, message: str
) -> None:
    text = f"""
problems = ["hartmann6"]
steps = 2
[[methods]]
surrogate = "brvfl:n_hidden=12"
[[methods]]
surrogate = "{surrogate}"
acquisition = "ucb"
{option}
"""
    with pytest.raises(UnsupportedError, match=message) as caught:
        plan(text)
    assert "first.toml, line 6, methods[2], " in str(caught.value)
    assert "on 'hartmann6'" in str(caught.value)


def test_the_same_run_is_not_planned_twice() -> None:
    with pytest.raises(InputError, match="no run may be planned twice"):
        plan(FIRST.replace('"gp"]', '"brvfl:n_hidden=12,activation=relu"]'))


def test_nothing_to_run_is_refused() -> None:
    with pytest.raises(InputError, match="must have a method or a baseline; got none"):
        plan("problems = ['branin']\nsteps = 1\n")


def test_a_regret_needs_an_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    import nnbo_mip as nm

    def unknown() -> nm.problems.Problem:
        return nm.problems.Problem("unknown", nm.Space.box([-1.0], [2.0]), lambda X: X[:, 0])

    nm.problems.register("unknown")(unknown)
    text = "problems = ['unknown']\nsteps = 1\nbaselines = ['random']\n"
    try:
        with pytest.raises(InputError, match=r"line 1, problems\[1\]: a regret needs an optimum"):
            plan(text)
        assert plan(f"{text}metrics = ['best']").units[0].optimum is None
        with pytest.raises(InputError, match=r"problems\[1\]: a scaled problem must have a known"):
            plan(f"{text}scaled = true")
    finally:
        nm.problems.unregister("unknown")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no\.toml"):
        read_experiment(tmp_path / "no.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileFormatError, match=r"binary\.toml must be a text in UTF-8"):
        read_experiment(tmp_path / "binary.toml")


PAIRS = """
problems = ["branin"]
starts = 4
steps = 3

[methods]
surrogate = ["brvfl:n_hidden=12", "gp"]
acquisition = "ucb"
maximizer = ["lbfgs", "mip"]
"""


def test_a_pair_that_cannot_work_is_refused_with_the_way_out() -> None:
    with pytest.raises(UnsupportedError, match="write skip = true"):
        plan(PAIRS)


def test_pairs_that_cannot_work_may_be_skipped() -> None:
    made = plan(f"skip = true\n{PAIRS}")
    assert {one.method for one in made} == {"brvfl:n_hidden=12, lbfgs", "gp, lbfgs"}
    assert len(made.skipped) == 2
    assert "'gp, mip' on 'branin'" in made.skipped[1]


def test_a_file_of_which_no_pair_works_is_refused() -> None:
    text = 'skip = true\nproblems = ["branin"]\nstarts = 4\nsteps = 3\n'
    with pytest.raises(UnsupportedError, match="one pair of a problem and a method"):
        plan(f'{text}[methods]\nsurrogate = "gp"\nmaximizer = "mip"\n')
