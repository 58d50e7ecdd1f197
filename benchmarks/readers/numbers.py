"""Every whole number of a file in turn made enormous, or negative: nothing is counted out.

A reader that allocates or counts what a number claims, before it compares it with what is there,
is found by chance in random damage, and for certain here.
"""

from __future__ import annotations

import copy
import io
import json
import shutil
import sqlite3
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.readers.mutations import places
from benchmarks.regret.experiment import toml

HOSTILE = {-1: "-1", 10**6: "10^6", 2**31: "2^31", 2**62: "2^62", 10**400: "10^400"}
"""Put in place of each; SQLite and arrays hold those below 2^63."""

BELOW = 2**63

ROWS = 4
"""Different cells of a column that are tried."""

Rewrite = Callable[[Path], object]


def rewrites(path: Path, kind: str) -> Iterator[tuple[str, Rewrite]]:
    """Yield what to do to a copy of a file, each with words that name it."""
    yield from _OF_KIND[kind](path)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def changed_trees(tree: Any) -> Iterator[tuple[str, Any]]:
    """Yield copies of a tree with one whole number replaced."""
    for path in places(tree):
        holder, *rest = tree, *path[:-1]
        for key in rest:
            holder = holder[key]
        if not _is_whole(holder[path[-1]]):
            continue
        for number in HOSTILE:
            changed = copy.deepcopy(tree)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = number
            yield f"{'.'.join(map(str, path))} = {HOSTILE[number]}", changed


def _write_text(text: str, path: Path) -> None:
    path.write_text(text)


def _of_toml(path: Path) -> Iterator[tuple[str, Rewrite]]:
    for label, tree in changed_trees(tomllib.loads(path.read_text())):
        text = "\n".join(f"{json.dumps(key)} = {toml(value)}" for key, value in tree.items())
        yield label, partial(_write_text, text)


def _of_json(path: Path) -> Iterator[tuple[str, Rewrite]]:
    for label, tree in changed_trees(json.loads(path.read_text())):
        text = json.dumps(tree)
        yield label, partial(_write_text, text)


def _of_npz(path: Path) -> Iterator[tuple[str, Rewrite]]:
    with zipfile.ZipFile(path) as archive:
        arrays = {
            info.filename: np.load(io.BytesIO(archive.read(info))) for info in archive.infolist()
        }
    for name, array in arrays.items():
        if array.dtype.kind == "U":
            try:
                trees = list(changed_trees(json.loads(str(array))))
            except ValueError:
                continue
            others = [(label, np.array(json.dumps(tree))) for label, tree in trees]
        elif array.dtype.kind in "iu" and array.size:
            others = []
            for number in HOSTILE:
                if np.iinfo(array.dtype).min <= number <= np.iinfo(array.dtype).max:
                    other = array.copy()
                    other.flat[-1] = number
                    others.append((f"[-1] = {HOSTILE[number]}", other))
        else:
            continue
        for label, other in others:
            whole = {**arrays, name: other}
            yield f"{name} {label}", partial(_write_npz, whole)


def _write_npz(arrays: dict[str, Any], path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            stream = io.BytesIO()
            np.save(stream, array, allow_pickle=False)
            archive.writestr(name, stream.getvalue())


def _of_sqlite(path: Path) -> Iterator[tuple[str, Rewrite]]:
    connection = sqlite3.connect(path)
    named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    tables = [name for (name,) in connection.execute(named)]
    for table in tables:
        for column in [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]:
            rows = connection.execute(f"SELECT DISTINCT {column} FROM {table} LIMIT {ROWS}")
            for (old,) in rows.fetchall():
                for label, cell in _cells(old):
                    change = f"UPDATE {table} SET {column} = ? WHERE {column} = ?"
                    yield f"{table}.{column} {label}", partial(_run, change, (cell, old))
    connection.close()


def _cells(old: Any) -> list[tuple[str, Any]]:
    if _is_whole(old) or isinstance(old, float):
        return [(f"= {HOSTILE[number]}", number) for number in HOSTILE if number < BELOW]
    try:
        return [(label, json.dumps(tree)) for label, tree in changed_trees(json.loads(old))]
    except (TypeError, ValueError):
        return []


def _run(statement: str, values: tuple[Any, ...], path: Path) -> None:
    connection = sqlite3.connect(path)
    try:
        connection.execute(statement, values)
        connection.commit()
    except sqlite3.IntegrityError:  # the file stays whole
        pass
    finally:
        connection.close()


_OF_KIND: dict[str, Callable[[Path], Iterator[tuple[str, Rewrite]]]] = {
    "toml": _of_toml,
    "json": _of_json,
    "npz": _of_npz,
    "sqlite": _of_sqlite,
}


def cases(whole: Path, kind: str, folder: Path, every: int = 1) -> Iterator[tuple[str, Path]]:
    """Yield damaged copies of a file, one of `every`, each with words that name the damage."""
    for label, rewrite in islice(rewrites(whole, kind), None, None, every):
        path = Path(shutil.copy(whole, folder))
        rewrite(path)
        yield label, path
        path.unlink()
