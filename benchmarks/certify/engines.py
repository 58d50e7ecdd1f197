"""Everything that can be measured, by name: our engines and other people's tools."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.certify.answer import Answer, Call
from benchmarks.certify.cases import Case
from benchmarks.certify.sequential import fold_skips


@dataclass(frozen=True)
class Ours:
    """`nnbo_mip.certify` with a method and options; a specialist may decline a network."""

    name: str
    options: dict[str, Any]
    packages: tuple[str, ...] = ()
    role: str = "ours"
    specialist: bool = False

    def missing(self) -> list[str]:
        """Return the packages that are not installed."""
        return [name for name in self.packages if importlib.util.find_spec(name) is None]

    def prepare(self, case: Case, gap: float, limit: float) -> Call:
        """Return ``certify(network, space, …)`` as a call."""
        import nnbo_mip as nm
        from nnbo_mip.core.errors import InputError, UnsupportedError

        refusals = (UnsupportedError, InputError) if self.specialist else UnsupportedError
        space = nm.Space.box(case.lower, case.upper)

        def call() -> Answer:
            try:
                result = nm.certify(
                    case.network, space, gap=gap, time_limit=limit, seed=0, **self.options
                )
            except refusals:
                return Answer.nothing("unsupported")
            status = "time-out" if result.status == "feasible" else result.status
            return Answer(result.x, result.value, result.bound, status)

        return call


@dataclass(frozen=True)
class Peer:
    """Another tool: a module of `benchmarks.peers` and its options.

    `role` is ``open`` (open source), ``commercial``, or ``reference`` for a solver that is
    handed our own formulation and therefore no peer.
    """

    name: str
    module: str
    packages: tuple[str, ...]
    role: str
    options: dict[str, Any] = field(default_factory=dict)

    def missing(self) -> list[str]:
        """Return the packages that are not installed."""
        return [name for name in self.packages if importlib.util.find_spec(name) is None]

    def prepare(self, case: Case, gap: float, limit: float) -> Call:
        """Return the peer's whole call on the case as plain layers."""
        module = importlib.import_module(f"benchmarks.peers.{self.module}")
        if self.role == "reference":
            prepare = partial(module.prepare, case)
        else:
            layers = fold_skips(case.network, case.lower, case.upper)
            prepare = partial(module.prepare, layers, case.lower, case.upper)
        call: Call = prepare(gap=gap, limit=limit, **self.options)
        return call


OURS = (
    Ours("auto", {"method": "auto"}),
    Ours("boxes", {"method": "boxes"}),
    Ours("phases", {"method": "phases"}),
    Ours("enumerate", {"method": "enumerate"}, specialist=True),
    Ours("mip:highs", {"method": "mip", "solver": "highs"}),
    Ours("mip:scip", {"method": "mip", "solver": "scip", "formulation": "sos1"}, ("pyscipopt",)),
    Ours("mip:cbc", {"method": "mip", "solver": "cbc"}),
)

PEERS = (
    Peer("omlt:bigm", "omlt", ("omlt", "highspy"), "open", {"formulation": "bigm"}),
    Peer("omlt:partition", "omlt", ("omlt", "highspy"), "open", {"formulation": "partition"}),
    Peer("pyscipopt-ml:sos", "pyscipopt_ml", ("pyscipopt_ml",), "open", {"formulation": "sos"}),
    Peer("pyscipopt-ml:bigm", "pyscipopt_ml", ("pyscipopt_ml",), "open", {"formulation": "bigm"}),
    Peer("gurobi-ml", "gurobi_ml", ("gurobi_ml", "gurobipy"), "commercial"),
    Peer("gurobi:ours", "gurobi_ours", ("gurobipy",), "reference"),
    Peer("scip-sos1:ours", "scip_ours", ("pyscipopt",), "reference"),
)

ENTRANTS: dict[str, Ours | Peer] = {entrant.name: entrant for entrant in (*OURS, *PEERS)}
