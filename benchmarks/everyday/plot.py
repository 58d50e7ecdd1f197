"""Share of COCO's targets that is reached, against evaluations over the dimension."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.everyday.results import Results
from benchmarks.everyday.table import traces_of
from nnbo_mip.lab.statistics.profiles import target_profile


def draw(results: Results, path: Path) -> None:
    """Write one panel a dimension, a line a method; the ending of `path` says in which format."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SystemExit(
            "--plot needs matplotlib, which is not installed; install nnbo_mip[plots], or leave "
            "it out."
        ) from error
    tasks = [task for task in results.of_group("bbob") if results.on(task)]
    if not tasks:
        raise SystemExit("--plot needs runs on BBOB; the store has none; run the group bbob first.")
    dimensions = sorted({task.problem.dimension for task in tasks})
    figure = Figure(figsize=(4.2 * len(dimensions), 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(dimensions), squeeze=False, sharey=True)[0]
    for panel, dimension in zip(panels, dimensions, strict=True):
        mine = [task for task in tasks if task.problem.dimension == dimension]
        for method in results.methods:
            runs = [run for task in mine for run in results.runs(task, method).values()]
            if runs:
                profile = target_profile(traces_of(runs))
                spent = np.arange(1, len(profile) + 1) / dimension
                panel.plot(np.log10(spent), profile, label=method, linewidth=1.6)
        panel.set_title(f"BBOB, d = {dimension}, {len(mine)} functions", fontsize=10)
        panel.set_xlabel("log10 of evaluations / d", fontsize=9)
        panel.grid(True, linewidth=0.4, alpha=0.5)
    panels[0].set_ylabel("share of runs and targets", fontsize=9)
    panels[0].legend(fontsize=8)
    figure.savefig(path, dpi=150)
