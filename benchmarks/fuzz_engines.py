"""Everything that the soundness run tries on a case, by name."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from benchmarks.fuzz_nets import FuzzCase
from benchmarks.measure import cpu_seconds
from benchmarks.verdicts import Record
from nnbo_mip.network.affine import FloatArray


class Result(Protocol):
    """What `certify` and every engine answer."""

    @property
    def x(self) -> FloatArray | None:
        """The best admissible point."""

    @property
    def value(self) -> float:
        """Forward pass at x."""

    @property
    def bound(self) -> float:
        """Proven upper bound."""

    @property
    def status(self) -> str:
        """One of `benchmarks.verdicts.STATUSES`."""


@dataclass(frozen=True)
class Door:
    """`nnbo_mip.certify` with options."""

    options: Mapping[str, Any]

    def solve(self, case: FuzzCase, gap: float, limit: float) -> Result:
        """Maximize the case."""
        import nnbo_mip as nm

        result: Result = nm.certify(
            case.network, case.domain, gap=gap, time_limit=limit, seed=0, **self.options
        )
        return result


@dataclass(frozen=True)
class Engine:
    """One engine without the presolve and the choices of `certify`."""

    module: str
    options_class: str
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def solve(self, case: FuzzCase, gap: float, limit: float) -> Result:
        """Maximize the case."""
        from nnbo_mip.exact.monitor import Monitor
        from nnbo_mip.exact.problem import Problem

        engine = importlib.import_module(f"nnbo_mip.exact.{self.module}")
        options = getattr(engine, self.options_class)(**self.options)
        problem = Problem(case.network, case.domain)
        result: Result = engine.solve(problem, options, Monitor(problem, gap, limit))
        return result


@dataclass(frozen=True)
class Contestant:
    """A name, what it does, and the packages that it needs."""

    name: str
    solver: Door | Engine
    packages: tuple[str, ...] = ()

    def installed(self) -> bool:
        """Whether the packages it needs are there."""
        return all(importlib.util.find_spec(name) is not None for name in self.packages)

    def run(self, case: FuzzCase, gap: float, limit: float) -> Record:
        """Solve; what is raised becomes the status ``unsupported`` or ``error``."""
        from nnbo_mip.errors import UnsupportedError

        started = cpu_seconds()
        try:
            result = self.solver.solve(case, gap, limit)
        except UnsupportedError as error:
            return Record(case.index, self.name, "unsupported", message=str(error))
        except Exception as error:
            return Record(
                case.index, self.name, "error", message=f"{type(error).__name__}: {error}"
            )
        return Record(
            index=case.index,
            engine=self.name,
            status=result.status,
            value=float(result.value),
            bound=float(result.bound),
            x=None if result.x is None else [float(coordinate) for coordinate in result.x],
            seconds=cpu_seconds() - started,
        )


CONTESTANTS: Mapping[str, Contestant] = MappingProxyType(
    {
        contestant.name: contestant
        for contestant in (
            Contestant("boxes:bare", Engine("boxes", "BoxOptions")),
            Contestant("phases:bare", Engine("phases", "PhaseOptions")),
        )
    }
)
