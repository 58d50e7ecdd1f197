"""Beliefs come back from files bit for bit; files that hold none are refused in a sentence."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import FileFormatError, InputError, MissingFileError
from nnbo_mip.surrogates import Belief
from nnbo_mip.surrogates.base.storage import FORMAT
from nnbo_mip.testing.surrogate_contract import sample

FAMILIES = {
    "gp": {"n_restarts": 0},
    "brvfl": {"n_hidden": 20},
    "elm": {"n_members": 5},
    "ervfl": {"n_members": 3, "n_hidden": 10},
    "deep_ensemble": {"hidden": (4,), "n_members": 2, "epochs": 5},
    "gp_mcmc": {"ard": False, "noise": 0.0, "n_walkers": 4, "burn_in": 1, "chain_length": 2},
    "neural_linear": {"hidden": (4, 3), "epochs": 5},
    "random_forest": {"n_trees": 3},
    "mc_dropout": {"hidden": (4,), "passes": 2, "epochs": 5},
}


@pytest.fixture(scope="module", params=FAMILIES)
def belief(request: pytest.FixtureRequest) -> Belief:
    return nm.surrogates.create(request.param, **FAMILIES[request.param]).fit(*sample(7, 2))


@pytest.fixture(scope="module")
def gp() -> Belief:
    return nm.surrogates.create("gp", n_restarts=0).fit(*sample(7, 2))


@pytest.fixture
def file(gp: Belief, tmp_path: Path) -> Path:
    gp.save(tmp_path / "belief.npz")
    return tmp_path / "belief.npz"


def _write(path: Path, arrays: dict[str, Any]) -> Path:
    with path.open("wb") as stream:
        np.savez(stream, **arrays)
    return path


def _whole(belief: Belief) -> dict[str, Any]:
    return {
        **belief.to_arrays(),
        "format": np.array(FORMAT),
        "family": np.array(belief.family),
    }


# -- whole files ----------------------------------------------------------------------


def test_a_file_holds_plain_arrays_and_says_what_it_is(belief: Belief, tmp_path: Path) -> None:
    belief.save(tmp_path / "belief.npz")
    with np.load(tmp_path / "belief.npz", allow_pickle=False) as archive:
        assert str(archive["format"]) == FORMAT
        assert str(archive["family"]) == belief.family
        assert all(archive[name].dtype.kind in "biufU" for name in archive.files)


def test_saving_twice_and_loading_changes_nothing(belief: Belief, tmp_path: Path) -> None:
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    belief.scaled(1.25).save(first)
    nm.surrogates.load(first).save(second)
    with np.load(first) as one, np.load(second) as two:
        assert one.files == two.files
        for name in one.files:
            assert np.array_equal(one[name], two[name]), name


def test_an_older_file_is_replaced_whole(gp: Belief, file: Path) -> None:
    wider = gp.scaled(3.0)
    wider.save(file)
    assert np.array_equal(nm.surrogates.load(file).std([[0.3, 0.4]]), wider.std([[0.3, 0.4]]))
    assert [path.name for path in file.parent.iterdir()] == ["belief.npz"]


def test_a_path_may_be_text(gp: Belief, tmp_path: Path) -> None:
    gp.save(str(tmp_path / "belief.npz"))
    assert nm.surrogates.load(str(tmp_path / "belief.npz")).n_inputs == 2


def test_a_belief_of_a_registered_surrogate_can_be_loaded(gp: Belief, tmp_path: Path) -> None:
    class MyBelief(type(gp)):  # type: ignore[misc]
        family = "mine"

    class Mine:
        belief_type = MyBelief

    path = _write(tmp_path / "mine.npz", {**_whole(gp), "family": np.array("mine")})
    with pytest.raises(FileFormatError, match="known here; it names 'mine'; install or register"):
        nm.surrogates.load(path)
    nm.surrogates.register("mine")(Mine)
    try:
        assert isinstance(nm.surrogates.load(path), MyBelief)
    finally:
        nm.surrogates.unregister("mine")


# -- files that are none --------------------------------------------------------------


def test_a_missing_file_is_called_a_belief(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="the belief must be a file that exists"):
        nm.surrogates.load(tmp_path / "nothing.npz")
    with pytest.raises(InputError, match="the belief must be a file that can be read"):
        nm.surrogates.load(tmp_path)


@pytest.mark.parametrize("kept", [0.0, 0.01, 0.3, 0.7, 0.99])
def test_a_truncated_file_is_refused(file: Path, kept: float) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(FileFormatError, match="damaged or truncated"):
        nm.surrogates.load(file)


def test_a_file_with_a_flipped_byte_is_refused(file: Path) -> None:
    data = bytearray(file.read_bytes())
    place = data.index(np.float64(1.0).tobytes())  # within an array
    data[place] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(FileFormatError, match="damaged or truncated"):
        nm.surrogates.load(file)


@pytest.mark.parametrize("name", ["weights", "family", "another"])
def test_pickled_objects_are_refused_unopened(gp: Belief, tmp_path: Path, name: str) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
            return Path.touch, (tmp_path / "sprung",)  # type: ignore[return-value]

    pickled = np.array([Trap()], dtype=object)
    path = _write(tmp_path / "trap.npz", {**_whole(gp), name: pickled})
    with pytest.raises(FileFormatError, match="pickled objects are refused"):
        nm.surrogates.load(path)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("format", "nnbo_mip belief 99", r"in the format 'nnbo_mip belief 1'; got .* 99'"),
        ("format", "x" * 1000, r"got '?x{50,60}[^x]"),
        ("format", None, "got 'nothing'"),
        ("family", "nothing known", "it names 'nothing known'"),
        ("family", None, "it names 'nothing'"),
        ("family", "pgp", "'pgp' is a preset"),
        ("family", "brvfl", "of a brvfl belief; one is missing or damaged"),
    ],
)
def test_another_format_or_family_is_refused(
    gp: Belief, tmp_path: Path, name: str, value: str | None, match: str
) -> None:
    arrays = _whole(gp)
    del arrays[name]
    if value is not None:
        arrays[name] = np.array(value)
    with pytest.raises(FileFormatError, match=match):
        nm.surrogates.load(_write(tmp_path / "belief.npz", arrays))


def test_a_network_is_no_belief(tmp_path: Path) -> None:
    nm.Network.from_layers([([[1.0]], [0.0])]).save(tmp_path / "net.npz")
    with pytest.raises(FileFormatError, match="must be a belief"):
        nm.surrogates.load(tmp_path / "net.npz")


def _damages(arrays: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield arrays of which one is missing, misshapen, not finite or text."""
    for name, array in arrays.items():
        if name in ("format", "family"):
            continue
        yield f"{name} missing", {k: v for k, v in arrays.items() if k != name}
        if np.asarray(array).dtype.kind != "f":
            continue
        yield f"{name} of text", {**arrays, name: np.full(np.shape(array), "text")}
        yield f"{name} nan", {**arrays, name: np.full(np.shape(array), np.nan)}
        if np.ndim(array):
            yield f"{name} cut", {**arrays, name: array[..., :-1]}
            yield f"{name} flat", {**arrays, name: np.zeros(1)}


def test_whatever_is_missing_or_damaged_is_a_sentence(belief: Belief, tmp_path: Path) -> None:
    accepted = []
    for what, arrays in _damages(_whole(belief)):
        path = _write(tmp_path / "belief.npz", arrays)
        try:
            loaded = nm.surrogates.load(path)
        except FileFormatError as error:
            assert "save the belief again" in str(error), what  # noqa: PT017 - one in a loop
        else:
            assert np.isfinite(loaded.mean([[0.1, 0.2]])).all(), what
            accepted.append(what)
    assert not accepted


def test_sizes_that_an_archive_only_claims_are_not_allocated(gp: Belief, tmp_path: Path) -> None:
    header = b"\x93NUMPY\x01\x00"
    fields = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}"
    fields += b" " * (118 - len(fields)) + b"\n"
    path = _write(tmp_path / "claims.npz", {k: v for k, v in _whole(gp).items() if k != "factor"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("factor.npy", header + len(fields).to_bytes(2, "little") + fields)
    with pytest.raises(FileFormatError, match="claims shape"):
        nm.surrogates.load(path)


def test_a_file_that_unpacks_to_too_much_is_refused(gp: Belief, tmp_path: Path) -> None:
    path = _write(tmp_path / "large.npz", {**_whole(gp), "ballast": np.zeros(10_000)})
    with pytest.raises(FileFormatError, match="must unpack to at most 50000 bytes"):
        nm.surrogates.load(path, max_bytes=50_000)
    stream = io.BytesIO()
    np.save(stream, np.zeros(1 << 22))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", stream.getvalue())
    with pytest.raises(FileFormatError, match="more than 200 times its size"):
        nm.surrogates.load(path)


@pytest.mark.parametrize(
    ("family", "name", "value"),
    [
        ("empirical", "dimension", 2**31),
        ("elm", "stack_layers", np.inf),
        ("elm", "stack_layers", 9),
    ],
)
def test_a_number_that_nothing_stands_behind_is_not_allocated(
    tmp_path: Path, family: str, name: str, value: float
) -> None:
    asset = Path(__file__).parents[2] / "assets" / "0.1.0" / f"belief_{family}.npz"
    with np.load(asset) as archive:
        arrays = dict(archive)
    assert name in arrays
    path = tmp_path / "belief.npz"
    np.savez(path, **{**arrays, name: np.array(value)})
    with pytest.raises(FileFormatError, match="must hold the arrays of a"):
        nm.surrogates.load(path)
