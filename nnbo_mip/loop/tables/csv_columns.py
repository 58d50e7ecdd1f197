"""Columns of a CSV file with a header line."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from nnbo_mip.core.errors import InputError, MissingFileError

SEPARATORS = (",", ";", "\t")


def read_csv(path: Path, wanted: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the columns as text, and the line of each row as an error calls it.

    Parameters
    ----------
    path : Path
        A UTF-8 file; the separator is the one with which the header names most of `wanted`.
    wanted : sequence of str
        Names of columns that should be there.
    """
    lines = list(io.StringIO(_text(path), newline=""))
    if not any(line.strip() for line in lines):
        raise InputError(
            f"a table must have a header line with the names of its columns; {path.name!r} is "
            "empty; write one."
        )
    try:
        separator = max(SEPARATORS, key=lambda mark: _hits(lines, mark, wanted))
        rows, header, places = csv.reader(lines, delimiter=separator, strict=True), None, []
        columns: dict[str, list[str]] = {}
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            place = f"line {rows.line_num} of {path.name!r}"
            if header is None:
                header = _header(row, path)
                columns = {name: [] for name in header}
                continue
            if len(row) != len(header):
                raise InputError(
                    f"{place}: a row must have {len(header)} cells, as the header has; got "
                    f"{len(row)}; mend the line."
                )
            places.append(place)
            for name, cell in zip(header, row, strict=True):
                columns[name].append(cell.strip())
    except csv.Error as error:
        raise InputError(
            f"{path.name!r} must be a CSV file; reading it failed ({error}); mend it."
        ) from error
    return columns, places


def _text(path: Path) -> str:
    if not path.is_file():
        raise MissingFileError(
            f"a table must be a CSV file that exists; got {str(path)!r}; check the path."
        )
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path.name!r} must be a text file in UTF-8; got other bytes ({error}); save it so."
        ) from error


def _hits(lines: list[str], separator: str, wanted: Sequence[str]) -> int:
    first = next(csv.reader((line for line in lines if line.strip()), delimiter=separator))
    return len({cell.strip() for cell in first} & set(wanted))


def _header(row: list[str], path: Path) -> list[str]:
    header = [cell.strip() for cell in row]
    if len(set(header)) != len(header):
        raise InputError(
            f"columns of {path.name!r} must have distinct names; got {header!r:.120}; rename some."
        )
    return header
