"""The commands of ``nnbo-mip``.

Only Typer and the standard library are imported at the top: ``--help`` must be quick.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnbo_mip.cli.common import (
    EXIT_CODES,
    OPEN,
    PROVEN,
    REFUSED,
    Json,
    Seconds,
    Seed,
    Verify,
    check_can_be_written,
    json_number,
    progress_shown,
    sentences,
)
from nnbo_mip.cli.compare import CODES as COMPARE_CODES
from nnbo_mip.cli.compare import compare
from nnbo_mip.cli.export import CODES as EXPORT_CODES
from nnbo_mip.cli.export import export_results
from nnbo_mip.cli.list import CODES as LIST_CODES
from nnbo_mip.cli.list import list_names
from nnbo_mip.cli.main import loading_is_done
from nnbo_mip.cli.report import CODES as REPORT_CODES
from nnbo_mip.cli.report import report
from nnbo_mip.cli.run import CODES as RUN_CODES
from nnbo_mip.cli.run import run_experiment
from nnbo_mip.cli.suggest import CODES as SUGGEST_CODES
from nnbo_mip.cli.suggest import suggest

if TYPE_CHECKING:
    from nnbo_mip.exact.certify_result import CertifyResult
    from nnbo_mip.exact.check import CheckResult

CERTIFY_EXITS = (
    "Exit codes: 0 optimal; 1 the gap is open; 2 bad input; 3 no point is admissible; 4 a package "
    "is missing or a solver failed; 130 interrupted without a result."
)
CHECK_EXITS = (
    "Exit codes: 0 confirmed; 1 undecided; 2 bad input; 3 refuted; 4 a package is missing; 130 "
    "interrupted without a result."
)
DEMO_EXITS = "Exit codes: 0 everything was proven; 1 something was not; 130 interrupted."

CERTIFY_CODES = {"optimal": PROVEN, "feasible": OPEN, "heuristic": OPEN, "infeasible": REFUSED}
CHECK_CODES = {"confirmed": PROVEN, "undecided": OPEN, "refuted": REFUSED}

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


@app.command(
    epilog="Example: nnbo-mip certify model.onnx --lower -1,-2,0 --upper 1,2,0.5 "
    f"--save certificate.json\n\n{CERTIFY_EXITS}"
)
def certify(
    model: Annotated[Path, typer.Argument(help="A network: .onnx, .npz or .json.")],
    lower: Annotated[
        str | None, typer.Option(help="Lower ends: one number for all inputs, or a comma list.")
    ] = None,
    upper: Annotated[str | None, typer.Option(help="Upper ends, likewise.")] = None,
    space: Annotated[
        Path | None,
        typer.Option(help="A .toml or .json file with dimensions and constraints, instead."),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(help="NAME of the output, or NAME=WEIGHT, repeated for a weighted sum."),
    ] = None,
    direction: Annotated[str, typer.Option(help="maximize or minimize.")] = "maximize",
    method: Annotated[
        str, typer.Option(help="auto, bab, boxes, phases, mip or enumerate.")
    ] = "auto",
    solver: Annotated[
        str, typer.Option(help="One of `nnbo-mip list backends`, or pyomo:<name>.")
    ] = "highs",
    gap: Annotated[
        str, typer.Option(help="Stop at gap * max(1, |value|).", metavar="NUMBER")
    ] = "1e-4",
    time_limit: Seconds = "60",
    seed: Seed = "0",
    save: Annotated[Path | None, typer.Option(help="Write the certificate to this file.")] = None,
    verify: Verify = True,
    as_json: Json = False,
) -> None:
    """Find the maximum or minimum of a network over a space, and prove it.

    Ctrl-C ends the search and prints the best value and bound so far.
    """
    with sentences():
        from nnbo_mip.cli.inputs import (
            parse_gap,
            parse_output,
            parse_seed,
            parse_space,
            parse_time_limit,
        )
        from nnbo_mip.exact.certify import certify as run
        from nnbo_mip.network.inputs import as_network

        loading_is_done()
        if save is not None:
            check_can_be_written(save, "--save")
        network = as_network(model, verify=verify)
        result = run(
            network,
            parse_space(network, lower, upper, space),
            output=parse_output(network, output),
            direction=direction,  # type: ignore[arg-type]  # checked there
            method=method,
            solver=solver,
            gap=parse_gap(gap),
            time_limit=parse_time_limit(time_limit),
            seed=parse_seed(seed),
            progress=progress_shown(),
        )
        typer.echo(json.dumps(_result_json(result)) if as_json else str(result))
        if save is not None:
            result.certificate.save(save)
            if not as_json:
                typer.echo(f"  certificate saved to {save}")
        raise typer.Exit(CERTIFY_CODES[result.status])


@app.command(
    epilog=f"Example: nnbo-mip check certificate.json model.onnx --time-limit 120\n\n{CHECK_EXITS}"
)
def check(
    certificate: Annotated[Path, typer.Argument(help="A file that a certificate was saved to.")],
    model: Annotated[
        Path,
        typer.Argument(
            help="The network: .onnx, .npz or .json; for an acquisition, the objective's .npz."
        ),
    ],
    time_limit: Seconds = "60",
    seed: Seed = "0",
    verify: Verify = True,
    as_json: Json = False,
) -> None:
    """Prove the claim of a certificate again, by other code than made it."""
    with sentences():
        from nnbo_mip.cli.inputs import parse_seed, parse_time_limit
        from nnbo_mip.exact.certificates.certificate import Certificate
        from nnbo_mip.network.inputs import as_network

        loading_is_done()
        claim = Certificate.load(certificate)
        result = claim.check(
            as_network(model, verify=verify) if claim.head is None else model,
            time_limit=parse_time_limit(time_limit),
            seed=parse_seed(seed),
            progress=progress_shown(),
        )
        if as_json:
            typer.echo(json.dumps(_check_json(result)))
        else:
            typer.echo(f"{claim}\n{result} ({result.seconds:.2f} s)")
        raise typer.Exit(CHECK_CODES[result.verdict])


@app.command(epilog=f"Example: nnbo-mip demo\n\n{DEMO_EXITS}")
def demo() -> None:
    """Train a small network, certify its maximum and minimum, check the certificates."""
    with sentences():
        from nnbo_mip.cli.demo import run

        loading_is_done()
        raise typer.Exit(PROVEN if run(typer.echo) else OPEN)


app.command(
    epilog="Example: nnbo-mip compare --problem branin --surrogate nomu --acquisition ei "
    f"--maximizers mip,bab,direct,grid,lbfgs --plot branin.png\n\n{COMPARE_CODES}"
)(compare)
app.command(
    "run",
    epilog=f"Example: nnbo-mip run experiment.toml --workers 2 --store results.db\n\n{RUN_CODES}",
)(run_experiment)
app.command(
    "export",
    epilog=f"Example: nnbo-mip export results.db --out tables --format parquet\n\n{EXPORT_CODES}",
)(export_results)
app.command(
    epilog="Example: nnbo-mip suggest observations.csv --space space.toml --value loss "
    f"--save certificate.json\n\n{SUGGEST_CODES}"
)(suggest)
app.command(
    epilog=f"Example: nnbo-mip report results.db --out report.html\n\n{REPORT_CODES}",
)(report)
app.command("list", epilog=f"Example: nnbo-mip list maximizers\n\n{LIST_CODES}")(list_names)


def _result_json(result: CertifyResult) -> dict[str, Any]:
    x = result.x
    return {
        "status": result.status,
        "direction": result.direction,
        "value": json_number(result.value),
        "bound": json_number(result.bound),
        "gap": json_number(result.gap),
        "x": x.tolist() if hasattr(x, "tolist") else x,
        "kind": result.kind,
        "engine": result.engine,
        "seconds": result.seconds,
        "message": result.message,
        "unverified": result.certificate.unverified,
        "counters": dict(result.counters),
        "certificate_digest": result.certificate.digest,
    }


def _check_json(result: CheckResult) -> dict[str, Any]:
    return {"verdict": result.verdict, "reason": result.reason, "seconds": result.seconds}
