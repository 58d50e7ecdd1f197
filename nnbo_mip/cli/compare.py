"""The command ``nnbo-mip compare``: maximizers side by side on one acquisition."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnbo_mip.cli.common import (
    BAD_INPUT,
    OPEN,
    PROVEN,
    REFUSED,
    Imports,
    Json,
    check_can_be_written,
    fail,
    import_modules,
    json_number,
    sentences,
)
from nnbo_mip.cli.main import loading_is_done

if TYPE_CHECKING:
    from nnbo_mip.cli.learned import Observed
    from nnbo_mip.maximizers.comparison import Comparison, ComparisonRow

CODES = (
    "Exit codes: 0 a maximizer closed its gap; 1 none did; 2 bad input, or no maximizer can serve "
    "the acquisition; 3 no point is admissible; 4 a package is missing or a solver failed; 130 "
    "interrupted."
)


def compare(
    problem: Annotated[
        str | None, typer.Option(help="NAME or NAME:OPTION=VALUE; see nnbo-mip list problems.")
    ] = None,
    points: Annotated[
        str | None, typer.Option(help="Sobol points of the problem; else 20.", metavar="N")
    ] = None,
    observations: Annotated[
        Path | None, typer.Option(help="Instead: a .csv file of past observations.")
    ] = None,
    space: Annotated[
        Path | None, typer.Option(help="A .toml or .json file with their dimensions.")
    ] = None,
    value: Annotated[str | None, typer.Option(help="Their column of values; else y.")] = None,
    direction: Annotated[
        str | None, typer.Option(help="minimize or maximize; else as the problem has it.")
    ] = None,
    surrogate: Annotated[
        str | None, typer.Option(help="See nnbo-mip list surrogates; else that of nm.optimize.")
    ] = None,
    acquisition: Annotated[
        str | None, typer.Option(help="See nnbo-mip list acquisitions; else likewise.")
    ] = None,
    maximizers: Annotated[
        str, typer.Option(help="A comma list; see nnbo-mip list maximizers.")
    ] = "auto,pga,lbfgs,direct,sobol,random",
    evaluations: Annotated[
        str | None, typer.Option(help="Budget of those that count evaluations.", metavar="N")
    ] = None,
    time_limit: Annotated[
        str, typer.Option(help="Wall seconds of each; inf for no limit.", metavar="SECONDS")
    ] = "10",
    gap: Annotated[str, typer.Option(help="At which a proof may stop.", metavar="NUMBER")] = "1e-4",
    seed: Annotated[
        str, typer.Option(help="Of points, surrogate and random starts.", metavar="INTEGER")
    ] = "0",
    plot: Annotated[
        Path | None, typer.Option(help="Draw it into this .png, .svg or .pdf file.")
    ] = None,
    imports: Imports = None,
    as_json: Json = False,
) -> None:
    """Maximize one acquisition by several maximizers, and see which of them miss its maximum.

    A surrogate learns from Sobol points of a test problem, or from observations of yours.
    """
    with sentences():
        from nnbo_mip.cli.inputs import parse_count, parse_gap, parse_seed, parse_time_limit
        from nnbo_mip.cli.learned import (
            acquisition_of,
            check_can_be_had,
            listed,
            observed,
            surrogate_of,
        )
        from nnbo_mip.cli.stages import shown_stages
        from nnbo_mip.drawing.figures import check_can_draw
        from nnbo_mip.maximizers.base.target import Target
        from nnbo_mip.maximizers.compare import compare as run
        from nnbo_mip.maximizers.compare import created
        from nnbo_mip.maximizers.landscape import landscape_of

        loading_is_done()
        import_modules(imports)
        drawn_from, stop = parse_seed(seed), parse_gap(gap)
        n_points = None if points is None else parse_count(points, "--points", least=2)
        budgets: dict[str, object] = {"time_limit": parse_time_limit(time_limit)}
        if evaluations is not None:
            budgets["evaluations"] = parse_count(evaluations, "--evaluations")
        if plot is not None:
            check_can_draw(plot)
            check_can_be_written(plot, "--plot")
        # What is wrong is said before anything is learned.
        names = listed(maximizers)
        check_can_be_had(created(names, budgets))
        seen = observed(problem, n_points, observations, space, value, direction, drawn_from)
        learner = surrogate_of(surrogate, seen.space, drawn_from)
        score = acquisition_of(acquisition, learner, drawn_from)
        score.check_served(learner.name, learner.capabilities)
        domain = seen.space.model()
        family, scored = surrogate or learner.name, acquisition or score.name
        with shown_stages() as stages, _no_warnings_beside_the_table():
            stages.begin(f"{family} learns from {seen.source}")
            started = time.perf_counter()
            belief = learner.with_categories(domain.one_hot).fit(seen.X, seen.y)
            fit_seconds = time.perf_counter() - started
            table = run(
                belief,
                score,
                domain,
                names,
                budgets,
                X=seen.X,
                y=seen.y,
                gap=stop,
                seed=drawn_from,
                announce=stages.begin,
                progress=stages.receive,
            )
        if as_json:
            asked = {"surrogate": family, "acquisition": scored, "seed": drawn_from}
            typer.echo(json.dumps(asked | _as_json(table, seen, fit_seconds)))
        else:
            typer.echo(f"{family} learned from {_learned(seen, fit_seconds)}\n{table}")
            for line in _best_points(table, seen):
                typer.echo(line)
        if all(row.status == "refused" for row in table):
            fail(
                "one maximizer at least must be able to serve the acquisition; got none; choose "
                "others.",
                BAD_INPUT,
            )
        if plot is not None:
            target = Target(score.scorer(belief, seen.X, seen.y), domain)
            title = f"{scored} of {family}, which learned from {seen.source}"
            landscape = landscape_of(table, target, seen.space, seen.X)
            table.draw(plot, landscape=landscape, title=title)
            if not as_json:
                typer.echo(f"drawn to {plot}")
        raise typer.Exit(_code(table))


@contextmanager
def _no_warnings_beside_the_table() -> Iterator[None]:
    """Leave out warnings that something is not proven: the table says it."""
    from nnbo_mip.core.errors import UncertifiedWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertifiedWarning)
        yield


def _code(table: Comparison) -> int:
    if any(row.status == "infeasible" for row in table):
        return REFUSED
    return PROVEN if table.certified else OPEN


def _learned(seen: Observed, fit_seconds: float) -> str:
    turned = "" if seen.direction == "maximize" else ": scores are those of -y"
    return (
        f"{seen.source} in {fit_seconds:.2f} s; best y {seen.best:.6g}, {seen.direction}d{turned}"
    )


def _best_points(table: Comparison, seen: Observed) -> list[str]:
    """Say where the best score is, in the user's units."""
    best = [row for row in table if row.value == table.best and _x(row, seen) is not None]
    return [f"best point, by {row.maximizer}: x = {_x(row, seen)}" for row in best[:1]]


def _x(row: ComparisonRow, seen: Observed) -> Any:
    """Return the point of a row in the user's units, JSON-able; None without one."""
    from nnbo_mip.loop.record.serialization import point_out

    if row.proposal is None or row.proposal.x is None:
        return None
    return point_out(seen.space.decode(row.proposal.x))


def _as_json(table: Comparison, seen: Observed, fit_seconds: float) -> dict[str, Any]:
    return {
        "observations": len(seen.y),
        "source": seen.source,
        "direction": seen.direction,
        "best_observed": seen.best,
        "fit_seconds": fit_seconds,
        "head": table.head,
        "best": json_number(table.best),
        "bound": json_number(table.bound),
        "certified": table.certified,
        "maximizers": [
            {
                "maximizer": row.maximizer,
                "value": json_number(row.value),
                "bound": json_number(row.bound),
                "regret": json_number(row.regret),
                "largest_regret": json_number(row.largest_regret),
                "status": row.status,
                "seconds": row.seconds,
                "evaluations": row.evaluations,
                "miss": row.miss,
                "x": _x(row, seen),
                "message": row.message,
            }
            for row in table
        ],
    }
