"""`Comparison`: what several maximizers found for one acquisition, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from nnbo_mip.core.errors import MissingExtraError
from nnbo_mip.core.outward import text_above
from nnbo_mip.core.rebuilt import Rebuilt
from nnbo_mip.drawing.comparison import SearchRow, SearchTable, draw_searches
from nnbo_mip.drawing.landscape import Landscape
from nnbo_mip.drawing.page.html import paragraph, table
from nnbo_mip.exact.search.result import HasResult, SearchResult
from nnbo_mip.maximizers.base.abstract import Proposal

MISS = 1e-3
"""Share of the best certified value by which a maximizer may stay below it."""

SMALLEST_BEST = 1e-6
"""Best values count as this large at least, where a share of a score is taken."""

COLUMNS = (
    "maximizer",
    "value",
    "bound",
    "regret",
    "largest_regret",
    "status",
    "seconds",
    "evaluations",
    "miss",
    "message",
)
"""Of `Comparison.to_pandas`."""

HEADINGS = (
    "maximizer",
    "value",
    "own bound",
    "regret",
    "at most",
    "status",
    "seconds",
    "evaluations",
    "maximum",
)


@dataclass(frozen=True, eq=False)
class ComparisonRow(HasResult):
    """What one maximizer found.

    Parameters
    ----------
    maximizer : str
        As it was asked for.
    found : SearchResult
        Of its proposal, with value and bound on the scale that all rows share; without a point
        the value is -inf, without a proof the bound is +inf.
    regret : float
        Best value of all maximizers minus `value`.
    largest_regret : float
        Best proven bound of all maximizers minus `value`: no point is better by more than this.
    miss : bool or None
        Whether `value` is more than 0.1 % below the best certified one; None where none is
        certified.
    proposal : Proposal or None
        None where it refused, which is then its status; the message says why.
    """

    maximizer: str
    found: SearchResult
    regret: float
    largest_regret: float
    miss: bool | None
    proposal: Proposal | None

    @property
    def seconds(self) -> float:
        """Wall time."""
        return 0.0 if self.proposal is None else self.proposal.seconds

    @property
    def evaluations(self) -> int:
        """Points at which the score was computed."""
        return 0 if self.proposal is None else self.proposal.evaluations

    @property
    def cells(self) -> tuple[str, ...]:
        """What the printed table shows of it."""
        if self.proposal is None:
            return (self.maximizer, *[""] * 4, self.status, *[""] * 3)
        miss = {True: "missed", False: "hit", None: "?"}[self.miss]
        return (
            self.maximizer,
            f"{self.value:.8g}",
            text_above(self.bound, 8) if math.isfinite(self.bound) else "none",
            f"{self.regret:.2g}",
            f"{self.largest_regret:.2g}" if math.isfinite(self.largest_regret) else "?",
            self.status,
            f"{self.seconds:.3f}",
            f"{self.evaluations:,}",
            miss,
        )


@dataclass(frozen=True, eq=False)
class Comparison(Rebuilt):
    """A table with one row a maximizer, in the order in which they were asked.

    Parameters
    ----------
    head : str
        What values and regrets are: ``logei`` and ``logpi`` where the best ei or pi is below
        1e-12.
    in_logarithms : bool
        Whether they are logarithms.
    best : float
        Best value of all.
    bound : float
        Best proven bound of all; +inf where nothing was proven.
    certified : bool
        Whether a maximizer closed its gap, so that misses are known.
    rows : tuple of ComparisonRow
    """

    head: str
    in_logarithms: bool
    best: float
    bound: float
    certified: bool
    rows: tuple[ComparisonRow, ...]

    def __iter__(self) -> Iterator[ComparisonRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame."""
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise MissingExtraError(
                "to_pandas needs the package pandas; it could not be imported; run "
                "pip install pandas, or read the rows."
            ) from error
        rows = [{name: getattr(row, name) for name in COLUMNS} for row in self.rows]
        return pandas.DataFrame(rows, columns=list(COLUMNS))

    def draw(
        self, path: str | Path, *, landscape: Landscape | None = None, title: str = ""
    ) -> None:
        """Draw it by matplotlib (extra `plots`) into a .png, .svg or .pdf file.

        Parameters
        ----------
        path : path
        landscape : Landscape, optional
            The acquisition itself, as `nnbo_mip.maximizers.landscape.landscape_of` gives it.
        title : str
        """
        words = {True: "missed", False: "hit"}
        rows = [
            SearchRow(
                row.maximizer,
                row.value,
                row.bound,
                row.seconds,
                row.status if row.miss is None else words[row.miss],
            )
            for row in self.rows
        ]
        miss = miss_distance(self.best, self.in_logarithms)
        searches = SearchTable(self.head, self.best, self.bound, self.certified, miss, rows)
        draw_searches(searches, path, landscape=landscape, title=title)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        first, *_ = str(self).splitlines()
        said = [paragraph(f"{row.maximizer}: {row.message}") for row in self.rows if row.message]
        return paragraph(first) + table(HEADINGS, [row.cells for row in self.rows]) + "".join(said)

    def __str__(self) -> str:
        shown = [HEADINGS, *(row.cells for row in self.rows)]
        most = f"at most {text_above(self.bound, 8)}"
        proven = f"certified: {most}" if self.certified else "not certified"
        if not self.certified and math.isfinite(self.bound):
            proven = f"{most}, gap open"
        lines = [f"{self.head}, best {self.best:.8g}, {proven}", *_aligned(shown)]
        lines += [f"{row.maximizer}: {row.message}" for row in self.rows if row.message]
        return "\n".join(lines)


def missed(value: float, best: float, logarithmic: bool) -> bool:
    """Whether a value is more than `MISS` of the best one below it."""
    if logarithmic:
        return -math.expm1(value - best) > MISS
    return best - value > miss_distance(best, logarithmic)


def miss_distance(best: float, logarithmic: bool) -> float:
    """Return by how much a value may be below the best one without a miss."""
    return -math.log1p(-MISS) if logarithmic else MISS * max(abs(best), SMALLEST_BEST)


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Return lines whose columns are flush: texts left, numbers right."""
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    left = [name in ("maximizer", "status", "maximum") for name in table[0]]
    return [
        "  ".join(
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, width, is_left in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in table
    ]
