"""Data sets that scikit-learn brings along, so that nothing is downloaded, and their folds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.errors import InputError

CLASSIFICATION = ("breast_cancer", "digits", "iris", "wine")
REGRESSION = ("diabetes",)

N_FOLDS = 3
"""Every evaluation trains so many models."""


@dataclass(frozen=True, eq=False)
class DataSet:
    """Inputs and what is to be predicted.

    Parameters
    ----------
    X : (n, d) array
    y : (n,) array
        Numbers of classes from 0, or real targets.
    is_classification : bool
    """

    X: FloatArray
    y: FloatArray
    is_classification: bool

    def folds(self, seed: int) -> Iterator[BoolArray]:
        """Yield masks (n,) of the points that a fold keeps for testing.

        With classes every fold has its share of each.
        """
        from sklearn.model_selection import KFold, StratifiedKFold

        kind = StratifiedKFold if self.is_classification else KFold
        splits = kind(N_FOLDS, shuffle=True, random_state=seed).split(self.X, self.y)
        for _, kept in splits:
            mask = np.zeros(len(self.y), dtype=np.bool_)
            mask[kept] = True
            yield mask


def load(name: str) -> DataSet:
    """Return one of the data sets."""
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return DataSet(
        np.asarray(X, dtype=np.float64),
        np.asarray(y, dtype=np.float64),
        name in CLASSIFICATION,
    )


def check_data(problem: str, data: object, choices: tuple[str, ...]) -> str:
    """Return the name of a data set that a problem takes."""
    if not isinstance(data, str) or data not in choices:
        raise InputError(
            f"the data of {problem!r} must be one of {', '.join(choices)}; got {data!r}; "
            "choose one of them."
        )
    return data
