"""The command ``nnbo-mip suggest``: the next point after observations in a table."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnbo_mip.cli.common import (
    FEWEST,
    OPEN,
    PROVEN,
    Json,
    Seconds,
    Seed,
    check_can_be_written,
    json_number,
    progress_shown,
    sentences,
)
from nnbo_mip.cli.main import loading_is_done

if TYPE_CHECKING:
    from nnbo_mip.loop.optimizer import BayesianOptimizer
    from nnbo_mip.loop.record.suggestion import Suggestion
    from nnbo_mip.space.space import Space

CODES = (
    "Exit codes: 0 the point is certified best; 1 it is not proven to be; 2 bad input; 4 a package "
    "is missing or a solver failed; 130 interrupted without a result."
)

NUMBERS = ("value", "bound", "gap", "mean", "std", "seconds", "fit_seconds")


def suggest(
    observations: Annotated[Path, typer.Argument(help="A .csv file with a header line.")],
    space: Annotated[
        Path,
        typer.Option(
            help="A .toml or .json file: a list of dimensions with name, lower, upper, and kind "
            "if not real; docs/guide/lab.md has one."
        ),
    ],
    value: Annotated[str, typer.Option(help="The column of values.")] = "y",
    noise: Annotated[
        str | None, typer.Option(help="The column of their standard deviations.")
    ] = None,
    direction: Annotated[str, typer.Option(help="minimize or maximize.")] = "minimize",
    surrogate: Annotated[
        str | None, typer.Option(help="See nnbo-mip list surrogates; else what suits the space.")
    ] = None,
    acquisition: Annotated[
        str | None, typer.Option(help="See nnbo-mip list acquisitions; else the surrogate's.")
    ] = None,
    maximizer: Annotated[str, typer.Option(help="See nnbo-mip list maximizers.")] = "auto",
    gap: Annotated[str, typer.Option(help="At which a proof may stop.", metavar="NUMBER")] = "1e-4",
    time_limit: Seconds = "60",
    seed: Seed = "0",
    stop: Annotated[
        str | None,
        typer.Option(
            help="Say whether these observations are enough: regret:tolerance=0.01, ei:tolerance=… "
            "or target:value=….",
            metavar="RULE",
        ),
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Rows without a value are failed evaluations.")
    ] = False,
    save: Annotated[Path | None, typer.Option(help="Write the certificate to this file.")] = None,
    objective: Annotated[
        Path | None,
        typer.Option(help="Write what it is about to this .npz file, for nnbo-mip check."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say where to evaluate next, and prove that no other point scores higher.

    A surrogate learns from the table; columns are called as the dimensions, others are ignored.
    """
    with sentences():
        from nnbo_mip.cli.inputs import parse_gap, parse_seed, parse_time_limit
        from nnbo_mip.loop.optimizer import BayesianOptimizer

        loading_is_done()
        for path, option in ((save, "--save"), (objective, "--objective")):
            if path is not None:
                check_can_be_written(path, option)
        given = _space(space)
        values = _values(observations, given, value, noise, failed)
        optimizer = BayesianOptimizer(
            given,
            surrogate,
            acquisition,
            maximizer,
            direction,
            initial=max(values, FEWEST),
            stop=stop,
            gap=parse_gap(gap),
            time_limit=parse_time_limit(time_limit),
            seed=parse_seed(seed),
        )
        optimizer.tell_table(observations, value, noise)
        suggestion = optimizer.ask(progress=progress_shown())
        written = _written(suggestion, save, objective)
        verdict = None if stop is None else optimizer.should_stop()
        if as_json:
            judged = {} if verdict is None else {"stop": verdict.to_dict()}
            typer.echo(json.dumps({**_as_json(suggestion, optimizer), **judged}))
        else:
            said = [] if verdict is None else [f"  {verdict}"]
            for line in (*_lines(suggestion, optimizer, values), *said, *written):
                typer.echo(line)
        raise typer.Exit(PROVEN if suggestion.status == "optimal" else OPEN)


def _space(path: Path) -> Space:
    from nnbo_mip.cli.space_file import read_space
    from nnbo_mip.core.errors import InputError
    from nnbo_mip.loop.settings.settings import as_space
    from nnbo_mip.space.space import Space

    given = read_space(path)
    if not isinstance(given, Space):
        raise InputError(
            f"--space must name dimensions in the units of the table; got {str(path)!r}, a domain "
            "of plain coordinates; write a .toml file with [[dimensions]]."
        )
    return as_space(given)


def _values(path: Path, space: Space, value: str, noise: str | None, failed: bool) -> int:
    """Return how many rows have a value; refuse those that have none and are not said to fail."""
    from nnbo_mip.core.errors import InputError
    from nnbo_mip.loop.tables.csv_columns import read_csv
    from nnbo_mip.loop.tables.tables import read_table

    table = read_table(path, space, value, noise)
    without = [row for row, has_failed in enumerate(table.failed) if has_failed]
    if without and not failed:
        columns, places = read_csv(path, (*space.dim_names, value))
        cell = columns[value][without[0]]
        raise InputError(
            f"{places[without[0]]}: {value!r} must be a finite number; got "
            f"{repr(cell) if cell else 'an empty cell'}; fill it in, drop the line, or say "
            "by --failed that such evaluations failed."
        )
    return len(table) - len(without)


def _written(suggestion: Suggestion, save: Path | None, objective: Path | None) -> list[str]:
    """Write what was asked for, and say what was written."""
    lines = []
    proposal = suggestion.proposal
    if save is not None:
        if suggestion.certificate is None:
            lines.append(f"  nothing was proven: no certificate was written to {save}")
        else:
            suggestion.certificate.save(save)
            lines.append(f"  certificate saved to {save}")
    if objective is not None and proposal is not None and proposal.objective is not None:
        proposal.objective.save(objective)
        lines.append(f"  objective saved to {objective}")
    return lines


def _lines(suggestion: Suggestion, optimizer: BayesianOptimizer, values: int) -> list[str]:
    best = optimizer.best
    lines = [str(suggestion)]
    if math.isfinite(suggestion.mean):
        spread = f" +- {suggestion.std:.4g}" if math.isfinite(suggestion.std) else ""
        lines.append(f"  expected there: {suggestion.mean:.6g}{spread}")
    if suggestion.is_initial and values < FEWEST:
        lines.append(f"  a model needs {FEWEST} values; the table has {values}")
    if best is not None:
        lines.append(f"  learned from {len(optimizer.history)} rows; best value {best.y:.6g}")
    return lines


def _as_json(suggestion: Suggestion, optimizer: BayesianOptimizer) -> dict[str, Any]:
    from nnbo_mip.loop.record.serialization import point_out

    best = optimizer.best
    certificate = suggestion.certificate
    return {
        "x": point_out(suggestion.x),
        "status": suggestion.status,
        **{name: json_number(getattr(suggestion, name)) for name in NUMBERS},
        "region": None if suggestion.region is None else suggestion.region.to_dict(),
        "kind": suggestion.kind,
        "engine": suggestion.engine,
        "head": suggestion.head,
        "maximizer": suggestion.maximizer,
        "evaluations": suggestion.evaluations,
        "counters": dict(suggestion.counters),
        "message": suggestion.message,
        "observations": len(optimizer.history),
        "best": None if best is None else {"x": point_out(best.x), "y": best.y},
        "certificate_digest": None if certificate is None else certificate.digest,
    }
