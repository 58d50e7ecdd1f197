"""Functions of 30 to 200 inputs for pilots; none is a task by which a default is judged.

>>> import numpy as np
>>> problem = moved("sphere", 40, seed=1)
>>> float(problem.truth(problem.known_optimizers)[0])
0.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.stats import ortho_group

from benchmarks.everyday.tasks import Everyday
from benchmarks.pilots.mixed import MADE as LEVELS
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.problems import Problem
from nnbo_mip.problems.catalogue import registry
from nnbo_mip.problems.dimensions import cube

SHIFT = 0.5
"""How far from the middle of [-1, 1] the optimum may lie."""

Bare = Callable[[FloatArray], FloatArray]


def _rastrigin(z: FloatArray) -> FloatArray:
    return np.asarray((np.square(z) + 10.0 * (1.0 - np.cos(2.0 * np.pi * z))).sum(axis=1))


def _griewank(z: FloatArray) -> FloatArray:
    waves = np.cos(z / np.sqrt(np.arange(1, z.shape[1] + 1))).prod(axis=1)
    return np.asarray(np.square(z).sum(axis=1) / 4000.0 - waves + 1.0)


def _styblinski_tang(z: FloatArray) -> FloatArray:
    x = z + STYBLINSKI_TANG
    least = 0.5 * (STYBLINSKI_TANG**4 - 16.0 * STYBLINSKI_TANG**2 + 5.0 * STYBLINSKI_TANG)
    return np.asarray((0.5 * (x**4 - 16.0 * x**2 + 5.0 * x) - least).sum(axis=1))


def _rosenbrock(z: FloatArray) -> FloatArray:
    x = z + 1.0
    valley = 100.0 * np.square(x[:, 1:] - np.square(x[:, :-1]))
    return np.asarray((valley + np.square(x[:, :-1] - 1.0)).sum(axis=1))


def _zakharov(z: FloatArray) -> FloatArray:
    rise = 0.5 * (z * np.arange(1, z.shape[1] + 1)).sum(axis=1) / z.shape[1]
    return np.asarray(np.square(z).sum(axis=1) + rise**2 + rise**4)


def _dixon_price(z: FloatArray) -> FloatArray:
    i = np.arange(1, z.shape[1] + 1)
    x = z + 2.0 ** (-(1.0 - 2.0 ** (1.0 - i)))
    steps = (i[1:] * np.square(2.0 * np.square(x[:, 1:]) - x[:, :-1])).sum(axis=1)
    return np.asarray(np.square(x[:, 0] - 1.0) + steps)


def _ellipsoid(z: FloatArray) -> FloatArray:
    weights = 100.0 ** np.linspace(0.0, 1.0, z.shape[1])
    return np.asarray(np.square(z) @ weights)


STYBLINSKI_TANG = -2.903534018185960
"""Where each coordinate of that function has its least value."""

BARE: Mapping[str, tuple[Bare, float]] = MappingProxyType(
    {
        "sphere": (lambda z: np.asarray(np.square(z).sum(axis=1)), 1.0),
        "ellipsoid": (_ellipsoid, 1.0),
        "rastrigin": (_rastrigin, 2.0),
        "griewank": (_griewank, 100.0),
        "styblinski_tang": (_styblinski_tang, 4.0),
        "rosenbrock": (_rosenbrock, 2.0),
        "zakharov": (_zakharov, 5.0),
        "dixon_price": (_dixon_price, 3.0),
    }
)
"""Functions whose least value is 0, at 0, and how far from it a side of their box reaches."""


def moved(function: str, dimension: int, seed: int = 0, rotated: bool = False) -> Problem:
    """Return one of `BARE` on [-1, 1]^d, its optimum at a random inner point, perhaps rotated."""
    bare, reach = BARE[function]
    rng = np.random.default_rng([dimension, seed])
    place = rng.uniform(-SHIFT, SHIFT, dimension)
    turn = ortho_group.rvs(dimension, random_state=rng) if rotated else np.eye(dimension)
    return Problem(
        f"moved {function} {dimension}",
        cube(dimension, -1.0, 1.0),
        lambda X: bare(reach * (X - place) @ turn),
        optimum=0.0,
        optimizers=place[None],
    )


def sparse_linear(dimension: int, active: int, seed: int = 0) -> Problem:
    """Return a line of few inputs on [-1, 1]^d: its optimum is at a corner."""
    rng = np.random.default_rng([dimension, seed])
    slopes = np.zeros(dimension)
    slopes[rng.choice(dimension, active, replace=False)] = rng.standard_normal(active)
    return Problem(
        f"sparse linear {dimension}",
        cube(dimension, -1.0, 1.0),
        lambda X: X @ slopes,
        optimum=-float(np.abs(slopes).sum()),
    )


def hidden(problem: str, dimension: int, seed: int = 0) -> Problem:
    """Return a problem of few inputs at random places among many that do not matter."""
    d = registry.create(problem).dimension
    places = np.random.default_rng([dimension, seed]).choice(dimension, d, replace=False)
    return registry.create(
        "embedded", problem=problem, dimension=dimension, coordinates=places.tolist()
    )


def weighted_neighbors(data: str, seed: int = 0) -> Problem:
    """Return the loss of five neighbours whose distance has a weight 10^w for each feature."""
    from sklearn.model_selection import KFold
    from sklearn.neighbors import KNeighborsClassifier

    X, y = _data(data, seed)
    folds = list(KFold(4, shuffle=True, random_state=seed).split(X))

    def loss(w: FloatArray) -> float:
        scaled, total = X * 10.0**w, 0.0
        for train, test in folds:
            model = KNeighborsClassifier(10, weights="distance").fit(scaled[train], y[train])
            found = model.predict_proba(scaled[test])
            total += float(1.0 - found[np.arange(len(test)), y[test]].mean())
        return total / len(folds)

    d = X.shape[1]
    return Problem(f"neighbours {data}", cube(d, -1.5, 0.5), lambda W: np.array([*map(loss, W)]))


def weighted_ridge(seed: int = 0) -> Problem:
    """Return the error of a ridge with a penalty of its own for each of 65 features."""
    from sklearn.datasets import load_diabetes
    from sklearn.preprocessing import PolynomialFeatures

    X, y = load_diabetes(return_X_y=True)
    X = PolynomialFeatures(2, include_bias=False).fit_transform(X / X.std(axis=0))
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    parts = np.random.default_rng(seed).permutation(len(y)) % 4

    def error(w: FloatArray) -> float:
        total = 0.0
        for part in range(4):
            A, b = X[parts != part], y[parts != part]
            slopes = np.linalg.solve(A.T @ A + np.diag(10.0**w), A.T @ b)
            total += float(np.square(X[parts == part] @ slopes - y[parts == part]).mean())
        return total / 4

    return Problem(
        "ridge of 65 penalties",
        cube(X.shape[1], -2.0, 5.0),
        lambda W: np.array([*map(error, W)]),
    )


def _data(name: str, seed: int) -> tuple[FloatArray, Any]:
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    chosen = np.random.default_rng(seed).permutation(len(y))[:500]
    spread = X.std(axis=0)
    return X[chosen] / np.where(spread > 0.0, spread, 1.0), y[chosen]


MADE: Mapping[str, Callable[..., Problem]] = MappingProxyType(
    {
        "pilot_moved": moved,
        "pilot_hidden": hidden,
        "pilot_sparse_linear": sparse_linear,
        "pilot_neighbors": weighted_neighbors,
        "pilot_ridge": weighted_ridge,
        **LEVELS,
    }
)


def _moved(function: str, d: int, group: str, rotated: bool = False) -> Everyday:
    spec = {"name": "pilot_moved", "function": function, "dimension": d, "rotated": rotated}
    label = f"{function}{d}{' turned' if rotated else ''}"
    return Everyday(label, group, {**spec, "seed": "{instance}"})


def _hidden(problem: str, d: int) -> Everyday:
    spec = {"name": "pilot_hidden", "problem": problem, "dimension": d, "seed": "{instance}"}
    return Everyday(f"{problem} of {d}", "few matter", spec)


def made_known(spec: Any) -> None:
    """Register the maker of a problem of pilots that a description names, if it names one.

    Not when it is imported: who asks for all problems of the package gets those of pilots only
    where they run.
    """
    name = str(spec.get("name", "") if isinstance(spec, Mapping) else spec)
    if name in MADE and name not in registry.available():
        registry.register(name)(MADE[name])


def wide_tasks() -> tuple[Everyday, ...]:
    """Return the tasks."""
    linear = {"name": "pilot_sparse_linear", "dimension": 100, "active": 10, "seed": "{instance}"}
    return (
        _moved("rastrigin", 30, "valleys", rotated=True),
        _moved("griewank", 60, "valleys", rotated=True),
        _moved("styblinski_tang", 50, "valleys"),
        _moved("rosenbrock", 40, "smooth"),
        _moved("zakharov", 60, "smooth", rotated=True),
        _moved("dixon_price", 30, "smooth"),
        _moved("ellipsoid", 100, "smooth"),
        _hidden("goldstein_price", 50),
        _hidden("camelback", 100),
        _hidden("hartmann3", 60),
        _hidden("piston", 100),
        _hidden("borehole", 200),
        Everyday("linear 10 of 100", "corner", linear),
        Everyday("slope40", "corner", "bbob:function=5,dimension=40,instance={instance}"),
        *(
            Everyday(f"neighbors {data}", "real", spec, is_loss=True)
            for data in ("breast_cancer", "digits")
            for spec in [{"name": "pilot_neighbors", "data": data, "seed": "{instance}"}]
        ),
        Everyday("ridge65", "real", {"name": "pilot_ridge", "seed": "{instance}"}, is_loss=True),
    )
