"""What ``nnbo-mip compare`` maximizes on: a belief learned from a problem or from a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.catalogue import registry as acquisitions
from nnbo_mip.cli.common import FEWEST
from nnbo_mip.cli.space_file import read_space
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_direction
from nnbo_mip.core.errors import InputError, MissingExtraError
from nnbo_mip.core.registry import Registry, split_at_commas
from nnbo_mip.core.terms import Direction
from nnbo_mip.loop.designs.spread import Sobol
from nnbo_mip.loop.settings.defaults import acquisition_for, surrogate_for
from nnbo_mip.loop.settings.discrete import is_discrete
from nnbo_mip.loop.settings.settings import as_space
from nnbo_mip.loop.step.training_set import seeded, value_of_failures
from nnbo_mip.loop.tables.tables import read_table
from nnbo_mip.maximizers.base.abstract import Maximizer
from nnbo_mip.problems.catalogue import registry as problems
from nnbo_mip.space.space import Space
from nnbo_mip.surrogates.base.abstract import Surrogate
from nnbo_mip.surrogates.base.families import registry as surrogates

T = TypeVar("T")

POINTS = 20
"""Sobol points of a problem, unless said otherwise."""


@dataclass(frozen=True, eq=False)
class Observed:
    """Observations, as a surrogate learns from them.

    Parameters
    ----------
    source : str
        Where they come from, for a title.
    space : Space
    direction : {"minimize", "maximize"}
    X : (n, k) array
        Model coordinates.
    y : (n,) array
        Values, turned so that larger is better.
    """

    source: str
    space: Space
    direction: Direction
    X: FloatArray
    y: FloatArray

    @property
    def best(self) -> float:
        """The best value, in the user's units and direction."""
        return float(self.y.max()) * (1.0 if self.direction == "maximize" else -1.0)


def observed(
    problem: str | None,
    points: int | None,
    table: Path | None,
    space: Path | None,
    value: str | None,
    direction: str | None,
    seed: int,
) -> Observed:
    """Return what --problem, or --observations and --space, give.

    Parameters
    ----------
    problem : str or None
        What `nnbo_mip.problems.create` takes.
    points : int or None
        How often it is evaluated.
    table : Path or None
        A CSV file as `nnbo_mip.loop.tables.tables.read_table` takes it.
    space : Path or None
        A file as `read_space` takes it.
    value : str or None
        The column of values; empty and NaN ones are failures, and count as the worst value.
    direction : str or None
        Left out, that of the problem; a table is minimized.
    seed : int
        Of the Sobol points.
    """
    if (problem is None) == (table is None):
        raise InputError(
            "what is learned is given by --problem or by --observations; got "
            f"{'none of them' if problem is None else 'both'}; "
            f"{'write --problem branin, say' if problem is None else 'drop one'}."
        )
    if problem is not None:
        _refuse("--problem", {"--space": space, "--value": value})
        return _observed_problem(problem, POINTS if points is None else points, seed, direction)
    _refuse("--observations", {"--points": points})
    if table is None or space is None:
        raise InputError(
            "--observations needs --space, which says what the columns are; got none; write a "
            ".toml file with [[dimensions]]."
        )
    return _observed_table(table, space, value or "y", direction)


def _refuse(given: str, others: dict[str, object]) -> None:
    """Refuse flags that would be ignored beside another one."""
    idle = [flag for flag, content in others.items() if content is not None]
    if idle:
        raise InputError(f"{idle[0]} does not go with {given}; got both; drop one.")


def _observed_problem(spec: str, points: int, seed: int, direction: str | None) -> Observed:
    problem = problems.create(spec)
    X = Sobol(points).points(problem.space, seed)
    toward = problem.direction if direction is None else as_direction(direction)
    y = _turned(problem.evaluate(problem.space.decode(X)), toward)
    return Observed(f"{len(X)} Sobol points of {problem.name}", problem.space, toward, X, y)


def _observed_table(table: Path, space: Path, value: str, direction: str | None) -> Observed:
    toward = as_direction(direction or "minimize")
    given = read_space(space)
    if not isinstance(given, Space):
        raise InputError(
            f"--space must name dimensions in the units of the table; got {str(space)!r}, a domain "
            "of plain coordinates; write a .toml file with [[dimensions]]."
        )
    read = read_table(table, as_space(given), value)
    told = np.isfinite(read.y)
    if np.count_nonzero(told) < FEWEST:
        raise InputError(
            f"the column {value!r} of {table.name!r} must have at least {FEWEST} values; got "
            f"{np.count_nonzero(told)}; add observations."
        )
    y = _turned(read.y, toward)
    y[~told] = value_of_failures(y[told])
    return Observed(f"{len(y)} rows of {table.name}", given, toward, read.X, y)


def _turned(y: FloatArray, direction: Direction) -> FloatArray:
    return np.array(y if direction == "maximize" else -y)


def surrogate_of(spec: str | None, space: Space, seed: int) -> Surrogate:
    """Return the surrogate that a run would take; its seed is this one, unless it names one."""
    model = space.model()
    made = surrogates.create(surrogate_for(spec, model.n_parameters, is_discrete(model)))
    return _seeded(made, surrogates, spec, seed)


def acquisition_of(spec: str | None, surrogate: Surrogate, seed: int) -> Acquisition:
    """Return the acquisition that a run would take with a surrogate; seeds as above."""
    made = acquisitions.create(acquisition_for(spec, surrogate))
    return _seeded(made, acquisitions, spec, seed)


def _seeded(made: T, registry: Registry[T], spec: str | None, seed: int) -> T:
    named = spec is not None and "seed" in registry.parsed(spec)[1]
    return made if named else seeded(made, seed)


def listed(text: str) -> list[str]:
    """Split a list of names with options: ``grid:points=50,time_limit=2,lbfgs`` has two."""
    names: list[str] = []
    for part in split_at_commas(text):
        before_equals = part.partition("=")[0]
        is_option = before_equals != part and not set(":(") & set(before_equals)
        if is_option and names:
            names[-1] += f",{part.strip()}"
        else:
            names.append(part.strip())
    return names


def check_can_be_had(created: list[Maximizer | str]) -> None:
    """Refuse a list of maximizers that is empty, or all of which lack a package.

    Parameters
    ----------
    created : list of Maximizer or str
        As `nnbo_mip.maximizers.compare.created` returns it: reasons stand for what is lacking.
    """
    if not created:
        raise InputError(
            "--maximizers must name one at least; got none; write --maximizers auto,lbfgs, say."
        )
    reasons = [made for made in created if isinstance(made, str)]
    if len(reasons) == len(created):
        raise MissingExtraError(reasons[0])
