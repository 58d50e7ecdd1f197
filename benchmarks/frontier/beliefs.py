"""The frozen beliefs: which runs they come from, and the files that hold them.

A file is an `Objective` with the expected improvement of the step. ``digests.json`` has the
fingerprint of each; what does not have it is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.objective import Objective
from nnbo_mip.space.domain import Domain

FOLDER = Path(__file__).parent / "data"
DIGESTS = FOLDER / "digests.json"

EVALUATIONS = (20, 35, 50)
INPUTS = (4, 5, 6, 8)

FAMILIES = {
    "gp": "gp",
    "brvfl": "brvfl:n_hidden=300",
    "ensemble": "deep_ensemble:n_members=5,hidden=(16,16)",
    "nomu": "nomu:hidden=(32,32)",
    "nomu16": "nomu:hidden=(16,)",
    "forest": "random_forest",
}

ROLES = {
    "pilots": ("griewank", "michalewicz", "styblinski_tang"),
    "judged": ("levy", "rosenbrock", "ackley", "perm", "g_function", "hartmann6"),
}
"""Bounds are chosen by the pilots, and judged by the others."""

SCORES = ("ei", "ucb")


@dataclass(frozen=True)
class Run:
    """One run whose beliefs are kept."""

    family: str
    function: str
    inputs: int

    @property
    def name(self) -> str:
        """Family, function and number of inputs."""
        return f"{self.family}-{self.function}-{self.inputs}"

    @property
    def problem(self) -> str:
        """The function as the catalogue knows it."""
        fixed = self.function == "hartmann6"
        return self.function if fixed else f"{self.function}:dimension={self.inputs}"

    def path(self, evaluations: int) -> Path:
        """Return the file of the belief after so many evaluations."""
        return FOLDER / f"{self.name}-{evaluations}.npz"


def runs(families: Sequence[str], inputs: Sequence[int], roles: Sequence[str]) -> Iterator[Run]:
    """Yield the runs of some families, numbers of inputs and roles."""
    for role in roles:
        for family in families:
            for d in inputs:
                for function in ROLES[role]:
                    if function != "hartmann6" or d == 6:
                        yield Run(family, function, d)


def problem_of(path: Path, score: str) -> HeadProblem:
    """Return the question that a file stands for: EI, or mean + std."""
    objective = Objective.load(path)
    if json.loads(DIGESTS.read_text())[path.name] != objective.fingerprint:
        raise SystemExit(f"{path} is not what was frozen; restore it.")
    if score == "ucb":
        objective = replace(objective, head=LinearHead(1.0, 1.0))
    d = objective.posterior.n_inputs
    return HeadProblem(objective, Domain([-1.0] * d, [1.0] * d))


def keep(path: Path, objective: Objective) -> str:
    """Write a belief and its fingerprint; return that."""
    known = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}
    FOLDER.mkdir(exist_ok=True)
    objective.save(path)
    known[path.name] = objective.fingerprint
    DIGESTS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    return objective.fingerprint
