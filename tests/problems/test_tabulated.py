"""Tables of trained networks: a file of the published form, and files that are none."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, MissingExtraError
from nnbo_mip.problems.tabulated import CHOICES, EPOCHS, LEVELS, Table

SMALL = {"n_units_1": 2, "init_lr": 2}
"""How many of the levels a file of a test has; of the others one, of choices all."""


def settings() -> list[dict[str, Any]]:
    values = {name: own[: SMALL.get(name, 1)] for name, own in LEVELS.items()}
    chosen = itertools.product(*values.values(), *CHOICES.values())
    return [dict(zip((*LEVELS, *CHOICES), one, strict=True)) for one in chosen]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("table") / "fcnet_made_up_data.hdf5"
    rng = np.random.default_rng(0)
    with h5py.File(made, "w") as file:
        for setting in settings():
            entry = file.create_group(json.dumps(setting, sort_keys=True))
            entry["valid_mse"] = rng.uniform(0.2, 1.0, (4, EPOCHS))
    return made


def test_a_setting_has_the_mean_error_of_its_trainings(path: Path) -> None:
    for epochs in (EPOCHS, 4):
        problem = nm.problems.create("fcnet", path=str(path), epochs=epochs)
        with h5py.File(path) as file:
            for setting in settings():
                wanted = file[json.dumps(setting, sort_keys=True)]["valid_mse"][:, epochs - 1]
                ranks = {name: own.index(setting[name]) for name, own in LEVELS.items()}
                x = ranks | {name: setting[name] for name in CHOICES}
                assert problem(x) == pytest.approx(wanted.mean(), rel=1e-12)


def test_the_least_error_is_the_optimum(path: Path) -> None:
    problem = nm.problems.create(f"fcnet:path={path},least=True")
    with h5py.File(path) as file:
        assert problem.optimum == min(file[key]["valid_mse"][:, -1].mean() for key in file)
    assert nm.problems.create(f"fcnet:path={path}").optimum is None


def test_settings_are_encoded_and_decoded_one_to_one() -> None:
    space = Table("", EPOCHS).space
    ranks = [range(len(own)) for own in LEVELS.values()]
    chosen = itertools.product(*ranks, *CHOICES.values())
    points = [dict(zip((*LEVELS, *CHOICES), one, strict=True)) for one in chosen]
    assert len(points) == 62_208
    encoded = space.encode(points)
    assert encoded.shape == (62_208, 6 + 3 * 2)
    assert len(np.unique(encoded, axis=0)) == 62_208
    assert space.model().admissible(encoded).all()
    assert list(space.decode(encoded)) == points


def test_a_setting_that_is_missing_is_named(path: Path) -> None:
    problem = nm.problems.create("fcnet", path=str(path))
    x = {name: len(own) - 1 for name, own in LEVELS.items()}
    with pytest.raises(InputError, match="must have an entry for each setting; got none for"):
        problem(x | {name: own[0] for name, own in CHOICES.items()})


@pytest.mark.parametrize("epochs", [0, 101, 2.5])
def test_epochs_that_are_none_are_refused(path: Path, epochs: Any) -> None:
    with pytest.raises(InputError, match="epochs"):
        nm.problems.create("fcnet", path=str(path), epochs=epochs)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="which is no file; download"):
        nm.problems.create("fcnet", path=str(tmp_path / "nothing.hdf5"))
    other = tmp_path / "other.hdf5"
    other.write_text("text")
    with pytest.raises(InputError, match=r"table of HPOBench \(HDF5\)"):
        nm.problems.create("fcnet", path=str(other))


def test_without_the_package_its_extra_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match="hpobench"):
        nm.problems.create("fcnet", path=str(path))
