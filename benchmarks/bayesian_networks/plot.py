"""The picture of `benchmarks.bayesian_networks toy`; needs the extra `plots`."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.ensembles.members import MemberBelief

TRACED = (10, 2500, 5200)
"""Three weights: of the first, a middle and the last layer."""


def draw_toy(
    path: Path,
    X: FloatArray,
    y: FloatArray,
    grid: FloatArray,
    exact: FloatArray,
    belief: MemberBelief,
    theta: FloatArray,
) -> None:
    """Draw traces, the histogram of one weight, three draws, and the band of 2 std.

    Parameters
    ----------
    path : Path
        Where the picture goes.
    X, y : (n, 1) and (n,) arrays
        Observations.
    grid, exact : (m, 1) and (m,) arrays
        Points and the function there.
    belief : MemberBelief
        What was learned.
    theta : (N, P) array
        Draws of one chain.
    """
    figure = Figure(figsize=(10.0, 6.0), layout="constrained")
    (traces, histogram), (draws, band) = figure.subplots(2, 2)
    for column in TRACED:
        traces.plot(theta[:, column], linewidth=0.7, label=f"weight {column}")
    traces.set(xlabel="draw", title="traces of three weights")
    traces.legend(frameon=False, fontsize=8)
    histogram.hist(theta[:, TRACED[1]], bins=40, color="#0072B2")
    histogram.set(title=f"weight {TRACED[1]}")
    members = belief.members(grid)
    for column in (0, members.shape[1] // 2, members.shape[1] - 1):
        draws.plot(grid[:, 0], members[:, column], linewidth=1.0)
    draws.set(title="three draws")
    mean, std = belief.mean(grid), belief.std(grid)
    band.fill_between(grid[:, 0], mean - 2.0 * std, mean + 2.0 * std, color="#0072B2", alpha=0.2)
    band.plot(grid[:, 0], mean, color="#0072B2")
    band.set(title="mean and 2 std")
    for axes in (draws, band):
        axes.plot(grid[:, 0], exact, color="#777777", linestyle="--", linewidth=0.8)
        axes.plot(X[:, 0], y, "k.", markersize=5)
    figure.savefig(path, dpi=110)
