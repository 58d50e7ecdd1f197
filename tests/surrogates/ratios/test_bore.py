"""Density ratios by classification and directly: the contract of each, proofs, edge cases."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.surrogates.ratios.bore import Bore
from nnbo_mip.surrogates.ratios.estimators.any_classifier import AnyClassifier
from nnbo_mip.surrogates.ratios.estimators.labels import Labels
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample

SQUARE = nm.Space.box([-1.0, -1.0], [1.0, 1.0]).model()
ESTIMATORS = ("net", "forest", "boosting", "svm", "kliep", "ulsif", "rulsif")
QUICK: dict[str, Any] = {
    "net": {"name": "net", "hidden": (8,), "epochs": 150},
    "forest": "forest:n_trees=20",
    "boosting": "boosting:n_trees=20",
    "svm": "svm",
    "kliep": "kliep:iterations=50",
    "ulsif": "ulsif",
    "rulsif": "rulsif",
}


class Quick(SurrogateContract):
    estimator = ""

    def make(self, **options: Any) -> Bore:
        return Bore(estimator=QUICK[self.estimator], **options)


class TestNet(Quick):
    estimator = "net"


class TestForest(Quick):
    estimator = "forest"


class TestBoosting(Quick):
    estimator = "boosting"


class TestSvm(Quick):
    estimator = "svm"


class TestKliep(Quick):
    estimator = "kliep"


class TestUlsif(Quick):
    estimator = "ulsif"


class TestRulsif(Quick):
    estimator = "rulsif"


def disc(n: int = 60, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return points and values that are best at (0.3, 0.3)."""
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 2))
    return X, -np.square(X - 0.3).sum(axis=1)


# -- what is learned -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_ratio_is_above_one_at_the_best_and_below_far_away(name: str) -> None:
    belief = Bore(estimator=QUICK[name]).fit(*disc())
    near, far = belief.ratio([[0.3, 0.3], [-0.9, -0.9]])
    assert near > 1.5
    assert far < 0.5
    assert belief.ratio(disc()[0]).max() <= 1.0 / belief.share + 1e-12


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_points_equal_values_and_duplicates_are_ordinary(name: str, n: int) -> None:
    X, y = disc(n)
    made = Bore(estimator=QUICK[name])
    assert made.fit(X, np.zeros(n)).ratio(X) == pytest.approx(np.ones(n))
    doubled = made.fit(np.vstack([X, X]), np.append(y, y))
    assert np.isfinite(doubled.ratio(X)).all()
    same_place = made.fit(np.zeros((n + 1, 2)), np.arange(n + 1.0))
    assert np.isfinite(same_place.ratio(X)).all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_only_the_order_of_values_matters(name: str) -> None:
    X, y = disc(20)
    made = Bore(estimator=QUICK[name])
    assert np.array_equal(made.fit(X, y).ratio(X), made.fit(X, np.exp(9.0 * y)).ratio(X))


def test_trees_answer_as_those_of_scikit_learn() -> None:
    X, y = disc()
    labels, points = Labels.of(y, 1.0 / 3.0), np.random.default_rng(1).uniform(-1, 1, (300, 2))
    forest = RandomForestClassifier(n_estimators=20, random_state=4).fit(X, labels.good)
    ours = Bore(estimator="forest:n_trees=20", seed=4).fit(X, y)
    expected = forest.predict_proba(points)[:, 1]
    sure = (expected < 0.01) | (expected > 0.99)
    assert ours.ratio(points)[~sure] * ours.share == pytest.approx(expected[~sure], abs=1e-9)
    boosting = GradientBoostingClassifier(n_estimators=20, random_state=4).fit(X, labels.good)
    theirs = boosting.decision_function(points)
    ours = Bore(estimator="boosting:n_trees=20", seed=4).fit(X, y)
    assert ours.latent().mean(points) == pytest.approx(theirs, abs=1e-9)


def test_balanced_classes_leave_the_ratio_what_it_is() -> None:
    X, y = disc(200)
    inside = np.abs(X).max(axis=1) < 0.9
    plain = Bore(gamma=0.2).fit(X, y).ratio(X[inside])
    balanced = Bore(gamma=0.2, estimator="net:balanced=True").fit(X, y).ratio(X[inside])
    assert np.corrcoef(plain, balanced)[0, 1] > 0.95
    assert abs(plain.mean() - balanced.mean()) < 0.15


# -- proofs ----------------------------------------------------------------------------------


# The tolerances of a solver leave a millionth open.
@pytest.mark.parametrize(
    ("maximizer", "gap"), [("auto", 1e-7), ("bab", 1e-7), ("enumerate", 1e-7), ("mip", 1e-5)]
)
def test_the_largest_log_odds_of_a_net_are_certified(maximizer: str, gap: float) -> None:
    belief = Bore(estimator="net:hidden=(12,12),epochs=200").fit(*disc())
    proposal = nm.maximize(belief, "ratio", SQUARE, maximizer=maximizer, gap=gap)
    assert proposal.status == "optimal"
    side = np.linspace(-1.0, 1.0, 101)
    grid = np.array(np.meshgrid(side, side)).reshape(2, -1).T
    heights = belief.latent().mean(grid)
    left = gap * max(1.0, abs(proposal.value))
    assert proposal.gap <= left
    assert proposal.value >= heights.max() - max(left, 1e-6)
    assert proposal.bound >= max(proposal.value, heights.max())
    found = nm.maximize(belief, "ratio", SQUARE, maximizer="lbfgs")
    assert proposal.bound >= found.value
    assert proposal.value >= found.value - max(left, 1e-6)
    x = np.asarray(proposal.x)
    assert proposal.value == belief.latent().mean(x)[0]
    assert belief.ratio(x)[0] >= belief.ratio(grid).max() - 1e-6


def test_a_certificate_of_log_odds_is_checked_and_forgeries_are_refuted(tmp_path: Path) -> None:
    belief = Bore(estimator="net:hidden=(8,),epochs=150").fit(*disc())
    proposal = nm.maximize(belief, "ratio", SQUARE)
    assert proposal.check().verdict == "confirmed"
    certificate, objective = proposal.certificate, proposal.objective
    assert certificate is not None
    assert objective is not None
    other = Bore(estimator="net:hidden=(8,),epochs=150", seed=1).fit(*disc())
    elsewhere = nm.maximize(other, "ratio", SQUARE).objective
    assert elsewhere is not None
    assert certificate.check(elsewhere).verdict == "refuted"


@pytest.mark.parametrize("maximizer", ["auto", "bab", "mip"])
@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_the_largest_ratio_of_trees_is_certified(name: str, maximizer: str) -> None:
    belief = Bore(estimator=QUICK[name]).fit(*disc(40))
    proposal = nm.maximize(belief, "ratio", SQUARE, maximizer=maximizer, gap=1e-6)
    assert proposal.status == "optimal"
    assert proposal.check().verdict == "confirmed"
    side = np.linspace(-1.0, 1.0, 151)
    grid = np.array(np.meshgrid(side, side)).reshape(2, -1).T
    x = np.asarray(proposal.x)
    assert proposal.value == belief.latent().mean(x)[0]
    assert proposal.bound >= belief.latent().mean(grid).max()
    assert belief.ratio(x)[0] >= belief.ratio(grid).max() - 1e-6
    space = nm.Space.box([0, 0], [1, 1])
    run = nm.BayesianOptimizer(space, surrogate=Bore(estimator=QUICK[name]), maximizer=maximizer)
    assert run.ask().is_initial


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if n not in ("net", "forest", "boosting")])
def test_those_that_prove_are_refused_for_the_others(name: str) -> None:
    belief = Bore(estimator=QUICK[name]).fit(*disc(12))
    with pytest.raises(UnsupportedError, match='estimator="net"'):
        nm.maximize(belief, "ratio", SQUARE, maximizer="bab")
    with pytest.raises(UnsupportedError, match="'lbfgs' or 'random'"):
        nm.BayesianOptimizer(
            nm.Space.box([0, 0], [1, 1]), surrogate=Bore(estimator=QUICK[name]), maximizer="mip"
        )


# -- classifiers of others -------------------------------------------------------------------


def test_any_classifier_with_predict_proba_serves(tmp_path: Path) -> None:
    X, y = disc(30)
    made = Bore(estimator=AnyClassifier(LogisticRegression()))
    belief = made.fit(X, y)
    direction = LogisticRegression().fit(X, Labels.of(y, 1.0 / 3.0).good)
    expected = direction.predict_proba(X)[:, 1]
    assert belief.ratio(X) * belief.share == pytest.approx(expected, abs=1e-9)
    with pytest.raises(UnsupportedError, match="nothing is pickled"):
        belief.save(tmp_path / "belief.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nm.UncertifiedWarning)
        proposal = nm.maximize(belief, "ratio", SQUARE)
    assert proposal.status == "heuristic"
    with pytest.raises(InputError, match="must have fit and predict_proba; got a int"):
        AnyClassifier(3)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"gamma": 1.5}, "gamma must be a number > 0 and < 1"),
        ({"estimator": "nett"}, "ratio estimator must be one of .*did you mean 'net'"),
        ({"estimator": "net:hidden=()"}, "hidden must be a tuple"),
        ({"estimator": "net:prior_precision=-1"}, "prior_precision must be a number >= 0"),
        ({"estimator": "kliep:width=0"}, "width must be a number > 0"),
        ({"estimator": "ulsif:penalty=0"}, "penalty must be a number > 0"),
        ({"estimator": "svm:folds=1"}, "folds must be an integer >= 2"),
        ({"estimator": "forest:n_trees=0"}, "n_trees must be an integer >= 1"),
        ({"seed": -1}, "seed must be an integer >= 0"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Bore(**options)


def test_a_larger_sample_gives_the_same_shape(tmp_path: Path) -> None:
    for name in ESTIMATORS:
        belief = Bore(estimator=QUICK[name]).fit(*sample(30, 3))
        belief.save(tmp_path / f"{name}.npz")
        loaded = nm.surrogates.load(tmp_path / f"{name}.npz")
        X = np.random.default_rng(2).uniform(-1.0, 1.0, (50, 3))
        assert np.array_equal(loaded.ratio(X), belief.ratio(X))
