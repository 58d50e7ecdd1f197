"""The program ``nnbo-mip``: its commands, one file each, with an example and their exit codes.

Only Typer and the standard library are imported at the top: ``--help`` must be quick.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from nnbo_mip.cli import certify, check, compare, demo, export, report, run, suggest, verify
from nnbo_mip.cli import list as listing
from nnbo_mip.cli.common import EXIT_CODES

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The exact maximum of acquisitions and of trained ReLU networks, with proofs that can be "
    "checked.",
    epilog=f"Example: nnbo-mip demo\n\n{EXIT_CODES}",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from nnbo_mip.core.version import __version__

        typer.echo(f"nnbo-mip {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def _add(name: str, command: Callable[..., None], example: str, codes: str) -> None:
    line = f"nnbo-mip {name} {example}".rstrip()
    app.command(name, epilog=f"Example: {line}\n\n{codes}")(command)


_add(
    "certify",
    certify.certify,
    "model.onnx --lower -1,-2,0 --upper 1,2,0.5 --save certificate.json",
    certify.CODES,
)
_add(
    "verify",
    verify.verify,
    "model.onnx property.vnnlib --certificate certificate.json",
    verify.CODES,
)
_add("check", check.check, "certificate.json model.onnx --time-limit 120", check.CODES)
_add("demo", demo.demo, "", demo.CODES)
_add(
    "compare",
    compare.compare,
    "--problem branin --surrogate nomu --acquisition ei "
    "--maximizers mip,bab,direct,grid,lbfgs --plot branin.png",
    compare.CODES,
)
_add("run", run.run_experiment, "experiment.toml --workers 2 --store results.db", run.CODES)
_add("export", export.export_results, "results.db --out tables --format parquet", export.CODES)
_add(
    "suggest",
    suggest.suggest,
    "observations.csv --space space.toml --value loss --save certificate.json",
    suggest.CODES,
)
_add("report", report.report, "results.db --out report.html", report.CODES)
_add("list", listing.list_names, "maximizers", listing.CODES)
