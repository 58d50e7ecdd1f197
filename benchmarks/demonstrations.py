"""What the figures of source 001 show, as statements that hold or do not.

    python -m benchmarks.demonstrations [jump] [tuning] [criteria] [widths]

`jump`: 18 points of a function with one jump; how uncertain a Gaussian process of the most likely
hyper-parameters is away from it, over how uncertain a Bayesian network is. `tuning`: two settings
of a classifier by a grid of 10 x 10, and by 23 steps of Bayesian optimization. `criteria`: where
EI and two confidence bounds look next on a sine. `widths`: turning points of functions drawn from
the prior of a network, by its width. Figures of two optima of a likelihood, of blending with a
background and of sum-product networks are tests (docs/dev/checklist.md).
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.special import ndtri

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.surrogates.bnn.layout import Layout
from nnbo_mip.surrogates.bnn.priors import WeightPrior

LINE = np.linspace(-1.0, 1.0, 401)[:, None]
AWAY = 0.3
"""How far from a jump a point counts as away from it."""

NETWORK = "bnn:hidden=(50,50,50),tune=150,draws=150,max_depth=7"
PROCESS = "gp:noise=0.01,noise_bounds=(1e-6,1.0)"

STEPS = 23
GRID = 10


def jump() -> str:
    """Return by how much a process is more uncertain than a network away from a jump."""
    X = np.linspace(-0.97, 0.97, 18)[:, None]
    y = 0.3 * np.sin(3.0 * X[:, 0]) + 2.0 * (X[:, 0] > 0.0)
    stds = {
        spec: np.asarray(nm.surrogates.create(spec, seed=0).fit(X, y).std(LINE))
        for spec in (PROCESS, NETWORK)
    }
    away = np.abs(LINE[:, 0]) > AWAY
    figures = {
        spec: (float(std[away].mean()), float(std[~away].max())) for spec, std in stds.items()
    }
    parts = [
        f"{spec.partition(':')[0]} std {mean:.3f} away from it, at most {most:.3f} near it"
        for spec, (mean, most) in figures.items()
    ]
    ratio = figures[PROCESS][0] / figures[NETWORK][0]
    return f"one jump: {'; '.join(parts)}; ratio away {ratio:.1f} ({_said(ratio > 2.0)})"


def tuning() -> str:
    """Return the best loss of a grid and of a run."""
    problem = nm.problems.create("tuning_svm:data=digits")
    exponents = np.linspace(-10.0, 10.0, GRID)
    grid = [
        problem({"C": float(np.exp(c)), "gamma": float(np.exp(g))})
        for c, g in itertools.product(exponents, exponents)
    ]
    found = []
    for seed in range(5):
        result = nm.optimize(
            problem, problem.space, STEPS, surrogate="gp", maximizer="lbfgs", initial=5, seed=seed
        )
        found.append(float(result.fun))
    texts = ", ".join(f"{one:.4f}" for one in found)
    good = sum(one <= min(grid) for one in found)
    return (
        f"two settings: {GRID**2} evaluations on a grid {min(grid):.4f}; {STEPS} chosen, seeds 0 "
        f"to 4: {texts} ({good} of 5 at least as good)"
    )


def criteria() -> str:
    """Return where criteria look next, and how little is known there."""
    X = np.array([-0.9, -0.55, -0.2, 0.1, 0.3])[:, None]
    y = np.sin(5.0 * X[:, 0])
    belief = nm.surrogates.create("gp:length_scale=0.3,length_scale_bounds=fixed").fit(X, y)
    domain = nm.Domain([-1.0], [1.0])
    heads: Mapping[str, str] = {
        "EI": "ei",
        "bound at 0.841": f"ucb:beta={ndtri(0.841):.4f}",
        "bound at 0.999": f"ucb:beta={ndtri(0.999):.4f}",
    }
    stds, texts = [], []
    for name, head in heads.items():
        found = nm.maximize(belief, head, domain, X=X, y=y, maximizer="lbfgs:classic")
        assert found.x is not None
        stds.append(float(belief.std(found.x)[0]))
        texts.append(f"{name} x = {found.x[0]:.3f}, std {stds[-1]:.3f}")
    return f"criteria: {'; '.join(texts)} ({_said(stds[2] > stds[1])}: the higher looks farther)"


def widths() -> str:
    """Return the mean number of turning points of draws from the prior."""
    counts = {width: _turning_points(width) for width in (5, 20, 50)}
    texts = ", ".join(f"{width} units {count:.1f}" for width, count in counts.items())
    rises = bool((np.diff(list(counts.values())) > 0.0).all())
    return f"draws of three layers, turning points: {texts} ({_said(rises)}: wider is livelier)"


def _turning_points(width: int, draws: int = 200) -> float:
    layout = Layout(1, (width, width, width))
    prior = WeightPrior.of(layout, "gaussian", 1.0, False)
    found = []
    for rng in np.random.default_rng(0).spawn(draws):
        slopes = np.diff(_values(layout, prior.draw(1, rng)))
        found.append(float((slopes[1:] * slopes[:-1] < 0.0).sum()))
    return float(np.mean(found))


def _values(layout: Layout, theta: FloatArray) -> FloatArray:
    """Return a drawn network's values (401,) on the line."""
    values = LINE
    *hidden, last = layout.split(theta)
    for weights, bias in hidden:
        values = np.tanh(values @ weights[0] + bias[0])
    weights, bias = last
    return np.asarray((values @ weights[0] + bias[0])[:, 0])


def _said(held: bool) -> str:
    return "held" if held else "not held"


SHOWN: Mapping[str, Callable[[], str]] = {
    "jump": jump,
    "tuning": tuning,
    "criteria": criteria,
    "widths": widths,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demonstrations")
    parser.add_argument("which", nargs="*", choices=[*SHOWN, []], metavar="FIGURE")
    for name in parser.parse_args(arguments).which or SHOWN:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", nm.UncertifiedWarning)
            print(SHOWN[name](), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
