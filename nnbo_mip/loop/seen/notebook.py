"""What a notebook shows of a run and of its result: words, the best point, a curve."""

from __future__ import annotations

import numpy as np

from nnbo_mip.drawing.page.html import card, card_of, paragraph, tag
from nnbo_mip.loop.record.shown import number_text, point_text
from nnbo_mip.loop.seen.run_view import RunView
from nnbo_mip.loop.seen.words import proved

WIDTH, HEIGHT, EDGE = 420, 120, 8


def run_html(run: RunView) -> str:
    """Return an optimizer's; nothing is fitted for it."""
    best = run.state.best(run.settings.sign)
    settings = run.settings
    failed = sum(one.failed for one in run.told)
    pairs = [
        ("told", f"{len(run.told)} evaluations, {failed} failed"),
        ("pending", str(len(run.state.pending))),
    ]
    if best is not None and best.y is not None:
        pairs += [("best value", number_text(best.y)), ("at", point_text(best.x, settings.space))]
    pairs += [
        ("proved", proved(run.steps)),
        (
            "chooses by",
            f"{settings.surrogate.name}, {settings.acquisition.name}, {settings.maximizer.name}",
        ),
    ]
    return card(f"A run that wants to {settings.direction}", pairs, curve(run))


def result_html(text: str, run: RunView) -> str:
    """Return a result's: what it prints, and the curve."""
    return card_of(text, curve(run))


def curve(run: RunView) -> str:
    """Return values and the best so far as a small picture; empty with fewer than two values."""
    values = run.values
    known = np.flatnonzero(np.isfinite(values))
    if len(known) < 2:
        return ""
    sign = run.settings.sign
    best = sign * np.fmax.accumulate(np.where(np.isfinite(values), sign * values, -np.inf))
    low, high = float(values[known].min()), float(values[known].max())
    scale = (high - low) or 1.0
    x = EDGE + (WIDTH - 2 * EDGE) * np.arange(len(values)) / max(len(values) - 1, 1)

    def up(value: float) -> float:
        return HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (value - low) / scale

    dots = "".join(
        f'<circle cx="{x[k]:.1f}" cy="{up(values[k]):.1f}" r="2.5" fill="#0072b2"/>' for k in known
    )
    path = f"M{x[known[0]]:.1f} {up(best[known[0]]):.1f}" + "".join(
        f"H{x[k]:.1f}V{up(best[k]):.1f}" for k in range(known[0] + 1, len(values))
    )
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="values and the best so far">{dots}'
        f'<path d="{path}" fill="none" stroke="#d55e00" stroke-width="2"/></svg>'
    )
    said = f"values (dots) from {low:.4g} to {high:.4g}, and the best so far"
    return tag("div", picture, paragraph(said))
