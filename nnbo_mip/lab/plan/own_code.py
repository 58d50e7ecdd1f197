"""Which files an experiment's file would run: modules of the working folder that it names.

Installed packages were trusted when they were installed. A module of the working folder came with
the experiment, which may be somebody else's: nothing of it is run before the user has agreed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nnbo_mip.core.errors import InputError
from nnbo_mip.core.files import read_limited
from nnbo_mip.core.toml import parsed_toml
from nnbo_mip.lab.plan.environment import files_of

MAX_BYTES = 4 << 20


def own_code(path: Path) -> list[Path]:
    """Return the files of the working folder that an experiment would import; none of them is run.

    What is no experiment has none: reading it says what is wrong.

    Parameters
    ----------
    path : Path
        Of the experiment's file.
    """
    try:
        tree = parsed_toml(read_limited(path, MAX_BYTES, "the experiment", "split it").decode())
    except ValueError:
        return []
    here = Path.cwd().resolve()
    files: dict[Path, None] = {}
    for name in _modules(tree):
        try:
            found = files_of(name)
        except (InputError, ValueError, ImportError):
            continue
        for file in found:
            resolved = file.resolve()
            if resolved.is_relative_to(here) and "site-packages" not in resolved.parts:
                files[resolved.relative_to(here)] = None
    return list(files)


def _modules(tree: Any) -> Iterator[str]:
    """Yield the names of modules under the keys ``imports`` and ``entry``, wherever they are."""
    if isinstance(tree, list):
        for part in tree:
            yield from _modules(part)
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == "imports":
                listed = value if isinstance(value, list) else [value]
                yield from (one for one in listed if isinstance(one, str))
            elif key == "entry" and isinstance(value, str):
                yield value.partition(":")[0]
            else:
                yield from _modules(value)
