"""Files of every release are opened by this one: nothing that somebody saved is lost.

`tests/assets/make_assets.py` wrote them, and lists them in ``manifest.json`` with what there is to
see. A new release adds a folder; this module needs no change for it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import nnbo_mip as nm

ASSETS = Path(__file__).parent / "assets"
KINDS = ("certificate", "network", "belief", "objective", "journal", "store")

ROUNDING = 1e-9
"""Relative difference that another machine's linear algebra may make, as in the contract of
surrogates."""


def listed(kind: str) -> list[Any]:
    """Return the entries of a kind of all releases, with the folder that holds their files."""
    return [
        pytest.param(manifest.parent, entry, id=f"{manifest.parent.name}/{entry['file']}")
        for manifest in sorted(ASSETS.glob("*/manifest.json"))
        for entry in json.loads(manifest.read_text(encoding="utf-8"))["entries"]
        if entry["kind"] == kind
    ]


def same(computed: npt.ArrayLike, stored: npt.ArrayLike) -> None:
    expected = np.asarray(stored)
    size = float(np.abs(expected).max())
    np.testing.assert_allclose(computed, expected, rtol=ROUNDING, atol=ROUNDING * size)


def test_there_are_files_of_every_kind_and_none_is_forgotten() -> None:
    assert all(listed(kind) for kind in KINDS)
    for manifest in ASSETS.glob("*/manifest.json"):
        entries = json.loads(manifest.read_text(encoding="utf-8"))["entries"]
        assert {entry["kind"] for entry in entries} <= set(KINDS)
        named = {entry[role] for entry in entries for role in ("file", "about") if role in entry}
        assert named | {manifest.name} == {path.name for path in manifest.parent.iterdir()}


@pytest.mark.parametrize(("folder", "entry"), listed("certificate"))
def test_a_certificate_is_read_and_proven_again(folder: Path, entry: dict[str, Any]) -> None:
    certificate = nm.Certificate.load(folder / entry["file"])
    assert certificate.digest == certificate.content_digest()
    answer = certificate.check(folder / entry["about"])
    assert answer.confirmed, answer


@pytest.mark.parametrize(("folder", "entry"), listed("certificate"))
def test_a_certificate_keeps_its_text_and_digest(folder: Path, entry: dict[str, Any]) -> None:
    text = (folder / entry["file"]).read_text(encoding="utf-8")
    assert json.loads(nm.Certificate.from_json(text).to_json()) == json.loads(text)


@pytest.mark.parametrize(("folder", "entry"), listed("network"))
def test_a_network_computes_what_it_did(folder: Path, entry: dict[str, Any]) -> None:
    same(nm.Network.load(folder / entry["file"]).evaluate(entry["points"]), entry["values"])


@pytest.mark.parametrize(("folder", "entry"), listed("belief"))
def test_a_belief_predicts_what_it_did(folder: Path, entry: dict[str, Any]) -> None:
    belief = nm.surrogates.load(folder / entry["file"])
    quantities = {"mean", "std", "ratio"} & set(entry)
    assert quantities
    for quantity in quantities:
        same(getattr(belief, quantity)(entry["points"]), entry[quantity])


@pytest.mark.parametrize(("folder", "entry"), listed("objective"))
def test_an_objective_scores_what_it_did(folder: Path, entry: dict[str, Any]) -> None:
    from nnbo_mip.scores.objective import Objective

    same(Objective.load(folder / entry["file"]).score(entry["points"]), entry["scores"])


@pytest.mark.parametrize(("folder", "entry"), listed("journal"))
def test_a_journal_is_opened_and_goes_on(
    folder: Path, entry: dict[str, Any], tmp_path: Path
) -> None:
    path = Path(shutil.copy(folder / entry["file"], tmp_path / "run.db"))
    run = nm.BayesianOptimizer.open(path)
    assert [[told.x, told.y] for told in run.history] == entry["history"]
    again = run.ask()  # what was asked and never told is given out again
    run.tell(again, 0.25)
    asked = run.ask()
    assert asked.status == "optimal"
    assert asked.certificate is not None
    run.tell(asked, 0.5)
    later = nm.BayesianOptimizer.open(path)
    assert [told.y for told in later.history[-2:]] == [0.25, 0.5]


@pytest.mark.parametrize(("folder", "entry"), listed("store"))
def test_a_store_is_reported(folder: Path, entry: dict[str, Any], tmp_path: Path) -> None:
    shutil.copy(folder / entry["file"], tmp_path / "store.db")
    command = [sys.executable, "-m", "nnbo_mip", "report", "store.db", "--out", "report.html"]
    done = subprocess.run(
        [*command, "--json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for method in entry["methods"]:
        assert method in done.stdout
        assert method in page
