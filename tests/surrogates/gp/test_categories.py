"""One length-scale a category: the overlap kernel by tied length-scales."""

from __future__ import annotations

import numpy as np
import pytest

from nnbo_mip.core.errors import InputError
from nnbo_mip.space import Categorical, Integer, Real, Space
from nnbo_mip.surrogates.base.families import registry as surrogates
from nnbo_mip.surrogates.gp.fitting import Hyperparameters, LogNormal, maximize_likelihood
from nnbo_mip.surrogates.gp.gp import GaussianProcess
from nnbo_mip.surrogates.gp.kernels import Kernel

SPACE = Space([Real("a", 0.0, 1.0), Categorical("c", list("pqrs")), Integer("n", 1, 9)])
GROUP = ((1, 2, 3, 4),)
OPTIONS = {"kernel": "matern", "ard": True, "n_restarts": 2, "length_scale_prior": "dimension"}


def sample(n: int = 25) -> tuple[np.ndarray, np.ndarray]:
    X = SPACE.model().sample(n, np.random.default_rng(0))
    return X, np.sin(3.0 * X[:, 0]) + X @ np.array([0.0, 1.0, 0.2, -0.5, 0.9, 0.3])


@pytest.mark.parametrize("backend", ["direct", "sklearn"])
def test_levels_of_a_category_have_one_length_scale(backend: str) -> None:
    X, y = sample()
    belief = surrogates.create("gp", **OPTIONS, categories=GROUP, backend=backend).fit(X, y)
    lengths = belief.length_scales
    assert lengths is not None
    assert len(set(lengths[1:5].tolist())) == 1
    assert len(set(lengths.tolist())) == 3
    free = surrogates.create("gp", **OPTIONS, backend=backend).fit(X, y).length_scales
    assert free is not None
    assert len(set(free.tolist())) == 6


def test_the_kernel_counts_whether_levels_overlap() -> None:
    kernel = Kernel("matern", np.array([0.7, 1.3, 1.3, 1.3, 1.3, 2.0]))
    points = SPACE.encode([{"a": 0.5, "c": level, "n": 4} for level in "pqrs"])
    K = kernel(points, points)
    r = np.sqrt(5.0) * np.sqrt(2.0) / 1.3
    apart = (1.0 + r + r * r / 3.0) * np.exp(-r)
    assert np.allclose(K, np.where(np.eye(4) == 1.0, 1.0, apart), atol=1e-14)


def test_tied_slopes_are_those_of_the_tied_likelihood() -> None:
    kernel = Kernel("rbf", np.ones(3))
    ranges = {"length_scale": (1e-3, 1e3), "amplitude": (1e-3, 1e3)}
    hyper = Hyperparameters(kernel, 1e-3, ranges, True, {}, ((0, 2),))
    assert hyper.moves.tolist() == [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    target = np.array([0.3, 1.0, -0.5])

    def bowl(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
        miss = logarithms - np.array([target[0], target[1] + 0.4, target[2], target[1] - 0.4])
        return -float(miss @ miss), -2.0 * miss

    found, value = maximize_likelihood(bowl, hyper, 1, 0)
    assert np.allclose(np.log(found.kernel.length_scale), [1.0, -0.5, 1.0], atol=1e-4)
    assert value == pytest.approx(-0.32, abs=1e-6)


def test_the_prior_counts_a_category_once() -> None:
    made = GaussianProcess(ard=True, length_scale_prior="dimension", categories=GROUP)
    assert made._start(6).priors["length_scale"] == LogNormal.of_length_scales(3)


def test_a_space_tells_its_categories_unless_the_user_did() -> None:
    made = GaussianProcess(ard=True)
    assert made.with_categories(GROUP).categories == GROUP
    assert GaussianProcess(ard=True, categories=()).with_categories(GROUP).categories == ()
    average = surrogates.create("average", members=("gp", "kde")).with_categories(GROUP)
    assert average.members[0].categories == GROUP


@pytest.mark.parametrize("given", [((0, 0),), ((0, 1), (1, 2)), ((),), (1, 2), "ab", ((-1,),)])
def test_bad_categories_are_refused(given: object) -> None:
    with pytest.raises(InputError, match="categories must be a tuple of disjoint groups"):
        GaussianProcess(categories=given)  # type: ignore[arg-type]


def test_categories_beyond_the_inputs_are_refused() -> None:
    X, y = sample()
    with pytest.raises(InputError, match="must name some of the 6 inputs"):
        GaussianProcess(ard=True, categories=((5, 6),)).fit(X, y)
