"""The table: counted seconds, ratios, geometric means, peak memory, and what is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from benchmarks.certify.results import Row

FLOOR = 0.1
"""Times below this many seconds count as this many."""

PEER_TOLERANCE = 1e-6
"""Feasibility tolerance of the peers' solvers: how far (relative to max(1, |f|)) their
values and bounds may be off before they are called wrong. Ours get none."""

PEER_ROLES = ("open", "commercial")


class Table:
    """Rows by network and entrant."""

    def __init__(self, rows: Iterable[Row], subject: str = "auto") -> None:
        self.rows = {(row.network, row.entrant): row for row in rows}
        self.networks = list(dict.fromkeys(network for network, _ in self.rows))
        self.entrants = list(dict.fromkeys(entrant for _, entrant in self.rows))
        self.roles = {row.entrant: row.role for row in self.rows.values()}
        self.subject = subject

    def best_value(self, network: str) -> float:
        """Largest forward pass that anybody found."""
        values = [row.value for row in self._of(network) if row.value is not None]
        return max(values, default=-math.inf)

    def _of(self, network: str) -> list[Row]:
        return [row for (name, _), row in self.rows.items() if name == network]

    def wrong(self, row: Row) -> str:
        """Say what is wrong with a row's claims, given everybody's values; "" if nothing."""
        best = self.best_value(row.network)
        scale = max(1.0, abs(best))
        slack = 0.0 if row.role == "ours" else PEER_TOLERANCE * scale
        if row.bound is not None and row.bound < best - slack:
            return f"bound {row.bound!r} is below {best!r}"
        if row.role == "ours" and row.value is not None and row.claimed_value != row.value:
            return f"value {row.claimed_value!r} is not the forward pass {row.value!r}"
        if row.role == "ours" and row.outside > 0.0:
            return f"the point is outside the box by {row.outside!r}"
        if row.status == "optimal":
            if row.value is None or row.value < best - row.gap * scale - slack:
                return f"optimal at {row.value!r}, but somebody has {best!r}"
            if row.role == "ours" and not _closed(row):
                return f"optimal with bound {row.bound!r} and value {row.value!r}"
        return ""

    def solved(self, network: str) -> bool:
        """Whether the subject proved the optimum, and it is one."""
        row = self.rows.get((network, self.subject))
        return row is not None and row.status == "optimal" and not self.wrong(row)

    def counted(self, network: str, entrant: str) -> float:
        """Seconds as they count in ratios; NaN where the entrant was not measured.

        Whoever could not run or was wrong is no rival (NaN); for the subject it is a time-out.
        """
        row = self.rows.get((network, entrant))
        if row is None:
            return math.nan
        if not self.wrong(row) and not math.isnan(row.median):
            return max(FLOOR, row.median)
        return row.limit if entrant == self.subject else math.nan

    def fastest(self, network: str, roles: Sequence[str]) -> tuple[str, float]:
        """Name and counted seconds of the fastest entrant with one of the roles."""
        times = []
        for entrant in self.entrants:
            seconds = self.counted(network, entrant)
            if self.roles[entrant] in roles and not math.isnan(seconds):
                times.append((seconds, self.rows[network, entrant].median, entrant))
        seconds, _, name = min(times, default=(math.nan, math.nan, ""))
        return name, seconds

    def speedup(self, network: str, roles: Sequence[str]) -> float:
        """Return the counted seconds of the fastest entrant over those of the subject."""
        return self.fastest(network, roles)[1] / self.counted(network, self.subject)

    def markdown(self) -> str:
        """Return the whole table as Markdown."""
        head = ["network", "ReLU", *self.entrants]
        head += ["fastest peer", "speed-up", "fastest open peer", "speed-up", "peak MB"]
        lines = [head, ["---"] * len(head)]
        for network in self.networks:
            first = self._of(network)[0]
            cells = [network, str(first.relus)]
            cells += [self._cell(network, entrant) for entrant in self.entrants]
            for roles in (PEER_ROLES, ("open",)):
                cells += [self.fastest(network, roles)[0], ratio(self.speedup(network, roles))]
            subject = self.rows.get((network, self.subject))
            cells.append(megabytes(subject.peak_mb if subject else None))
            lines.append(cells)
        means = [self._mean(roles) for roles in (PEER_ROLES, ("open",))]
        seconds = [self._mean_time(entrant) for entrant in self.entrants]
        lines.append(["geometric mean", "", *seconds, "", ratio(means[0]), "", ratio(means[1]), ""])
        lines.append(["peak MB", "", *[self._peak(e) for e in self.entrants], *[""] * 5])
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    def wrong_rows(self) -> list[tuple[Row, str]]:
        """Return the rows whose claims do not hold, and why."""
        return [(row, why) for row in self.rows.values() if (why := self.wrong(row))]

    def _cell(self, network: str, entrant: str) -> str:
        row = self.rows.get((network, entrant))
        if row is None:
            return ""
        if self.wrong(row):
            return "**WRONG**"
        if row.status == "optimal":
            return f"{row.median:.2f}"
        if math.isnan(row.median):
            return row.status
        gap = "" if row.bound is None or row.value is None else f" ({row.bound - row.value:.2g})"
        return f">{row.limit:g}{gap}"

    def _mean(self, roles: Sequence[str]) -> float:
        return geometric_mean([self.speedup(network, roles) for network in self.networks])

    def _mean_time(self, entrant: str) -> str:
        mean = geometric_mean([self.counted(network, entrant) for network in self.networks])
        return "" if math.isnan(mean) else f"{mean:.2f}"

    def _peak(self, entrant: str) -> str:
        peaks = [row.peak_mb for (_, e), row in self.rows.items() if e == entrant and row.peak_mb]
        return megabytes(max(peaks, default=None))


def _closed(row: Row) -> bool:
    if row.bound is None or row.value is None:
        return False
    return row.bound - row.value <= row.gap * max(1.0, abs(row.value))


def geometric_mean(values: Iterable[float]) -> float:
    """Geometric mean of the values that are known; NaN if none is."""
    logs = [math.log(value) for value in values if not math.isnan(value)]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def ratio(value: float) -> str:
    """Format a speed-up."""
    return "" if math.isnan(value) else f"{value:.3g}" if value < 99.95 else f"{value:.0f}"


def megabytes(value: float | None) -> str:
    """Format a memory size."""
    return "" if value is None else f"{value:.0f}"
