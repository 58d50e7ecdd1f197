"""Makes the plots of surrogate_measurements.md in docs/plots.

    python -m docs.make_plots [--only bands reliability accuracy]

Bands are fitted here; the others are drawn from docs/plots/calibration.json, which
`python -m benchmarks.calibration --json docs/plots/calibration.json` wrote. Needs the extra
`plots`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from sklearn.isotonic import isotonic_regression

import nnbo_mip as nm
from benchmarks.calibration.__main__ import NONE, POINTS, Outcome, learn, read
from benchmarks.calibration.metrics import LEVELS, geometric_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOTS = Path(__file__).parent / "plots"
DOTS_PER_INCH = 110
N_COLORS = 256
BANDS_SEED = 1
COARSE, FINE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0), (0.2, 0.3, 0.5, 0.7, 1.0)
"""Marks of logarithmic axes, of wide and of narrow ones."""
GREY = "#777777"
OFF_THE_PICTURE = 10.0
"""Standard deviations of y beyond which a figure is not drawn to scale."""


@dataclass(frozen=True)
class Style:
    """How a surrogate is drawn: a color a family (Okabe and Ito's), dashes a variant."""

    label: str
    color: str
    dashes: str = "-"


STYLES: Mapping[str, Style] = MappingProxyType(
    {
        "nomu": Style("nomu", "#D55E00"),
        "deep_ensemble": Style("deep_ensemble", "#0072B2"),
        "deep_ensemble:noisy=True,include_noise=True": Style("deep_ensemble noisy", "#0072B2", ":"),
        "deep_ensemble:anchored=True": Style("deep_ensemble anchored", "#0072B2", "--"),
        "mc_dropout": Style("mc_dropout", "#CC79A7"),
        "brvfl": Style("brvfl", "#009E73"),
        "brvfl:activation=tanh": Style("brvfl tanh", "#009E73", "--"),
        "ervfl": Style("ervfl", "#56B4E9"),
        "elm": Style("elm", "#E69F00"),
        "elm:rcond=0.01": Style("elm rcond=0.01", "#E69F00", "--"),
        "gp": Style("gp", "#000000"),
        "gp:kernel=matern": Style("gp matern", "#000000", "--"),
        NONE: Style("none", GREY, ":"),
    }
)
LEARNING = tuple(spec for spec in STYLES if spec != NONE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw and save."""
    import matplotlib as mpl

    parser = argparse.ArgumentParser(prog="python -m docs.make_plots", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PAGES, default=list(PAGES))
    chosen = parser.parse_args(arguments)
    mpl.use("agg")
    mpl.rcParams.update(
        {
            "figure.dpi": DOTS_PER_INCH,
            "font.size": 8,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 8,
            "axes.titlelocation": "left",
            "axes.linewidth": 0.6,
        }
    )
    for page in chosen.only:
        for name, figure in PAGES[page]().items():
            _save(figure, PLOTS / f"{name}.png")
    return 0


def _save(figure: Figure, path: Path) -> None:
    """Write a PNG of few colors, half the size of one of all colors."""
    from PIL import Image

    figure.canvas.draw()
    pixels = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
    pixels.quantize(N_COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        path, optimize=True
    )


def bands() -> dict[str, Figure]:
    """Return a figure a function of one input: what each surrogate makes of eight points."""
    return {f"bands_{function}": _bands(function) for function in ("forrester", "sinone")}


def _bands(function: str) -> Figure:
    from matplotlib import pyplot

    score = nm.problems.create(function).scaled().score
    X = np.random.default_rng([BANDS_SEED, 1]).uniform(-1.0, 1.0, (POINTS[1], 1))
    grid = np.linspace(-1.0, 1.0, 401)
    figure, axes = pyplot.subplots(
        3, 4, figsize=(9.0, 5.6), sharex=True, sharey=True, layout="constrained"
    )
    for axis, spec in zip(axes.flat, LEARNING, strict=True):
        style = STYLES[spec]
        mean, std = learn(spec, X, score(X), BANDS_SEED)(grid[:, None])
        axis.fill_between(
            grid, mean - 2.0 * std, mean + 2.0 * std, color=style.color, alpha=0.22, lw=0
        )
        axis.plot(grid, score(grid[:, None]), color=GREY, lw=0.9, ls=(0, (4, 2)))
        axis.plot(grid, mean, color=style.color, lw=1.3)
        axis.plot(X[:, 0], score(X), "o", color="black", ms=3)
        axis.set_title(style.label)
    axes[0, 0].set(xlim=(-1.0, 1.0), ylim=(-2.2, 2.2), xticks=(-1, 0, 1), yticks=(-2, -1, 0, 1, 2))
    figure.supxlabel(
        f"{function}: function (grey, dashed), eight observations, mean, mean ± 2 std", fontsize=8
    )
    return figure


def reliability() -> dict[str, Figure]:
    """Return nominal against observed coverage: a panel a dimension, a line a surrogate."""
    from matplotlib import pyplot

    outcomes = _outcomes()
    drawn = [spec for spec in LEARNING if spec != "elm"]
    figure, axes = pyplot.subplots(
        2, 2, figsize=(9.0, 7.6), sharex=True, sharey=True, layout="constrained"
    )
    axes[0, 0].set(xlim=(0, 100), ylim=(0, 100), xticks=(0, 50, 90), yticks=(0, 50, 90))
    for axis, d in zip(axes.flat, POINTS, strict=True):
        axis.plot((0, 100), (0, 100), color=GREY, lw=0.6)
        ends = {}
        for spec in drawn:
            rows = [o for o in outcomes if (o.surrogate, o.inputs) == (spec, d)]
            covered = 100.0 * np.mean([row.plain.coverage for row in rows], axis=0)
            style = STYLES[spec]
            axis.plot(100.0 * np.array(LEVELS), covered, style.dashes, color=style.color, lw=1.2)
            ends[spec] = float(covered[-1])
        _label(axis, 100.0 * LEVELS[-1], ends)
        axis.set_title(f"d = {d}")
    figure.supxlabel("nominal coverage, %", fontsize=8)
    figure.supylabel("observed coverage, %, std as it is", fontsize=8)
    return {"reliability": figure}


def _label(axis: Axes, x: float, ends: Mapping[str, float], gap: float = 5.0) -> None:
    """Write names to the right of where lines end, moved apart where they would overlap.

    Parameters
    ----------
    axis : Axes
        From 0 to 100 both ways.
    x : float
        Where the lines end.
    ends : mapping of str to float
        Heights at which they do.
    gap : float
        Least distance of two names.
    """
    names = sorted(ends, key=lambda spec: ends[spec])
    heights = np.array([ends[spec] for spec in names])
    steps = gap * np.arange(len(names))
    placed = np.minimum(isotonic_regression(heights - steps), 101.0 - steps[-1]) + steps
    for spec, height, at in zip(names, heights, placed, strict=True):
        color = STYLES[spec].color
        leader = {"arrowstyle": "-", "lw": 0.4, "color": color, "relpos": (0.0, 0.5)}
        axis.annotate(
            STYLES[spec].label,
            (x, height),
            (108.0, at),
            color=color,
            fontsize=7,
            va="center",
            annotation_clip=False,
            arrowprops={**leader, "shrinkA": 1, "shrinkB": 1},
        )


def accuracy() -> dict[str, Figure]:
    """Return RMSE and CRPS: a column a dimension, a line a surrogate."""
    from matplotlib import pyplot

    outcomes = _outcomes()
    names = list(reversed(LEARNING))
    measures: Mapping[str, tuple[Callable[[Outcome], float], str]] = {
        "RMSE": (lambda outcome: outcome.error, "full"),
        "CRPS, as it is (o) and after one factor (•)": (lambda outcome: outcome.plain.crps, "none"),
        "": (lambda outcome: outcome.scaled.crps, "full"),
    }
    figure, axes = pyplot.subplots(
        2, len(POINTS), figsize=(9.0, 5.6), sharey=True, layout="constrained"
    )
    for index, (title, (value, fill)) in enumerate(measures.items()):
        for axis, d in zip(axes[min(index, 1)], POINTS, strict=True):
            means = {
                spec: geometric_mean(
                    [value(o) for o in outcomes if (o.surrogate, o.inputs) == (spec, d)]
                )
                for spec in STYLES
            }
            usual = [mean for mean in means.values() if mean < OFF_THE_PICTURE]
            right = 1.4 * max(usual)
            for height, spec in enumerate(names):
                color = STYLES[spec].color
                if means[spec] < OFF_THE_PICTURE:
                    axis.plot(means[spec], height, "o", ms=4.5, color=color, fillstyle=fill)
                elif fill == "full":
                    axis.text(right, height, "beyond →", color=color, ha="right", va="center")
            if title:
                axis.axvline(means[NONE], color=GREY, lw=0.8, ls=":")
                left = 0.7 * min(usual)
                axis.set(xscale="log", xlim=(left, right))
                sizes = COARSE if right > 8.0 * left else FINE
                marks = [mark for mark in sizes if left <= mark <= right]
                axis.set_xticks(marks, [f"{mark:g}" for mark in marks])
                axis.set_xticks([], minor=True)
                axis.set_title(f"{title}\n" * (axis is axes[min(index, 1), 0]) + f"d = {d}")
    axes[0, 0].set_yticks(range(len(names)), [STYLES[spec].label for spec in names])
    figure.supxlabel("deviations of y; dotted: the forecast without inputs", fontsize=8)
    return {"accuracy": figure}


def _outcomes() -> list[Outcome]:
    path = PLOTS / "calibration.json"
    outcomes = list(read(path).values())
    if not outcomes:
        raise SystemExit(f"no rows in {path.name}; run benchmarks.calibration with --json first.")
    return outcomes


PAGES: Mapping[str, Callable[[], dict[str, Figure]]] = MappingProxyType(
    {"bands": bands, "reliability": reliability, "accuracy": accuracy}
)


if __name__ == "__main__":
    raise SystemExit(main())
