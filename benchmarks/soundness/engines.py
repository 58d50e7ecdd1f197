"""Everything that the soundness run tries on a case, by name."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

from benchmarks.certify.measure import cpu_seconds
from benchmarks.soundness.nets import FuzzCase
from benchmarks.soundness.verdicts import Record

BROKE_DOWN = "broke down"
"""What `certify` says when a solver failed and the quick bound took over."""


@dataclass(frozen=True)
class Contestant:
    """`nnbo_mip.certify` with options, and the packages that they need.

    Parameters
    ----------
    name : str
        What the summary calls it.
    options : mapping
        Arguments of `certify`.
    packages : tuple of str
        What must be installed.
    mirrored : bool
        Whether the negated network is minimized instead; value and bound are negated back.
    checked : bool
        Whether the certificate is checked too; one that is refuted counts as an error.
    specialist : bool
        Whether it may refuse a case that is not of its kind.
    backward : bool
        Whether boxes and checks bound hidden layers backwards, which is for deep networks, always.
    threshold : bool
        Whether it has to decide about a threshold near the optimum, or at it.
    """

    name: str
    options: Mapping[str, Any]
    packages: tuple[str, ...] = ()
    mirrored: bool = False
    checked: bool = False
    specialist: bool = False
    backward: bool = False
    threshold: bool = False

    def installed(self) -> bool:
        """Whether the packages it needs are there."""
        return all(importlib.util.find_spec(name) is not None for name in self.packages)

    def run(self, case: FuzzCase, gap: float, limit: float) -> Record:
        """Solve; what is raised becomes the status ``unsupported`` or ``error``."""
        from nnbo_mip.core.errors import InputError, UnsupportedError

        refusals = (UnsupportedError, InputError) if self.specialist else UnsupportedError
        started = cpu_seconds()
        try:
            with bounded_backward() if self.backward else nullcontext():
                record = self._solve(case, gap, limit)
        except refusals as error:
            record = Record(case.index, self.name, "unsupported", message=str(error))
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            record = Record(case.index, self.name, "error", message=message)
        return replace(record, seconds=cpu_seconds() - started)

    def _solve(self, case: FuzzCase, gap: float, limit: float) -> Record:
        import nnbo_mip as nm

        sign = -1.0 if self.mirrored else 1.0
        network = case.network.negated() if self.mirrored else case.network
        asked = {
            "direction": "minimize" if self.mirrored else "maximize",
            "gap": gap,
            "seed": 0,
            **self.options,
        }
        level = None
        if self.threshold:
            known = nm.certify(network, case.domain, time_limit=0.25 * limit, **asked)
            level = _near(known.value, known.bound, case.index)
        result = nm.certify(network, case.domain, time_limit=limit, threshold=level, **asked)
        if self.checked:
            verdict = result.certificate.check(network, time_limit=limit)
            if verdict.verdict == "refuted":
                raise RuntimeError(f"the certificate is refuted by its own check: {verdict}")
        return Record(
            index=case.index,
            engine=self.name,
            status=result.status,
            value=sign * float(result.value),
            bound=sign * float(result.bound),
            x=None if result.x is None else [float(coordinate) for coordinate in result.x],
            message=result.message if BROKE_DOWN in result.message else "",
        )


@contextmanager
def bounded_backward() -> Iterator[None]:
    """Let the box engine and its checker take every network for a deep one."""
    modules = ("nnbo_mip.exact.branching.boxes", "nnbo_mip.exact.checking.recheck")
    with ExitStack() as patched:
        for module in modules:
            patched.enter_context(patch(f"{module}.is_deep", lambda _: True))
        yield


def _near(value: float, bound: float, index: int) -> float | None:
    """Return a threshold at, above or below a value; None where no point is known."""
    if not math.isfinite(value):
        return None
    step = 10.0 ** -(index % 7) * max(1.0, abs(value))
    beyond = bound if math.isfinite(bound) else value
    return (value, beyond, value + step, value - step, 0.5 * (value + beyond))[index % 5]


def _mip(name: str, solver: str, formulation: str, *packages: str) -> Contestant:
    options = {"method": "mip", "solver": solver, "formulation": formulation}
    return Contestant(name, options, packages)


_ALL = (
    Contestant("auto", {"method": "auto"}),
    Contestant("auto:minimize", {"method": "auto"}, mirrored=True),
    Contestant("auto:check", {"method": "auto"}, checked=True),
    Contestant("bab", {"method": "bab"}),
    Contestant("boxes", {"method": "boxes"}),
    Contestant("boxes:backward", {"method": "boxes"}, checked=True, backward=True),
    Contestant("boxes:backward:threshold", {"method": "boxes"}, backward=True, threshold=True),
    Contestant("auto:threshold", {"method": "auto"}, checked=True, threshold=True),
    Contestant("phases:threshold", {"method": "phases"}, specialist=True, threshold=True),
    Contestant("mip:threshold", {"method": "mip"}, mirrored=True, threshold=True),
    Contestant("phases", {"method": "phases"}, specialist=True),
    Contestant("enumerate", {"method": "enumerate"}, specialist=True),
    _mip("mip:highs", "highs", "bigm"),
    _mip("mip:highs:partition", "highs", "partition"),
    _mip("mip:scip", "scip", "bigm", "pyscipopt"),
    _mip("mip:scip:sos1", "scip", "sos1", "pyscipopt"),
    _mip("mip:scip:partition", "scip", "partition", "pyscipopt"),
    _mip("mip:gurobi", "gurobi", "bigm", "gurobipy"),
    _mip("mip:gurobi:sos1", "gurobi", "sos1", "gurobipy"),
    _mip("mip:gurobi:partition", "gurobi", "partition", "gurobipy"),
    _mip("mip:cbc", "cbc", "bigm"),
    _mip("mip:pyomo:highs", "pyomo:highs", "bigm"),
)

CONTESTANTS: Mapping[str, Contestant] = MappingProxyType({c.name: c for c in _ALL})
