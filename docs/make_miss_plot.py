"""Draws the shares of optima that heuristic maximizers miss, for the page of acquisitions.

    python -m docs.make_miss_plot

From docs/plots/misses.json, which `python -m benchmarks.heads --parts misses --json …` wrote.
Needs the extra `plots`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.heads.misses import FAMILIES, HEADS, MAXIMIZERS, SHOWN, Outcome

RESULTS = Path(__file__).parent / "plots" / "misses.json"
PLOT = Path(__file__).parent / "plots" / "misses.png"
COLORS = ("#0072B2", "#56B4E9", "#E69F00", "#009E73")
OPEN = "#BBBBBB"
WIDTH = 0.15


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the bars."""
    parser = argparse.ArgumentParser(prog="python -m docs.make_miss_plot", description=__doc__)
    parser.parse_args(arguments)
    stored = json.loads(RESULTS.read_text())
    draw([Outcome(**row) for key, row in stored.items() if key.startswith("misses ")])
    return 0


def draw(found: Sequence[Outcome]) -> None:
    """Draw one group of bars a number of inputs, one panel a head."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(HEADS), figsize=(9.0, 3.4), sharey=True)
    for panel, head in zip(panels, HEADS, strict=True):
        for group, inputs in enumerate(FAMILIES):
            here = [one for one in found if (one.inputs, one.head) == (inputs, head)]
            sure = [one for one in here if one.certified]
            for place, (name, color) in enumerate(zip(MAXIMIZERS, COLORS, strict=True)):
                share = _percent(sum(one.misses(name) for one in sure), len(sure))
                label = SHOWN[name] if group == 0 else None
                at = group + WIDTH * (place - 2)
                panel.bar(at, share, WIDTH, color=color, label=label)
                panel.text(at, share + 1.0, f"{share:.0f}", ha="center", fontsize=7)
            left = _percent(len(here) - len(sure), len(here))
            label = "not certified, of all" if group == 0 else None
            at = group + WIDTH * (len(MAXIMIZERS) - 2)
            panel.bar(at, left, WIDTH, color=OPEN, label=label, hatch="///", edgecolor="white")
            panel.text(at, left + 1.0, f"{left:.0f}", ha="center", fontsize=7)
        panel.set_xticks(range(len(FAMILIES)), [f"d = {inputs}" for inputs in FAMILIES])
        panel.set_title("expected improvement" if head == "ei" else "mean + std", fontsize=10)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("missed, % of certified optima")
    panels[0].set_ylim(0.0, 100.0)
    panels[0].legend(fontsize=7, frameon=False, loc="upper left")
    figure.tight_layout()
    figure.savefig(PLOT, dpi=110)


def _percent(count: int, whole: int) -> float:
    return 100.0 * count / whole if whole else 0.0


if __name__ == "__main__":
    raise SystemExit(main())
