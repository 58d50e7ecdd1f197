"""Write files whole or not at all, and read them with a limit."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from nnbo_mip.errors import FileFormatError

MAX_BYTES = 1 << 30
"""Default limit on what a file may unpack to (1 GiB)."""


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


def read_limited(path: str | Path, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the content of a file of at most `max_bytes`."""
    with Path(path).open("rb") as stream:
        data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise FileFormatError(
            f"{path} must hold at most {max_bytes} bytes; got more; "
            "pass a larger max_bytes if you trust it."
        )
    return data
