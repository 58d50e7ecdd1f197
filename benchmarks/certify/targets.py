"""The speed that is aimed at, as rows of (what, figure reached, target, met or missed).

The targets were set for 18 networks of the same kinds and shapes as those of `nets`; on any
other set of networks the same rules are applied to whatever falls under them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.certify.report import FLOOR, PEER_ROLES, Table, geometric_mean, ratio

NAMED_MLP = "mlp_2x64"
HARD_RELUS = 64
SMALL_RELUS = 34
GUROBI = ("gurobi-ml", "gurobi:ours")
SOS1 = ("pyscipopt-ml:sos", "scip-sos1:ours")


@dataclass(frozen=True)
class Target:
    """One line of the list."""

    what: str
    reached: str
    met: bool

    def __str__(self) -> str:
        return f"{'met   ' if self.met else 'MISSED'}  {self.what}: {self.reached}"


def targets(table: Table) -> Iterator[Target]:
    """Yield the targets that this table says something about."""
    for rule in (_two_inputs, _five_inputs, _small_networks, _hard_network, _overall):
        yield from rule(table)


def _two_inputs(table: Table) -> Iterator[Target]:
    names = _names(table, lambda inputs, relus: inputs == 2)
    yield from _never_slower(table, names, "d = 2, nowhere slower than the fastest peer")
    slow = [name for name in names if table.fastest(name, PEER_ROLES)[1] >= 1.0]
    if slow:
        mean = geometric_mean([table.speedup(name, PEER_ROLES) for name in slow])
        what = "d = 2, 10 times faster where the fastest peer needs 1 s or more"
        yield Target(what, f"{ratio(mean)} over {len(slow)} networks", mean >= 10.0)


def _five_inputs(table: Table) -> Iterator[Target]:
    names = _names(table, lambda inputs, relus: inputs == 5)
    if not names:
        return
    solved = [name for name in names if table.solved(name)]
    what = "d = 5, all certified"
    yield Target(what, f"{len(solved)} of {len(names)}", len(solved) == len(names))
    yield from _never_slower(table, names, "d = 5, none slower than the fastest peer")
    for name in names:
        if NAMED_MLP in name:
            seconds, speedup = table.counted(name, table.subject), table.speedup(name, PEER_ROLES)
            what = f"{name} in 1.2 s or 40 times faster"
            faster = "" if math.isnan(speedup) else f", {ratio(speedup)} times faster"
            reached = f"{seconds:.2f} s{faster}"
            yield Target(what, reached, seconds <= 1.2 or speedup >= 40.0)


def _small_networks(table: Table) -> Iterator[Target]:
    names = _names(table, lambda inputs, relus: inputs >= 10 and relus <= SMALL_RELUS)
    worst = _worst([_against(table, name, GUROBI) for name in names])
    if not math.isnan(worst):
        what = f"d >= 10 up to {SMALL_RELUS} ReLUs, within 1.5 times of Gurobi"
        yield Target(what, f"at worst {ratio(worst)} times its time", worst <= 1.5)
    worst = _worst([1.0 / table.speedup(name, ("open",)) for name in names])
    if not math.isnan(worst):
        what = f"d >= 10 up to {SMALL_RELUS} ReLUs, no slower than any open-source peer"
        yield Target(what, f"at worst {ratio(worst)} times its time", worst <= 1.0)


def _hard_network(table: Table) -> Iterator[Target]:
    for name in _names(table, lambda inputs, relus: inputs == 10 and relus == HARD_RELUS):
        against = _against(table, name, GUROBI)
        if not math.isnan(against):
            what = f"{name}, within 1.5 times of Gurobi"
            yield Target(what, f"{ratio(against)} times its time", against <= 1.5)
        against = _against(table, name, SOS1)
        if not math.isnan(against):
            what = f"{name}, 2 times faster than SCIP with SOS1"
            yield Target(what, f"{ratio(1.0 / against)} times", against <= 0.5)


def _overall(table: Table) -> Iterator[Target]:
    count = len(table.networks)
    for roles, wanted, who in ((PEER_ROLES, 5.0, "peer"), (("open",), 10.0, "open-source peer")):
        mean = geometric_mean([table.speedup(name, roles) for name in table.networks])
        if not math.isnan(mean):
            rivals = [table.fastest(name, roles)[1] for name in table.networks]
            ceiling = ratio(geometric_mean([seconds / FLOOR for seconds in rivals]))
            what = f"geometric mean over {count} networks, {wanted:g} times the fastest {who}"
            reached = f"{ratio(mean)} times ({ceiling} would be all at the floor of {FLOOR:g} s)"
            yield Target(what, reached, mean >= wanted)


def _never_slower(table: Table, names: list[str], what: str) -> Iterator[Target]:
    worst = _worst([1.0 / table.speedup(name, PEER_ROLES) for name in names])
    if not math.isnan(worst):
        yield Target(what, f"at worst {ratio(worst)} times its time", worst <= 1.0)


def _against(table: Table, name: str, rivals: tuple[str, ...]) -> float:
    """Return the time of the subject over that of the fastest of the rivals that ran."""
    times = [table.counted(name, rival) for rival in rivals]
    known = [seconds for seconds in times if not math.isnan(seconds)]
    return table.counted(name, table.subject) / min(known) if known else math.nan


def _worst(ratios: list[float]) -> float:
    known = [value for value in ratios if not math.isnan(value)]
    return max(known, default=math.nan)


def _names(table: Table, fits: Callable[[int, int], bool]) -> list[str]:
    """Return the networks whose (inputs, ReLUs) fit and on which the subject was measured."""
    rows = [table.rows.get((name, table.subject)) for name in table.networks]
    return [row.network for row in rows if row is not None and fits(row.inputs, row.relus)]
