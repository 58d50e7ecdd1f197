"""The asinh warp: small gaps stay, large ones become logarithms, the best width is taken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

import nnbo_mip as nm
from nnbo_mip.errors import InputError, UnsupportedError
from nnbo_mip.loop import sample as samples
from nnbo_mip.loop.asinh_warp import SHARES, Asinh, Curve, scores
from nnbo_mip.loop.sample import Sample
from nnbo_mip.loop.warping import Foresight, warp_of
from nnbo_mip.space.arrays import FloatArray
from nnbo_mip.surrogates.abstract import LeftOut

numbers = st.lists(st.floats(-1e12, 1e12, allow_subnormal=False), min_size=1, max_size=40)
SHAPES = st.sampled_from((*SHARES, 1.0))


def test_by_hand() -> None:
    """Gaps 0, 1, 2, 3, 10 to the best value 5; the median gap is 2."""
    warped = warp_of("asinh:share=0.5").learn([4.0, 5.0, -5.0, 3.0, 2.0])
    expected = 5.0 - 2.0 * np.arcsinh([0.5, 0.0, 5.0, 1.0, 1.5])
    assert warped.values == pytest.approx(expected, rel=1e-15)


@given(numbers, SHAPES)
def test_the_order_is_kept_and_nothing_moves_away_from_the_best(y: list[float], s: float) -> None:
    told = np.array(y)
    values = Asinh(s).learn(told).values
    order = np.argsort(told, kind="stable")
    assert (np.diff(values[order]) >= 0.0).all()
    assert values.max() == told.max()
    assert (values >= told).all()


@given(numbers, SHAPES)
def test_there_and_back(y: list[float], share: float) -> None:
    told = np.array(y)
    warped = Asinh(share).learn(told)
    # A gap of many widths is a difference of the last digits of its logarithm.
    assume(np.ptp(told) < 1e6 * max(Curve.of(told, share).half_width, 1e-300))
    assume(np.ptp(told) > 1e-6 * np.abs(told).max())
    assert warped.outward(warped.values) == pytest.approx(told, abs=1e-6 * np.ptp(told))


def test_better_values_than_the_best_keep_their_units() -> None:
    warped = Asinh(0.5).learn([0.0, 1.0, 5.0])
    assert warped.outward([5.0, 7.5]).tolist() == [5.0, 7.5]


@pytest.mark.parametrize("y", [[1.0], [2.0, 2.0], [1.0, 5.0, 5.0, 5.0]])
def test_values_without_a_width_stay_as_they_are(y: list[float]) -> None:
    warped = Asinh(0.5).learn(y)
    assert warped.values.tolist() == y
    assert warped.outward([7.0]).tolist() == [7.0]


@pytest.mark.parametrize("y", [[-1.7e308, 1.7e308, 0.0], [-1.7e308, 0.0, -1e-300], [5e-324, 0.0]])
def test_the_largest_and_smallest_numbers_stay_numbers(y: list[float]) -> None:
    warped = Asinh(0.5).learn(y)
    assert np.isfinite(warped.values).all()
    assert np.isfinite(warped.outward([*warped.values, -1.7e308])).all()
    assert (np.argsort(warped.values, kind="stable") == np.argsort(y, kind="stable")).all()


def test_slopes_are_the_derivative() -> None:
    y, step = np.array([-3.0, 0.5, 2.0, 4.0]), 1e-6
    curve = Curve.of(y, 0.5)
    inner = y[:3]
    slopes = (curve.inward(inner + step) - curve.inward(inner - step)) / (2.0 * step)
    assert curve.log_slopes(inner) == pytest.approx(np.log(slopes), abs=1e-8)


def independent(y: FloatArray) -> Foresight:
    """Return the foresight of a model to which values are draws of one normal distribution."""

    def foreseen(versions: FloatArray) -> LeftOut:
        ones = np.ones_like(versions)
        mean, std = (f(versions, axis=1, keepdims=True) for f in (np.mean, np.std))
        return LeftOut(mean * ones, std * ones)

    return Foresight(np.arange(len(y)), foreseen)


def test_versions_are_compared_as_densities_of_the_values_told() -> None:
    """With the slopes, the density of a version integrates to one over the values told."""
    curve = Curve(2.0, 0.25)

    def density(y: float) -> float:
        point = np.array([y])
        log = norm.logpdf(curve.inward(point), 1.0, 0.3) + curve.log_slopes(point)
        return float(np.exp(log[0]))

    below = quad(density, -200.0, 2.0, limit=500)[0]
    assert below == pytest.approx(norm.cdf(2.0, 1.0, 0.3), abs=1e-6)


def test_the_width_is_taken_in_which_good_values_are_foreseen() -> None:
    """Values that are normal stay; those with a logarithm that is normal are bent hard."""
    levels = norm.ppf((np.arange(60) + 0.5) / 60)
    normal = Asinh().learn(levels, independent(levels))
    assert normal.values.tolist() == levels.tolist()
    heavy = -np.exp(4.0 * levels)
    bent = Asinh().learn(heavy, independent(heavy))
    assert bent.values.tolist() == Asinh(SHARES[-1]).learn(heavy).values.tolist()


def test_scores_by_hand() -> None:
    """Density and slope of the three values that are at least the median, tails of two."""
    y = np.array([3.0, -7.0, 1.0, -90.0, 2.0])
    curve = Curve.of(y, 0.5)
    mean = np.array([[1.0, -2.0, 1.5, -8.0, 0.0], [2.0, -1.0, 0.5, -3.0, 1.0]])
    std = np.array([[1.0, 2.0, 0.5, 9.0, 2.0], [1.5, 1.0, 1.0, 4.0, 0.3]])
    found = scores(y, [curve], Foresight(np.arange(5), lambda versions: LeftOut(mean, std)))
    bent = 3.0 - 2.0 * np.arcsinh((3.0 - y) / 2.0)
    for row, v, slopes in ((0, y, np.ones(5)), (1, bent, 1.0 / np.hypot(1.0, (3.0 - y) / 2.0))):
        total = 0.0
        for i in (0, 2, 4):
            total += np.log(norm.pdf(v[i], mean[row, i], std[row, i]) * slopes[i])
        for i in (1, 3):
            total += np.log(norm.cdf(v[2], mean[row, i], std[row, i]))
        assert found[row] == pytest.approx(total, rel=1e-12)


def test_the_size_of_bad_values_does_not_decide() -> None:
    rng = np.random.default_rng(5)
    mean, std = rng.normal(0.0, 1.0, (2, 9)), rng.uniform(0.5, 2.0, (2, 9))
    y, curve = rng.normal(0.0, 1.0, 9), Curve(3.0, 0.5)
    worse = np.where(y < np.median(y), y - 1e6, y)
    foresight = Foresight(np.arange(9), lambda versions: LeftOut(mean, std))
    assert scores(y, [curve], foresight).tolist() == scores(worse, [curve], foresight).tolist()


def test_without_foresight_the_share_is_a_middle_one() -> None:
    y = np.square(np.linspace(-3.0, 4.0, 15))
    assert Asinh().learn(y).values.tolist() == Asinh(0.35).learn(y).values.tolist()


def bowl(n: int, seed: int = 0) -> Sample:
    """Return a sample of a bowl, larger is better, with two inputs."""
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 2))
    return Sample(X, -np.square(X - 0.3).sum(axis=1), None, np.ones(n, dtype=np.bool_))


def test_a_process_leaves_a_bowl_alone_and_bends_its_exponential() -> None:
    process = nm.surrogates.create("gp", kernel="matern", n_restarts=0)
    plain = bowl(25)
    assert plain.warped(Asinh(), process).y.tolist() == plain.y.tolist()
    steep = Sample(plain.X, -np.exp(8.0 - 8.0 * plain.y), None, plain.told)
    assert not np.array_equal(steep.warped(Asinh(), process).y, steep.y)


def test_a_surrogate_without_foresight_is_not_asked() -> None:
    network = nm.surrogates.create("brvfl", n_hidden=5)
    assert not network.has_leave_one_out
    sample = bowl(9)
    assert sample.warped(Asinh(), network).y.tolist() == Asinh(0.35).learn(sample.y).values.tolist()
    with pytest.raises(UnsupportedError, match="brvfl does not"):
        network.leave_one_out(sample.X, sample.y[None, :])


def test_of_many_values_some_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """All are warped by the width that those that were looked at find likely."""
    asked: list[tuple[int, ...]] = []
    process = nm.surrogates.create("gp", n_restarts=0)
    kind = type(process)
    original = kind.leave_one_out

    def watched(self: object, X: FloatArray, values: FloatArray) -> LeftOut:
        asked.append(np.shape(values))
        return original(process, X, values)

    monkeypatch.setattr(samples, "MOST_COMPARED", 12)
    monkeypatch.setattr(kind, "leave_one_out", watched)
    warped = bowl(40).warped(Asinh(), process)
    assert asked == [(1 + len(SHARES), 12)]
    assert len(warped.y) == 40


@pytest.mark.parametrize("share", [0.0, 1.5, "half", float("nan")])
def test_shares_that_are_none_are_refused(share: object) -> None:
    with pytest.raises(InputError, match="share"):
        Asinh(share)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("surrogate", "warp"), [("gp", "asinh"), ("gp:alpha=1e-6", "asinh"), ("brvfl", "half_rank")]
)
def test_left_open_it_is_the_choice_of_a_surrogate_with_foresight(
    surrogate: str, warp: str
) -> None:
    from nnbo_mip.loop.defaults import AUTO, warp_for

    made = nm.surrogates.create(surrogate)
    assert warp_for(AUTO, made) == warp
    assert warp_for(None, made) is None
    assert warp_for("none", made) == "none"


def test_a_run_resumes_with_the_same_warp(tmp_path: object) -> None:
    path = f"{tmp_path}/run.db"

    def value(x: FloatArray) -> float:
        return float(np.exp(5.0 * x[0]) + x[1] ** 2)

    options = {"surrogate": "gp", "maximizer": "lbfgs:classic", "initial": 6}
    whole = nm.BayesianOptimizer([(-1.0, 1.0)] * 2, **options)
    begun = nm.BayesianOptimizer([(-1.0, 1.0)] * 2, **options, journal=path)
    for _ in range(8):
        for one in (whole, begun):
            asked = one.ask()
            one.tell(asked, value(asked.x))
    again = nm.BayesianOptimizer.open(path)
    assert again.ask().x.tolist() == whole.ask().x.tolist()
