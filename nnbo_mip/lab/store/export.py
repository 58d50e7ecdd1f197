"""Results as files that other programs read: CSV, or Parquet."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np

from nnbo_mip.core.checks import check_choice
from nnbo_mip.core.errors import InputError, MissingExtraError, StoreError
from nnbo_mip.lab.store.frame import Frame
from nnbo_mip.lab.store.results import Results

LABELS = ("problem", "method", "instance")
"""Columns of the units that every row of the other tables gets too."""


def export(
    results: Results,
    folder: Path,
    form: str = "csv",
    announce: Callable[[str, int, int], None] | None = None,
) -> list[Path]:
    """Write units, observations, steps and attempts into a folder, and return the files.

    Parameters
    ----------
    results : Results
    folder : Path
        Made where there is none; files of these names in it are replaced.
    form : {"csv", "parquet"}
        CSV has empty cells for NaN, and floats with all their digits.
    announce : callable, optional
        Receives the name of each table before it is written, how many are, and how many there are.
    """
    check_choice("the form of an export", form, tuple(WRITERS))
    if form == "parquet":
        _pyarrow()
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"an export must go to a folder; {str(folder)!r} is a file; name another one."
        )
    tables: dict[str, Callable[[], Frame]] = {
        "units": lambda: results.units,
        "observations": lambda: _labelled(results, results.observations_with_points()),
        "steps": lambda: _labelled(results, results.steps),
        "attempts": lambda: _labelled(results, results.attempts),
    }
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for done, (name, frame) in enumerate(tables.items()):
            if announce is not None:
                announce(name, done, len(tables))
            written.append(folder / f"{name}.{form}")
            WRITERS[form](frame(), written[-1])
    except OSError as error:
        raise StoreError(
            f"an export must go to a folder that can be written; writing to {str(folder)!r} "
            f"failed ({error.strerror}); check its permissions and the disk."
        ) from error
    return written


def _labelled(results: Results, frame: Frame) -> Frame:
    units = results.units
    order = np.argsort(units["unit"])
    rows = order[np.searchsorted(units["unit"], frame["unit"], sorter=order)]
    return Frame({name: units[name][rows] for name in LABELS}).with_columns(
        {name: frame[name] for name in frame.names}
    )


def _write_csv(frame: Frame, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(frame.names)
        for row in frame.rows():
            writer.writerow(
                "" if isinstance(cell, float) and math.isnan(cell) else cell
                for cell in row.values()
            )


def _write_parquet(frame: Frame, path: Path) -> None:
    _pyarrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        name: pa.array(frame[name], type=pa.string() if frame[name].dtype == object else None)
        for name in frame.names
    }
    pq.write_table(pa.table(columns), path)


def _pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "Parquet needs the package pyarrow, which is not installed; install "
            "nnbo_mip[parquet], or export to CSV."
        ) from error


WRITERS: Mapping[str, Callable[[Frame, Path], None]] = MappingProxyType(
    {"csv": _write_csv, "parquet": _write_parquet}
)
