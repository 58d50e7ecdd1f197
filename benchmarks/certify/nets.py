"""The networks that the benchmark trains itself, seeded and cached.

    python -m benchmarks.certify.nets [DIR]

trains those that are missing in DIR (default: `default_folder`).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.certify.train_nets import Recipe, train

RECIPES = (
    Recipe("mlp", "levy", 1, 2, 64),
    Recipe("rvfl", "ackley", 1, 1, 256),
    Recipe("ens5", "ackley", 1, 2, 16),
    Recipe("nomu", "levy", 1, 3, 32),
    Recipe("mlp", "rosenbrock", 2, 2, 64),
    Recipe("mlp", "branin", 2, 3, 64),
    Recipe("rvfl", "levy", 2, 1, 256),
    Recipe("ens5", "branin", 2, 2, 16),
    Recipe("nomu", "ackley", 2, 3, 32),
    Recipe("mlp", "ackley", 5, 2, 32),
    Recipe("mlp", "rosenbrock", 5, 3, 32),
    Recipe("rvfl", "ackley", 5, 1, 256),
    Recipe("ens5", "rosenbrock", 5, 2, 16),
    Recipe("nomu", "levy", 5, 2, 32),
    Recipe("mlp", "levy", 10, 1, 32),
    Recipe("mlp", "ackley", 10, 2, 16),
    Recipe("mlp", "levy", 10, 2, 32),
    Recipe("mlp", "rosenbrock", 10, 2, 64),
    Recipe("mlp", "rosenbrock", 10, 3, 32),
    Recipe("ens5", "rosenbrock", 10, 1, 8),
    Recipe("nomu", "ackley", 10, 1, 16),
    Recipe("nomu", "levy", 10, 2, 16),
    Recipe("nomu", "rosenbrock", 10, 2, 16),
    Recipe("mlp", "rosenbrock", 20, 1, 32),
    Recipe("mlp", "levy", 20, 2, 16),
    Recipe("mlp", "rosenbrock", 20, 2, 32),
    Recipe("nomu", "ackley", 20, 1, 16),
)
"""Every kind on one function or another, at d = 1, 2, 5, 10, 20."""


def default_folder() -> Path:
    """Return the user's cache for trained networks, ``$XDG_CACHE_HOME/nnbo_mip/benchmark-nets``."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "nnbo_mip" / "benchmark-nets"


def trained(folder: Path, recipes: tuple[Recipe, ...] = RECIPES, only: str = "") -> list[Path]:
    """Return the files of the recipes whose names contain `only`; train those that are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for recipe in recipes:
        path = folder / f"{recipe.name}.npz"
        if only not in recipe.name:
            continue
        if not path.exists():
            print(f"training {recipe.name}", flush=True)
            partial = path.with_name(f"{recipe.name}.part.npz")
            train(recipe).save(partial)
            os.replace(partial, path)
        paths.append(path)
    return paths


if __name__ == "__main__":
    for trained_path in trained(Path(sys.argv[1]) if sys.argv[1:] else default_folder()):
        print(trained_path)
