"""The command ``nnbo-mip list``: what can be chosen by name, one line each."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from nnbo_mip.cli.common import Imports, Json, import_modules, sentences
from nnbo_mip.cli.main import loading_is_done

if TYPE_CHECKING:
    from nnbo_mip.core.registry_entries import Entry

CODES = "Exit codes: 0 shown; 2 bad input; 130 interrupted."

CATALOGUES = {
    "problems": "nnbo_mip.problems.catalogue",
    "surrogates": "nnbo_mip.surrogates.base.families",
    "acquisitions": "nnbo_mip.acquisitions.base.catalogue",
    "maximizers": "nnbo_mip.maximizers.base.catalogue",
    "embeddings": "nnbo_mip.loop.embeddings.embeddings",
    "stopping": "nnbo_mip.loop.stopping.catalogue",
    "backends": "nnbo_mip.exact.backends.catalogue",
    "peers": "nnbo_mip.lab.peers.catalogue",
}


def list_names(
    what: Annotated[
        str,
        typer.Argument(
            help="What is listed.",
            metavar="|".join(CATALOGUES),
        ),
    ],
    imports: Imports = None,
    as_json: Json = False,
) -> None:
    """Show what can be chosen by name: one line each, with its options and their defaults.

    Backends are the solvers of mixed-integer programs; their lines say what they can do. What is
    experimental is a method of research, which may change or go.

    Options go behind a colon: levy:dimension=5, ucb:beta=2, lbfgs:starts=10,iterations=50.
    """
    with sentences():
        from nnbo_mip.core.checks import check_choice
        from nnbo_mip.core.registry_entries import entries

        loading_is_done()
        import_modules(imports)
        home = import_module(CATALOGUES[check_choice("what is listed", what, CATALOGUES)])
        facts = getattr(home, "facts", _no_facts)
        known = [(entry, facts(entry.name)) for entry in entries(home.registry)]
        if as_json:
            typer.echo(json.dumps({what: [{**_entry_json(entry), **of} for entry, of in known]}))
            return
        width = max(len(entry.name) for entry, _ in known)
        for entry, of in known:
            typer.echo(_line(entry, width, of))


def _no_facts(name: str) -> dict[str, str]:
    return {}


def _line(entry: Entry, width: int, facts: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return one line, wrapped below its own beginning where somebody watches."""
    said = [*map(str, entry.options), *(f"{name}={fact}" for name, fact in facts.items())]
    mark = "Experimental: " * entry.experimental
    line = f"{entry.name.ljust(width)}  {mark}{entry.summary}"
    line += f"  [{', '.join(said)}]" * bool(said)
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
        "experimental": entry.experimental,
        "options": {option.name: option.default or None for option in entry.options},
    }
