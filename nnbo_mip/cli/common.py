"""What the commands of ``nnbo-mip`` share: exit codes, sentences for errors, options.

Only Typer and the standard library are imported at the top: ``--help`` must be quick.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nnbo_mip.cli.main import INTERRUPTED

if TYPE_CHECKING:
    from nnbo_mip.core.control import ProgressOption

PROVEN, OPEN, BAD_INPUT, REFUSED, BROKEN = 0, 1, 2, 3, 4

EXIT_CODES = (
    "Exit codes: 0 done, and proven where something is to be proven; 1 not all of it: a gap is "
    "open, a claim undecided, a unit failed; 2 bad input; 3 no admissible point, or a claim "
    "refuted; 4 a package is missing, or a solver, a store or a cluster failed; 130 interrupted."
)

FEWEST = 2
"""Values that a model learns from at least."""

Imports = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        help="Import this module of yours first, which registers what it has; may be repeated.",
        metavar="MODULE",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify/--no-verify",
        help="Compare what is imported from ONNX with the model, and refuse what differs.",
    ),
]

# Numbers are taken as text, so that one sentence says what is wrong with them.
Seconds = Annotated[str, typer.Option(help="Wall seconds; inf for no limit.", metavar="SECONDS")]
Memory = Annotated[
    str, typer.Option(help="GiB that the search may take; inf for no limit.", metavar="GIB")
]
Seed = Annotated[str, typer.Option(help="Seed of random starts.", metavar="INTEGER")]


@contextmanager
def sentences() -> Iterator[None]:
    """Turn expected errors into one sentence on standard error and an exit code."""
    from nnbo_mip.core.errors import MissingExtraError, NnboError, SolverError

    try:
        yield
    except (MissingExtraError, SolverError) as error:
        fail(str(error), BROKEN)
    except NnboError as error:
        fail(str(error), BAD_INPUT)
    except OSError as error:
        fail(
            f"a file must be one that can be read and written; got {error.filename!r} "
            f"({error.strerror or error}); check the path, its permissions and the disk.",
            BAD_INPUT,
        )
    except KeyboardInterrupt:
        fail("interrupted before there was a result; nothing was kept.", INTERRUPTED)


def import_modules(names: list[str] | None) -> None:
    """Import modules of the working folder, or installed ones, that register strategies."""
    from nnbo_mip.lab.plan.environment import files_of, import_all

    for name in names or ():
        files_of(name)  # looks in the working folder too, and says what is wrong
    import_all(names or ())


def fail(sentence: str, code: int) -> None:
    """Say what is wrong on standard error, and leave."""
    typer.echo(f"nnbo-mip: {' '.join(sentence.split())}", err=True)
    raise typer.Exit(code)


def check_can_be_written(path: Path, option: str) -> None:
    """Refuse, before the work begins, a file that cannot be written when it is done."""
    from nnbo_mip.core.errors import InputError

    if path.is_dir() or not path.parent.is_dir():
        raise InputError(
            f"{option} must name a file in an existing folder; got {str(path)!r}; "
            f"{'add the name of a file' if path.is_dir() else 'create the folder'}."
        )


def progress_shown() -> ProgressOption:
    """Return how searches show what they do: live on a terminal, else a line every few seconds.

    What is quick leaves no line in a log.
    """
    from nnbo_mip.core.live import plain_lines

    return True if sys.stderr.isatty() else plain_lines(maximize=True, at_once=False)


def json_number(number: float) -> float | str:
    """Return a number as JSON has it: infinities and NaN are written as text."""
    return number if math.isfinite(number) else str(number)
