r"""Tuning tasks: the cross-validated loss of a model as a function of its settings.

With ŷ_i predicted by a model that was trained without the fold of point i,

    classification: (1/n) #{i: ŷ_i != y_i},     regression: sum_i (ŷ_i - y_i)^2 / sum_i (y_i - ȳ)^2.

They stand for the tables of sources 000 and 003, which are files to be downloaded. Their optima
are not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.core.checks import as_whole
from nnbo_mip.core.errors import InputError
from nnbo_mip.problems.problem import Problem
from nnbo_mip.problems.sources import label
from nnbo_mip.problems.tuning_data import DataSet, check_data, load
from nnbo_mip.space.abstract import Dimension
from nnbo_mip.space.constraints import LinearConstraint
from nnbo_mip.space.space import Space

Recipe: TypeAlias = Callable[[Mapping[str, Any], bool, int], Any]
"""From settings, whether classes are predicted, and a seed to an estimator of scikit-learn."""

MAX_SEED = 2**32 - 1
"""The largest one that scikit-learn takes."""


def tuning_problem(
    name: str,
    dimensions: list[Dimension],
    recipe: Recipe,
    data: object,
    choices: tuple[str, ...],
    seed: object,
    constraints: Sequence[LinearConstraint] = (),
    raw: bool = False,
) -> Problem:
    """Return the problem of tuning the models of a recipe on a data set; see `CrossValidated`."""
    chosen = check_data(name, data, choices)
    number = as_whole(seed, f"the seed of {name!r}")
    if not 0 <= number <= MAX_SEED:
        raise InputError(
            f"the seed of {name!r} must be from 0 to {MAX_SEED}; got {number}; choose another."
        )
    space = Space(dimensions, constraints)
    function = CrossValidated(space, recipe, chosen, number, raw)
    return Problem(label(name, data=chosen, seed=number), space, function)


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """The loss of models, equal for equal settings: folds and training hang on the seed alone.

    Parameters
    ----------
    space : Space
        Of the settings.
    recipe : callable
        What makes a model.
    data : str
        Name of the data set.
    seed : int
        Of folds and training.
    raw : bool
        Whether inputs are left as they are, for models that scale them by themselves.
    """

    space: Space
    recipe: Recipe
    data: str
    seed: int
    raw: bool = False

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the losses (n,) at raw coordinates (n, k)."""
        from threadpoolctl import threadpool_limits

        settings = self.space.from_numeric(X)
        _ = self._loaded  # the libraries whose threads are limited come with it
        with threadpool_limits(1):  # sums of several threads differ in their last digits
            return np.array([self._loss(setting) for setting in settings], dtype=np.float64)

    def _loss(self, setting: Mapping[str, Any]) -> float:
        task, masks = self._loaded
        predicted = np.empty_like(task.y)
        for test in masks:
            predicted[test] = self._predicted(task, test, setting)
        if task.is_classification:
            return float((predicted != task.y).mean())
        return float(((predicted - task.y) ** 2).mean() / task.y.var())

    def _predicted(self, task: DataSet, test: BoolArray, setting: Mapping[str, Any]) -> FloatArray:
        """Return what a model that was trained on the other points predicts for a fold."""
        X, y = task.X[~test], task.y[~test]
        centre, width = (0.0, 1.0) if self.raw else (X.mean(axis=0), _width(X))
        shift, scale = (0.0, 1.0) if task.is_classification else (y.mean(), y.std())
        model = self.recipe(setting, task.is_classification, self.seed)
        model.fit((X - centre) / width, (y - shift) / scale)
        answer: FloatArray = model.predict((task.X[test] - centre) / width)
        return shift + scale * answer

    @cached_property
    def _loaded(self) -> tuple[DataSet, list[BoolArray]]:
        task = load(self.data)
        return task, list(task.folds(self.seed))


def _width(X: FloatArray) -> FloatArray:
    """Return the standard deviation of each column, 1 where all values are the same."""
    spread: FloatArray = X.std(axis=0)
    return np.where(spread > 0.0, spread, 1.0)
