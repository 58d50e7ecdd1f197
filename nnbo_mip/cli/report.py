"""The command ``nnbo-mip report``: an experiment, or a run of one's own, on one page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nnbo_mip.cli.common import OPEN, PROVEN, Json, check_can_be_written, json_number, sentences
from nnbo_mip.cli.main import loading_is_done

if TYPE_CHECKING:
    from nnbo_mip.lab.statistics.findings import Findings, ProblemFindings
    from nnbo_mip.lab.statistics.intervals import Interval
    from nnbo_mip.lab.store.results import Results

CODES = (
    "Exit codes: 0 the page shows all units, or a run; 1 the page was written, and some units are "
    "not finished or failed; 2 bad input, and nothing was written; 4 a package is missing; 130 "
    "interrupted."
)

OUT = Path("report.html")


def report(
    store: Annotated[
        Path, typer.Argument(help="A store that nnbo-mip run wrote, or the journal of a run.")
    ],
    out: Annotated[Path, typer.Option(help="The .html file to write.")] = OUT,
    experiment: Annotated[
        str | None, typer.Option(help="Its name, where the store holds several.")
    ] = None,
    beliefs: Annotated[
        str | None,
        typer.Option(
            help="Repeat this many steps of each method on problems of one variable, and draw "
            "what the models believed then.",
            metavar="STEPS",
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Draw the pictures into this folder as well.")
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", help="Of these files: svg, png or pdf.")
    ] = "svg",
    follow: Annotated[
        bool, typer.Option(help="Of a journal: write the page anew while the run goes on.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write an experiment's curves, ranks, tests and certificates on one page of HTML.

    Of the journal of one run the page shows its progress, what was proven, what the model believes
    and what may be left. The page needs no other file and no network. Units or evaluations may
    still be running: it shows what is finished, and says what is not.
    """
    with sentences():
        from nnbo_mip.cli.inputs import parse_count
        from nnbo_mip.cli.report_run import report_run
        from nnbo_mip.cli.stages import shown_stages
        from nnbo_mip.core.checks import check_choice
        from nnbo_mip.core.errors import InputError
        from nnbo_mip.lab.report.writing import write_figures, write_report
        from nnbo_mip.loop.record.journal import Journal

        loading_is_done()
        check_can_be_written(out, "--out")
        if out.resolve() == store.resolve():
            raise InputError(
                f"--out must not be the store; got {str(out)!r} for both; name another file."
            )
        ending = check_choice("--format", format_, ("svg", "png", "pdf"))
        steps = 0 if beliefs is None else parse_count(beliefs, "--beliefs")
        if figures is not None and not figures.is_dir():
            raise InputError(
                f"--figures must be a folder that exists; got {str(figures)!r}; create it."
            )
        if Journal.is_one(store):
            if experiment is not None or beliefs is not None:
                raise InputError(
                    "--experiment and --beliefs are for stores of experiments; "
                    f"{str(store)!r} is the journal of a run; leave them out."
                )
            report_run(store, out, follow, figures, ending, as_json)
        if follow:
            raise InputError(
                f"--follow is for the journal of a run; {str(store)!r} is none; write the page of "
                "an experiment again when you want a newer one."
            )
        with shown_stages() as stages:
            stages.begin_part(f"reading {store}", 0, 1)
            results, findings, page = write_report(store, out, experiment, steps, stages.begin_part)
            drawn = []
            if figures is not None:
                stages.begin_part("pictures as files", 0, 1)
                drawn = write_figures(page, figures, ending)
        if as_json:
            typer.echo(json.dumps(_as_json(results, findings, out, drawn)))
        else:
            _show(results, findings, out)
            if figures is not None:
                typer.echo(f"{len(drawn)} pictures drawn into {figures}")
        status = results.units["status"]
        raise typer.Exit(PROVEN if len(status) and (status == "finished").all() else OPEN)


def _show(results: Results, findings: Findings, out: Path) -> None:
    status = results.units["status"]
    typer.echo(
        f"{results.experiment.name}: {int((status == 'finished').sum())} of {len(status)} units "
        f"finished, {int((status == 'failed').sum())} failed"
    )
    for problem in findings.problems:
        best = [
            method
            for method, rank in zip(problem.methods, problem.median_ranks, strict=True)
            if rank == 1
        ]
        figure = min((one.final_median.value for one in problem.samples), default=None)
        said = "no results yet"
        if figure is not None:
            said = f"least median {problem.measure} {figure:.3g} by {'; '.join(best)}"
        typer.echo(f"  {problem.problem}: {said}")
    typer.echo(f"written to {out}")


def _as_json(results: Results, findings: Findings, out: Path, drawn: list[Path]) -> dict[str, Any]:
    status = results.units["status"]
    return {
        "experiment": results.experiment.name,
        "out": str(out),
        "figures": [str(path) for path in drawn],
        "units": len(status),
        "finished": int((status == "finished").sum()),
        "failed": int((status == "failed").sum()),
        "problems": [_problem_json(problem) for problem in findings.problems],
    }


def _problem_json(problem: ProblemFindings) -> dict[str, Any]:
    return {
        "problem": problem.problem,
        "measure": problem.measure,
        "evaluations": problem.evaluations,
        "methods": [
            {
                "method": sample.method,
                "instances": len(sample),
                "mean": _interval_json(sample.final_mean),
                "median": _interval_json(sample.final_median),
                "rank_by_interval": int(problem.interval_ranks[place]),
                "rank_of_median": int(problem.median_ranks[place]),
                "rank_by_mann_whitney": int(problem.stratified[place]),
                "mean_rank": (
                    None
                    if problem.friedman is None
                    else json_number(float(problem.friedman.ranks[place]))
                ),
            }
            for place, sample in enumerate(problem.samples)
        ],
    }


def _interval_json(interval: Interval) -> list[float | str]:
    """Return value, lower and upper end."""
    return [json_number(one) for one in (interval.value, interval.low, interval.high)]
