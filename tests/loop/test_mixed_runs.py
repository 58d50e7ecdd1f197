"""Runs on mixed spaces: ordinals, conditions and categories from the first point to the journal."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.lab.peers.sides import coded, decoded, sides_of
from nnbo_mip.loop.record.region_box import RegionBox
from nnbo_mip.loop.regions.box import box_of
from nnbo_mip.loop.regions.regions import Extent
from nnbo_mip.loop.regions.trust_region import TrustRegion
from nnbo_mip.loop.settings.defaults import surrogate_for
from nnbo_mip.loop.settings.settings import Settings
from nnbo_mip.loop.tables.tables import read_table

SPACE = nm.Space(
    [
        nm.Categorical("optimizer", ["adam", "sgd", "lbfgs"]),
        nm.Real("momentum", 0.0, 1.0, when={"optimizer": "sgd"}, default=0.9),
        nm.Ordinal("batch", [16, 32, 64, 128]),
        nm.Integer("units", 8, 128, log=True),
    ]
)
FINITE = nm.Space(
    [
        nm.Categorical("kind", ["a", "b"]),
        nm.Integer("n", 0, 2, when={"kind": "b"}),
        nm.Ordinal("o", ["low", "high"]),
    ]
)


def loss(x: dict[str, Any]) -> float:
    """Return a loss that knows which settings are there."""
    assert ("momentum" in x) == (x["optimizer"] == "sgd")
    own = (x["momentum"] - 0.3) ** 2 if "momentum" in x else 0.2
    rest = (np.log2(x["batch"]) - 5.0) ** 2 / 4.0 + (np.log2(x["units"]) - 5.0) ** 2 / 9.0
    return own + float(rest)


def test_a_run_leaves_inactive_values_out_and_resumes(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    options: dict[str, Any] = {
        "maximizer": "lbfgs:raw_samples=64,starts=3",
        "surrogate": "gp",
        "region": None,
        "initial": 5,
        "seed": 1,
        "journal": path,
    }
    nm.optimize(loss, SPACE, 7, **options)
    resumed = nm.optimize(loss, SPACE, 9, **options)
    assert resumed.nfev == 9
    points = resumed.x_iters
    assert len({json.dumps(x, sort_keys=True) for x in points}) == 9
    opened = nm.BayesianOptimizer.open(path)
    assert opened.space == SPACE
    assert [one.x for one in opened.history] == points


def test_a_run_of_a_release_without_the_option_takes_the_same_surrogate(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    bo = nm.BayesianOptimizer(SPACE, seed=0, surrogate="gp", journal=path)
    bo.tell(bo.ask().x, 1.0)
    del bo
    with closing(sqlite3.connect(path)) as connection:
        (text,) = connection.execute("SELECT value FROM meta WHERE key = 'settings'").fetchone()
        settings = json.loads(text)
        assert settings["options"]["surrogate"].pop("categories") is None
        connection.execute(
            "UPDATE meta SET value = ? WHERE key = 'settings'", (json.dumps(settings),)
        )
        connection.commit()
    opened = nm.BayesianOptimizer.open(path, surrogate="gp")
    assert opened.settings.learner.categories == ((0, 1, 2),)  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="the surrogate of this run is"):
        nm.BayesianOptimizer.open(path, surrogate="gp:nu=1.5")


def test_a_finite_space_ends_when_every_distinct_point_is_known() -> None:
    seen: list[str] = []

    def f(x: dict[str, Any]) -> float:
        seen.append(json.dumps(x, sort_keys=True))
        return len(seen) % 3 + float(x.get("n", 1))

    result = nm.optimize(f, FINITE, 30, initial=3, maximizer="lbfgs:raw_samples=32", seed=0)
    assert result.nfev == len(seen) == len(set(seen)) == 8


def test_a_told_point_that_differs_in_an_inactive_value_is_the_same() -> None:
    bo = nm.BayesianOptimizer(SPACE, seed=0, surrogate="gp")
    asked = bo.ask().x
    while "momentum" in asked:
        bo.tell(asked, 1.0)
        asked = bo.ask().x
    bo.tell({**asked, "momentum": 0.123}, 2.0)
    assert not bo.pending
    assert bo.history[-1].x == asked


def test_an_exact_step_is_about_the_canonical_points() -> None:
    bo = nm.BayesianOptimizer(
        SPACE, seed=2, surrogate="gp", region=None, initial=8, maximizer="auto", time_limit=60
    )
    for _ in range(8):
        x = bo.ask().x
        bo.tell(x, loss(x))
    suggestion = bo.ask()
    proposal = suggestion.proposal
    assert proposal.status == "optimal"
    certificate = suggestion.certificate
    assert certificate is not None
    assert suggestion.x == SPACE.from_numeric(SPACE.to_numeric(suggestion.x)[0])


def test_a_category_counts_once_when_a_default_is_chosen() -> None:
    levels = [f"l{k}" for k in range(9)]
    space = nm.Space([nm.Categorical("c", levels), nm.Real("a", 0, 1), nm.Real("b", 0, 1)])
    assert space.model().n_parameters == 3
    assert Settings.planned(space, seed=0).surrogate.name == "gp"
    settings = Settings.planned(space, seed=0, surrogate="gp")
    assert settings.learner.categories == (tuple(range(9)),)  # type: ignore[attr-defined]
    assert settings.surrogate.categories is None  # type: ignore[attr-defined]


def test_a_region_holds_all_levels_and_what_they_hold() -> None:
    domain = SPACE.model()
    centre = SPACE.encode({"optimizer": "sgd", "momentum": 0.1, "batch": 64, "units": 30})[0]
    box = box_of(Extent(0.05, centre, is_weighted=True), domain, np.array([9.0, 9, 9, 1, 1, 1]))
    assert box.lower[:3].tolist() == [0.0] * 3
    assert box.upper[:3].tolist() == [1.0] * 3
    assert box.upper[3] == pytest.approx(0.8)
    assert box.lower[3] == pytest.approx(-0.85)  # as wide as without the category's length-scales
    assert box.moving == box.coordinates == 4
    assert TrustRegion().for_parameters(6).failures == 6
    assert TrustRegion(failures=2).for_parameters(6).failures == 2
    assert box.share == pytest.approx(np.prod(0.5 * (box.upper - box.lower)[3:]))
    assert RegionBox.from_dict(box.to_dict()).share == box.share
    within = domain.restrict(box.lower, box.upper)
    levels = within.sample(50, np.random.default_rng(0))[:, :3].argmax(axis=1)
    assert set(levels) == {0, 1, 2}


def test_tables_may_leave_inactive_cells_empty(tmp_path: Path) -> None:
    path = tmp_path / "past.csv"
    path.write_text(
        "optimizer,momentum,batch,units,y\nadam,,32,16,1.0\nsgd,0.5,64.0,20,2\nlbfgs,7,16,8,3\n"
    )
    table = read_table(path, SPACE)
    assert table.x[0] == {"optimizer": "adam", "batch": 32, "units": 16}
    assert table.x[1] == {"optimizer": "sgd", "momentum": 0.5, "batch": 64, "units": 20}
    assert "momentum" not in table.x[2]
    rows = [{"optimizer": "adam", "batch": 32, "units": 16}]
    assert read_table((rows, [1.0]), SPACE).x[0] == rows[0]
    path.write_text("optimizer,momentum,batch,units,y\nsgd,,32,16,1.0\n")
    with pytest.raises(InputError, match="'momentum' is empty where it has a meaning"):
        read_table(path, SPACE)
    path.write_text("optimizer,momentum,batch,units,y\nadam,,33,16,1.0\n")
    with pytest.raises(InputError, match=r"'batch' must be one of .* got 33"):
        read_table(path, SPACE)


def test_other_tools_see_ranks_and_defaults() -> None:
    sides = sides_of(SPACE)
    assert [side.kind for side in sides] == ["choice", "real", "integer", "integer"]
    x = {"optimizer": "adam", "batch": 128, "units": 9}
    values = coded(SPACE, sides, x)
    assert values == [0, 0.9, 3, 9]
    assert decoded(SPACE, sides, values) == x
    words = sides_of(FINITE)
    assert decoded(FINITE, words, [1, 2, 1]) == {"kind": "b", "n": 2, "o": "high"}


@pytest.fixture(scope="module")
def posterior() -> tuple[Any, Any, Any]:
    """Return a belief about the loss, and what it learned from."""
    domain = SPACE.model()
    X = domain.sample(20, np.random.default_rng(0))
    y = np.array([-loss(x) for x in SPACE.decode(X)]) + X[:, 0]  # adam is best
    family = nm.surrogates.create(surrogate_for("gp", domain.n_parameters))
    return family.with_categories(domain.one_hot).fit(X, y), X, y


@pytest.mark.parametrize("maximizer", ["grid", "sobol", "random", "direct", "pga", "lbfgs"])
def test_heuristics_reach_points_at_which_something_is_held(
    maximizer: str, posterior: tuple[Any, Any, Any]
) -> None:
    (belief, X, y), domain = posterior, SPACE.model()
    proposal = nm.maximize(belief, "ei", domain, maximizer=maximizer, X=X, y=y, seed=0)
    assert proposal.x is not None
    assert domain.admissible(proposal.x[None])[0]
    assert SPACE.decode(proposal.x)["optimizer"] == "adam"
    exact = nm.maximize(belief, "ei", domain, X=X, y=y, seed=0, time_limit=200)
    assert exact.status == "optimal"
    assert proposal.value <= exact.bound
    if maximizer in ("lbfgs", "pga"):
        assert proposal.value >= exact.value - 1e-3 * abs(exact.value)
