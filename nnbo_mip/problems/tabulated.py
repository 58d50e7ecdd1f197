"""Networks that somebody else has trained for us: the tables of HPOBench (extra ``hpobench``).

A file has 62,208 settings of a network of two hidden layers for one regression task, each trained
four times for 100 epochs. The files are large downloads and not part of this package;
`nnbo_mip.problems.tuning` has tasks that stand for them.

References
----------
Klein and Hutter (2019), the tables [KleinHutter2019].
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_whole, check_flag
from nnbo_mip.core.errors import InputError, MissingExtraError
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.sources import label
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.dimensions import Categorical, Integer
from nnbo_mip.space.space import Space

LEVELS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "n_units_1": (16, 32, 64, 128, 256, 512),
        "n_units_2": (16, 32, 64, 128, 256, 512),
        "dropout_1": (0.0, 0.3, 0.6),
        "dropout_2": (0.0, 0.3, 0.6),
        "init_lr": (5e-4, 1e-3, 5e-3, 1e-2, 5e-2, 1e-1),
        "batch_size": (8, 16, 32, 64),
    }
)
"""What is ordered. A dimension counts these values from 0, as they are about evenly spaced in
number or in order of magnitude."""

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "activation_fn_1": ("tanh", "relu"),
        "activation_fn_2": ("tanh", "relu"),
        "lr_schedule": ("cosine", "const"),
    }
)
"""What is not."""

EPOCHS = 100


def fcnet(path: str, epochs: int = EPOCHS, least: bool = False) -> Problem:
    """Tune a network of two layers on a table: the mean squared error on validation data.

    Parameters
    ----------
    path : str
        A file such as ``fcnet_protein_structure_data.hdf5``.
    epochs : int
        After which the error is read, from 1 to 100; the mean of the four trainings.
    least : bool
        Read the whole table for the optimum, which takes some time, so that there are regrets.
    """
    number = as_whole(epochs, "the epochs of 'fcnet'")
    if not 1 <= number <= EPOCHS:
        raise InputError(
            f"the epochs of 'fcnet' must be from 1 to {EPOCHS}; got {number}; choose another."
        )
    check_flag("least", least)
    table = Table(str(path), number)
    table.check()
    return Problem(
        label("fcnet", path=str(path), epochs=number, least=least),
        table.space,
        table,
        optimum=table.least() if least else None,
    )


@dataclass(frozen=True)
class Table:
    """The errors of one file.

    Parameters
    ----------
    path : str
    epochs : int
    """

    path: str
    epochs: int

    @cached_property
    def space(self) -> Space:
        """The settings: integers that count ordered values from 0, and choices."""
        dimensions: list[Dimension] = [
            Integer(name, 0, len(values) - 1) for name, values in LEVELS.items()
        ]
        dimensions += [Categorical(name, list(values)) for name, values in CHOICES.items()]
        return Space(dimensions)

    def check(self) -> None:
        """Refuse what is no such file, before anything runs."""
        if not Path(self.path).is_file():
            raise InputError(
                f"the path of 'fcnet' must be a table of HPOBench; got {self.path!r}, which is no "
                "file; download fcnet_tabular_benchmarks and give the path of one of its files."
            )
        first = dict.fromkeys(LEVELS, 0) | {name: own[0] for name, own in CHOICES.items()}
        self(self.space.to_numeric(first))

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the errors (n,) at raw coordinates (n, k)."""
        with self._open() as file:
            return np.array([self._error(file, one) for one in self.space.from_numeric(X)])

    def least(self) -> float:
        """Return the smallest error of all settings."""
        with self._open() as file:
            return min(self._mean(file[key]) for key in file)

    def _open(self) -> Any:
        try:
            import h5py
        except ImportError as error:
            raise MissingExtraError(
                f"the problem 'fcnet' needs the package h5py, which cannot be imported ({error}); "
                "install it with pip install 'nnbo_mip[hpobench]'."
            ) from error
        try:
            return h5py.File(self.path, "r")
        except OSError as error:
            raise InputError(
                f"the path of 'fcnet' must be a table of HPOBench (HDF5); got {self.path!r} "
                f"({error}); download it again."
            ) from error

    def _error(self, file: Any, setting: Mapping[str, Any]) -> float:
        values = {name: own[int(setting[name])] for name, own in LEVELS.items()}
        key = json.dumps(values | {name: setting[name] for name in CHOICES}, sort_keys=True)
        if key not in file:
            raise InputError(
                f"{self.path!r} must have an entry for each setting; got none for {key}; download "
                "it again."
            )
        return self._mean(file[key])

    def _mean(self, entry: Any) -> float:
        return float(np.mean(entry["valid_mse"][:, self.epochs - 1]))
