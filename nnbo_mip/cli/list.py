"""The command ``nnbo-mip list``: what can be chosen by name, one line each."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from nnbo_mip.cli.common import Json, sentences
from nnbo_mip.cli.main import loading_is_done

if TYPE_CHECKING:
    from nnbo_mip.core.registry_entries import Entry

CODES = "Exit codes: 0 shown; 2 bad input; 130 interrupted."

CATALOGUES = {
    "problems": "nnbo_mip.problems.catalogue",
    "surrogates": "nnbo_mip.surrogates.base.families",
    "acquisitions": "nnbo_mip.acquisitions.base.catalogue",
    "maximizers": "nnbo_mip.maximizers.base.catalogue",
    "peers": "nnbo_mip.lab.peers.catalogue",
}


def list_names(
    what: Annotated[
        str,
        typer.Argument(
            help="What is listed.", metavar="problems|surrogates|acquisitions|maximizers|peers"
        ),
    ],
    as_json: Json = False,
) -> None:
    """Show what can be chosen by name: one line each, with its options and their defaults.

    Options go behind a colon: levy:dimension=5, ucb:beta=2, lbfgs:starts=10,iterations=50.
    """
    with sentences():
        from nnbo_mip.core.inputs import as_choice
        from nnbo_mip.core.registry_entries import entries

        loading_is_done()
        home = CATALOGUES[as_choice(what, "what is listed", CATALOGUES)]
        known = entries(import_module(home).registry)
        if as_json:
            typer.echo(json.dumps({what: [_entry_json(entry) for entry in known]}))
            return
        width = max(len(entry.name) for entry in known)
        for entry in known:
            typer.echo(_line(entry, width))


def _line(entry: Entry, width: int) -> str:
    """Return one line, wrapped below its own beginning where somebody watches."""
    options = f"  [{', '.join(map(str, entry.options))}]" if entry.options else ""
    line = f"{entry.name.ljust(width)}  {entry.summary}{options}"
    if not sys.stdout.isatty():
        return line
    columns = max(width + 30, shutil.get_terminal_size().columns)
    return textwrap.fill(
        line,
        columns,
        subsequent_indent=" " * (width + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _entry_json(entry: Entry) -> dict[str, object]:
    return {
        "name": entry.name,
        "summary": entry.summary,
        "options": {option.name: option.default or None for option in entry.options},
    }
