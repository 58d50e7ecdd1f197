"""The frozen beliefs are what was frozen, and what is proven of them in boxes is attacked."""

from __future__ import annotations

import argparse
import json

import numpy as np
import pytest

from benchmarks.frontier.__main__ import measured, parser, table
from benchmarks.frontier.beliefs import DIGESTS, FOLDER, Run, problem_of, runs
from nnbo_mip.exact.heads.boxes import Boxed
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.primal import gradient_ascent
from nnbo_mip.scores.objective import Objective

BELIEFS = (
    "gp-griewank-4-50",
    "gp-michalewicz-5-50",
    "gp-levy-6-35",
    "gp-hartmann6-6-50",
    "gp-perm-8-20",
)
BOXES = 150


def test_every_file_has_its_digest():
    known = json.loads(DIGESTS.read_text())
    files = sorted(FOLDER.glob("*.npz"))
    assert [path.name for path in files] == sorted(known)
    assert len(files) >= 99
    for path in files[::7]:
        assert Objective.load(path).fingerprint == known[path.name]


def test_another_belief_is_refused(tmp_path, monkeypatch):
    first, second = sorted(FOLDER.glob("*.npz"))[:2]
    other = tmp_path / first.name
    other.write_bytes(second.read_bytes())
    with pytest.raises(SystemExit, match="not what was frozen"):
        problem_of(other, "ei")


def boxes_about(problem, rng):
    """Boxes (d, B) of many widths in length-scales, at observed points, good points and others."""
    read, d = problem.posterior, problem.dimension
    seen = np.clip(read.points * read.x_scale + read.x_center, -1.0, 1.0)
    places = np.vstack([seen, rng.uniform(-1.0, 1.0, (BOXES, d))])
    good = places[np.argsort(-problem.values(places))[:20]]
    center = np.vstack([good, places])[rng.integers(len(places) + 20, size=BOXES)]
    half = 10.0 ** rng.uniform(-4.0, 0.0, (BOXES, 1)) * rng.uniform(0.2, 1.0, (BOXES, d))
    half = half * read.length_scale * read.x_scale
    center = center + half * rng.uniform(-1.0, 1.0, (BOXES, d))
    return np.clip(center - half, -1.0, 1.0), np.clip(center + half, -1.0, 1.0)


@pytest.mark.parametrize("name", BELIEFS)
@pytest.mark.parametrize("score", ["ei", "ucb"])
def test_no_point_of_a_box_beats_what_is_proven_of_it(name, score):
    problem = problem_of(FOLDER / f"{name}.npz", score)
    rng = np.random.default_rng(len(name))
    lower, upper = boxes_about(problem, rng)
    relaxer = Boxed(problem).relaxer
    starts = lower + (upper - lower) * rng.random(lower.shape)
    climbed = gradient_ascent(problem, starts, Monitor(problem, 1e-4), lower, upper)
    level = float(np.quantile(problem.values(climbed), 0.7))
    conditions = relaxer.bound(lower.T, upper.T, level, 0)
    bounds = conditions.values_below(conditions.bound, level)
    assert (bounds <= level).mean() > 0.2  # many are pruned, and attacked
    shares = [rng.random(lower.shape) for _ in range(20)]
    corners = [rng.integers(0, 2, lower.shape) for _ in range(10)]
    points = [lower + (upper - lower) * share for share in (*shares, *corners)]
    for at in (climbed, *(np.clip(point, lower, upper) for point in points)):
        values = problem.values(at)
        assert (values <= bounds).all()
        planes = (conditions.slopes.T * at).sum(axis=1) + conditions.constant
        assert ((values <= level) | (planes >= 0.0)).all()


def test_a_question_is_closed_and_shown():
    run = next(iter(runs(["gp"], [4], ["pilots"])))
    row = measured(run, 20, "ei", 30.0)
    assert row["status"] == "optimal"
    assert row["gap"] <= 1e-4 * max(1.0, abs(row["value"])) * (1.0 + 1e-9)
    options = parser().parse_args(["--limit", "30", "--roles", "pilots"])
    assert isinstance(options, argparse.Namespace)
    named = {"belief": Run("gp", "griewank", 4).path(20).stem, "score": "ei", **row}
    assert "| gp | ei | 4 | 1 of 1 |" in table("pilots", [named], options)
