"""Write small files of a release, for later releases to open.

    PYTHONPATH=checkout/of/the/release python tests/assets/make_assets.py tests/assets/0.1.0

Run it once for a release, with that release's package and nothing newer, in a folder that does not
exist yet; never run it again into the same folder. `tests/test_old_files.py` finds every folder
that holds a ``manifest.json`` and opens all files that it names. An entry says what a file is
(``kind``), and what whoever opens it has to see; the manifest's ``release`` is for the reader.

Whatever the release cannot make (an acquisition that it lacks, a file that it cannot write) is
left out with a line on standard error, so that one script serves many releases.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import nnbo_mip as nm

FAMILIES: dict[str, dict[str, Any]] = {
    "average": {"members": ("brvfl:n_hidden=6", "kde:candidates=8"), "folds": 2},
    "bnn_hierarchical": {"hidden": (3,), "tune": 20, "draws": 10, "max_depth": 3, "kept": 3},
    "bnn_hmc": {"hidden": (3,), "burn_in": 20, "draws": 10, "n_leapfrog": 5, "kept": 3},
    "bnn_sghmc": {"hidden": (3,), "burn_in": 50, "steps": 30, "every": 10, "kept": 3},
    "bnn_simple": {"hidden": (3,), "tune": 20, "draws": 10, "max_depth": 3, "kept": 3},
    "boggn": {"hidden": (4, 4), "epochs": 30, "prior_precision": 0.1},
    "bore": {"estimator": {"name": "net", "hidden": (4,), "epochs": 30}},
    "brvfl": {"n_hidden": 8},
    "deep_ensemble": {"hidden": (4,), "n_members": 2, "epochs": 30},
    "elm": {"n_members": 4, "n_hidden": 4, "activation": "relu"},
    "empirical": {},
    "ervfl": {"n_members": 3, "n_hidden": 6},
    "gmm": {"n_components": 2, "n_restarts": 1},
    "gp": {"n_restarts": 1},
    "gp_mcmc": {"burn_in": 2, "chain_length": 2, "n_walkers": 8},
    "ivbnn": {"batch": 16, "n_members": 4, "steps": 20, "critic_width": 8},
    "kde": {"candidates": 8},
    "mc_dropout": {"hidden": (6, 4), "passes": 3, "epochs": 30},
    "neural_linear": {"hidden": (5, 4), "epochs": 30},
    "nomu": {"hidden": (4, 4), "n_augmented": 20, "epochs": 30},
    "random_forest": {"n_trees": 4, "max_depth": 3},
    "spn": {"channels": 2, "candidates": 8, "folds": 2, "n_restarts": 1, "epochs": 10},
    "tpe": {},
}
"""Every family, so small that its file has a few kilobytes."""

SCORES: dict[str, tuple[str, ...]] = {
    "nomu": (
        *("mean auto", "ucb auto", "ei auto", "pi auto", "logei auto", "mes auto"),
        *("ei mip", "logei enumerate", "pi mip"),
    ),
    "brvfl": ("mean auto", "ucb auto", "ei auto", "pi auto", "ts auto"),
    "deep_ensemble": ("ucb auto", "ei auto", "empirical_ei auto", "empirical_pi auto"),
    "gp": ("mean auto", "ucb auto", "ei auto", "pi auto"),
    "random_forest": ("mean auto", "ucb auto", "ei auto", "empirical_pi auto", "mean mip"),
}
"""Families whose acquisitions are certified, with who proves them."""

EXPERIMENT = """\
name = "old"
problems = ["branin"]
instances = 2
starts = 3
steps = 2
baselines = ["random"]

[[methods]]
surrogate = "brvfl:n_hidden=8"
acquisition = "ucb"
maximizer = "auto"
"""


@dataclass(frozen=True, eq=False)
class Data:
    """What a belief learned, where it is looked at, and what is maximized by whom."""

    X: np.ndarray
    y: np.ndarray
    points: np.ndarray
    score: str
    maximizer: str


class Maker:
    """Writes files into a folder, and what is to be seen in them."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.entries: list[dict[str, Any]] = []

    def attempt(self, what: str, make: Callable[[], None]) -> None:
        """Make something, or say on standard error why this release cannot."""
        try:
            make()
        except (AttributeError, TypeError, nm.NnboError) as error:
            print(f"{what} left out: {error}", file=sys.stderr)

    def certificate(self, name: str, certificate: Any, about: str, space: Any) -> None:
        """Store a certificate that confirms itself in this release; refuse any other."""
        answer = certificate.check(self.folder / about, space)
        if not answer.confirmed:
            raise nm.InputError(f"its check answers {answer}; store claims that are confirmed.")
        certificate.save(self.folder / f"{name}.json")
        self.entries.append({"kind": "certificate", "file": f"{name}.json", "about": about})

    def networks(self) -> None:
        """Write a network as npz and JSON, and a claim by every engine."""
        rng = np.random.default_rng(0)
        shapes = ((6, 2), (6, 6), (2, 6))
        layers = [(rng.normal(size=shape), rng.normal(size=shape[0])) for shape in shapes]
        network = nm.Network.from_layers(layers, ["first", "second"])
        points = rng.uniform(-1.0, 1.0, (3, 2))
        for file in ("network.npz", "network.json"):
            network.save(self.folder / file)
            values = network.evaluate(points).tolist()
            entry = {"kind": "network", "file": file, "points": points.tolist(), "values": values}
            self.entries.append(entry)
        box = nm.Space.box([-1.0, -0.5], [1.0, 2.0])
        for method in ("boxes", "phases", "bab", "enumerate", "mip", "auto"):
            self.claim(f"network_{method}", network, box, output="first", method=method)
        self.claim("network_minimum", network, box, output="second", direction="minimize")
        self.claim("network_sum", network, box, output={"first": 1.0, "second": -0.5})
        self.claim("network_not_closed", network, box, output="first", method="boxes", gap=0.25)
        row = nm.LinearConstraint({"a": 1.0, "n": 1.0}, "<=", 1.5)
        numbers = nm.Space([nm.Real("a", -1.0, 1.0), nm.Integer("n", -2, 3)], [row])
        self.claim("network_integer_row", network, numbers, output="first")
        above = nm.LinearConstraint({"a": 1.0, "n": 1.0}, ">=", 4.5)
        empty = nm.Space([nm.Real("a", -1.0, 1.0), nm.Integer("n", -2, 3)], [above])
        self.claim("network_infeasible", network, empty, output="first")
        domain = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model().away_from([[0.25, 0.5]], 0.5)
        self.claim("network_exclusions", network, domain, output="second", method="boxes")
        wide = [(rng.normal(size=(5, 5)), rng.normal(size=5)), (rng.normal(size=(1, 5)), [0.5])]
        nm.Network.from_layers(wide).save(self.folder / "network_mixed.npz")
        levels = nm.Categorical("kind", ["red", "green", "blue"])
        mixed = nm.Space([nm.Real("a", -1.5, 0.5), nm.Integer("n", -2, 4), levels])
        loaded = nm.Network.load(self.folder / "network_mixed.npz")
        self.claim("network_mixed", loaded, mixed, about="network_mixed.npz")

    def claim(
        self, name: str, network: nm.Network, space: Any, about: str = "network.npz", **options: Any
    ) -> None:
        """Write what `certify` claims about a network."""
        made = nm.certify(network, space, **options).certificate
        self.attempt(name, lambda: self.certificate(name, made, about, space))

    def beliefs(self) -> None:
        """Write a belief of every family, with what it predicts, and scores of some."""
        rng = np.random.default_rng(1)
        X = rng.uniform(-1.0, 1.0, (9, 2))
        y = np.sin(2.5 * X[:, 0]) + X[:, 1] ** 2
        probes = rng.uniform(-1.2, 1.2, (4, 2))
        for family, options in FAMILIES.items():
            self.attempt(family, lambda f=family, o=options: self.belief(f, o, X, y, probes))

    def belief(
        self, family: str, options: dict[str, Any], X: np.ndarray, y: np.ndarray, probes: np.ndarray
    ) -> None:
        """Write one belief and what is claimed about its acquisitions."""
        if family not in nm.surrogates.available():
            raise nm.InputError("there is no such family.")
        if "seed" in nm.surrogates.create(family).__dataclass_fields__:
            options = {**options, "seed": 0}
        belief = nm.surrogates.create(family, **options).fit(X, y)
        belief.save(self.folder / f"belief_{family}.npz")
        entry: dict[str, Any] = {"kind": "belief", "file": f"belief_{family}.npz"}
        entry["points"] = probes.tolist()
        for quantity in ("mean", "std", "ratio"):  # a ratio of densities has no mean
            if quantity in {str(one.value) for one in belief.capabilities}:
                entry[quantity] = getattr(belief, quantity)(probes).tolist()
        self.entries.append(entry)
        for score, maximizer in (spec.split() for spec in SCORES.get(family, ())):
            what = f"{family}_{score}_{maximizer}"
            data = Data(X, y, probes, score, maximizer)
            self.attempt(what, lambda w=what, d=data: self.score(w, belief, d))

    def score(self, name: str, belief: Any, data: Data) -> None:
        """Write an objective, its scores, and the certificate of its maximum."""
        domain = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
        options = {"X": data.X, "y": data.y, "gap": 1e-2, "time_limit": 20.0}
        proposal = nm.maximize(belief, data.score, domain, maximizer=data.maximizer, **options)
        if proposal.certificate is None or proposal.status != "optimal":
            raise nm.InputError(f"nothing was proven: {proposal.status}.")
        objective = proposal.objective
        objective.save(self.folder / f"objective_{name}.npz")
        entry = {
            "kind": "objective",
            "file": f"objective_{name}.npz",
            "points": data.points.tolist(),
        }
        self.entries.append({**entry, "scores": objective.score(data.points).tolist()})
        about = f"objective_{name}.npz"
        self.certificate(f"certificate_{name}", proposal.certificate, about, domain)

    def journal(self) -> None:
        """Write the journal of a run over a mixed space, with three steps of a model."""
        path = self.folder / "journal.db"
        space = nm.Space(
            [
                nm.Real("rate", 1e-3, 1.0, log=True),
                nm.Integer("layers", 1, 4),
                nm.Categorical("act", ["relu", "tanh"]),
            ]
        )
        run = nm.BayesianOptimizer(
            space, "brvfl:n_hidden=8", "ei", direction="maximize", initial=4, seed=3, journal=path
        )
        for number in range(7):
            asked = run.ask()
            run.tell(asked, float(np.cos(3.0 * number) + 0.125 * asked.x["layers"]))
        run.ask()
        history = [[told.x, told.y] for told in run.history]
        self.entries.append({"kind": "journal", "file": "journal.db", "history": history})

    def store(self) -> None:
        """Write the results of a small experiment, with no trace of the machine."""
        path = self.folder / "store.db"
        (self.folder / "old.toml").write_text(EXPERIMENT, encoding="utf-8")
        command = [sys.executable, "-m", "nnbo_mip", "run", "old.toml", "--workers", "1"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run(
            [*command, "--store", "store.db"], cwd=self.folder, env=environment, check=True
        )
        (self.folder / "old.toml").unlink()
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute(
                "UPDATE environments SET content = json_set(content, '$.host', 'here')"
            )
            database.execute("UPDATE attempts SET host = 'here'")
        units = 4
        self.entries.append(
            {
                "kind": "store",
                "file": path.name,
                "methods": ["brvfl:n_hidden=8", "random"],
                "units": units,
            }
        )


def put_together(path: Path) -> None:
    """Put all of a database into its one file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=DELETE")
        database.execute("VACUUM")


def main() -> None:
    """Write every file, then the list of them."""
    warnings.simplefilter("ignore")
    maker = Maker(Path(sys.argv[1]))
    for make in (maker.networks, maker.beliefs, maker.journal, maker.store):
        make()
    for path in maker.folder.glob("*.db"):
        put_together(path)
    manifest = {"release": nm.__version__, "entries": maker.entries}
    (maker.folder / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
