"""The contract of surrogates passes a sound one and catches those that break a promise."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest

import nnbo_mip as nm
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count
from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.surrogates import Belief, Capability, Observations, Surrogate, ValueGradient
from nnbo_mip.surrogates.base.abstract import check_scale
from nnbo_mip.testing.surrogate_contract import SurrogateContract, sample, wave

OFFERED = frozenset(
    {
        *(Capability.MEAN, Capability.STD, Capability.GRADIENT),
        *(Capability.NETWORK, Capability.DRAWS),
    }
)


@dataclass(frozen=True, eq=False)
class PlaneBelief(Belief):
    """A plane w . x + c, uncertain by size sqrt(1 + |x|^2)."""

    slope: FloatArray
    offset: float
    size: float
    scale: float = 1.0

    family = "plane"

    @property
    def n_inputs(self) -> int:
        return len(self.slope)

    @property
    def capabilities(self) -> frozenset[Capability]:
        return OFFERED

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        return np.asarray(self.check_points(X) @ self.slope + self.offset)

    def std(self, X: npt.ArrayLike) -> FloatArray:
        points = self.check_points(X)
        return np.asarray(self.scale * self.size * np.sqrt(1.0 + np.square(points).sum(axis=1)))

    def differentiate(self, X: npt.ArrayLike) -> ValueGradient:
        points = self.check_points(X)
        mean, std = self.mean(points), self.std(points)
        slopes = np.broadcast_to(self.slope, points.shape)
        roots = np.sqrt(1.0 + np.square(points).sum(axis=1))
        return ValueGradient(mean, std, slopes, self.scale * self.size * points / roots[:, None])

    def network(self) -> Network:
        builder = GraphBuilder(self.n_inputs)
        plane = builder.affine(builder.input, self.slope[None], np.array([self.offset]))
        return builder.finish({"mean": plane})

    def draw(self, seed: int) -> Belief:
        normal = np.random.default_rng(seed).standard_normal(self.n_inputs + 1)
        moved = self.scale * self.size * normal
        return replace(self, slope=self.slope + moved[1:], offset=self.offset + moved[0], size=0.0)

    def scaled(self, factor: float) -> PlaneBelief:
        return replace(self, scale=self.scale * check_scale(factor))

    def to_arrays(self) -> dict[str, Any]:
        return {
            "slope": self.slope,
            "offset": np.array(self.offset),
            "size": np.array(self.size),
            "scale": np.array(self.scale),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> PlaneBelief:
        numbers = (float(arrays[name]) for name in ("offset", "size", "scale"))
        return cls(arrays["slope"], *numbers)


@dataclass(frozen=True)
class Plane(Surrogate):
    name: ClassVar[str] = "plane"
    belief_type: ClassVar[type[Belief]] = PlaneBelief

    seed: int = 0

    def __post_init__(self) -> None:
        check_count("seed", self.seed, least=0)

    @property
    def capabilities(self) -> frozenset[Capability]:
        return OFFERED

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Belief:
        data = Observations.of(X, y)
        center = data.y.mean()
        slope = np.linalg.lstsq(data.X, data.y - center, rcond=None)[0]
        return self.belief_type(slope, float(center), float(data.y.std()))  # type: ignore[call-arg]


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    nm.surrogates.register("plane")(Plane)
    yield
    nm.surrogates.unregister("plane")


class TestPlane(SurrogateContract):
    def make(self, **options: Any) -> Surrogate:
        return Plane(**options)


# -- surrogates that break one promise each -------------------------------------------


def belief_with(**methods: Any) -> type[Surrogate]:
    """Return a surrogate whose belief has other methods."""
    flawed = type("FlawedBelief", (PlaneBelief,), methods)
    return type("FlawedPlane", (Plane,), {"belief_type": flawed})


def plane_with(**methods: Any) -> type[Surrogate]:
    """Return a surrogate with other methods."""
    return type("FlawedPlane", (Plane,), methods)


@dataclass
class Changeable(Surrogate):
    name: ClassVar[str] = "plane"
    belief_type: ClassVar[type[Belief]] = PlaneBelief

    seed: int = 0

    @property
    def capabilities(self) -> frozenset[Capability]:
        return OFFERED

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Belief:
        return Plane(self.seed).fit(X, y)


def _offers(*names: Capability) -> property:
    return property(lambda self: frozenset(names))


def _mean_of_batch(self: PlaneBelief, X: Any) -> FloatArray:
    points = self.check_points(X)
    return np.asarray((points - points.mean(axis=0)) @ self.slope)


def _mean_of_reduction(self: PlaneBelief, X: Any) -> FloatArray:
    values = PlaneBelief.mean(self, X)
    return values + 0.0 * values.max()


def _backwards(self: PlaneBelief, X: Any) -> ValueGradient:
    local = PlaneBelief.differentiate(self, X)
    return replace(local, mean_gradient=-local.mean_gradient)


def _flat(self: PlaneBelief, X: Any) -> ValueGradient:
    local = PlaneBelief.differentiate(self, X)
    return replace(local, std_gradient=0.0 * local.std_gradient)


def _network_off_by_a_little(self: PlaneBelief) -> Network:
    return PlaneBelief.network(replace(self, offset=self.offset * (1.0 + 1e-8)))


def _anonymous_network(self: PlaneBelief) -> Network:
    builder = GraphBuilder(self.n_inputs)
    plane = builder.affine(builder.input, self.slope[None], np.array([self.offset]))
    return builder.finish({"value": plane})


def _with_another_std(self: PlaneBelief, members: bool = False) -> nm.scores.Posterior:
    builder = GraphBuilder(self.n_inputs)
    mean = builder.affine(builder.input, self.slope[None], np.array([self.offset]))
    flat = builder.constant([self.scale * self.size])
    return nm.scores.PlainPosterior(builder.finish({"mean": mean, "std": flat}))


def _mumbling(self: PlaneBelief, members: bool = False) -> nm.scores.Posterior:
    raise UnsupportedError("no")


def _scaled_with_mean(self: PlaneBelief, factor: float) -> PlaneBelief:
    return replace(self, scale=self.scale * check_scale(factor), offset=factor * self.offset)


def _scaled_once(self: PlaneBelief, factor: float) -> PlaneBelief:
    return replace(self, scale=check_scale(factor))


def _scaled_by_anything(self: PlaneBelief, factor: float) -> PlaneBelief:
    return replace(self, scale=self.scale * factor)


def _arrays_without_scale(self: PlaneBelief) -> dict[str, Any]:
    return {**PlaneBelief.to_arrays(self), "scale": np.array(1.0)}


def _arrays_in_single(self: PlaneBelief) -> dict[str, Any]:
    return {**PlaneBelief.to_arrays(self), "slope": self.slope.astype(np.float32)}


DRAWS = itertools.count()


def _drawn_by_nobody(self: PlaneBelief, seed: int) -> Belief:
    return PlaneBelief.draw(self, next(DRAWS))


def _noisy_fit(self: Surrogate, X: Any, y: Any) -> Belief:
    y = np.asarray(y, dtype=np.float64)
    return Plane.fit(self, X, y + np.random.standard_normal(y.shape))  # type: ignore[arg-type] # noqa: NPY002


def _reseeding_fit(self: Surrogate, X: Any, y: Any) -> Belief:
    np.random.seed(self.seed)  # noqa: NPY002
    return Plane.fit(self, X, y)  # type: ignore[arg-type]


def _centering_fit(self: Surrogate, X: Any, y: Any) -> Belief:
    if isinstance(X, np.ndarray) and X.dtype == np.float64 and X.ndim == 2 and len(X):
        X -= X.mean(axis=0)
    return Plane.fit(self, X, y)  # type: ignore[arg-type]


def _lazy_fit(self: Surrogate, X: Any, y: Any) -> Belief:
    class Lazy(PlaneBelief):
        def mean(self, probes: npt.ArrayLike) -> FloatArray:
            return np.asarray(self.check_points(probes) @ self.slope + np.mean(y))

    made = Plane.fit(self, X, y)  # type: ignore[arg-type]
    assert isinstance(made, PlaneBelief)
    return Lazy(made.slope, made.offset, made.size)


def _fit_of_many(self: Surrogate, X: Any, y: Any) -> Belief:
    made = Plane.fit(self, X, y)  # type: ignore[arg-type]
    assert isinstance(made, PlaneBelief)
    with np.errstate(all="ignore"):
        return replace(made, offset=made.offset + 0.0 / np.float64(len(np.asarray(y)) - 1))


def _fit_with_a_floor(self: Surrogate, X: Any, y: Any) -> Belief:
    made = Plane.fit(self, X, y)  # type: ignore[arg-type]
    assert isinstance(made, PlaneBelief)
    return replace(made, slope=made.slope * made.size / (made.size + 1e-8))


def _trusting_fit(self: Surrogate, X: Any, y: Any) -> Belief:
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    return PlaneBelief(np.zeros(X.shape[1]), float(np.nanmean(y)), 1.0)


BROKEN: dict[str, tuple[type[Surrogate], str]] = {
    "options that change": (Changeable, "test_the_surrogate_is_a_frozen_dataclass"),
    "members declared, none there": (
        plane_with(capabilities=_offers(*OFFERED, Capability.MEMBERS)),
        "test_the_belief_offers_what_the_surrogate_declared",
    ),
    "a family that is another's": (
        belief_with(family="gp"),
        "test_the_belief_is_of_the_declared_type_and_family",
    ),
    "a refusal without a sentence": (
        belief_with(members=lambda self, X: None),
        "test_what_is_not_offered_is_refused_in_a_sentence",
    ),
    "a refusal of another kind": (
        belief_with(ratio=lambda self, X: [][0]),
        "test_what_is_not_offered_is_refused_in_a_sentence",
    ),
    "a column of values": (
        belief_with(mean=lambda self, X: PlaneBelief.mean(self, X)[:, None]),
        "test_values_are_finite_arrays_of_one_number_a_point",
    ),
    "single precision": (
        belief_with(mean=lambda self, X: PlaneBelief.mean(self, X).astype(np.float32)),
        "test_values_are_finite_arrays_of_one_number_a_point",
    ),
    "NaN outside of the box": (
        belief_with(std=lambda self, X: np.where(np.abs(X).max(axis=1) > 1, np.nan, 1.0)),
        "test_values_are_finite_arrays_of_one_number_a_point",
    ),
    "a negative std": (
        belief_with(std=lambda self, X: PlaneBelief.std(self, X) - 2.0 * self.size),
        "test_uncertainty_is_nowhere_negative",
    ),
    "noise that was not declared": (
        belief_with(noise_std=lambda self, X: np.full(len(self.check_points(X)), 0.1)),
        "test_uncertainty_is_nowhere_negative",
    ),
    "values that hang on the batch": (
        belief_with(mean=_mean_of_batch),
        "test_a_point_alone_has_the_values_it_has_in_a_batch",
    ),
    "no points, no answer": (belief_with(mean=_mean_of_reduction), "test_no_points_have_no_values"),
    "std before mean": (
        belief_with(predict=lambda self, X, return_std=False: (self.std(X), self.mean(X))),
        "test_predict_speaks_as_scikit_learn_does",
    ),
    "a gradient of the wrong sign": (
        belief_with(differentiate=_backwards),
        "test_gradients_are_those_of_the_values",
    ),
    "no gradient of std": (
        belief_with(differentiate=_flat),
        "test_gradients_are_those_of_the_values",
    ),
    "a network that is a little off": (
        belief_with(network=_network_off_by_a_little),
        "test_the_compiled_network_is_the_belief",
    ),
    "a network without a mean": (
        belief_with(network=_anonymous_network),
        "test_the_compiled_network_is_the_belief",
    ),
    "a posterior of another std": (
        belief_with(posterior=_with_another_std),
        "test_the_posterior_that_is_proven_about_is_the_belief",
    ),
    "a posterior refused without a sentence": (
        belief_with(posterior=_mumbling),
        "test_the_posterior_that_is_proven_about_is_the_belief",
    ),
    "a scale that moves the mean": (
        belief_with(scaled=_scaled_with_mean),
        "test_scaling_multiplies_the_uncertainty_and_nothing_else",
    ),
    "a scale that forgets the one before": (
        belief_with(scaled=_scaled_once),
        "test_scaling_multiplies_the_uncertainty_and_nothing_else",
    ),
    "a scale of nothing": (
        belief_with(scaled=_scaled_by_anything),
        "test_scaling_multiplies_the_uncertainty_and_nothing_else",
    ),
    "a file without the scale": (
        belief_with(to_arrays=_arrays_without_scale),
        "test_a_saved_belief_comes_back_bit_for_bit",
    ),
    "a file in single precision": (
        belief_with(to_arrays=_arrays_in_single),
        "test_a_saved_belief_comes_back_bit_for_bit",
    ),
    "draws that heed no seed": (
        belief_with(draw=_drawn_by_nobody),
        "test_a_draw_is_one_function_for_a_seed",
    ),
    "a fit that heeds no seed": (
        plane_with(fit=_noisy_fit),
        "test_the_same_seed_learns_the_same_bit_for_bit",
    ),
    "global randomness used": (
        plane_with(fit=_noisy_fit),
        "test_global_randomness_is_neither_used_nor_changed",
    ),
    "global randomness changed": (
        plane_with(fit=_reseeding_fit),
        "test_global_randomness_is_neither_used_nor_changed",
    ),
    "arguments that are changed": (
        plane_with(fit=_centering_fit),
        "test_fitting_leaves_its_arguments_alone",
    ),
    "data that are kept": (
        plane_with(fit=_lazy_fit),
        "test_changing_the_data_afterwards_changes_no_belief",
    ),
    "one observation too few": (
        plane_with(fit=_fit_of_many),
        "test_one_or_two_observations_are_enough[1]",
    ),
    "a deviation with a floor": (
        plane_with(fit=_fit_with_a_floor),
        "test_huge_and_tiny_values[1e-12]",
    ),
    "NaN among the observations": (
        plane_with(fit=_trusting_fit),
        "test_what_is_not_finite_is_refused[nan]",
    ),
    "fewer values than points": (
        plane_with(fit=_trusting_fit),
        "test_wrong_shapes_are_refused[short y]",
    ),
    "points of any dimension": (
        belief_with(check_points=lambda self, X: np.zeros((3, 2))),
        "test_points_of_another_dimension_are_refused",
    ),
}

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "1": (1,),
    "1e-12": (1e-12,),
    "nan": (np.nan,),
    "short y": (np.zeros((4, 2)), np.zeros(3), "one value a row"),
}


def _run(surrogate: type[Surrogate], test: str, tmp_path: Path) -> None:
    class Contract(SurrogateContract):
        def make(self, **options: Any) -> Surrogate:
            return surrogate(**options)

    name, _, case = test.rstrip("]").partition("[")
    run: Callable[..., None] = getattr(Contract(), name)
    arguments = ARGUMENTS.get(case, ())
    files = (tmp_path,) if "tmp_path" in run.__code__.co_varnames[:2] else ()
    run(*files, *arguments)


@pytest.mark.parametrize("flaw", BROKEN)
def test_the_contract_catches(flaw: str, tmp_path: Path) -> None:
    surrogate, test = BROKEN[flaw]
    _run(Plane, test, tmp_path)  # the sound one passes the very same test
    with pytest.raises((AssertionError, pytest.fail.Exception, ValueError, LookupError)):
        _run(surrogate, test, tmp_path)


def test_the_function_of_the_contract_has_no_symmetry() -> None:
    X, y = sample(50, 3)
    for axis in range(3):
        mirrored = X.copy()
        mirrored[:, axis] *= -1.0
        assert np.abs(wave(mirrored) - y).max() > 0.1
    assert np.abs(wave(X[:, [1, 0, 2]]) - y).max() > 0.1


def test_a_seed_that_nobody_checks_is_caught() -> None:
    class Unchecked(SurrogateContract):
        def make(self, **options: Any) -> Surrogate:
            return plane_with(__post_init__=lambda self: None)(**options)

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        Unchecked().test_a_negative_seed_is_refused_in_a_sentence(-1)
