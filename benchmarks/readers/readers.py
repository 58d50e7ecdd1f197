"""The readers: what each reads, whole files to begin with, and what a user does with the result."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

import nnbo_mip as nm

ASSETS = Path("tests/assets")
NEWEST = ASSETS / "0.1.0"


@dataclass(frozen=True)
class Reader:
    """A reader.

    Parameters
    ----------
    kind : str
        Of damage, see `benchmarks.readers.mutations.damage`.
    wholes : function of a folder
        Writes whole files into it and returns their paths.
    use : function of a path
        Reads a file and uses what it holds.
    """

    kind: str
    wholes: Callable[[Path], list[Path]]
    use: Callable[[Path], object]


def _assets(*patterns: str) -> Callable[[Path], list[Path]]:
    def wholes(folder: Path) -> list[Path]:
        found = [path for pattern in patterns for path in sorted(ASSETS.glob(pattern))]
        return [Path(shutil.copy(path, folder / path.name)) for path in found]

    return wholes


def _journal(path: Path) -> object:
    run = nm.BayesianOptimizer.open(path)
    run.tell(run.ask(), 0.25)
    return len(nm.BayesianOptimizer.open(path).history)


def _command(*arguments: str) -> None:
    from typer.testing import CliRunner

    from nnbo_mip.cli.app import app

    answer = CliRunner().invoke(app, list(arguments))
    if answer.exception is not None and not isinstance(answer.exception, SystemExit):
        raise answer.exception


def _store(path: Path) -> None:
    _command("report", str(path), "--out", str(path.with_suffix(".html")))


def _certificate(path: Path) -> object:
    certificate = nm.Certificate.load(path)
    about = NEWEST / f"objective_{path.stem.removeprefix('certificate_')}.npz"
    if not about.exists():
        about = NEWEST / ("network_mixed.npz" if "mixed" in path.stem else "network.npz")
    return certificate.check(about, time_limit=1.0)


def _network(path: Path) -> object:
    net = nm.Network.load(path)
    return nm.certify(net, [(-1.0, 1.0)] * net.n_inputs, output=net.output_names[0], time_limit=0.3)


def _belief(path: Path) -> object:
    belief = nm.surrogates.load(path)
    is_ratio = "mean" not in belief.capabilities
    (belief.ratio if is_ratio else belief.predict)(np.zeros((3, 2)))
    domain = nm.Space.box([-1.0] * 2, [1.0] * 2).model()
    score = "ratio" if is_ratio else "mean"
    maximizer = "random" if "trees" in belief.capabilities else "lbfgs"
    return nm.maximize(belief, score, domain, time_limit=0.3, maximizer=maximizer)


def _objective(path: Path) -> object:
    from nnbo_mip.scores.objective import Objective

    return Objective.load(path).score(np.zeros((2, 2)))


def _onnx_files(folder: Path) -> list[Path]:
    rng = np.random.default_rng(0)
    paths = []
    for depth in (1, 2):
        widths = [3, *[4] * depth, 2]
        layers = [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]
        paths.append(folder / f"net{depth}.onnx")
        nm.Network.from_layers(layers).to_onnx(paths[-1])
    return paths


def _onnx(path: Path) -> object:
    net = nm.Network.from_onnx(path)
    return net.evaluate(np.zeros((1, net.n_inputs)))


EXPERIMENT = """
name = "first"
problems = ["branin", {name = "levy", dimension = 2}]
instances = [1, 2]
starts = 4
steps = 3
metrics = ["regret"]
baselines = ["random"]
[[methods]]
surrogate = {name = "brvfl", n_hidden = 8}
acquisition = "ei"
maximizer = "lbfgs"
time_limit = 1.0
"""

OPTIONS = """
problems = [{ spec = "levy:dimension=2", label = "one", starts = 3, steps = 4 }]
instances = 2
starts = { name = "maximin", n = 5, candidates = 50 }
steps = 3
reports = [3, 5]
[[methods]]
surrogate = { name = "brvfl", n_hidden = 8 }
acquisition = { name = "ts", seed = 1 }
maximizer = { name = "lbfgs", starts = 3, iterations = 9 }
escape = { name = "linear", limit = 3, steps = 9, padding = 1 }
restart = { name = "revisit", n = 3 }
region = { name = "trust", successes = 2, failures = 3, coordinates = 2 }
stop = { name = "patience", evaluations = 7 }
most_fitted = 50
[[methods]]
surrogate = { name = "deep_ensemble", n_members = 3, hidden = [4] }
acquisition = { name = "ucb" }
maximizer = "lbfgs"
budget = 1
embedding = { name = "rembo", dimension = 2 }
[[methods]]
surrogate = { name = "gp", n_restarts = 2 }
maximizer = { name = "grid", points = 9 }
gap = 1
time_limit = 2
"""

SPACE = """
[[dimensions]]
name = "x"
lower = -1.0
upper = 2.0
[[dimensions]]
kind = "integer"
name = "n"
lower = 1
upper = 3
[[dimensions]]
kind = "categorical"
name = "alloy"
levels = ["steel", "brass"]
[[constraints]]
coefficients = { x = 1.0, n = 2.0 }
sense = "<="
bound = 5.5
"""

TABLE = "x,n,alloy,y\n0.5,1,steel,0.25\n-0.5,2,brass,1.5\n1.0,3,steel,-2\n"


def _text(files: Mapping[str, str]) -> Callable[[Path], list[Path]]:
    def wholes(folder: Path) -> list[Path]:
        for name, content in files.items():
            (folder / name).write_text(content)
        return [folder / name for name in files]

    return wholes


def _experiment(path: Path) -> object:
    from nnbo_mip.lab.plan.experiment import read_experiment

    return read_experiment(path)


def _space(path: Path) -> None:
    table = path.with_name("table.csv")
    table.write_text(TABLE)
    with redirect_stdout(io.StringIO()):
        _command(
            "suggest", str(table), "--space", str(path), "--value", "y", "--maximizer", "lbfgs"
        )


def _csv(path: Path) -> object:
    space = nm.Space(
        [
            nm.Real("x", -1.0, 2.0),
            nm.Integer("n", 1, 3),
            nm.Categorical("alloy", ["steel", "brass"]),
        ]
    )
    run = nm.BayesianOptimizer(space)
    run.tell_table(path, "y")
    return len(run.history)


READERS: dict[str, Reader] = {
    "journal": Reader("sqlite", _assets("journal_schema_[345].db"), _journal),
    "store": Reader("sqlite", _assets("store_schema_*.db"), _store),
    "certificate": Reader(
        "json", _assets("0.1.0/certificate_*.json", "0.1.0/network_*.json"), _certificate
    ),
    "network": Reader("npz", _assets("0.1.0/network*.npz"), _network),
    "belief": Reader("npz", _assets("0.1.0/belief_*.npz"), _belief),
    "objective": Reader("npz", _assets("0.1.0/objective_*.npz"), _objective),
    "onnx": Reader("onnx", _onnx_files, _onnx),
    "experiment": Reader(
        "toml", _text({"experiment.toml": EXPERIMENT, "options.toml": OPTIONS}), _experiment
    ),
    "space": Reader("toml", _text({"space.toml": SPACE}), _space),
    "csv": Reader("csv", _text({"table.csv": TABLE}), _csv),
}
