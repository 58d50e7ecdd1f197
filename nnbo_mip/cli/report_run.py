"""The page of one run, from its journal: written once, or anew while the run goes on."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nnbo_mip.cli.common import PROVEN, json_number

if TYPE_CHECKING:
    from nnbo_mip.drawing.page.pages import Page
    from nnbo_mip.loop.record.journal import Journal
    from nnbo_mip.loop.seen.run_view import RunView

LOOK = 2.0
"""Seconds between two looks at a journal that is followed."""

REFRESH = 10
"""Seconds after which a browser reads a page anew that is followed."""


def report_run(
    journal: Path, out: Path, follow: bool, figures: Path | None, ending: str, as_json: bool
) -> None:
    """Write the page of a run; options as those of the command."""
    from nnbo_mip.loop.record.journal import Journal

    run, page = _written(journal, out, REFRESH if follow else 0)
    if follow:
        typer.echo(f"{out} is written anew as the run goes on; Ctrl-C ends that", err=True)
        run, page = _followed(Journal(journal), run, out)
    drawn = 0
    if figures is not None:
        from nnbo_mip.lab.report.writing import write_figures

        drawn = len(write_figures(page, figures, ending))
    if as_json:
        typer.echo(json.dumps(_as_json(run, out)))
    else:
        from nnbo_mip.loop.seen.words import answer, proof_sentence, regret_sentence

        for line in (answer(run), proof_sentence(run), regret_sentence(run)):
            if line:
                typer.echo(line)
        typer.echo(f"written to {out}")
        if figures is not None:
            typer.echo(f"{drawn} pictures drawn into {figures}")
    raise typer.Exit(PROVEN)


def _written(journal: Path, out: Path, refresh: int) -> tuple[RunView, Page]:
    from nnbo_mip.cli.stages import shown_stages
    from nnbo_mip.loop.seen.page import page_of_run
    from nnbo_mip.loop.seen.run_view import RunView

    with shown_stages() as stages:
        stages.begin_part(f"reading {journal}", 0, 1)
        run = RunView.of_journal(journal)
        page = page_of_run(run, refresh, stages.begin_part)
        page.save(out)
    return run, page


def _followed(journal: Journal, run: RunView, out: Path) -> tuple[RunView, Page]:
    """Write the page whenever something happened, until the run ends or somebody presses Ctrl-C."""
    _, known = journal.read()
    was_at_work = False
    try:
        while not run.verdict:
            is_at_work = journal.at_work() > 0
            if was_at_work and not is_at_work:
                break
            was_at_work = is_at_work
            time.sleep(LOOK)
            events, known = journal.read(known)
            if events:
                run, _ = _written(journal.path, out, REFRESH)
    except KeyboardInterrupt:
        pass
    return _written(journal.path, out, 0)


def _as_json(run: RunView, out: Path) -> dict[str, object]:
    from nnbo_mip.loop.record.serialization import point_out
    from nnbo_mip.loop.stopping.bounds import RegretBound

    best, found = run.best, run.regret
    steps = run.steps
    return {
        "out": str(out),
        "evaluations": len(run.told),
        "failed": sum(one.failed for one in run.told),
        "pending": len(run.state.pending),
        "best": None if best is None else best.y,
        "x": None if best is None else point_out(best.x),
        "steps": len(steps),
        "certified": sum(one.status == "optimal" for one in steps),
        "regret_at_most": json_number(found.regret) if isinstance(found, RegretBound) else None,
    }
