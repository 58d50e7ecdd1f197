"""What is measured: a network, the box over which it is maximized, and its name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.network.graph.graph import Network

CASE_SUFFIX = ".npz"


@dataclass(frozen=True, eq=False)
class Case:
    """Maximize `network` over ``lower <= x <= upper``."""

    name: str
    network: Network
    lower: FloatArray
    upper: FloatArray

    def value(self, x: FloatArray) -> float:
        """Float64 forward pass at one point, evaluated alone."""
        return float(self.network.evaluate(x[None, :], 0)[0])


def case_paths(folder: Path, only: str = "") -> list[Path]:
    """Return the networks of a folder whose names contain `only`, sorted."""
    paths = sorted(path for path in folder.glob(f"*{CASE_SUFFIX}") if only in path.stem)
    if not paths:
        raise SystemExit(f"no {CASE_SUFFIX} network whose name contains {only!r} in {folder}.")
    return paths


def load_case(path: Path) -> Case:
    """Read a stored network; by convention its inputs are scaled to [-1, 1]^d."""
    network = Network.load(path)
    ones = np.ones(network.n_inputs)
    return Case(path.stem, network, -ones, ones)
