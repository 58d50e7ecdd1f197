"""The command line: what it prints, and the exit codes that it promises."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import nnbo_mip as nm
from nnbo_mip.cli.app import app
from nnbo_mip.cli.space_file import read_space
from nnbo_mip.exact.search.monitor import COMPILING
from tests.exact.claims import tent, two_outputs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tent().save("tent.npz")
    two_outputs().save("two.json")
    return tmp_path


def run(command: str) -> Result:
    return CliRunner().invoke(app, command.split())


def certify(arguments: str) -> Result:
    return run(f"certify {arguments}")


def answer(result: Result) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(result.stdout)
    return parsed


@pytest.mark.usefixtures("folder")
def test_certify_prints_the_result() -> None:
    result = certify("tent.npz --lower 1 --upper 7")
    assert result.exit_code == 0
    assert "maximum 1.5 at x = [3]" in result.stdout
    assert "optimal" in result.stdout
    assert not [line for line in result.stderr.splitlines() if COMPILING not in line]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "value", "x"),
    [
        ("tent.npz --lower 1 --upper 7", 1.5, [3.0]),
        ("tent.npz --lower 1 --upper 7 --direction minimize", -2.5, [7.0]),
        ("tent.npz --lower=-1.5 --upper 2.5", 1.0, [2.5]),
        ("two.json --lower -1,0.5 --upper 2,3 --output low", 1.5, [2.0, 0.5]),
        ("two.json --lower -1 --upper 0.5 --output low", 0.5, None),
        (
            "two.json --lower -1,0.5 --upper 2,3 --output low=2 --output high=1",
            6.5,
            [2.0, 0.5],
        ),
        ("two.json --lower -1,0.5 --upper 2,3 --output high=-1", -1.0, None),
    ],
)
def test_certify_answers_in_json(arguments: str, value: float, x: list[float] | None) -> None:
    result = certify(f"{arguments} --json")
    assert result.exit_code == 0
    parsed = answer(result)
    assert parsed["status"] == "optimal"
    assert parsed["value"] == pytest.approx(value, abs=1e-3)
    if x is not None:
        assert parsed["x"] == pytest.approx(x, abs=1e-3)


@pytest.mark.usefixtures("folder")
def test_an_open_gap_exits_with_1() -> None:
    rng = np.random.default_rng(2)
    layers = [(rng.normal(size=(60, 14)), rng.normal(size=60))]
    layers += [(rng.normal(size=(60, 60)), rng.normal(size=60)), (rng.normal(size=(1, 60)), [0.5])]
    nm.Network.from_layers(layers).save("wide.npz")
    result = certify("wide.npz --lower -1 --upper 2 --time-limit 0.2 --json")
    assert result.exit_code == 1
    assert answer(result)["status"] == "feasible"


SPACE_TOML = """
[[dimensions]]
name = "a"
lower = -1.0
upper = 2.0

[[dimensions]]
kind = "integer"
name = "n"
lower = 1
upper = 3

[[constraints]]
coefficients = { a = 1.0, n = 1.0 }
sense = "<="
bound = BOUND
"""


@pytest.mark.usefixtures("folder")
def test_a_space_is_read_from_toml() -> None:
    Path("space.toml").write_text(SPACE_TOML.replace("BOUND", "2.25"))
    result = certify("two.json --space space.toml --output high --json")
    assert result.exit_code == 0
    parsed = answer(result)
    assert parsed["value"] == pytest.approx(3.25, abs=1e-3)
    assert set(parsed["x"]) == {"a", "n"}


@pytest.mark.usefixtures("folder")
def test_an_empty_space_exits_with_3_and_says_why() -> None:
    Path("space.toml").write_text(SPACE_TOML.replace("BOUND", "-0.5"))
    result = certify("two.json --space space.toml --output high")
    assert result.exit_code == 3
    assert "LinearConstraint" in result.stdout
    parsed = answer(certify("two.json --space space.toml --output high --json"))
    assert (parsed["value"], parsed["bound"], parsed["gap"]) == ("-inf", "-inf", "nan")
    assert parsed["x"] is None


def test_spaces_come_as_json_toml_or_what_to_dict_gives(tmp_path: Path) -> None:
    space = nm.Space(
        [nm.Real("a", 0.5, 2.0, log=True), nm.Categorical("act", ["relu", "tanh"])],
        [nm.LinearConstraint({("act", "tanh"): 2.0}, "<=", 1.0)],
    )
    stored = tmp_path / "stored.json"
    stored.write_text(json.dumps(space.to_dict()))
    plain = tmp_path / "plain.json"
    plain.write_text(
        json.dumps(
            {
                "dimensions": [
                    {"name": "a", "lower": 0.5, "upper": 2.0, "log": True},
                    {"name": "act", "levels": ["relu", "tanh"]},
                ],
                "constraints": [{"coefficients": {"act=tanh": 2}, "sense": "<=", "bound": 1}],
            }
        )
    )
    domain = tmp_path / "domain.json"
    domain.write_text(json.dumps(space.numeric().to_dict()))
    assert read_space(stored) == space
    assert read_space(plain) == space
    read = read_space(domain)
    assert isinstance(read, nm.Domain)
    assert read.fingerprint == space.numeric().fingerprint


@pytest.mark.usefixtures("folder")
def test_a_saved_certificate_is_checked() -> None:
    saved = certify("tent.npz --lower 1 --upper 7 --save claim.json")
    assert saved.exit_code == 0
    assert "saved to claim.json" in saved.stdout
    checked = run("check claim.json tent.npz")
    assert checked.exit_code == 0
    assert "confirmed: no admissible point scores above" in checked.stdout
    parsed = answer(run("check claim.json tent.npz --json --time-limit 20"))
    assert parsed["verdict"] == "confirmed"


@pytest.mark.usefixtures("folder")
def test_an_altered_certificate_exits_with_3() -> None:
    certify("tent.npz --lower 1 --upper 7 --save claim.json")
    text = Path("claim.json").read_text()
    Path("claim.json").write_text(text.replace('"value": 1.5', '"value": 1.25'))
    result = run("check claim.json tent.npz")
    assert result.exit_code == 3
    assert "refuted" in result.stdout
    Path("claim.json").write_text(text)
    assert run("check claim.json two.json").exit_code == 3


@pytest.mark.usefixtures("folder")
def test_an_undecided_check_exits_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    from nnbo_mip.exact import check as module

    certify("tent.npz --lower 1 --upper 7 --save claim.json")
    monkeypatch.setattr(module, "reprove", lambda *_: ("undecided", "too hard."))
    assert run("check claim.json tent.npz").exit_code == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("certify missing.onnx --lower 0 --upper 1", "exists"),
        ("certify tent.npz", "--lower and --upper"),
        ("certify tent.npz --lower 1", "only --lower"),
        ("certify tent.npz --upper 1", "only --upper"),
        ("certify tent.npz --lower 7 --upper 1", "lower must be <= upper"),
        ("certify tent.npz --lower 1,2 --upper 7", "of which the network has 1; got 2"),
        ("certify tent.npz --lower one --upper 7", "comma list"),
        ("certify tent.npz --lower nan --upper 7", "finite"),
        ("certify tent.npz --lower 1 --upper inf", "finite"),
        ("certify tent.npz --lower 1 --upper 7 --method magic", "method must be one of"),
        ("certify tent.npz --lower 1 --upper 7 --solver hihgs", "did you mean 'highs'"),
        ("certify tent.npz --lower 1 --upper 7 --gap -1", "gap must be >= 0"),
        ("certify tent.npz --lower 1 --upper 7 --direction up", "maximize, minimize"),
        ("certify tent.npz --lower 1 --upper 7 --gap x", "--gap must be a number; got 'x'"),
        ("certify tent.npz --lower 1 --upper 7 --gap nan", "--gap must be a number; got nan"),
        ("certify tent.npz --lower 1 --upper 7 --time-limit 0", "--time-limit must be > 0 seconds"),
        ("certify tent.npz --lower 1 --upper 7 --time-limit one", "--time-limit must be a number"),
        ("certify tent.npz --lower 1 --upper 7 --seed 1.5", "--seed must be a whole number"),
        ("certify tent.npz --lower 1 --upper 7 --seed -1", "--seed must be a whole number from 0"),
        ("certify tent.npz --lower 1 --upper 7 --solver pyomo:none", "one that Pyomo knows"),
        ("certify tent.npz --lower 1 --upper 7 --save folder", "add the name of a file"),
        ("certify tent.npz --lower 1e200 --upper 1e300", "rescale"),
        ("certify folder --lower 1 --upper 7", "got the folder 'folder'"),
        ("certify model.pt --lower 1 --upper 7", "ends in .onnx, .onnx.gz, .npz or .json"),
        ("certify empty.npz --lower 1 --upper 7", "got an empty file"),
        ("certify empty.onnx --lower 1 --upper 7", "must be an ONNX model"),
        ("certify text.npz --lower 1 --upper 7", "a file that begins with b'hell'"),
        ("certify text.onnx --lower 1 --upper 7", "damaged or truncated"),
        ("certify two.json --lower 1 --upper 7", "low, high"),
        ("certify two.json --lower 1 --upper 7 --output low=x", "--output low must be a number"),
        ("certify two.json --lower 1 --upper 7 --output low=nan", "must be finite; got 'low=nan'"),
        ("certify two.json --lower 1,2,3 --upper 7", "of which the network has 2; got 3"),
        ("certify tent.npz --space folder", "can be read; got 'folder'"),
        ("certify tent.npz --space text.toml", "text.toml holds no valid space: it must be valid"),
        ("certify tent.npz --space empty.toml", "got no dimensions; add dimensions"),
        ("certify tent.npz --space none.json", "the space must be a file that exists"),
        ("certify two.json --lower 1 --upper 7 --output medium", "low, high"),
        ("certify two.json --lower 1 --upper 7 --output low --output high", "NAME=WEIGHT"),
        ("certify tent.npz --space none.toml", "none.toml"),
        ("certify tent.npz --space tent.npz", "ends in .toml or .json; got 'tent.npz'"),
        ("certify tent.npz --space bad.json", "dimensions"),
        ("certify tent.npz --space bad.json --lower 1", "drop one"),
        ("check none.json tent.npz", "the certificate must be a file that exists; got 'none.json'"),
        ("check folder tent.npz", "can be read; got 'folder'"),
        ("check empty.npz tent.npz", "empty.npz holds no certificate: a certificate must be JSON"),
        ("check tent.npz tent.npz --time-limit x", "binary data"),
        ("check bad.json tent.npz", "format"),
        ("check tent.npz tent.npz", "JSON"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(command: str, part: str) -> None:
    Path("bad.json").write_text('{"bounds": []}')
    Path("folder").mkdir()
    for name in ("empty.npz", "empty.onnx", "empty.toml", "model.pt"):
        Path(name).touch()
    for name in ("text.npz", "text.onnx", "text.toml"):
        Path(name).write_text("hello")
    result = run(command)
    assert result.exit_code == 2
    assert part in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not result.stdout
    assert "; " in result.stderr  # what, expected, got; do
    assert not PYTHON.search(result.stderr)


@pytest.mark.usefixtures("folder")
def test_a_model_that_cannot_be_compared_needs_to_be_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_args: object, **_kwargs: object) -> None:
        raise NotImplementedError("no such operator here")

    pytest.importorskip("onnx")
    tent().to_onnx("tent.onnx")
    assert certify("tent.onnx --lower 1 --upper 7 --save claim.json").exit_code == 0
    monkeypatch.setattr("onnx.reference.ReferenceEvaluator.run", fail)
    for command in ("certify tent.onnx --lower 1 --upper 7", "check claim.json tent.onnx"):
        refused = run(command)
        assert refused.exit_code == 2
        assert "no such operator here" in refused.stderr
        assert "--no-verify" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
        assert not PYTHON.search(refused.stderr)
        unchecked = run(f"{command} --no-verify")
        assert unchecked.exit_code == 0
        assert "the network was never compared with the ONNX model" in unchecked.stdout
    assert (
        "never compared"
        in answer(run("certify tent.onnx --lower 1 --upper 7 --no-verify --json"))["unverified"]
    )


PYTHON = re.compile(
    r"Traceback|Errno|__|math\.inf|time_limit|max_bytes|from_onnx|Certificate\.|Network\.load|"
    r"pass |\w=['\"]|None"
)
"""What tells nothing to somebody who typed a command."""


@pytest.mark.parametrize("arguments", ["--gap 1e-4 --time-limit", "--no-such-flag", "extra -x"])
def test_what_typer_refuses_exits_with_2_as_well(arguments: str) -> None:
    assert certify(f"tent.npz --lower 1 --upper 7 {arguments}").exit_code == 2


def test_infinity_is_no_time_limit(folder: Path) -> None:
    assert certify("tent.npz --lower 1 --upper 7 --time-limit inf").exit_code == 0
    assert folder.is_dir()


@pytest.mark.usefixtures("folder")
def test_a_file_that_cannot_be_written_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device", "claim.json")

    monkeypatch.setattr("os.fsync", full)
    result = certify("tent.npz --lower 1 --upper 7 --save claim.json")
    assert result.exit_code == 2
    assert "got 'claim.json' (No space left on device); check the path" in result.stderr
    assert "maximum 1.5" in result.stdout  # what was found is not lost


MIXED_TOML = """
[[dimensions]]
name = "optimizer"
levels = ["adam", "sgd"]

[[dimensions]]
name = "momentum"
lower = 0
upper = 1
when = { optimizer = "sgd" }
default = 0.9

[[dimensions]]
kind = "ordinal"
name = "batch"
levels = [16, 32, 64]
when = { optimizer = ["adam"] }
"""


def test_files_have_ordinals_and_conditions(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text(MIXED_TOML)
    space = nm.Space(
        [
            nm.Categorical("optimizer", ["adam", "sgd"]),
            nm.Real("momentum", 0, 1, when={"optimizer": "sgd"}, default=0.9),
            nm.Ordinal("batch", [16, 32, 64], when={"optimizer": "adam"}),
        ]
    )
    assert read_space(path) == space
    stored, domain = tmp_path / "space.json", tmp_path / "domain.json"
    stored.write_text(json.dumps(space.to_dict()))
    domain.write_text(json.dumps(space.model().to_dict()))
    assert read_space(stored) == space
    read = read_space(domain)
    assert isinstance(read, nm.Domain)
    assert read.switches == space.model().switches


@pytest.mark.usefixtures("folder")
def test_a_weight_may_be_given_to_the_only_output_and_names_may_hold_an_equals_sign() -> None:
    assert answer(certify("tent.npz --lower 1 --upper 7 --output y=2 --json"))["value"] == 3.0
    layers = [([[1.0]], [0.0]), ([[1.0], [2.0]], [0.0, 0.0])]
    nm.Network.from_layers(layers, output_names=["a=1", "b"]).save("odd.npz")
    assert answer(certify("odd.npz --lower 1 --upper 7 --output a=1 --json"))["value"] == 7.0


REAL = "must have name, lower and upper and may have log, step, when and default; got"


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ({"kind": "complex"}, "dimension 1 must be one of real, integer, ordinal, categorical"),
        ({"name": "a"}, f"{REAL} no lower and upper; add lower and upper"),
        ({"lower": 0, "upper": 1}, f"{REAL} no name; add name"),
        ({"name": "a", "lowr": 0, "upper": 1}, f"{REAL} no lower and the unknown lowr; add lower"),
        ({"name": "a", "lower": 0, "upper": 1, "unit": "m"}, f"{REAL} the unknown unit; remove"),
        (
            {"name": "a", "kind": "categorical"},
            "must have name and levels and may have when and default; got no levels",
        ),
        ({"name": "a", "lower": "zero", "upper": 1}, "lower of 'a' must be a real number"),
        ({"name": "a", "lower": 3, "upper": 1}, "lower must be <= upper"),
        ({"name": "a", "lower": None, "upper": 1}, "got None; give a number"),
        ({"name": "a", "kind": "ordinal", "levels": [2, 1]}, "must increase; got 2 before 1"),
        ({"name": "a", "kind": "ordinal", "levels": [1, 1]}, "must be distinct; got 1 more"),
        (
            {"name": "a", "lower": 0, "upper": 1, "when": {"b": "c"}},
            "when of 'a' must name a category of the space; got 'b'",
        ),
        (3, "dimensions must be a list of tables; got [3]"),
    ],
)
def test_a_bad_dimension_is_refused(entry: Any, part: str, tmp_path: Path) -> None:
    path = tmp_path / "space.json"
    path.write_text(json.dumps({"dimensions": [entry]}))
    with pytest.raises(nm.FileFormatError, match=re.escape(part)) as caught:
        read_space(path)
    assert str(caught.value).startswith(f"{path} holds no valid space: ")


@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ({"sense": "<=", "bound": 1}, "constraint 1 must have coefficients, sense and bound; got"),
        ({"coefficients": [1], "sense": "<=", "bound": 1}, "must be a table of names and numbers"),
        ({"coefficients": {"b": 1}, "sense": "<=", "bound": 1}, "got 'b'"),
        ({"coefficients": {"a": 1}, "sense": "<", "bound": 1}, "got '<'"),
    ],
)
def test_a_bad_constraint_is_refused(entry: Any, part: str, tmp_path: Path) -> None:
    path = tmp_path / "space.json"
    dimensions = [{"name": "a", "lower": 0, "upper": 1}]
    path.write_text(json.dumps({"dimensions": dimensions, "constraints": [entry]}))
    with pytest.raises(nm.FileFormatError, match=re.escape(part)):
        read_space(path)


@pytest.mark.usefixtures("folder")
def test_a_missing_package_exits_with_4(monkeypatch: pytest.MonkeyPatch) -> None:
    from nnbo_mip.exact import certify as module

    def absent(*_: object, **__: object) -> str:
        raise nm.MissingExtraError("this solver needs a package;\n install nnbo_mip[scip].")

    monkeypatch.setattr(module, "check_solver", absent)
    result = certify("tent.npz --lower 1 --upper 7 --solver scip")
    assert result.exit_code == 4
    assert "nnbo_mip[scip]" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.usefixtures("folder")
def test_a_second_ctrl_c_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    from nnbo_mip.exact import certify as module

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "run", interrupt)
    assert certify("tent.npz --lower 1 --upper 7").exit_code == 130


WITH_JSON = ["certify", "check", "compare", "export", "list", "report", "run", "suggest"]


@pytest.mark.parametrize("command", ["", "demo", *WITH_JSON])
def test_help_shows_an_example_and_the_exit_codes(command: str) -> None:
    result = run(f"{command} --help")
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert "Exit codes: 0" in text
    assert f"Example: nnbo-mip {command}" in text
    assert ("--json" in text) == (command in WITH_JSON)


def test_version_is_shown() -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"nnbo-mip {nm.__version__}\n")


def test_help_imports_no_numerics() -> None:
    script = (
        "import sys; import nnbo_mip.cli.app\n"
        "assert not {'numpy', 'torch', 'scipy', 'nnbo_mip.exact'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[2])


def test_the_demo_proves_and_confirms() -> None:
    result = run("demo")
    assert result.exit_code == 0
    assert result.stdout.count("check confirmed") == 3
    assert "What was proved" in result.stdout


def test_the_demo_network_fits_its_function() -> None:
    from nnbo_mip.cli.example import train

    network, error = train()
    assert network.n_inputs == 2
    assert error < 0.3
    assert math.isfinite(error)


def test_a_certificate_that_could_not_be_written_is_refused_before_the_search(tmp_path):
    model = tmp_path / "tent.npz"
    tent().save(model)
    arguments = ["certify", str(model), "--lower", "1", "--upper", "7", "--save", "no/such/c.json"]
    answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code == 2
    assert "--save must name a file in an existing folder" in answer.output
