"""How many files of the project one call enters: what a newcomer has to open to follow it.

    python -m benchmarks.entered            counts
    python -m benchmarks.entered --files    and the files, by how often they are entered

Each call is made once before it is counted, so that imports, which happen once a process, are no
part of it. A file counts where a function of it runs (`sys.setprofile`).
"""

from __future__ import annotations

import argparse
import itertools
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import nnbo_mip as nm
from nnbo_mip.lab.plan.experiment import planned
from nnbo_mip.lab.run.unit_run import run_unit

ROOT = Path(nm.__file__).parent

Call = Callable[[], object]

UNIT = """
problems = ["branin"]
instances = [0]
starts = 4
steps = 2

[methods]
surrogate = {name = "nomu", hidden = [6], epochs = 20}
acquisition = "ei"
maximizer = "auto"
"""


def entered(call: Call) -> Counter[str]:
    """Return the files of the package that a call enters, and how often."""
    counts: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            counts[frame.f_code.co_filename] += 1

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    inside = {name: Path(name) for name in counts if name.startswith(str(ROOT))}
    return Counter({str(path.relative_to(ROOT)): counts[name] for name, path in inside.items()})


def certifying() -> Call:
    """Return a call of `certify` on a network of 3 inputs and 24 ReLUs."""
    rng = np.random.default_rng(0)
    widths = (3, 12, 12, 1)
    layers = [
        (rng.standard_normal((below, above)).T, rng.standard_normal(above))
        for below, above in itertools.pairwise(widths)
    ]
    network = nm.Network.from_layers(layers)
    return lambda: nm.certify(network, [(-1.0, 1.0)] * 3)


def maximizing() -> Call:
    """Return a call of `maximize`: EI of a NOMU belief over two inputs."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (8, 2))
    y = -np.square(X).sum(axis=1)
    belief = nm.surrogates.create("nomu", hidden=(6,), epochs=20, seed=0).fit(X, y)
    domain = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
    return lambda: nm.maximize(belief, "ei", domain, y=y)


def asking() -> Call:
    """Return one `ask` by a model, with the `tell` of its value."""
    surrogate = {"name": "nomu", "hidden": (6,), "epochs": 20}
    space = nm.Space.box([-1.0, -1.0], [1.0, 1.0])
    optimizer = nm.BayesianOptimizer(space, surrogate=surrogate, initial=4, seed=0)

    def step() -> None:
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, float(np.square(suggestion.x).sum()))

    for _ in range(4):
        step()
    return step


def running() -> Call:
    """Return the run of one unit of a lab, of two steps."""
    unit = next(iter(planned(UNIT, "entered.toml", "entered"))).unit
    return lambda: run_unit(unit)


CALLS: dict[str, Callable[[], Call]] = {
    "certify": certifying,
    "maximize": maximizing,
    "ask and tell": asking,
    "lab unit": running,
}


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", action="store_true", help="list the files")
    parser.add_argument("calls", nargs="*", default=list(CALLS), help=", ".join(CALLS))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.calls:
        call = CALLS[name]()
        call()
        files = entered(call)
        print(f"{name}: {len(files)} files")
        if given.files:
            for path, times in files.most_common():
                print(f"  {times:8,}  {path}")


if __name__ == "__main__":
    main()
