"""`plot`: a run in one figure, drawn by matplotlib (extra `plots`)."""

from __future__ import annotations

from dataclasses import replace

from nnbo_mip.drawing.drawn import drawn_together
from nnbo_mip.drawing.figures import Plot
from nnbo_mip.drawing.picture import Picture
from nnbo_mip.loop.seen.pictures import importance, progress, promises, slices
from nnbo_mip.loop.seen.run_view import RunView

MOST_SLICES = 3


def plot(run: RunView, most: int = MOST_SLICES) -> Plot:
    """Return progress and promises, which inputs matter, and slices through the best point.

    Parameters
    ----------
    run : RunView
    most : int
        Inputs through which there are slices, those that matter most.
    """
    rows: list[list[Picture]] = [[progress(run)]]
    if run.steps:
        rows.append([promises(run)])
    for model, score in slices(run, most):
        rows.append([model] if score is None else [model, score])
    shares = importance(run)
    if shares is not None:
        rows.append([replace(shares, rows=len(shares.y.ticks))])
    return drawn_together(rows)
