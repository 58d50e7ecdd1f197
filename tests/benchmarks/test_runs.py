"""Both commands end to end on tiny networks."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchmarks.certify import __main__ as certify
from benchmarks.certify.measure import Job, run
from benchmarks.certify.nets import trained
from benchmarks.certify.results import read_rows
from benchmarks.certify.train_nets import Recipe
from benchmarks.soundness import __main__ as soundness
from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.network.graph.graph import Network

RECIPES = tuple(Recipe(kind, "levy", 2, 1, 4, steps=30) for kind in ("mlp", "rvfl", "ens5", "nomu"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("nets")
    trained(path, RECIPES)
    return path


def test_training_is_seeded_and_cached(folder, tmp_path) -> None:
    again = trained(tmp_path, RECIPES[:1])[0]
    cached = folder / again.name
    assert Network.load(again).fingerprint == Network.load(cached).fingerprint
    before = cached.stat().st_mtime_ns
    trained(folder, RECIPES)
    assert cached.stat().st_mtime_ns == before


def test_nomu_is_uncertain_away_from_its_data(folder) -> None:
    network = Network.load(folder / "d02_levy_nomu_1x4_s0.npz")
    assert [layer.width for layer in network.layers] == [4, 4, 2]
    clip = network.layers[-1]
    assert clip.bias[0] - clip.bias[1] == pytest.approx(2.0 - 0.001)
    assert (clip.dense(1)[0] == clip.dense(1)[1]).all()


def test_certify_measures_checks_and_resumes(folder, tmp_path, capsys) -> None:
    out = tmp_path / "rows.json"
    arguments = ["--nets", str(folder), "--only", "nomu", "--engines", "boxes", "phases"]
    arguments += ["--json", str(out), "--repeats", "1", "--limit", "20"]
    assert certify.main(arguments) == 0
    rows = read_rows(out)
    assert len(rows) == 2
    assert {row.status for row in rows} == {"optimal"}
    for row in rows:
        network = Network.load(folder / f"{row.network}.npz")
        assert row.value == network.evaluate(np.array([row.x]), 0)[0]
        assert 20.0 < row.peak_mb < 2000.0
        assert 0.0 < row.median < 20.0
    assert "| geometric mean |" in capsys.readouterr().out
    stamp = out.read_text()
    out.write_text(stamp.replace('"optimal"', '"time-out"', 1))
    certify.main(arguments)
    assert '"time-out"' in out.read_text(), "a stored row was measured again"


def test_an_unreadable_network_is_refused_by_name(tmp_path) -> None:
    (tmp_path / "broken.npz").write_bytes(b"not a network")
    with pytest.raises(FileFormatError, match="broken"):
        certify.main(["--nets", str(tmp_path), "--engines", "boxes"])


def test_a_call_that_raises_is_a_row(folder, tmp_path, capsys) -> None:
    job = Job(str(folder / "nowhere.npz"), "boxes", gap=1e-4, limit=5.0, wall_limit=5.0, repeats=1)
    (event,) = run(job)
    assert event["event"] == "error"
    assert "nowhere" in event["message"]


def test_soundness_judges_keeps_a_journal_and_resumes(tmp_path, capsys) -> None:
    out = tmp_path / "journal.jsonl"
    arguments = ["--n", "4", "--seed", "3", "--limit", "5", "--engines", "boxes", "phases"]
    assert soundness.main([*arguments, "--out", str(out)]) == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 4 * 3
    assert "4 cases, 3 of them enumerated exactly." in capsys.readouterr().out

    entry = next(line for line in lines if "record" in line and line["record"]["x"])
    entry["record"]["bound"] = entry["record"]["value"] - 1.0
    rest = [line for line in lines if "record" not in line or line is entry]
    out.write_text("\n".join(map(json.dumps, rest)) + '\n{"torn')
    assert soundness.main([*arguments, "--out", str(out)]) == 1
    index = entry["record"]["index"]
    kept = json.loads((tmp_path / "journal.failures" / f"seed3_case{index}.json").read_text())
    assert "is below" in kept["violations"][entry["record"]["engine"]][0]
    assert Network.load(tmp_path / "journal.failures" / f"seed3_case{index}.npz")
