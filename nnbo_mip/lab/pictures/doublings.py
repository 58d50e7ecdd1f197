"""How often the rule of escape doubled the scale of the uncertainty, step by step."""

from __future__ import annotations

from nnbo_mip.drawing.picture import Axis, Line, Picture, Series
from nnbo_mip.lab.pictures.regret import Colors, thinned
from nnbo_mip.lab.store.frame import Frame


def doublings(problem: str, means: Frame, colors: Colors) -> Picture:
    """Return a line a method whose scale was doubled at all.

    Parameters
    ----------
    problem : str
    means : Frame
        As `nnbo_mip.lab.store.step_totals.mean_doublings` returns it.
    colors : mapping of str to int
    """
    series = []
    for method in dict.fromkeys(means["method"].tolist()):
        own = means.where(means["method"] == method)
        if own["doublings"].any():
            shown = thinned(0, len(own))
            line = Line(own["number"][shown] + 1, own["doublings"][shown])
            series.append(Series(method, (line,), colors[method]))
    return Picture(
        f"{problem}: doublings of the scale",
        Axis("evaluations, shared starts included", whole=True),
        Axis("mean doublings a step", ends=(0.0,)),
        tuple(series),
        "How often the scale of the uncertainty was doubled until a point was new; means over "
        "instances, of methods that did so at all.",
    )
