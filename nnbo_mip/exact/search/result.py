"""`SearchResult`: what a search found and proved; engines, ways and maximizers all answer it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.rebuilt import Rebuilt
from nnbo_mip.core.terms import Kind, Status


@dataclass(frozen=True)
class Proof:
    """Who proved a bound, or who searched without proving one.

    Parameters
    ----------
    way : str
        An engine such as ``boxes``, ``phases`` or ``mip``, or what is made of linear problems,
        such as ``sandwich`` or ``ratio``.
    solver : str
        That solved the mixed-integer program; empty where there was none.
    version : str
        Of the solver.
    problems : tuple of Proof
        Who proved the bounds of the linear problems that `way` stands on.

    Examples
    --------
    >>> str(Proof("sandwich", problems=(Proof("mip", "highs"), Proof("boxes"))))
    'sandwich (mip:highs, boxes)'
    """

    way: str = ""
    solver: str = ""
    version: str = field(default="", compare=False)
    problems: tuple[Proof, ...] = ()

    def __str__(self) -> str:
        name = f"{self.way}:{self.solver}" if self.solver else self.way
        return f"{name} ({', '.join(map(str, self.problems))})" if self.problems else name

    @property
    def engines(self) -> Iterator[Proof]:
        """The proof itself and those that it stands on."""
        yield self
        for problem in self.problems:
            yield from problem.engines

    @property
    def solved_by(self) -> tuple[str, str] | tuple[None, None]:
        """Name and version of the first solver, if there is one."""
        found = ((one.solver, one.version) for one in self.engines if one.solver)
        return next(found, (None, None))

    @staticmethod
    def stored(text: str) -> Proof:
        """Return the proof whose text a file keeps: what `str` made of it."""
        name, bracket, inner = text.partition(" (")
        problems = tuple(map(Proof._of_engine, inner.removesuffix(")").split(", ")))
        return replace(Proof._of_engine(name), problems=problems if bracket else ())

    @staticmethod
    def _of_engine(name: str) -> Proof:
        way, _, solver = name.partition(":")
        return Proof(way, solver)


@dataclass(frozen=True, eq=False)
class SearchResult(Rebuilt):
    """The best point found, and the bound proven for all others.

    Parameters
    ----------
    x : (d,) array or None
        Best admissible point found.
    value : float
        Value at `x`, evaluated alone in float64; ``-inf`` without a point.
    bound : float
        No admissible point has a larger value; ``+inf`` without a proof, ``-inf`` where it is
        proven that there is none.
    kind : {"rigorous", "solver", "none"}
        How `bound` was proven.
    status : {"optimal", "feasible", "heuristic", "infeasible", "initial"}
        What `gap` amounts to.
    gap : float
        Distance of value and bound as their measure has it (`Measure.gap`); NaN where there is
        no admissible point.
    proof : Proof
        Who proved `bound`, or who searched without proving one.
    score : str
        What `value` and `bound` are: the name of a score function, such as ``ei``; ``ei`` and
        ``pi`` below 1e-12 are answered as ``logei`` and ``logpi``. Empty for networks.
    counters : mapping of str to int
        Work done: boxes, nodes, linear programs, evaluations, ….
    time_limited : bool
        Whether wall time, rather than work, ended the search.
    message : str
        One sentence for the user; empty when there is nothing to add.
    steps : tuple of Step
        The linear problems that were solved for it, in their order.
    """

    x: FloatArray | None = None
    value: float = -math.inf
    bound: float = math.inf
    kind: Kind = "none"
    status: Status = "heuristic"
    gap: float = math.inf
    proof: Proof = Proof()
    score: str = ""
    counters: Mapping[str, int] = field(default_factory=dict)
    time_limited: bool = False
    message: str = ""
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "counters", MappingProxyType(dict(self.counters)))
        if isinstance(self.x, np.ndarray) and self.x.flags.writeable:
            x = np.array(self.x, dtype=np.float64)
            x.setflags(write=False)
            object.__setattr__(self, "x", x)

    @property
    def engine(self) -> str:
        """Who proved the bound, as a text."""
        return str(self.proof)

    @property
    def work(self) -> Mapping[str, int]:
        """The counters of other work than evaluations."""
        return {name: count for name, count in self.counters.items() if name != "evaluations"}


class HasResult(Rebuilt):
    """Reads a search result through what has one, under the names that users know."""

    found: SearchResult

    @property
    def value(self) -> float:
        """Value at the point, evaluated alone in float64."""
        return self.found.value

    @property
    def bound(self) -> float:
        """No admissible point has a larger value; infinite without a proof."""
        return self.found.bound

    @property
    def gap(self) -> float:
        """Distance of value and bound; of their logarithms for EI and PI."""
        return self.found.gap

    @property
    def kind(self) -> Kind:
        """How the bound was proven: ``rigorous``, ``solver`` or ``none``."""
        return self.found.kind

    @property
    def status(self) -> Status:
        """What the gap amounts to."""
        return self.found.status

    @property
    def proof(self) -> Proof:
        """Who proved the bound, as data."""
        return self.found.proof

    @property
    def engine(self) -> str:
        """Who proved the bound, as a text."""
        return self.found.engine

    @property
    def head(self) -> str:
        """What value and bound are: the name of the score function."""
        return self.found.score

    @property
    def counters(self) -> Mapping[str, int]:
        """Work done."""
        return self.found.counters

    @property
    def time_limited(self) -> bool:
        """Whether wall time ended the search, so that another run may end elsewhere."""
        return self.found.time_limited

    @property
    def message(self) -> str:
        """One sentence for the user, or more; empty when there is nothing to add."""
        return self.found.message


@dataclass(frozen=True, eq=False)
class Step(HasResult):
    """One linear problem: no admissible point has a weighted sum above the bound.

    Parameters
    ----------
    weights : mapping of str to float
        Of the outputs ``mean`` and ``std`` or ``relu_raw``, or of ``score``.
    found : SearchResult
        The largest sum found, and the bound that was proven.
    tangents : tuple of float
        Values of relu(raw) at which tangents stood for the std, which they exceed elsewhere;
        empty where the std itself was summed.
    """

    weights: Mapping[str, float]
    found: SearchResult
    tangents: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))

    @property
    def x(self) -> FloatArray | None:
        """Where the largest sum was found."""
        return self.found.x

    @property
    def is_empty(self) -> bool:
        """Whether it was proven that there is no admissible point."""
        return self.bound == -math.inf and self.x is None
