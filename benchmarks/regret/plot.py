"""One panel a function: median regret against evaluations, with bands, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.regret.methods import DEFAULT, OURS, RANDOM
from benchmarks.regret.problems import Case
from benchmarks.regret.results import Results
from nnbo_mip.lab.statistics.intervals import bootstrapped
from nnbo_mip.lab.statistics.paired import FLOOR

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

COLUMNS = 4
BAND_RESAMPLES = 2000

SHOWN = (DEFAULT, "gp/lbfgs", "brvfl/auto", "botorch", "optuna-gp", "smac", RANDOM)
"""What is drawn unless said otherwise; more lines cannot be told apart."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito: these can be told apart by the colour-blind."""


def draw(results: Results, path: Path, methods: Sequence[str] = SHOWN) -> None:
    """Write the plot of those methods that have runs; the ending of `path` says in which format."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SystemExit(
            "--plot needs matplotlib, which is not installed; install nnbo_mip[plots], or leave "
            "it out."
        ) from error
    shown = [method for method in methods if method in results.methods]
    if len(shown) > len(COLOURS):
        raise SystemExit(
            f"a plot shows up to {len(COLOURS)} methods; got {len(shown)}; name fewer with "
            "--plot-methods."
        )
    cases = [case for case in results.cases if any(results.runs(case, name) for name in shown)]
    if not cases:
        raise SystemExit(
            f"a plot needs runs of the methods that it shows; the store has none of "
            f"{', '.join(methods)}; name others with --plot-methods."
        )
    columns = min(COLUMNS, len(cases))
    rows = math.ceil(len(cases) / columns)
    figure = Figure(figsize=(3.3 * columns, 2.7 * rows + 0.6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, case in zip(panels, cases, strict=False):
        _draw_panel(panel, results, case, shown)
    for panel in panels[len(cases) :]:
        panel.set_axis_off()
    lines: dict[str, Artist] = {}
    for panel in panels[: len(cases)]:
        handles, labels = panel.get_legend_handles_labels()
        lines |= dict(zip(labels, handles, strict=True))
    ordered = [method for method in shown if method in lines]
    figure.legend(
        [lines[method] for method in ordered],
        ordered,
        loc="outside upper center",
        ncols=len(ordered),
        frameon=False,
    )
    figure.supylabel("median regret, 95 % band", fontsize=10)
    figure.supxlabel("evaluations, shared starts included", fontsize=10)
    figure.savefig(path, dpi=150)


def _draw_panel(panel: Axes, results: Results, case: Case, methods: Sequence[str]) -> None:
    """Draw one function from the last shared start on."""
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    first = case.starts
    evaluations = np.arange(first, case.evaluations + 1)
    for method, colour in zip(methods, COLOURS, strict=False):
        if not results.runs(case, method):
            continue
        regrets = np.maximum(results.regrets(case, method)[:, first - 1 :], FLOOR)
        median = np.median(regrets, axis=0)
        low, high = bootstrapped(regrets, np.median, BAND_RESAMPLES)
        style = "-" if method in OURS else ":" if method == RANDOM else "--"
        panel.plot(evaluations, median, style, color=colour, label=method, linewidth=1.6)
        if np.isfinite(low).all():
            panel.fill_between(evaluations, low, high, color=colour, alpha=0.12, linewidth=0)
    panel.set_yscale("log")
    panel.set_xlim(first, case.evaluations)
    panel.set_title(f"{case.label}, d = {case.problem.dimension}", fontsize=10)
    panel.grid(True, which="major", linewidth=0.4, alpha=0.5)
    panel.tick_params(labelsize=8, which="both")
    bottom, top = panel.get_ylim()
    within_a_decade = top < 10.0 * bottom
    panel.yaxis.set_minor_formatter(
        StrMethodFormatter("{x:g}") if within_a_decade else NullFormatter()
    )
