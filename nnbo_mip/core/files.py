"""Write files whole or not at all, and read them with a limit."""

from __future__ import annotations

import gzip
import os
import secrets
import zlib
from pathlib import Path
from typing import BinaryIO

from nnbo_mip.core.errors import FileFormatError, InputError, MissingFileError

MAX_BYTES = 1 << 30
"""Default limit on what a file may unpack to (1 GiB)."""

IF_TRUSTED = "if you trust it, read it in Python with a larger max_bytes"
"""What is advised about networks that are too large."""


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write `data` to `path` so that a crash leaves the old file or the new one."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def open_file(path: str | Path, what: str) -> BinaryIO:
    """Open a file for reading bytes; the error calls it `what`, such as "a certificate"."""
    try:
        return Path(path).open("rb")
    except FileNotFoundError as error:
        raise MissingFileError(
            f"{what} must be a file that exists; got {str(path)!r}; check the path."
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{what} must be a file that can be read; got {str(path)!r} ({reason}); "
            "check the path and its permissions."
        ) from error


def read_limited(path: str | Path, max_bytes: int, what: str, remedy: str) -> bytes:
    """Return the content of a file, unpacked where its name ends in ``.gz``.

    Parameters
    ----------
    path : path
    max_bytes : int
        A larger content is refused.
    what, remedy : str
        How the errors call the file, and what they advise when it is too large.
    """
    with open_file(path, what) as stream:
        if Path(path).suffix.lower() != ".gz":
            data = stream.read(max_bytes + 1)
        else:
            data = _unpacked(stream, path, max_bytes + 1)
    if len(data) > max_bytes:
        raise FileFormatError(f"{path} must hold at most {max_bytes} bytes; got more; {remedy}.")
    return data


def _unpacked(stream: BinaryIO, path: str | Path, most: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=stream) as unpacking:
            return unpacking.read(most)
    except (OSError, EOFError, zlib.error) as error:
        raise FileFormatError(
            f"{path} must be packed by gzip, as its name says; got other or damaged data "
            f"({error}); pack it again, or rename it."
        ) from error
