"""Structure-aware damage: to bytes, to text, to trees of JSON, to arrays, tables and messages.

Every function takes a generator and returns something else than it was given, most of which is
still well-formed one level further down: that is where readers trust.
"""

from __future__ import annotations

import copy
import io
import json
import sqlite3
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.regret.experiment import toml

Generator = np.random.Generator

DEEP = 3000


def hostile_value(rng: Generator) -> Any:
    """Return a value that few fields expect."""
    nested: list[Any] = []
    for _ in range(900):
        nested = [nested]
    choices: list[Any] = [
        None, True, 0, -1, 1, 2**31, 2**63, 10**400, 0.5, -0.0, 1e308, -1e308, 5e-324,
        float("nan"), float("inf"), float("-inf"), "", "a", "NaN", "inf", "9" * 4000,
        "\0", "\ud800", "../../x", "[" * DEEP, [], [[]], {}, {"a": 1}, [1, "a", None], nested,
        [0.0] * 5000, "optimal", "__import__('os')", "gp:alpha=" + "-" * 9000 + "1",
    ]  # fmt: skip
    return copy.deepcopy(choices[int(rng.integers(len(choices)))])


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all nodes of a tree of dicts and lists, but for its root."""
    if isinstance(tree, dict):
        items: list[tuple[Any, Any]] = list(tree.items())
    elif isinstance(tree, list):
        items = list(enumerate(tree))
    else:
        return []
    return [one for key, value in items for one in ((*path, key), *places(value, (*path, key)))]


def mutated_tree(tree: Any, rng: Generator) -> Any:
    """Return a tree with one node replaced, dropped, doubled, renamed or exchanged."""
    tree = copy.deepcopy(tree)
    found = places(tree)
    if not found:
        return hostile_value(rng)
    *way, last = found[int(rng.integers(len(found)))]
    holder = tree
    for key in way:
        holder = holder[key]
    action = rng.integers(6)
    if action == 0:
        del holder[last]
    elif action == 1 and isinstance(holder, list):
        holder.insert(last, copy.deepcopy(holder[last]))
    elif action == 2 and isinstance(holder, dict):
        holder[f"{last}x"] = holder.pop(last)
    elif action == 3:
        *other_way, other = found[int(rng.integers(len(found)))]
        source = tree
        for key in other_way:
            source = source[key]
        holder[last] = copy.deepcopy(source[other])
    elif action == 4 and isinstance(holder[last], int | float):
        holder[last] = holder[last] * float(rng.choice([-1.0, 1.001, 2.0, 1e9, 1e-9, 1e300]))
    else:
        holder[last] = hostile_value(rng)
    return tree


def mutated_bytes(data: bytes, rng: Generator) -> bytes:
    """Return bytes of which some are others, missing, or there twice."""
    if not data:
        return bytes(rng.integers(0, 256, 20, dtype=np.uint8))
    action, place = rng.integers(4), int(rng.integers(len(data)))
    if action == 0:
        return data[:place]
    if action == 1:
        end = min(len(data), place + int(rng.integers(1, 200)))
        return data[:end] + data[place:]
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 8))):
        changed[int(rng.integers(len(data)))] = int(rng.integers(256))
    return bytes(changed)


def mutated_json(data: bytes, rng: Generator) -> bytes:
    """Return a JSON text with a changed tree."""
    return json.dumps(mutated_tree(json.loads(data), rng)).encode("utf-8", "surrogatepass")


def mutated_toml(data: bytes, rng: Generator) -> bytes:
    """Return a TOML text with a changed tree, where TOML can say it."""
    changed = mutated_tree(tomllib.loads(data.decode()), rng)
    try:
        if not isinstance(changed, dict):
            raise TypeError
        lines = [f"{json.dumps(str(key))} = {toml(value)}" for key, value in changed.items()]
        return "\n".join(lines).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, AttributeError, RecursionError):
        return mutated_bytes(data, rng)


def mutated_csv(data: bytes, rng: Generator) -> bytes:
    """Return a table with another cell, separator, quote or width."""
    rows = [line.split(",") for line in data.decode().splitlines()]
    row = rows[int(rng.integers(len(rows)))]
    action = rng.integers(6)
    if action == 0:
        row.append("1")
    elif action == 1:
        rows.append(rows[0])
    elif action == 2:
        row.extend(["0"] * 20000)
    elif action == 3:
        row[int(rng.integers(len(row)))] = '"' + row[0]
    else:
        row[int(rng.integers(len(row)))] = str(hostile_value(rng))[:200_000]
    mark = str(rng.choice([",", ",", ",", ";", "\t", "|"]))
    return "\n".join(mark.join(cells) for cells in rows).encode("utf-8", "surrogatepass")


def mutated_array(array: Any, rng: Generator) -> Any:
    """Return an array of another shape, type or content."""
    action = rng.integers(8)
    if array.dtype.kind in "US":
        try:
            tree = json.loads(str(array))
            return np.array(json.dumps(mutated_tree(tree, rng)))
        except ValueError:
            return np.array(str(hostile_value(rng))[:50_000])
    if action == 0:
        return array.ravel()[:-1] if array.size else np.zeros(3)
    if action == 1:
        return np.broadcast_to(array, (3, *array.shape)).copy()
    if action == 2:
        return array.astype(str(rng.choice(["f4", "f2", "i1", "u8", "c16", "?"])))
    if action == 3:
        return np.array("text")
    if action == 4:
        return np.empty(0)
    changed = np.array(array, dtype=np.float64 if action > 5 else array.dtype)
    flat = changed.reshape(-1)
    if flat.size:
        hostile = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, -1.0, 0.0, 2.0**53, 1e12]
        with np.errstate(all="ignore"):
            value = np.array(rng.choice(hostile)).astype(changed.dtype)
        flat[int(rng.integers(flat.size))] = value
    return changed


def mutated_npz(data: bytes, rng: Generator) -> bytes:
    """Return an archive with a changed, missing, doubled or renamed member, or another header."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    name = str(rng.choice(sorted(members)))
    action = rng.integers(8)
    if action == 0:
        del members[name]
    elif action == 1:
        members[f"x{name}"] = members.pop(name)
    elif action == 2:
        members[name] = mutated_bytes(members[name], rng)
    elif action == 3:
        start = bytearray(members[name])
        start[int(rng.integers(min(128, len(start))))] = int(rng.integers(32, 127))
        members[name] = bytes(start)
    else:
        array = np.load(io.BytesIO(members[name]), allow_pickle=False)
        with np.errstate(all="ignore"):
            members[name] = _npy(mutated_array(array, rng))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for key, content in members.items():
            archive.writestr(key, content)
    return out.getvalue()


def _npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def mutated_sqlite(path: Path, rng: Generator) -> None:
    """Change a cell, its JSON, the rows, the schema or the header of a file, in place."""
    connection = sqlite3.connect(path)
    try:
        tables = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not name.startswith("sqlite_")
        ]
        table = str(rng.choice(tables))
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column, action = str(rng.choice(columns)), rng.integers(9)
        rows = connection.execute(f"SELECT {column} FROM {table}").fetchall()
        old = rows[int(rng.integers(len(rows)))][0] if rows else None
        new: Any = hostile_value(rng)
        if action < 4 and isinstance(old, str):
            try:
                new = json.dumps(mutated_tree(json.loads(old), rng))
            except (ValueError, RecursionError):
                new = str(new)
        if action == 4:
            connection.execute(f"DELETE FROM {table} WHERE {column} IS ?", (old,))
        elif action == 5:
            connection.execute(f"DROP TABLE {table}")
        elif action == 6:
            statements = (
                "CREATE TRIGGER t AFTER INSERT ON {0} BEGIN DELETE FROM {0}; END",
                "CREATE VIEW v AS SELECT * FROM {0}",
                "CREATE TABLE other (a)",
                "ALTER TABLE {0} RENAME COLUMN {1} TO other",
                "ALTER TABLE {0} ADD COLUMN other",
                "PRAGMA user_version = 99",
                "PRAGMA application_id = 7",
                "PRAGMA user_version = 1",
            )
            statement = statements[int(rng.integers(len(statements)))]
            connection.execute(statement.format(table, column))
        else:
            if isinstance(new, list | dict):
                new = json.dumps(new)
            connection.execute(
                f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} IS ?", (new, old)
            )
        connection.commit()
    except (sqlite3.Error, OverflowError, UnicodeEncodeError):
        pass
    finally:
        connection.close()


def mutated_onnx(data: bytes, rng: Generator) -> bytes:
    """Return a model of which one field is another: a name, an extent, a number, a node."""
    import onnx

    model = onnx.load_model_from_string(data)
    fields = list(_fields(model))
    holder, field, index = fields[int(rng.integers(len(fields)))]
    value = getattr(holder, field.name)
    repeated = index is not None
    old = value[index] if repeated else value
    numbers = [0, 1, -1, 2, 3, 7, 2**31 - 1, 2**40, -(2**63), 2**63 - 1]
    new: Any = old
    if isinstance(old, str):
        names = ["", "x", "y", "Relu", "Gather", "Gemm", "Concat", "Loop", "ai.other", old + "x"]
        new = str(rng.choice(names))
    elif isinstance(old, bytes):
        new = mutated_bytes(old, rng)
    elif isinstance(old, bool | int):
        new = int(numbers[int(rng.integers(len(numbers)))])
    elif isinstance(old, float):
        new = float(rng.choice([0.0, np.nan, np.inf, -1e30, 1e30]))
    try:
        if rng.integers(5) == 0 and repeated:
            del value[index]
        elif repeated:
            value[index] = new
        else:
            setattr(holder, field.name, new)
    except (ValueError, TypeError, OverflowError):
        return mutated_bytes(data, rng)
    return bytes(model.SerializeToString())


def _fields(message: Any) -> Any:
    """Yield the holder, the field and the index of every scalar and message of a message."""
    for field, value in message.ListFields():
        if hasattr(value, "append") or hasattr(value, "add"):
            for index, one in enumerate(value[:40]):
                yield message, field, index
                if hasattr(one, "ListFields"):
                    yield from _fields(one)
        elif hasattr(value, "ListFields"):
            yield from _fields(value)
        else:
            yield message, field, None


OF_BYTES: dict[str, Callable[[bytes, Generator], bytes]] = {
    "json": mutated_json,
    "toml": mutated_toml,
    "csv": mutated_csv,
    "npz": mutated_npz,
    "onnx": mutated_onnx,
}


def damage(path: Path, kind: str, rng: Generator) -> None:
    """Damage a file in place, once to three times; one time in eight whatever its structure."""
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        data = path.read_bytes()
        try:
            if rng.integers(8) == 0:
                path.write_bytes(mutated_bytes(data, rng))
            elif kind == "sqlite":
                mutated_sqlite(path, rng)
            else:
                path.write_bytes(OF_BYTES[kind](data, rng))
        except Exception:  # what was damaged before may not be taken apart any more
            path.write_bytes(mutated_bytes(data, rng))
