"""The command ``nnbo-mip certify``: the maximum or minimum of a network, with a proof.

Only Typer and the standard library are imported at the top: ``--help`` must be quick.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnbo_mip.cli.common import (
    OPEN,
    PROVEN,
    REFUSED,
    Json,
    Memory,
    Seconds,
    Seed,
    Verify,
    check_can_be_written,
    json_number,
    progress_shown,
    sentences,
)
from nnbo_mip.cli.main import loading_is_done

if TYPE_CHECKING:
    from nnbo_mip.exact.certify_result import CertifyResult

CODES = (
    "Exit codes: 0 optimal; 1 the gap is open; 2 bad input; 3 no point is admissible; 4 a package "
    "is missing or a solver failed; 130 interrupted without a result. With --threshold: 0 no point "
    "is beyond it; 1 undecided; 3 the point found is beyond it."
)

STATUSES = {"optimal": PROVEN, "feasible": OPEN, "heuristic": OPEN, "infeasible": REFUSED}
"""Exit code of a status."""

DECISIONS = {"holds": PROVEN, "undecided": OPEN, "violated": REFUSED}
"""Exit code of what is decided about a threshold or a property."""


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
    threshold: Annotated[
        str | None,
        typer.Option(
            help="Only decide whether any point scores above it (below, to minimize).",
            metavar="NUMBER",
        ),
    ] = None,
    time_limit: Seconds = "60",
    memory_limit: Memory = "2",
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
            parse_memory_limit,
            parse_output,
            parse_seed,
            parse_space,
            parse_threshold,
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
            memory_limit=parse_memory_limit(memory_limit),
            seed=parse_seed(seed),
            progress=progress_shown(),
            threshold=parse_threshold(threshold),
        )
        typer.echo(json.dumps(_result_json(result)) if as_json else str(result))
        if save is not None:
            result.certificate.save(save)
            if not as_json:
                typer.echo(f"  certificate saved to {save}")
        decided = result.decided
        raise typer.Exit(STATUSES[result.status] if decided is None else DECISIONS[decided])


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
        "threshold": result.certificate.threshold,
        "decided": result.decided,
        "counters": dict(result.counters),
        "certificate_digest": result.certificate.digest,
    }
