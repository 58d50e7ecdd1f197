"""The command ``nnbo-mip check``: the claim of a certificate, proven again.

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
    Seconds,
    Seed,
    Verify,
    progress_shown,
    sentences,
)
from nnbo_mip.cli.main import loading_is_done

if TYPE_CHECKING:
    from nnbo_mip.exact.check import CheckResult

CODES = (
    "Exit codes: 0 confirmed; 1 undecided; 2 bad input; 3 refuted; 4 a package is missing; 130 "
    "interrupted without a result."
)

STATUSES = {"confirmed": PROVEN, "undecided": OPEN, "refuted": REFUSED}
"""Exit code of a verdict."""


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
        from nnbo_mip.exact.property_certificate import read_certificate
        from nnbo_mip.network.inputs import as_network

        loading_is_done()
        claim = read_certificate(certificate)
        result = claim.check(
            as_network(model, verify=verify) if getattr(claim, "head", None) is None else model,
            time_limit=parse_time_limit(time_limit),
            seed=parse_seed(seed),
            progress=progress_shown(),
        )
        if as_json:
            typer.echo(json.dumps(_check_json(result)))
        else:
            typer.echo(f"{claim}\n{result} ({result.seconds:.2f} s)")
        raise typer.Exit(STATUSES[result.verdict])


def _check_json(result: CheckResult) -> dict[str, Any]:
    return {"verdict": result.verdict, "reason": result.reason, "seconds": result.seconds}
