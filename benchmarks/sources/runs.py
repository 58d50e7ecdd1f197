"""`Runs`: what became of one method on one problem, small enough to be a file of the repository.

`gathered` reads the stores of the lab; `kept` and `read` write and read the same as JSON,
docs/plots/sources.json.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.lab.store.results import Results, experiments

DIGITS = 7
"""Of the numbers that are kept, so that figures of four digits do not depend on it."""

EDGE = 1e-6
"""How near to a side of the box, in model coordinates, a point counts as on it."""


@dataclass(frozen=True)
class Runs:
    """All finished instances of one method on one problem.

    Parameters
    ----------
    experiment, problem : str
    method : str
        Its name in the experiment.
    surrogate : str
        The family's name; that of the baseline where no model chooses.
    budget : float or None
        Of the mean width.
    escape, maximizer, acquisition : str
        Names, the first with its padding, as in ``exponential:padding=4``; empty for a baseline.
    steps : int
        Evaluations after the starts.
    planned : int
        Instances that the experiment asks for.
    instances : list of int
        Those that are finished, in order; the lists below have an entry for each.
    starts, finals : list of float
        Regret after the starts, and at the end; the best value where the optimum is not known.
    factors : list of float
        Scale of the uncertainty at the first step with a model.
    doublings : list of int
        Of that scale, in all steps together.
    edges : list of float
        Part of the points that a model chose which lie on the edge of the box.
    seconds : list of float
        CPU time of the unit.
    limited : int
        Steps of all instances that ended because time was up.
    """

    experiment: str
    problem: str
    method: str
    surrogate: str
    budget: float | None
    escape: str
    maximizer: str
    acquisition: str
    steps: int
    planned: int
    instances: list[int]
    starts: list[float]
    finals: list[float]
    factors: list[float]
    doublings: list[int]
    edges: list[float]
    seconds: list[float]
    limited: int

    @property
    def title(self) -> str:
        """The family, and the estimator of a density ratio."""
        _, given, rest = self.method.partition("estimator=")
        return f"`{self.surrogate}`" + (f" {re.split('[:,]', rest)[0]}" if given else "")

    def on(self, instances: Iterable[int]) -> FloatArray:
        """Return the final regrets of these instances, in the order that is given."""
        known = dict(zip(self.instances, self.finals, strict=True))
        return np.array([known[instance] for instance in instances])


def gathered(stores: Sequence[Path]) -> list[Runs]:
    """Return what stores hold, ordered by experiment, problem and method as planned.

    Of an experiment in two stores the one with more units counts.
    """
    found: dict[str, Results] = {}
    for path in sorted(stores):
        for record in experiments(path):
            results = Results.open(path, record.name)
            known = found.get(record.name)
            if known is None or len(results.units) > len(known.units):
                found[record.name] = results
    return [runs for name in sorted(found) for runs in _of_experiment(found[name])]


def merged(known: Sequence[Runs], new: Sequence[Runs]) -> list[Runs]:
    """Return all runs, ordered by experiment; of those that have new ones these alone."""
    again = {one.experiment for one in new}
    both = [one for one in known if one.experiment not in again] + list(new)
    return sorted(both, key=lambda one: one.experiment)


def kept(runs: Sequence[Runs], path: Path) -> None:
    """Write them."""
    lines = ",\n".join(json.dumps(_rounded(asdict(one))) for one in runs)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def read(path: Path) -> list[Runs]:
    """Return what `kept` has written."""
    return [Runs(**one) for one in json.loads(path.read_text(encoding="utf-8"))]


def _of_experiment(results: Results) -> Iterator[Runs]:
    units, steps = results.units, results.steps
    for problem in results.problems:
        for method in results.methods:
            rows = units.where((units["problem"] == problem) & (units["method"] == method))
            curves = results.curves(problem, method, results.experiment.metrics[0])
            if not len(rows) or not len(curves.units):
                continue
            options = results.settings(int(curves.units[0]))["method"].get("options", {})
            chosen = [steps.where(steps["unit"] == unit) for unit in curves.units]
            known = dict(zip(rows["unit"].tolist(), rows["cpu_seconds"].tolist(), strict=True))
            yield Runs(
                experiment=results.experiment.name,
                problem=problem,
                method=method,
                surrogate=_surrogate(str(rows["surrogate"][0]), method),
                budget=None if np.isnan(rows["budget"][0]) else float(rows["budget"][0]),
                escape=_escape(options),
                maximizer=str(rows["maximizer"][0]).partition(":")[0],
                acquisition=str(rows["acquisition"][0]).partition(":")[0],
                steps=int(rows["steps"][0]),
                planned=len(rows),
                instances=curves.instances.tolist(),
                starts=curves.values[:, curves.starts - 1].tolist(),
                finals=curves.values[:, -1].tolist(),
                factors=[float(one["c"][0]) for one in chosen if len(one)],
                doublings=[int(one["doublings"].sum()) for one in chosen if len(one)],
                edges=[_edge(results, int(unit), curves.starts) for unit in curves.units],
                seconds=[known[int(unit)] for unit in curves.units],
                limited=sum(int(one["time_limited"].sum()) for one in chosen),
            )


def _surrogate(text: str, method: str) -> str:
    """Return the family, told from `text` as the file has it; a baseline has its label alone."""
    return text.partition(":")[0] or method


def _escape(options: dict[str, Any]) -> str:
    rule = options.get("escape", {"name": ""})
    padding = rule.get("padding")
    return f"{rule['name']}:padding={padding}" if padding else str(rule["name"])


def _edge(results: Results, unit: int, starts: int) -> float:
    """Return the part of a unit's chosen points that lie on the edge of the box."""
    spec, instance = results.settings(unit)["problem"], results.settings(unit)["instance"]
    if isinstance(spec, str):
        spec = spec.replace("{instance}", str(instance))
    space = nm.problems.create(spec).space
    points = np.asarray(space.encode(results.points(unit)[starts:]))
    return float(np.mean((np.abs(points) >= 1.0 - EDGE).any(axis=1)))


def _rounded(value: Any) -> Any:
    """Return numbers with few digits."""
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
