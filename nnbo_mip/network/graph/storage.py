"""Save networks as ``.npz`` or ``.json``, and load them; never pickle.

Both hold one document. In JSON it is (floats have 17 digits where needed, so exact):

    {"format": "nnbo_mip.network", "version": 1, "n_inputs": 2,
     "output_names": ["y"], "float32_difference": null, "unverified": "",
     "layers": [{"bias": [...], "terms": {"0": [[...], ...]}}, ...],
     "head": {"bias": [...], "terms": {"1": [[...]], ...}}}

``terms`` maps a source (0 the input, k ReLU layer k) to its weight matrix, row by row; a
sparse one is ``{"shape": [m, n], "data": [...], "indices": [...], "indptr": [...]}`` in
compressed row form. In ``.npz`` the document is the text array ``header``, whose lists
of numbers are replaced by the names of arrays in the same archive.

`load` also reads archives of plain feed-forward form with one output, whose keys are

- ``L``: number of ReLU layers;
- ``b_l`` (n_l,) and ``W_l_k`` (n_l, n_k): ``z_l = b_l + sum_k W_l_k h_k`` with ``h_0 = x``;
- ``c`` and ``v_k`` (n_k,): the output ``c + sum_k v_k . h_k``;
- ``meta``, optional and not read.

Their layers are kept as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np

from nnbo_mip.core.arrays import Array
from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.core.files import IF_TRUSTED, MAX_BYTES, open_file, read_limited, write_atomically
from nnbo_mip.core.npz import npz_bytes, read_npz
from nnbo_mip.network.graph.affine import Affine, Matrix
from nnbo_mip.network.graph.graph import Network

FORMAT = "nnbo_mip.network"
VERSION = 1
MAX_INPUTS = 1 << 24
SPARSE_PARTS = ("data", "indices", "indptr")

Put: TypeAlias = Callable[[Array], Any]
"""Turns an array into what the document holds in its place."""

Get: TypeAlias = Callable[[Any], Array]
"""Turns what the document holds back into an array."""


def save(network: Network, path: str | Path) -> None:
    """Write a network to ``.npz`` or ``.json``, by the ending; a crash leaves no half file."""
    ending = Path(path).suffix.lower()
    if ending == ".json":
        text = json.dumps(network_document(network, lambda array: array.tolist()), allow_nan=False)
        write_atomically(path, text.encode())
    elif ending == ".npz":
        arrays: dict[str, Array] = {}

        def put(array: Array) -> str:
            name = f"array_{len(arrays)}"
            arrays[name] = array
            return name

        header = json.dumps(network_document(network, put), allow_nan=False)
        write_atomically(path, npz_bytes({"header": np.array(header), **arrays}))
    else:
        raise InputError(
            f"a network is saved as .npz or .json; got {str(path)!r}; change the ending "
            "(to_onnx writes .onnx)."
        )


def load(path: str | Path, max_bytes: int = MAX_BYTES) -> Network:
    """Read a network; what the file is, is told from its content.

    Parameters
    ----------
    path : path
        Written by `save`, or an archive of ``W_l_k`` arrays as the module describes it.
    max_bytes : int
        Limit on the uncompressed size.

    Raises
    ------
    FileFormatError
        For anything else, including pickled objects and archives that claim more than
        they hold; nothing is allocated before sizes are checked.
    """
    with open_file(path, "the network") as stream:
        start = stream.read(4)
    try:
        if start.startswith(b"PK"):
            arrays = read_npz(path, max_bytes)
            return _from_arrays(path, arrays)
        if start.lstrip().startswith(b"{"):
            document = _parsed(path, read_limited(path, max_bytes, "the network", IF_TRUSTED))
            return network_from_document(path, document, _number_array)
    except InputError as error:
        raise FileFormatError(f"{path} holds no valid network: {error}") from error
    raise FileFormatError(
        f"{path} must be a network that was saved as .npz or .json; got "
        f"{f'a file that begins with {start!r}' if start else 'an empty file'}; save it again (an "
        "ONNX model is imported under a name that ends in .onnx)."
    )


# -- the document ---------------------------------------------------------------------


def network_document(network: Network, put: Put) -> dict[str, Any]:
    """Return the document of a network, whose arrays `put` turns into what stands for them."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "n_inputs": network.n_inputs,
        "output_names": list(network.output_names),
        "float32_difference": network.float32_difference,
        "unverified": network.unverified,
        "layers": [_affine_document(layer, put) for layer in network.layers],
        "head": _affine_document(network.head, put),
    }


def _affine_document(affine: Affine, put: Put) -> dict[str, Any]:
    terms: dict[str, Any] = {}
    for source, matrix in affine.terms.items():
        if isinstance(matrix, np.ndarray):
            terms[str(source)] = put(matrix)
        else:
            parts = {name: put(getattr(matrix, name)) for name in SPARSE_PARTS}
            terms[str(source)] = {"shape": [int(n) for n in matrix.shape], **parts}
    return {"bias": put(affine.bias), "terms": terms}


def network_from_document(path: str | Path, document: Any, get: Get) -> Network:
    """Make the network of a document; `path` is for the errors."""
    fields = _fields(path, document, "the document")
    if fields.get("format") != FORMAT or fields.get("version") != VERSION:
        raise FileFormatError(
            f"{path} must have format {FORMAT!r} and version {VERSION}; got "
            f"{fields.get('format')!r} and {fields.get('version')!r}; "
            "save it again, or update nnbo_mip."
        )
    try:
        names, n_inputs = fields["output_names"], fields["n_inputs"]
        difference, unverified = fields["float32_difference"], fields.get("unverified", "")
        layers = [_affine(path, part, get) for part in fields["layers"]]
        head = _affine(path, fields["head"], get)
    except (KeyError, TypeError) as error:
        raise FileFormatError(
            f"{path} must have the keys of a network; got {sorted(fields)} ({error}); "
            "save it again."
        ) from error
    named = isinstance(names, list) and all(isinstance(name, str) for name in [*names, unverified])
    numbered = (
        type(n_inputs) is int
        and n_inputs <= MAX_INPUTS
        and isinstance(difference, float | int | None)
    )
    if not (named and numbered):
        raise FileFormatError(
            f"{path} must have text for output_names and unverified, an integer up to {MAX_INPUTS} "
            "for n_inputs and a number or null for float32_difference; got "
            f"{names!r:.80}, {unverified!r:.80}, {n_inputs!r:.80} and {difference!r:.80}; save it "
            "again."
        )
    return Network(n_inputs, tuple(layers), head, tuple(names), difference, unverified)


def _affine(path: str | Path, document: Any, get: Get) -> Affine:
    fields = _fields(path, document, "a layer")
    terms = _fields(path, fields["terms"], "the terms of a layer")
    sources = {_source(path, key): _matrix(path, value, get) for key, value in terms.items()}
    return Affine(get(fields["bias"]), sources)


def _source(path: str | Path, key: str) -> int:
    if not re.fullmatch(r"0|[1-9][0-9]{0,8}", key):
        raise FileFormatError(
            f"{path} must number the sources of a layer 0, 1, …; got {key[:20]!r}; save it again."
        )
    return int(key)


def _matrix(path: str | Path, document: Any, get: Get) -> Matrix:
    if not isinstance(document, Mapping):
        return get(document)
    from scipy.sparse import csr_array

    shape = document["shape"]
    data, indices, indptr = (get(document[name]) for name in SPARSE_PARTS)
    regular = (
        isinstance(shape, list)
        and len(shape) == 2
        and all(type(n) is int and n >= 0 for n in shape)
        and indices.dtype.kind in "iu"
        and indptr.dtype.kind in "iu"
        and data.ndim == indices.ndim == indptr.ndim == 1
        and indptr.size == shape[0] + 1
        and data.size == indices.size == indptr[-1]
        and indptr[0] == 0
        and bool((np.diff(indptr.astype(np.int64)) >= 0).all())
        and bool(((indices >= 0) & (indices < shape[1])).all())
    )
    if not regular:
        raise FileFormatError(
            f"{path} must hold sparse matrices in compressed row form; got shape {shape!r:.80} "
            f"with {data.size} entries, {indices.size} indices and {indptr.size} row starts; "
            "the file is damaged or hostile."
        )
    return csr_array((data, indices, indptr), shape=tuple(shape))


def _fields(path: str | Path, document: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(document, Mapping):
        raise FileFormatError(
            f"{path}: {what} must be an object with named fields; got "
            f"{type(document).__name__}; save it again."
        )
    return document


# -- JSON -----------------------------------------------------------------------------


def _parsed(path: str | Path, data: bytes | str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is no number")

    try:
        return json.loads(data, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(
            f"{path} must be a JSON document with finite numbers; got another text "
            f"({type(error).__name__}: {str(error)[:200]}); save it again."
        ) from error


def _number_array(value: Any) -> Array:
    """Turn nested lists of numbers into an array of floats or integers."""
    try:
        array = np.array(value)
    except (ValueError, OverflowError, RecursionError) as error:
        raise InputError(f"lists of numbers must be rectangular; got {error}") from error
    if array.size == 0:
        return array.astype(np.int64 if array.ndim == 1 else np.float64)
    if array.dtype.kind not in "fi" or array.ndim == 0:
        raise InputError(f"a list of numbers is expected; got {str(value)[:80]}")
    return array


# -- npz ------------------------------------------------------------------------------


def _from_arrays(path: str | Path, arrays: Mapping[str, Array]) -> Network:
    if "L" in arrays and "header" not in arrays:
        return _plain_network(path, arrays)
    header = arrays.get("header")
    if header is None or header.dtype.kind != "U" or header.ndim != 0:
        raise FileFormatError(
            f"{path} must hold a text array 'header' or the arrays 'L', 'b_l', 'W_l_k', 'c'; got "
            f"{sorted(arrays)[:10]}; save it again."
        )

    def get(name: Any) -> Array:
        if not isinstance(name, str) or name not in arrays:
            raise FileFormatError(
                f"the header of {path} must name arrays of the archive; got {name!r:.80}; "
                "the file is damaged."
            )
        return _numeric(path, name, arrays[name])

    return network_from_document(path, _parsed(path, header.item()), get)


def _plain_network(path: str | Path, arrays: Mapping[str, Array]) -> Network:
    """Build a network from the arrays ``L``, ``b_l``, ``W_l_k``, ``c`` and ``v_k``."""
    count = arrays["L"]
    if count.dtype.kind not in "iu" or count.ndim != 0 or not 0 <= count <= len(arrays):
        raise FileFormatError(
            f"'L' of {path} must be the number of ReLU layers; got {str(count)[:80]} with "
            f"{len(arrays)} arrays; save it again."
        )
    n_layers = int(count)
    expected = {f"b_{k}" for k in range(1, n_layers + 1)} | {"L", "c"}
    weights = {f"W_{k}_{j}" for k in range(1, n_layers + 1) for j in range(k)}
    allowed = expected | weights | {f"v_{k}" for k in range(n_layers + 1)} | {"meta"}
    if not expected <= set(arrays) <= allowed:
        raise FileFormatError(
            f"{path} must hold {sorted(expected)} and weights W_l_k, v_k of {n_layers} layers; "
            f"got {sorted(arrays)[:20]}; save it again."
        )

    def affine(bias: str, prefix: str, sources: int) -> Affine:
        names = {k: f"{prefix}_{k}" for k in range(sources)}
        terms = {
            k: np.atleast_2d(_numeric(path, name, arrays[name]))
            for k, name in names.items()
            if name in arrays
        }
        return Affine(np.atleast_1d(_numeric(path, bias, arrays[bias])), terms)

    layers = [affine(f"b_{k}", f"W_{k}", k) for k in range(1, n_layers + 1)]
    head = affine("c", "v", n_layers + 1)
    inputs = {a.terms[0].shape[1] for a in (*layers, head) if 0 in a.terms}
    if len(inputs) != 1:
        raise FileFormatError(
            f"the weights of {path} that read the input must agree on its width; got "
            f"{sorted(inputs)}; save it again."
        )
    return Network(inputs.pop(), tuple(layers), head)


def _numeric(path: str | Path, name: str, array: Array) -> Array:
    if array.dtype.kind not in "fiu":
        raise FileFormatError(
            f"array {name!r} of {path} must hold numbers; got dtype {array.dtype}; save it again."
        )
    return array
