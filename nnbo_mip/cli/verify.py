"""The command ``nnbo-mip verify``: whether a property holds of a network, with a proof.

Only Typer and the standard library are imported at the top: ``--help`` must be quick.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnbo_mip.cli.certify import DECISIONS
from nnbo_mip.cli.common import (
    Json,
    Memory,
    Seconds,
    Seed,
    Verify,
    check_can_be_written,
    progress_shown,
    sentences,
)
from nnbo_mip.cli.main import loading_is_done

if TYPE_CHECKING:
    from nnbo_mip.exact.verify_result import VerifyResult

CODES = (
    "Exit codes: 0 the property holds (unsat); 1 undecided (unknown); 2 bad input; 3 violated "
    "(sat); 4 a package is missing or a solver failed; 130 interrupted without a result."
)


def verify(
    model: Annotated[Path, typer.Argument(help="A network: .onnx, .onnx.gz, .npz or .json.")],
    property: Annotated[Path, typer.Argument(help="What must not happen: .vnnlib or .vnnlib.gz.")],
    method: Annotated[
        str, typer.Option(help="auto, bab, boxes, phases, mip or enumerate.")
    ] = "auto",
    solver: Annotated[
        str, typer.Option(help="One of `nnbo-mip list backends`, or pyomo:<name>.")
    ] = "highs",
    time_limit: Seconds = "60",
    memory_limit: Memory = "2",
    seed: Seed = "0",
    certificate: Annotated[
        Path | None, typer.Option(help="Write the certificate, or the witness, to this file.")
    ] = None,
    verify: Verify = True,
    as_json: Json = False,
) -> None:
    """Prove that no input of a property reaches an unsafe output, or find one.

    The first line is unsat, sat or unknown.
    """
    with sentences():
        from nnbo_mip.cli.inputs import parse_memory_limit, parse_seed, parse_time_limit
        from nnbo_mip.exact.verify import verify as run
        from nnbo_mip.network.inputs import as_network

        loading_is_done()
        if certificate is not None:
            check_can_be_written(certificate, "--certificate")
        result = run(
            as_network(model, verify=verify),
            property,
            method=method,
            solver=solver,
            time_limit=parse_time_limit(time_limit),
            memory_limit=parse_memory_limit(memory_limit),
            seed=parse_seed(seed),
            progress=progress_shown(),
        )
        if as_json:
            typer.echo(json.dumps(_result_json(result)))
        else:
            typer.echo(f"{result.verdict}\n{result}")
        if certificate is not None:
            result.certificate.save(certificate)
            if not as_json:
                typer.echo(f"  certificate saved to {certificate}")
        raise typer.Exit(DECISIONS[result.answer])


def _result_json(result: VerifyResult) -> dict[str, Any]:
    return {
        "answer": result.answer,
        "verdict": result.verdict,
        "x": None if result.x is None else result.x.tolist(),
        "outputs": None if result.outputs is None else result.outputs.tolist(),
        "case": result.case,
        "seconds": result.seconds,
        "message": result.message,
        "unverified": result.unverified or None,
        "counters": dict(result.counters),
        "certificate_digest": result.certificate.digest,
    }
