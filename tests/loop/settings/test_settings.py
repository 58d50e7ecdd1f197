"""Settings are checked at the start, and the journal makes the same ones again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.regions.regions import region_of
from nnbo_mip.loop.settings.defaults import surrogate_for
from nnbo_mip.loop.settings.settings import DOORS
from nnbo_mip.loop.warps.warping import warp_of
from nnbo_mip.space import Categorical, Integer, Real, Space
from nnbo_mip.surrogates.rvfl.brvfl import Brvfl
from tests.loop.runs import BOX, advance, figures, optimizer


@dataclass(frozen=True)
class Shifted(Brvfl):
    """A surrogate that no registry knows."""

    shift: float = 0.0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"direction": "minimise"}, "did you mean 'minimize'"),
        ({"direction": None}, "maximize, minimize"),
        ({"surrogate": "nomo"}, "did you mean 'nomu'"),
        ({"surrogate": "brvfl:n_hiden=3"}, "did you mean 'n_hidden'"),
        ({"surrogate": 3}, "a surrogate must be a name"),
        ({"acquisition": "lcb"}, "must be one of"),
        ({"maximizer": "autos"}, "did you mean 'auto'"),
        ({"initial": "soboll"}, "did you mean 'sobol'"),
        ({"initial": [[100.0, 5.0]]}, "must lie in"),
        ({"escape": "exclud"}, "did you mean 'exclude'"),
        ({"scaling": "width"}, "must be one of"),
        ({"restart": "visit"}, "did you mean 'revisit'"),
        ({"batch": "liar:value=min"}, "worst, mean, best"),
        ({"time_limit": 0.0}, "time_limit must be > 0"),
        ({"time_limit": "10"}, "must be a number"),
        ({"gap": -1.0}, "gap must be >= 0"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": 0.5}, "seed must be a whole number"),
        ({"most_fitted": 1}, "most_fitted must be an integer >= 2"),
        ({"steps": 0}, "steps must be an integer >= 1"),
        ({"acquisition": "ts", "surrogate": "pgp"}, None),
        ({"surrogate": "pgp", "scaling": "mean_width"}, "do not allow"),
        ({"surrogate": "pgp", "escape": "exponential"}, "do not allow"),
        ({"surrogate": "gp", "maximizer": "mip"}, "needs networks of ReLUs"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_evaluated(
    options: dict[str, Any], said: str | None
) -> None:
    if said is None:
        assert optimizer(**options).ask().is_initial
        return
    with pytest.raises(ValueError, match=said) as caught:
        optimizer(**options)
    assert isinstance(caught.value, nm.NnboError)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], "pairs"),
        (BOX.model(), "pass the Space that it came from"),
        (
            Space.box([0.0], [1.0], [nm.LinearConstraint({"x0": 1.0}, "<=", -5.0)]),
            "constraints leave none",
        ),
        (None, "a space must be given as"),
        ([], "one pair|shape"),
    ],
)
def test_what_is_no_space_is_refused(space: object, said: str) -> None:
    with pytest.raises(nm.InputError, match=said):
        BayesianOptimizer(space)


def test_maximizers_are_asked_for_their_abilities_first() -> None:
    mixed = Space([Real("a", 0.0, 1.0), Integer("n", 0, 3)])
    for name in ("direct", "grid"):
        maximizer = nm.maximizers.create(name)
        if not maximizer.abilities.integers:
            with pytest.raises(nm.UnsupportedError, match="integers"):
                optimizer(mixed, maximizer=name)
    many = Space.box(np.zeros(100), np.ones(100))
    if nm.maximizers.create("grid").abilities.most_inputs < 100:
        with pytest.raises(nm.UnsupportedError, match="takes up to"):
            optimizer(many, maximizer="grid")


def test_names_without_sizes_get_those_that_suit_the_dimension() -> None:
    few, many = nm.surrogates.create("nomu"), nm.surrogates.create("nomu", hidden=(16,))
    settings = BayesianOptimizer([(0.0, 1.0)] * 7, "nomu").settings
    assert settings.surrogate == few
    assert few.hidden == (32, 32)  # type: ignore[attr-defined]
    assert BayesianOptimizer([(0.0, 1.0)] * 8, "nomu").settings.surrogate == many
    for given in ("nomu:hidden=(5,)", {"name": "nomu", "hidden": (5,)}, few, "nomu:thesis"):
        assert nm.surrogates.create(surrogate_for(given, 20)) == nm.surrogates.create(given)
    assert surrogate_for("nomu:epochs=3", 20) == replace(many, epochs=3)  # type: ignore[type-var]
    assert nm.surrogates.create(surrogate_for("brvfl", 4)) == nm.surrogates.create("brvfl")
    for dimension in (5, 6):
        assert surrogate_for("brvfl", dimension) == nm.surrogates.create("brvfl", n_hidden=100)
    assert nm.surrogates.create(surrogate_for("brvfl", 7)) == nm.surrogates.create("brvfl")
    with pytest.raises(nm.InputError, match="did you mean"):
        nm.surrogates.create(surrogate_for("nomu:epoch=3", 20))


def test_a_name_alone_gets_the_options_of_its_family() -> None:
    ours = {"kernel": "matern", "ard": True, "n_restarts": 3, "length_scale_prior": "hierarchical"}
    ours["amplitude_bounds"] = (1e-5, 1e2)
    for dimension in (1, 4, 5, 20):
        alone = surrogate_for("gp", dimension)
        assert alone == nm.surrogates.create("gp", alpha=1e-9, learns_noise=True, **ours)
    written = surrogate_for("gp:kernel=rbf", 2)
    assert nm.surrogates.create(written) == nm.surrogates.create("gp", kernel="rbf")


def test_what_is_left_open_is_the_default_family() -> None:
    for dimension, family in {1: "gp", 7: "gp", 20: "gp", 21: "portfolio"}.items():
        settings = BayesianOptimizer([(0.0, 1.0)] * dimension).settings
        assert settings.surrogate == DOORS["surrogate"](surrogate_for(family, dimension))
        assert settings.acquisition == nm.acquisitions.create("ei")


def test_beyond_twenty_coordinates_choices_have_another_family_than_numbers() -> None:
    def family(*sides: Any) -> str:
        return BayesianOptimizer(nm.Space(list(sides))).settings.surrogate.name

    numbers = [
        *(Real(f"r{j}", 0.0, 1.0) for j in range(8)),
        *(Integer(f"n{j}", 0, 99) for j in range(7)),
    ]
    choices = [
        *(Integer(f"b{j}", 0, 1) for j in range(8)),
        *(Categorical(f"c{j}", ["a", "b", "c"]) for j in range(8)),
    ]
    assert family(*numbers, *choices[:8]) == "portfolio"
    assert family(*numbers[:8], *choices) == "sparse_quadratic"
    assert family(*numbers, *choices) == "sparse_quadratic"


def test_a_region_that_is_left_open_hangs_on_the_family() -> None:
    def region(family: str, dimension: int, **options: Any) -> object:
        return BayesianOptimizer([(0.0, 1.0)] * dimension, family, **options).settings.region

    lasts = {"gp": (20, "slices"), "portfolio": (20, "slices")}
    lasts |= dict.fromkeys(("brvfl", "nomu"), (6, "trust:failures=5"))
    for family, (last, beyond) in lasts.items():
        assert region(family, last) == region_of(None)
        assert region(family, last + 1) == region_of(beyond)
        assert region(family, last + 1, region=None) == region_of(None)
    sides = [(0.0, 1.0)] * 30
    embedded = BayesianOptimizer(sides, embedding="hashed:dimension=4").settings
    assert embedded.region == region_of(None)


def test_an_acquisition_that_is_left_open_is_that_of_the_family() -> None:
    for family, name in {"nomu": "ucb", "deep_ensemble": "ei", "brvfl": "ei"}.items():
        settings = BayesianOptimizer([(0.0, 1.0)], family).settings
        assert settings.acquisition == nm.acquisitions.create(name)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"direction": "maximize", "gap": 0.01, "time_limit": np.inf, "most_fitted": 7},
        {"surrogate": "nomu:thesis", "acquisition": "pi:xi=decay(start=0.5)", "steps": 30},
        {"surrogate": {"name": "brvfl", "n_hidden": 7}, "maximizer": "lbfgs:botorch"},
        {"initial": [[100.0, -2.0], (99.5, -1.0)], "escape": "exponential:padding=3"},
        {"initial": np.array([[100, -2], [99, -1]]), "scaling": "mean_width:budget=0.1"},
        {"initial": {"name": "given", "given": [[100.0, -2.0]], "then": "maximin:n=3"}},
        {"surrogate": Brvfl(n_hidden=9), "batch": "liar", "restart": "revisit:n=2"},
        {"escape": None, "batch": None, "seed": None},
    ],
)
def test_a_journal_makes_the_same_settings_again(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "run.db"
    run = BayesianOptimizer(BOX, **options, journal=path)
    settings, stored = run.settings, BayesianOptimizer.open(path).settings
    for name in ("surrogate", "acquisition", "maximizer", "initial", "scaling", "escape"):
        assert getattr(stored, name) == getattr(settings, name)
    assert (stored.restart, stored.batch) == (settings.restart, settings.batch)
    assert stored.space == settings.space
    assert stored.to_dict() == settings.to_dict()
    assert stored.seed == settings.seed


def test_seeds_that_nobody_chose_differ() -> None:
    seeds = {optimizer(seed=None).settings.seed for _ in range(4)}
    assert len(seeds) == 4


def test_an_object_that_no_registry_knows_is_passed_again(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    mine = Shifted(n_hidden=12, shift=2.0)
    run = optimizer(surrogate=mine, journal=path)
    advance(run, 5)
    with pytest.raises(nm.InputError, match=r"Shifted\(.*pass it again: open\(path, surrogate=…\)"):
        BayesianOptimizer.open(path)
    with pytest.raises(nm.InputError, match="pass the same"):
        BayesianOptimizer.open(path, surrogate=replace(mine, shift=3.0))
    resumed = BayesianOptimizer.open(path, surrogate=mine)
    assert resumed.settings.surrogate is mine
    expected = optimizer(surrogate=mine)
    advance(expected, 5)
    assert figures(resumed.ask()) == figures(expected.ask())


def test_a_run_is_not_continued_with_something_else(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    optimizer(journal=path)
    assert BayesianOptimizer.open(path, acquisition="ei").space == BOX
    with pytest.raises(nm.InputError, match="acquisition of this run is"):
        BayesianOptimizer.open(path, acquisition="ucb")
    with pytest.raises(nm.InputError, match=r"open takes the options .* got 'space'"):
        BayesianOptimizer.open(path, space=BOX)
    with pytest.raises(nm.InputError, match="in use"):
        optimizer(journal=path)


def test_a_journal_names_the_versions_that_wrote_it(tmp_path: Path) -> None:
    from nnbo_mip.loop.record.journal import Journal

    path = tmp_path / "run.db"
    optimizer(journal=path)
    versions = Journal.open(path).meta()["versions"]
    assert versions["nnbo_mip"] == nm.__version__
    assert versions["numpy"] == np.__version__


def test_n_is_a_number_of_points() -> None:
    run = optimizer()
    assert len(run.ask(1)) == 1
    for n in (0, -1, 1.5, True, "2"):
        with pytest.raises(nm.InputError, match="n must be an integer >= 1"):
            run.ask(n)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("surrogate", "warp"),
    [(None, "asinh"), ("gp:kernel=rbf", "asinh"), ("brvfl", "half_rank"), ("nomu", "half_rank")],
)
def test_a_warp_that_is_left_open_is_that_of_the_family(surrogate: object, warp: str) -> None:
    assert BayesianOptimizer([(0.0, 1.0)], surrogate).settings.warp == warp_of(warp)
    assert BayesianOptimizer([(0.0, 1.0)] * 6, surrogate).settings.warp == warp_of(warp)
    assert BayesianOptimizer([(0.0, 1.0)] * 20, surrogate).settings.warp == warp_of(warp)
    assert BayesianOptimizer([(0.0, 1.0)] * 21, surrogate).settings.warp == warp_of("half_rank")
    assert BayesianOptimizer([(0.0, 1.0)], surrogate, warp=None).settings.warp == warp_of("none")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"surrogate": "random_forest:n_trees=3", "maximizer": "lbfgs"}, "needs gradients"),
        ({"surrogate": "brvfl:n_hidden=5", "maximizer": "mip"}, "no sequence of linear problems"),
        ({"surrogate": "gp", "acquisition": "ts", "maximizer": "bab"}, "has no proven bounds"),
        ({"surrogate": "tpe", "maximizer": "bab"}, "network of ReLUs"),
        ({"surrogate": "gp", "maximizer": "candidates"}, "draws no points"),
        ({"surrogate": "gp", "maximizer": "grid:points=1001,evaluations=1000"}, "the grid has"),
    ],
)
def test_what_a_first_step_would_refuse_is_refused_before_it_is_paid_for(
    options: dict[str, Any], said: str
) -> None:
    with pytest.raises(nm.UnsupportedError, match=said):
        BayesianOptimizer(BOX, **options)
    calls: list[Any] = []
    with pytest.raises(nm.UnsupportedError, match=said):
        nm.optimize(calls.append, BOX, 20, **options)
    assert not calls


def test_most_runs_begin_without_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise AssertionError("nothing is fitted before the first step with a model")

    monkeypatch.setattr(nm.surrogates.create("gp").__class__, "fit", fails)
    for name in ("auto", "lbfgs", "random", "sobol", "direct", "grid:points=9"):
        optimizer(surrogate="gp", maximizer=name)
    with pytest.raises(AssertionError, match="nothing is fitted"):
        optimizer(surrogate="gp", maximizer="bab")


def test_a_trial_that_fails_refuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise nm.TrainingError("the loss left the finite numbers")

    monkeypatch.setattr(Brvfl, "fit", fails)
    optimizer(maximizer="mip")


def test_a_run_is_opened_with_the_names_that_it_was_begun_with(tmp_path: Path) -> None:
    given = {"surrogate": "gp", "maximizer": "auto", "escape": "exclude:first=0.1,last=0.1"}
    auto = {"region": "auto", "warp": "auto"}
    BayesianOptimizer(BOX, **given, journal=tmp_path / "run.db")
    for options in ({}, given, auto, {**given, **auto}):
        BayesianOptimizer.open(tmp_path / "run.db", **options)
    for wrong in ({"surrogate": "nomu"}, {"escape": "none"}, {"warp": "none"}):
        with pytest.raises(InputError, match="of this run is"):
            BayesianOptimizer.open(tmp_path / "run.db", **wrong)


def test_options_without_a_limit_are_kept_as_any_others(tmp_path: Path) -> None:
    """JSON has no infinity; objects with one are made again all the same."""
    maximizer = nm.maximizers.create("lbfgs", starts=3)
    assert np.isinf(maximizer.time_limit)
    BayesianOptimizer(BOX, maximizer=maximizer, journal=tmp_path / "run.db")
    assert BayesianOptimizer.open(tmp_path / "run.db").settings.maximizer == maximizer


def test_what_a_batch_would_refuse_is_refused_before_it_is_paid_for() -> None:
    line = [(0.0, 1.0)]
    with pytest.raises(UnsupportedError, match="a draw of a Gaussian process"):
        nm.BayesianOptimizer(line, "gp", maximizer="bab", batch="thompson")
    nm.BayesianOptimizer(line, "gp", maximizer="bab")
    nm.BayesianOptimizer(line, "brvfl", maximizer="bab", batch="thompson")
    nm.BayesianOptimizer(line, "gp", maximizer="lbfgs", batch="thompson")


def test_settings_that_were_rehearsed_before_begin_the_run_of_their_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = BayesianOptimizer(BOX, "brvfl:n_hidden=4", "ei", initial=2)
    with monkeypatch.context() as patched:
        patched.setattr(Brvfl, "fit", None)
        again = BayesianOptimizer.of(whole.settings)
    for _ in range(3):
        first, second = whole.ask(), again.ask()
        assert first.x.tolist() == second.x.tolist()
        whole.tell(first, float(first.x[0]))
        again.tell(second, float(second.x[0]))
