"""Networks survive files bit for bit, and files that are none are refused in a sentence."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.network.graph.affine import is_sparse
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.storage import load
from tests.network.strategies import assert_close, networks, random_network

ENDINGS = ("npz", "json")
PLAIN = {
    "L": np.array(2),
    "b_1": np.array([0.5, -1.0]),
    "W_1_0": np.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 0.5]]),
    "b_2": np.array([0.25]),
    "W_2_1": np.array([[1.5, -2.0]]),
    "W_2_0": np.array([[0.0, 1.0, 0.0]]),
    "c": np.array(0.125),
    "v_0": np.array([0.0, 0.0, 7.0]),
    "v_2": np.array([-3.0]),
    "meta": np.array('{"made": "here"}'),
}


def _write_npz(path: Path, arrays: dict[str, Any], **kwargs: Any) -> Path:
    with path.open("wb") as stream:
        np.savez(stream, **arrays, **kwargs)
    return path


@pytest.mark.parametrize("ending", ENDINGS)
@given(network=networks)
def test_a_network_comes_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, ending: str, network: Network
) -> None:
    path = tmp_path_factory.mktemp("nets") / f"net.{ending}"
    network.save(path)
    back = Network.load(path)
    assert back.fingerprint == network.fingerprint
    assert back.output_names == network.output_names
    kinds = [[is_sparse(w) for w in a.terms.values()] for a in (*network.layers, network.head)]
    assert kinds == [[is_sparse(w) for w in a.terms.values()] for a in (*back.layers, back.head)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_names_and_the_difference_to_the_framework_come_back(tmp_path: Path, ending: str) -> None:
    names = ("mean µ", '"std"', "a\0b")
    weights = ([[0.1], [5e-324], [-1.7976931348623157e308]], [1 / 3, -0.0, 2.0**-1074])
    plain = Network.from_layers([weights], names)
    network = Network(1, plain.layers, plain.head, names, 1.25e-7, "never compared")
    network.save(tmp_path / f"net.{ending}")
    back = Network.load(tmp_path / f"net.{ending}")
    assert back.output_names == names
    assert back.float32_difference == 1.25e-7
    assert back.unverified == "never compared"
    np.testing.assert_array_equal(back.head.dense(0), weights[0])
    np.testing.assert_array_equal(back.head.bias, weights[1])


def test_plain_arrays_are_read(tmp_path: Path) -> None:
    network = Network.load(_write_npz(tmp_path / "plain.npz", PLAIN))
    assert [layer.width for layer in network.layers] == [2, 1]
    x = np.array([0.3, -1.2, 2.5])
    first = np.maximum(PLAIN["W_1_0"] @ x + PLAIN["b_1"], 0.0)
    second = np.maximum(1.5 * first[0] - 2.0 * first[1] + 0.25 + x[1], 0.0)
    assert_close(network(x), np.array([[0.125 + 7.0 * x[2] - 3.0 * second]]))


def test_compressed_archives_are_read(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "plain.npz", **PLAIN)
    assert Network.load(tmp_path / "plain.npz").n_relus == 3


def test_a_crash_while_saving_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "net.npz"
    random_network(1).save(path)
    before = path.read_bytes()

    def crash(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", crash)
    with pytest.raises(OSError, match="disk full"):
        random_network(2).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"saved as \.npz or \.json; got .*net\.pkl"):
        random_network(1).save(tmp_path / "net.pkl")


def test_a_missing_file_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent.npz")


# -- archives -------------------------------------------------------------------------


def _npy(header: str, data: bytes) -> bytes:
    encoded = header.encode("latin1")
    return b"\x93NUMPY\x01\x00" + len(encoded).to_bytes(2, "little") + encoded + data


def _zip(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def _array_claiming(shape: str, data: bytes = b"\0" * 16, descr: str = "<f8") -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    return _zip({"L.npy": _npy(header, data)})


def _pickled() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, L=np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return stream.getvalue()


def _with(**changes: Any) -> bytes:
    arrays = {key: value for key, value in {**PLAIN, **changes}.items() if value is not None}
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def _overstated_directory() -> bytes:
    """Return an archive whose directory claims 16 GiB for the array it holds."""
    data = bytearray(_with())
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        start = archive.start_dir
    data[start + 20 : start + 28] = (2**32 - 2).to_bytes(4, "little") * 2
    return bytes(data)


HOSTILE_ARCHIVES: dict[str, tuple[Callable[[], bytes], str]] = {
    "pickled objects": (_pickled, "pickled objects are refused"),
    "2^31 rows": (lambda: _array_claiming("(2147483648, 4)"), "claims shape"),
    "2^62 rows": (lambda: _array_claiming("(4611686018427387904, 4)"), "claims shape"),
    "a shape that is computed": (lambda: _array_claiming("(65536,) * 4"), "header"),
    "a negative extent": (lambda: _array_claiming("(-1, -2)"), "claims shape"),
    "a missing row": (lambda: _array_claiming("(3,)"), "claims shape"),
    "text of no length": (lambda: _array_claiming("(999999999,)", b"", "<U0"), "dtype"),
    "a date": (lambda: _array_claiming("(2,)", descr="<M8[s]"), "dtype"),
    "nested brackets": (lambda: _array_claiming("(" * 400 + ")" * 400), "header"),
    "a header without end": (lambda: _array_claiming("(" * 20_000), "header"),
    "a header of code": (lambda: _array_claiming("__import__('os').getpid()"), "header"),
    "no header": (lambda: _zip({"L.npy": b"nothing"}), "header"),
    "a bomb of zeros": (
        lambda: _zip({"L.npy": b"\0" * (1 << 26)}, zipfile.ZIP_DEFLATED),
        "times its size",
    ),
    "an overstated directory": (_overstated_directory, "unpack to at most|damaged"),
    "another file inside": (lambda: _zip({"../evil.sh": b"rm"}), r"unencrypted \.npy"),
    "half an archive": (lambda: _with()[:700], "damaged or truncated"),
    "only the magic": (lambda: b"PK\x03\x04", "damaged or truncated"),
    "no known keys": (lambda: _zip({}), "header"),
    "a missing bias": (lambda: _with(b_2=None), "got .*"),
    "an unknown key": (lambda: _with(W_9_9=np.ones(3)), "weights W_l_k"),
    "text for weights": (lambda: _with(W_1_0=np.array([["a"]])), "must hold numbers"),
    "a wrong shape": (lambda: _with(W_2_1=np.ones((1, 5))), "holds no valid network"),
    "three axes": (lambda: _with(W_2_1=np.ones((1, 2, 1))), "holds no valid network"),
    "NaN": (lambda: _with(b_2=np.array([np.nan])), "NaN or infinity"),
    "infinity": (lambda: _with(W_2_0=np.array([[0.0, np.inf, 1.0]])), "NaN or infinity"),
    "a huge L": (lambda: _with(L=np.array(2**31)), "number of ReLU layers"),
    "a fractional L": (lambda: _with(L=np.array(1.5)), "number of ReLU layers"),
    "no input": (lambda: _with(W_1_0=None, W_2_0=None, v_0=None), "agree on its width"),
}


@pytest.mark.parametrize("name", HOSTILE_ARCHIVES)
def test_a_hostile_archive_is_refused(tmp_path: Path, name: str) -> None:
    make, sentence = HOSTILE_ARCHIVES[name]
    path = tmp_path / "net.npz"
    path.write_bytes(make())
    with pytest.raises(FileFormatError, match=sentence):
        load(path)


def test_an_archive_over_the_limit_is_refused(tmp_path: Path) -> None:
    path = _write_npz(tmp_path / "plain.npz", PLAIN)
    with pytest.raises(FileFormatError, match="at most 100 bytes"):
        load(path, max_bytes=100)
    assert load(path, max_bytes=100_000).n_relus == 3


@given(st.data())
def test_damaged_archives_give_a_sentence_or_a_network(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(_with())
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    path = tmp_path_factory.mktemp("damaged") / "net.npz"
    path.write_bytes(bytes(content))
    with contextlib.suppress(FileFormatError):
        assert isinstance(load(path), Network)


# -- JSON -----------------------------------------------------------------------------


def _document(**changes: Any) -> dict[str, Any]:
    document = {
        "format": "nnbo_mip.network",
        "version": 1,
        "n_inputs": 2,
        "output_names": ["y"],
        "float32_difference": None,
        "layers": [{"bias": [0.5], "terms": {"0": [[1.0, -2.0]]}}],
        "head": {"bias": [0.0], "terms": {"1": [[3.0]]}},
    }
    return document | changes


def _sparse(**changes: Any) -> list[Any]:
    matrix = {"shape": [1, 2], "data": [1.5], "indices": [1], "indptr": [0, 1]} | changes
    return [{"bias": [0.5], "terms": {"0": matrix}}]


HOSTILE_DOCUMENTS: dict[str, tuple[Any, str]] = {
    "another format": (_document(format="pickle"), "must have format"),
    "a later version": (_document(version=2), "must have format .*update nnbo_mip"),
    "no head": ({k: v for k, v in _document().items() if k != "head"}, "keys of a network"),
    "a list of layers that is none": (_document(layers=7), "keys of a network"),
    "a layer that is none": (_document(layers=[7]), "named fields"),
    "2^31 inputs": (_document(n_inputs=2**31), "an integer up to"),
    "a fractional number of inputs": (_document(n_inputs=2.0), "an integer up to"),
    "names that are numbers": (_document(output_names=[3]), "text for output_names"),
    "a warning that is no text": (_document(unverified=3), "text for output_names and unverified"),
    "too many names": (_document(output_names=["a", "b"]), "different names"),
    "ragged weights": (
        _document(layers=[{"bias": [0.5], "terms": {"0": [[1.0, 2.0], [3.0]]}}]),
        "rectangular",
    ),
    "text for weights": (
        _document(layers=[{"bias": [0.5], "terms": {"0": [["1.0", "2.0"]]}}]),
        "list of numbers",
    ),
    "a number for a bias": (
        _document(layers=[{"bias": 0.5, "terms": {"0": [[1.0, -2.0]]}}]),
        "list of numbers",
    ),
    "truth values": (
        _document(layers=[{"bias": [True], "terms": {"0": [[1.0, -2.0]]}}]),
        "list of numbers",
    ),
    "a source that is no number": (
        _document(layers=[{"bias": [0.5], "terms": {"x": [[1.0, -2.0]]}}]),
        "number the sources",
    ),
    "a source that comes later": (
        _document(layers=[{"bias": [0.5], "terms": {"1": [[1.0]]}}]),
        "earlier layers",
    ),
    "a sparse index out of range": (_document(layers=_sparse(indices=[2])), "compressed row"),
    "a negative sparse index": (_document(layers=_sparse(indices=[-1])), "compressed row"),
    "decreasing row starts": (_document(layers=_sparse(indptr=[1, 0])), "compressed row"),
    "row starts past the end": (_document(layers=_sparse(indptr=[0, 9])), "compressed row"),
    "2^31 sparse rows": (_document(layers=_sparse(shape=[2**31, 2])), "compressed row"),
    "2^31 sparse columns": (_document(layers=_sparse(shape=[1, 2**31])), "W must be"),
    "a sparse matrix without data": (
        _document(layers=[{"bias": [0.5], "terms": {"0": {"shape": [1, 2]}}}]),
        "keys of a network",
    ),
}

HOSTILE_TEXTS: dict[str, tuple[str, str]] = {
    "deep nesting": ("{" + '"a":[' * 1 + "[" * 200_000, "JSON document"),
    "NaN": (json.dumps(_document()).replace("0.5", "NaN"), "NaN is no number"),
    "infinity": (json.dumps(_document()).replace("0.5", "-Infinity"), "is no number"),
    "a number that overflows": (json.dumps(_document()).replace("0.5", "1e999"), "NaN or inf"),
    "an endless integer": (json.dumps(_document()).replace("0.5", "9" * 5000), "JSON document"),
    "a huge integer": (json.dumps(_document()).replace("0.5", "9" * 30), "list of numbers"),
    "half a document": (json.dumps(_document())[:80], "JSON document"),
    "a list": ("[1, 2]", "begins with"),
    "nothing": ("", "an empty file"),
    "bytes that are no text": ("{\udcff", "JSON document"),
}


@pytest.mark.parametrize("name", HOSTILE_DOCUMENTS)
def test_a_hostile_document_is_refused(tmp_path: Path, name: str) -> None:
    document, sentence = HOSTILE_DOCUMENTS[name]
    path = tmp_path / "net.json"
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=sentence):
        load(path)


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_a_hostile_text_is_refused(tmp_path: Path, name: str) -> None:
    text, sentence = HOSTILE_TEXTS[name]
    path = tmp_path / "net.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(FileFormatError, match=sentence):
        load(path)


def test_the_header_of_an_archive_must_name_its_arrays(tmp_path: Path) -> None:
    header = json.dumps(_document(head={"bias": "absent", "terms": {}}))
    path = _write_npz(tmp_path / "net.npz", {"header": np.array(header)})
    with pytest.raises(FileFormatError, match="name arrays of the archive"):
        load(path)
