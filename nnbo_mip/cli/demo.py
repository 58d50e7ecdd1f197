"""The command ``nnbo-mip demo``: the built-in example.

Only Typer and the standard library are imported at the top: ``--help`` must be quick.
"""

from __future__ import annotations

import typer

from nnbo_mip.cli.common import OPEN, PROVEN, sentences
from nnbo_mip.cli.main import loading_is_done

CODES = "Exit codes: 0 everything was proven; 1 something was not; 130 interrupted."


def demo() -> None:
    """Train a small network, certify its maximum and minimum, check the certificates."""
    with sentences():
        from nnbo_mip.cli.example import run

        loading_is_done()
        raise typer.Exit(PROVEN if run(typer.echo) else OPEN)
