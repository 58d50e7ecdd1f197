"""What every surrogate promises, as tests that a plug-in's author inherits.

    class TestMine(SurrogateContract):
        def make(self, **options):
            return Mine(**options)

Needs pytest. `make` must accept `seed`; let it choose sizes that fit in a second. Register the
surrogate under its name, so that `nnbo_mip.surrogates.load` finds it.
"""

from __future__ import annotations

import abc
import dataclasses
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.surrogates import Belief, Capability, Surrogate, load
from nnbo_mip.testing.contract import Contract, needs

RELATIVE = 1e-9
"""How well the compiled network and the belief agree, relative to the size of the values."""


def wave(X: FloatArray) -> FloatArray:
    """Return a smooth function of every input, without symmetries."""
    d = X.shape[1]
    return np.asarray(3.0 + np.sin(2.5 * X @ np.arange(1, d + 1) / d) + 0.5 * X[:, 0])


def sample(n: int, d: int, seed: int = 7) -> tuple[FloatArray, FloatArray]:
    """Return n random points in [-1, 1]^d and the function `wave` there."""
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, d))
    return X, wave(X)


def _global_state() -> list[bytes]:
    """Return the states of the generators that every module shares."""
    shared = np.random.get_state(legacy=False)["state"]  # noqa: NPY002 - see above
    states = [shared["key"].tobytes(), shared["pos"].to_bytes(8, "little")]
    if "torch" in sys.modules:
        states.append(sys.modules["torch"].get_rng_state().numpy().tobytes())
    return states


@cache
def _fitted(contract: type[SurrogateContract], n: int, d: int) -> Belief:
    return contract().make(seed=0).fit(*sample(n, d))


class SurrogateContract(Contract):
    """Subclass it under a name that pytest collects, and say how to make the surrogate."""

    @abc.abstractmethod
    def make(self, **options: Any) -> Surrogate:
        """Return the surrogate with these options (at least `seed`)."""

    def offers(self) -> frozenset[object]:
        """Return the declared capabilities, and `Belief.mixture_slopes` where it is overridden."""
        made = self.make(seed=0)
        overridden = made.belief_type.mixture_slopes is not Belief.mixture_slopes
        return made.capabilities | ({Belief.mixture_slopes} if overridden else set())

    def belief(self, n: int = 12, d: int = 2) -> Belief:
        """Return a belief fitted to `sample(n, d)`; one fit serves all tests of a class."""
        return _fitted(type(self), n, d)

    @staticmethod
    def probes(d: int = 2, n: int = 40) -> FloatArray:
        """Return points inside and outside of the box."""
        return np.random.default_rng(1).uniform(-1.5, 1.5, (n, d))

    # -- what it declares -------------------------------------------------------------

    def test_the_surrogate_is_a_frozen_dataclass(self) -> None:
        made = self.make(seed=0)
        assert dataclasses.is_dataclass(made)
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.seed = 1

    def test_the_belief_offers_what_the_surrogate_declared(self) -> None:
        assert self.belief().capabilities == self.make(seed=0).capabilities

    def test_the_belief_is_of_the_declared_type_and_family(self) -> None:
        made, belief = self.make(seed=0), self.belief()
        assert isinstance(belief, made.belief_type)
        assert belief.family == made.name
        assert belief.n_inputs == 2
        assert made.scalable in (True, False)

    def test_what_is_not_offered_is_refused_in_a_sentence(self) -> None:
        belief, X = self.belief(), self.probes()
        calls: dict[Capability, Callable[[], object]] = {
            Capability.MEAN: lambda: belief.mean(X),
            Capability.STD: lambda: belief.std(X),
            Capability.MEMBERS: lambda: belief.members(X),
            Capability.GRADIENT: lambda: belief.differentiate(X),
            Capability.MIXTURE: lambda: belief.mixture(X),
            Capability.DRAWS: lambda: belief.draw(0),
            Capability.RATIO: lambda: belief.ratio(X),
            Capability.NETWORK: lambda: belief.network(),
            Capability.CANDIDATES: lambda: belief.candidates(3, 0),
        }
        for capability, call in calls.items():
            if capability in belief.capabilities:
                call()
            else:
                with pytest.raises(UnsupportedError, match=capability.value):
                    call()

    @needs(Capability.CANDIDATES)
    def test_candidates_are_points_of_the_box_and_belong_to_a_seed(self) -> None:
        belief = self.belief()
        points = belief.candidates(50, 3)
        assert points.shape == (50, belief.n_inputs)
        assert np.abs(points).max() <= 1.0
        assert np.array_equal(points, belief.candidates(50, 3))
        assert not np.array_equal(points, belief.candidates(50, 4))

    # -- values -----------------------------------------------------------------------

    def test_values_are_finite_arrays_of_one_number_a_point(self) -> None:
        belief, X = self.belief(), self.probes()
        for name, values in self._values(belief, X).items():
            assert values.ndim == (2 if name == Capability.MEMBERS else 1)
            assert len(values) == len(X)
            assert values.dtype == np.float64
            assert np.isfinite(values).all()

    def test_uncertainty_is_nowhere_negative(self) -> None:
        belief = self.belief()
        if Capability.STD in belief.capabilities:
            assert (belief.std(self.probes()) >= 0.0).all()
        noise = belief.noise_std(self.probes())
        assert noise.shape == (len(self.probes()),)
        assert (noise >= 0.0).all()
        assert Capability.NOISE in belief.capabilities or not noise.any()

    def test_a_point_alone_has_the_values_it_has_in_a_batch(self) -> None:
        belief, X = self.belief(), self.probes()
        for name, values in self._values(belief, X).items():
            alone = self._values(belief, X[3])[name]
            np.testing.assert_allclose(alone[0], values[3], rtol=1e-9, atol=1e-9)

    def test_no_points_have_no_values(self) -> None:
        for values in self._values(self.belief(), np.empty((0, 2))).values():
            assert len(values) == 0

    @needs(Capability.RATIO)
    def test_a_ratio_takes_the_place_of_mean_and_std(self) -> None:
        belief, X = self.belief(), self.probes()
        assert not {Capability.MEAN, Capability.STD} & belief.capabilities
        ratio, latent = belief.ratio(X), belief.latent()
        assert (ratio >= 0.0).all()
        assert Capability.MEAN in latent.capabilities
        assert latent.n_inputs == belief.n_inputs
        height = latent.mean(X)
        if Capability.STD in latent.capabilities:
            assert (latent.std(X) > 0.0).all()
            height = height / latent.std(X)
        order = np.argsort(height)
        rise, slack = np.diff(ratio[order]), 1e-9 * ratio.max()
        assert (rise >= -slack).all()
        # Where it does not saturate, what is higher has the larger ratio.
        clear = (np.diff(height[order]) > 1e-6) & (np.abs(height[order][1:]) < 10.0)
        assert (rise[clear] > 0.0).all()

    @needs(Capability.MEAN, Capability.STD)
    def test_predict_speaks_as_scikit_learn_does(self) -> None:
        belief, X = self.belief(), self.probes()
        mean, std = belief.predict(X, return_std=True)
        assert np.array_equal(mean, belief.mean(X))
        assert np.array_equal(std, belief.std(X))
        assert np.array_equal(belief.predict(X), mean)

    # -- derivatives, networks, scale, files -----------------------------------------

    @needs(Capability.GRADIENT)
    def test_gradients_are_those_of_the_values(self) -> None:
        belief, X = self.belief(), self.probes()
        local, step = belief.differentiate(X), 1e-6
        belief = self._moments_of(belief)
        has_std = Capability.STD in belief.capabilities
        std = belief.std if has_std else lambda points: np.zeros(len(points))
        np.testing.assert_allclose(local.mean, belief.mean(X), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(local.std, std(X), rtol=1e-7, atol=1e-9)
        agreeing = np.zeros(len(X))
        for axis, unit in enumerate(np.eye(X.shape[1])):
            ahead, behind = X + step * unit, X - step * unit
            mean_slope = (belief.mean(ahead) - belief.mean(behind)) / (2.0 * step)
            std_slope = (std(ahead) - std(behind)) / (2.0 * step)
            close = np.isclose(local.mean_gradient[:, axis], mean_slope, rtol=1e-3, atol=1e-4)
            close &= np.isclose(local.std_gradient[:, axis], std_slope, rtol=1e-3, atol=1e-4)
            agreeing += close / X.shape[1]
        # Within a step of a kink the difference quotient mixes two slopes.
        assert (agreeing > 0.99).mean() >= 0.9

    @needs(Capability.MIXTURE)
    def test_the_mixture_has_the_moments_of_the_belief(self) -> None:
        belief, X = self.belief(), self.probes()
        for same in (belief, belief.scaled(2.5)):
            mixture = same.mixture(X)
            assert mixture.weights.shape == mixture.means.shape == mixture.stds.shape
            assert len(mixture.weights) == len(X)
            assert (mixture.weights >= 0.0).all()
            assert (mixture.stds >= 0.0).all()
            np.testing.assert_allclose(mixture.weights.sum(axis=1), 1.0, rtol=1e-12)
            np.testing.assert_allclose(mixture.mean, same.mean(X), rtol=1e-9, atol=1e-9)
            if getattr(belief, "spread", "std") == "std":  # other spreads are no deviations
                np.testing.assert_allclose(mixture.std, same.std(X), rtol=1e-7, atol=1e-9)

    @needs(Capability.MIXTURE, Belief.mixture_slopes)
    def test_slopes_of_the_mixture_are_those_of_its_parts(self) -> None:
        belief, X = self.belief().scaled(1.5), self.probes()
        slopes, step = belief.mixture_slopes(X), 1e-6
        agreeing = np.zeros(len(X))
        for axis, unit in enumerate(np.eye(X.shape[1])):
            ahead, behind = belief.mixture(X + step * unit), belief.mixture(X - step * unit)
            close = np.ones(len(X), dtype=bool)
            for name in ("weights", "means", "stds"):
                found = getattr(slopes, name)[:, :, axis]
                slope = (getattr(ahead, name) - getattr(behind, name)) / (2.0 * step)
                close &= np.isclose(found, slope, rtol=1e-3, atol=1e-4).all(axis=1)
            agreeing += close / X.shape[1]
        # Within a step of a kink the difference quotient mixes two slopes.
        assert (agreeing > 0.99).mean() >= 0.8

    @needs(Capability.NETWORK)
    def test_the_compiled_network_is_the_belief(self) -> None:
        belief, X = self.belief(), self.probes()
        outputs = belief.network()
        belief = self._moments_of(belief)
        assert "mean" in outputs.output_names
        self._same(outputs.evaluate(X, "mean"), belief.mean(X))
        if "std" in outputs.output_names:
            has_std = Capability.STD in belief.capabilities
            std = belief.std(X) if has_std else np.zeros(len(X))
            np.testing.assert_allclose(
                outputs.evaluate(X, "std"), std, rtol=0.0, atol=RELATIVE * np.abs(std).max()
            )
        if Capability.MEMBERS in belief.capabilities:
            members = belief.members(X)
            for index in range(members.shape[1]):
                self._same(outputs.evaluate(X, f"member{index}"), members[:, index])

    def test_the_posterior_that_is_proven_about_is_the_belief(self) -> None:
        belief, X = self._moments_of(self.belief().scaled(1.5)), self.probes()
        refusal = ""
        try:
            posterior = belief.posterior()
        except UnsupportedError as refused:
            refusal = str(refused)
        if refusal:  # nothing is proven about this belief
            assert refusal.endswith(".")
            return
        self._same(posterior.mean(X), belief.mean(X))
        if Capability.STD in belief.capabilities:
            std = belief.std(X)
            # It may be the root of a difference, or that of members that are all the same.
            slack = 1e-7 * std.max() + RELATIVE * np.abs(belief.mean(X)).max()
            np.testing.assert_allclose(posterior.std(X), std, rtol=1e-6, atol=slack)
        if Capability.MEMBERS in belief.capabilities:
            self._same(belief.posterior(members=True).members(X), belief.members(X))

    @needs(Capability.TREES)
    def test_the_trees_are_the_members(self) -> None:
        belief, X = self.belief(), self.probes()
        belief = self._moments_of(belief)
        trees: Any = getattr(belief, "trees")  # noqa: B009 - what the capability promises
        self._same(trees.members(X).mean(axis=1), belief.mean(X))
        if Capability.MEMBERS in belief.capabilities:
            self._same(trees.members(X), belief.members(X))

    def test_scaling_multiplies_the_uncertainty_and_nothing_else(self) -> None:
        belief, X = self.belief(), self.probes()
        wider = belief.scaled(2.5).scaled(2.0)
        if Capability.MEAN in belief.capabilities:
            assert np.array_equal(wider.mean(X), belief.mean(X))
        if Capability.STD in belief.capabilities:
            latent = np.sqrt(np.maximum(belief.std(X) ** 2 - self._included_noise(belief, X), 0.0))
            expected = np.sqrt((5.0 * latent) ** 2 + self._included_noise(belief, X))
            np.testing.assert_allclose(wider.std(X), expected, rtol=1e-6, atol=1e-9)
        if Capability.RATIO in belief.capabilities:
            self._scales_a_ratio(belief, wider, X)
        for factor in (0.0, -1.0, np.nan, np.inf):
            with pytest.raises(InputError, match="positive"):
                belief.scaled(factor)

    def test_a_saved_belief_comes_back_bit_for_bit(self, tmp_path: Path) -> None:
        belief, X = self.belief().scaled(1.5), self.probes()
        belief.save(tmp_path / "belief.npz")
        loaded = load(tmp_path / "belief.npz")
        assert loaded.capabilities == belief.capabilities
        for name, values in self._values(belief, X).items():
            assert np.array_equal(self._values(loaded, X)[name], values), name

    @needs(Capability.DRAWS)
    def test_a_draw_is_one_function_for_a_seed(self, tmp_path: Path) -> None:
        belief, X = self.belief(), self.probes()
        draw = belief.draw(3)
        assert Capability.MEAN in draw.capabilities
        assert draw.n_inputs == belief.n_inputs
        values = draw.mean(X)
        assert values.shape == (len(X),)
        assert np.isfinite(values).all()
        assert np.array_equal(belief.draw(3).mean(X), values)
        draw.save(tmp_path / "draw.npz")
        assert np.array_equal(load(tmp_path / "draw.npz").mean(X), values)

    # -- fitting ----------------------------------------------------------------------

    def test_the_same_seed_learns_the_same_bit_for_bit(self) -> None:
        X = self.probes()
        first = self._values(self.make(seed=3).fit(*sample(8, 2)), X)
        second = self._values(self.make(seed=3).fit(*sample(8, 2)), X)
        assert all(np.array_equal(first[name], second[name]) for name in first)

    @pytest.mark.parametrize("bad", [-1, -(2**40)])
    def test_a_negative_seed_is_refused_in_a_sentence(self, bad: int) -> None:
        with pytest.raises(InputError, match="seed"):
            self.make(seed=bad).fit(*sample(3, 2))

    def test_global_randomness_is_neither_used_nor_changed(self) -> None:
        X, results = self.probes(), []
        for seed in (1, 2):
            np.random.seed(seed)  # noqa: NPY002 - the global state is what this is about
            if "torch" in sys.modules:
                sys.modules["torch"].manual_seed(seed)
            before = _global_state()
            results.append(self._values(self.make(seed=3).fit(*sample(8, 2)), X))
            assert _global_state() == before
        assert all(np.array_equal(results[0][name], results[1][name]) for name in results[0])

    def test_fitting_leaves_its_arguments_alone(self) -> None:
        X, y = sample(6, 2)
        kept = X.copy(), y.copy()
        self.make(seed=0).fit(X, y)
        assert np.array_equal(X, kept[0])
        assert np.array_equal(y, kept[1])

    def test_changing_the_data_afterwards_changes_no_belief(self) -> None:
        X, y = sample(6, 2)
        belief = self.make(seed=0).fit(X, y)
        before = self._values(belief, self.probes())
        X[:], y[:] = 9.0, 9.0
        after = self._values(belief, self.probes())
        assert all(np.array_equal(before[name], after[name]) for name in before)

    @pytest.mark.parametrize("n", [1, 2])
    def test_one_or_two_observations_are_enough(self, n: int) -> None:
        self._is_sound(self.make(seed=0).fit(*sample(n, 2)), 2)

    def test_one_dimension(self) -> None:
        self._is_sound(self.belief(n=6, d=1), 1)

    def test_integer_arrays_and_lists(self) -> None:
        made = self.make(seed=0)
        X, y = [[-1, 0], [0, 1], [1, 1]], [1, 2, 4]
        first = self._values(made.fit(np.array(X), np.array(y)), self.probes())
        second = self._values(made.fit(X, y), self.probes())
        assert all(np.array_equal(first[name], second[name]) for name in first)

    def test_constant_values(self) -> None:
        X, y = sample(6, 2)
        belief = self.make(seed=0).fit(X, np.full_like(y, 4.25))
        self._is_sound(belief, 2)
        if Capability.MEAN in belief.capabilities:
            np.testing.assert_allclose(belief.mean(X), 4.25, atol=0.5)

    def test_one_input_with_two_values(self) -> None:
        X, y = sample(6, 2)
        X[1] = X[0]
        y[1] = y[0] + 1.0
        self._is_sound(self.make(seed=0).fit(X, y), 2)

    @pytest.mark.parametrize("size", [1e12, 1e-12])
    def test_huge_and_tiny_values(self, size: float) -> None:
        X, y = sample(8, 2)
        belief = self.make(seed=0).fit(X, size * y)
        self._is_sound(belief, 2)
        if Capability.MEAN in belief.capabilities:
            plain = self.make(seed=0).fit(X, y).mean(self.probes())
            np.testing.assert_allclose(belief.mean(self.probes()) / size, plain, atol=0.3)

    # -- bad input --------------------------------------------------------------------

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_what_is_not_finite_is_refused(self, bad: float) -> None:
        X, y = sample(5, 2)
        y[2] = bad
        with pytest.raises(InputError, match="row 2"):
            self.make(seed=0).fit(X, y)
        X, y = sample(5, 2)
        X[3, 1] = bad
        with pytest.raises(InputError, match="row 3"):
            self.make(seed=0).fit(X, y)

    @pytest.mark.parametrize(
        ("X", "y", "match"),
        [
            (np.zeros((0, 2)), np.zeros(0), "at least one"),
            (np.zeros((4, 2)), np.zeros(3), "one value a row"),
            (np.zeros((4, 2)), np.zeros((4, 1)), "ravel"),
            (np.zeros(4), np.zeros(4), "one row a point"),
            (np.zeros((4, 0)), np.zeros(4), "one row a point"),
            ([["a", "b"]], [1.0], "numbers"),
        ],
    )
    def test_wrong_shapes_are_refused(self, X: Any, y: Any, match: str) -> None:
        with pytest.raises(InputError, match=match):
            self.make(seed=0).fit(X, y)

    def test_points_of_another_dimension_are_refused(self) -> None:
        for X in (np.zeros((3, 5)), np.zeros(5), np.zeros((2, 2, 2))):
            with pytest.raises(InputError, match="shape"):
                self._values(self.belief(), X)

    # -- helpers ----------------------------------------------------------------------

    @staticmethod
    def _values(belief: Belief, X: Any) -> dict[str, FloatArray]:
        offered = {
            Capability.MEAN: belief.mean,
            Capability.STD: belief.std,
            Capability.MEMBERS: belief.members,
            Capability.RATIO: belief.ratio,
            Capability.NOISE: belief.noise_std,
        }
        return {
            name.value: evaluate(X)
            for name, evaluate in offered.items()
            if name in belief.capabilities
        }

    @staticmethod
    def _included_noise(belief: Belief, X: FloatArray) -> Any:
        included = getattr(belief, "include_noise", False)
        return belief.noise_std(X) ** 2 if included else 0.0

    @staticmethod
    def _moments_of(belief: Belief) -> Belief:
        """Return what has a mean: the belief, or what is behind its ratio."""
        return belief.latent() if Capability.RATIO in belief.capabilities else belief

    @staticmethod
    def _scales_a_ratio(belief: Belief, wider: Belief, X: FloatArray) -> None:
        """Check that a ratio's uncertainty, if it has one, was multiplied by five."""
        once = belief.scaled(5.0).ratio(X)
        np.testing.assert_allclose(wider.ratio(X), once, rtol=1e-9, atol=1e-12)
        if Capability.DRAWS not in belief.capabilities:
            assert np.array_equal(once, belief.ratio(X))

    def _is_sound(self, belief: Belief, d: int) -> None:
        for values in self._values(belief, self.probes(d)).values():
            assert np.isfinite(values).all()

    @staticmethod
    def _same(ours: FloatArray, theirs: FloatArray) -> None:
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=RELATIVE * scale)
