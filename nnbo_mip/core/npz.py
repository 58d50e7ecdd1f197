"""Read NumPy archives from strangers.

`numpy.load` refuses pickled objects but allocates what an archive claims to hold. Here
the zip directory and the header of every array are checked first: names, compression,
total size, and that each array's shape accounts for exactly the bytes of its member.
"""

from __future__ import annotations

import ast
import io
import math
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from nnbo_mip.core.arrays import Array
from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.core.files import IF_TRUSTED, MAX_BYTES, open_file

MAX_MEMBERS = 100_000
MAX_RATIO = 200
"""Most bytes a compressed byte may become in an archive larger than `RATIO_FREE_BYTES`."""

RATIO_FREE_BYTES = 1 << 24
MAX_HEADER = 10_000
PLAIN_DTYPE = re.compile("[<>|=](b1|[iu][1248]|f(2|4|8|12|16)|U[1-9][0-9]{0,8})")
"""Booleans, integers, floats and text, none of which needs pickle."""

DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, NotImplementedError, OSError, OverflowError, ValueError),
)
"""What reading a damaged archive raises."""


def read_npz(
    path: str | Path, max_bytes: int = MAX_BYTES, what: str = "the network"
) -> dict[str, Array]:
    """Read every array of an ``.npz`` archive.

    Parameters
    ----------
    path : path
        The archive.
    max_bytes : int
        Largest uncompressed size in total; larger archives are refused unread.
    what : str
        How the error calls a file that cannot be opened.

    Raises
    ------
    FileFormatError
        When it is not an archive of plain arrays, is truncated, or is too large.
    """
    with open_file(path, what) as stream:
        try:
            return _read_members(path, stream, max_bytes)
        except FileFormatError:
            raise
        except DAMAGE as error:
            raise FileFormatError(
                f"{path} must be a whole npz archive; got a damaged or truncated one ({error}); "
                "save it again."
            ) from error


def _read_members(path: str | Path, stream: IO[bytes], max_bytes: int) -> dict[str, Array]:
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        _check_directory(path, members, max_bytes)
        return {
            member.filename.removesuffix(".npy"): _read_array(path, archive, member)
            for member in members
        }


def _check_directory(path: str | Path, members: list[zipfile.ZipInfo], max_bytes: int) -> None:
    names = [member.filename for member in members]
    if len(members) > MAX_MEMBERS or len(set(names)) != len(names):
        raise FileFormatError(
            f"{path} must hold at most {MAX_MEMBERS} arrays under different names; got "
            f"{len(members)}, {len(set(names))} of them different; save it again."
        )
    for member in members:
        plain = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if not member.filename.endswith(".npy") or member.flag_bits & 1 or not plain:
            raise FileFormatError(
                f"{path} must hold unencrypted .npy arrays; got member {member.filename!r}; "
                "save it with numpy.savez."
            )
    total = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    if total > max_bytes:
        raise FileFormatError(
            f"{path} must unpack to at most {max_bytes} bytes; it claims {total}; {IF_TRUSTED}."
        )
    if total > max(RATIO_FREE_BYTES, MAX_RATIO * packed):
        raise FileFormatError(
            f"{path} must not unpack to more than {MAX_RATIO} times its size; it claims {total} "
            f"bytes from {packed}; save it uncompressed if you trust it."
        )


def _read_array(path: str | Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Array:
    with archive.open(member) as stream:
        shape, fortran_order, dtype = _read_header(path, stream, member)
        expected = math.prod(shape) * dtype.itemsize
        present = member.file_size - stream.tell()
        if expected != present or any(extent < 0 for extent in shape):
            raise FileFormatError(
                f"array {member.filename!r} of {path} claims shape {shape}, so {expected} bytes; "
                f"the archive holds {present}; the file is damaged or hostile."
            )
        data = stream.read(present)
        stream.read(1)  # reaching the end makes zipfile compare the checksum
    if len(data) != present:
        raise FileFormatError(
            f"array {member.filename!r} of {path} must have {present} bytes; got {len(data)}; "
            "the file is truncated."
        )
    if expected == 0:
        return np.empty(shape, dtype)
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran_order else "C")


def _read_header(
    path: str | Path, stream: IO[bytes], member: zipfile.ZipInfo
) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Parse the header of an ``.npy`` member: the literal of a dict, never code."""
    try:
        start = stream.read(8)
        width = {b"\x93NUMPY\x01\x00": 2, b"\x93NUMPY\x02\x00": 4}[start]
        length = int.from_bytes(stream.read(width), "little")
        if length > MAX_HEADER:
            raise ValueError(f"a header of {length} bytes")
        fields = ast.literal_eval(stream.read(length).decode("latin1").strip())
        shape, order, kind = fields["shape"], fields["fortran_order"], fields["descr"]
        plain = isinstance(shape, tuple) and all(type(extent) is int for extent in shape)
        if not plain or not isinstance(order, bool) or not isinstance(kind, str):
            raise ValueError(f"shape {shape!r:.80}, dtype {kind!r:.80}")
    except (LookupError, ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise FileFormatError(
            f"array {member.filename!r} of {path} must have the header of a plain array; got "
            f"another one ({error!r:.200}); the file is damaged or hostile."
        ) from error
    if not PLAIN_DTYPE.fullmatch(kind):
        raise FileFormatError(
            f"{path} must hold plain numbers and text; array {member.filename!r} has dtype "
            f"{kind!r:.80}, which may need pickle; pickled objects are refused."
        )
    try:
        return shape, order, np.dtype(kind)
    except (TypeError, ValueError) as error:  # a text longer than NumPy has
        raise FileFormatError(
            f"array {member.filename!r} of {path} must have a dtype of NumPy; got {kind!r:.80} "
            f"({error}); the file is damaged or hostile."
        ) from error


def npz_bytes(arrays: dict[str, Array]) -> bytes:
    """Return an uncompressed archive of plain arrays."""
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return stream.getvalue()
