"""Objectives in files: one ``.npz`` of plain arrays, network included; never pickle.

The text array ``header`` holds the document; lists of numbers are arrays of the same archive.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nnbo_mip.core.arrays import Array
from nnbo_mip.core.errors import FileFormatError, InputError, UnsupportedError
from nnbo_mip.core.files import MAX_BYTES, write_atomically
from nnbo_mip.core.npz import npz_bytes, read_npz
from nnbo_mip.network.graph.storage import network_document, network_from_document
from nnbo_mip.scores import storage
from nnbo_mip.scores.posteriors.joint import parts_of

if TYPE_CHECKING:
    from nnbo_mip.scores.objective import Objective

FORMAT = "nnbo_mip.objective"
VERSION = 1


def save(objective: Objective, path: str | Path) -> None:
    """Write an objective whole or not at all."""
    if Path(path).suffix.lower() != ".npz":
        raise InputError(
            f"an objective is saved as .npz; got {str(path)!r}; change the ending of the name."
        )
    parts = parts_of(objective.posterior)
    if len(parts) > 1 and any(map(storage.network_of, parts)):
        raise UnsupportedError(
            "an objective with constraints is saved where its beliefs read no networks; got one "
            "that does; learn the constraints with Gaussian processes, or keep the beliefs."
        )
    arrays: dict[str, Array] = {}

    def put(array: Array) -> str:
        name = f"array_{len(arrays)}"
        arrays[name] = array
        return name

    kind, numbers, matrices = storage.posterior_parts(objective.posterior)
    network = storage.network_of(objective.posterior)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "head": storage.head_to_dict(objective.head),
        "readout": {
            "kind": kind,
            "numbers": numbers,
            "matrices": {name: put(matrix) for name, matrix in matrices.items()},
        },
        "network": None if network is None else network_document(network, put),
    }
    header = json.dumps(document, allow_nan=False)
    write_atomically(path, npz_bytes({"header": np.array(header), **arrays}))


def load(path: str | Path, max_bytes: int = MAX_BYTES) -> Objective:
    """Read what `save` wrote; FileFormatError says what else is wrong."""
    from nnbo_mip.scores.objective import Objective

    arrays = read_npz(path, max_bytes, "the objective")
    document = _document(path, arrays)

    def get(name: Any) -> Array:
        if not isinstance(name, str) or name not in arrays or arrays[name].dtype.kind not in "fiu":
            raise FileFormatError(
                f"the header of {path} must name arrays of numbers in the archive; got "
                f"{name!r:.80}; the file is damaged."
            )
        return arrays[name]

    try:
        described = document["network"]
        network = None if described is None else network_from_document(path, described, get)
        posterior = document["readout"]
        matrices = {
            name: np.asarray(get(place), dtype=np.float64)
            for name, place in dict(posterior["matrices"]).items()
        }
        return Objective(
            storage.posterior_from_parts(
                network, posterior["kind"], posterior["numbers"], matrices
            ),
            storage.head_from_dict(document["head"]),
        )
    except (InputError, FileFormatError) as error:
        raise FileFormatError(f"{path} holds no valid objective: {error}") from error
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(
            f"{path} must have the keys of an objective; got {sorted(document)!r:.200} "
            f"({error!r:.80}); save it again."
        ) from error


def _document(path: str | Path, arrays: dict[str, Array]) -> dict[str, Any]:
    header = arrays.get("header")
    document: Any = None
    if header is not None and header.dtype.kind == "U" and header.ndim == 0:
        try:
            document = json.loads(header.item(), parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise FileFormatError(
                f"the header of {path} must be JSON text with finite numbers; got another text "
                f"({error!r:.80}); save the objective again."
            ) from error
    if not isinstance(document, dict) or (document.get("format"), document.get("version")) != (
        FORMAT,
        VERSION,
    ):
        got = document.get("format") if isinstance(document, dict) else sorted(arrays)[:5]
        raise FileFormatError(
            f"{path} must be an objective in format {FORMAT!r}, version {VERSION}; got "
            f"{got!r:.80}; pass a file that Objective.save wrote."
        )
    return document


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number")
