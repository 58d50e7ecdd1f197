"""The command ``nnbo-mip export``: results as CSV or Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from nnbo_mip.cli.common import Json, sentences
from nnbo_mip.cli.main import loading_is_done

CODES = (
    "Exit codes: 0 written; 2 bad input; 4 a package is missing; 130 interrupted without a result."
)


def export_results(
    store: Annotated[Path, typer.Argument(help="The file that nnbo-mip run wrote.")],
    out: Annotated[Path, typer.Option(help="A folder; made where there is none.")] = Path(
        "results"
    ),
    form: Annotated[
        str, typer.Option("--format", help="What is written.", metavar="csv|parquet")
    ] = "csv",
    experiment: Annotated[
        str | None, typer.Option(help="Its name, where the store holds several.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write units, observations, steps and attempts as tables for other programs."""
    with sentences():
        from nnbo_mip.cli.stages import shown_stages
        from nnbo_mip.lab.store.export import export
        from nnbo_mip.lab.store.results import Results

        loading_is_done()
        with shown_stages() as stages:
            written = export(Results.open(store, experiment), out, form, stages.begin_part)
        if as_json:
            typer.echo(json.dumps({"files": [str(path) for path in written]}))
        else:
            typer.echo(f"written: {', '.join(map(str, written))}")
