"""The fuzz of the readers itself: whole files pass, damage is damage, failures are seen."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.readers.__main__ import SUCCESS, enormous, forked, main
from benchmarks.readers.mutations import damage
from benchmarks.readers.readers import READERS, Reader


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_sentences(name: str, tmp_path: Path) -> None:
    if name == "onnx":
        pytest.importorskip("onnx")
    store = str(tmp_path / "readers.jsonl")
    assert main(["--readers", name, "--n", "12", "--seed", "7", "--store", store]) == 0


@pytest.mark.parametrize("name", ["experiment", "space", "journal", "store"])
def test_no_number_of_a_file_is_counted_out(name: str) -> None:
    assert enormous(name, every=13 if name in ("journal", "store") else 2) == 0


def test_damage_is_the_same_for_a_seed_and_changes_files(tmp_path: Path) -> None:
    for name in ("certificate", "network", "experiment", "csv", "journal"):
        whole = READERS[name].wholes(tmp_path)[0]
        found = []
        for _ in range(2):
            path = Path(shutil.copy(whole, tmp_path / f"copy{whole.suffix}"))
            for seed in range(5):
                damage(path, READERS[name].kind, np.random.default_rng(seed))
            found.append(path.read_bytes())
        assert found[0] != whole.read_bytes()
        if name != "journal":  # SQLite stamps its file
            assert found[0] == found[1]


def test_failures_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("1")

    def raises(path: Path) -> object:
        raise KeyError("x")

    def hoards(path: Path) -> object:
        return len(b"1" * (1200 << 20))

    def reader(use: object) -> Reader:
        return Reader("json", lambda folder: [path], use)  # type: ignore[arg-type]

    assert forked(reader(lambda path: None), path)[0] == SUCCESS
    assert forked(reader(raises), path)[0].startswith("KeyError")
    assert forked(reader(hoards), path)[0].startswith("memory")
