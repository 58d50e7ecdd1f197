"""`write_report`: the whole page of an experiment; `write_figures`: its pictures as files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from nnbo_mip.drawing.drawn import draw
from nnbo_mip.drawing.figures import check_can_draw
from nnbo_mip.drawing.page.pages import Page, Part, slug, unique
from nnbo_mip.lab.report.answer import add_answer
from nnbo_mip.lab.report.belief_section import belief_parts
from nnbo_mip.lab.report.certificates import add_certificates, add_times
from nnbo_mip.lab.report.problem_section import add_problem
from nnbo_mip.lab.report.ranking import add_ranking
from nnbo_mip.lab.report.state import add_failures, add_settings, add_state
from nnbo_mip.lab.statistics.findings import Findings
from nnbo_mip.lab.store.results import Results

Announce = Callable[[str, int, int], None]
"""Receives what is done next, how many parts are done, and how many there are."""


def _silent(name: str, done: int, total: int) -> None:
    """Announce nothing."""


def write_report(
    store: str | Path,
    out: str | Path,
    experiment: str | None = None,
    beliefs: int = 0,
    announce: Announce = _silent,
) -> tuple[Results, Findings, Page]:
    """Write one HTML file that needs no other, and return what it is about.

    Parameters
    ----------
    store : path
        A store of results; others may write to it meanwhile.
    out : path
        Overwritten when the page is complete.
    experiment : str, optional
        Its name; may be left out where the store holds one.
    beliefs : int
        Steps that are taken again on problems of one variable, to draw what models believed.
    announce : callable, optional
    """
    results = Results.open(store, experiment)
    findings = Findings.of(results)
    page = page_of(results, findings, beliefs, announce)
    page.save(out)
    return results, findings, page


def page_of(
    results: Results, findings: Findings, beliefs: int = 0, announce: Announce = _silent
) -> Page:
    """Return the page of an experiment, whatever of it is finished; see `write_report`."""
    colors = {method: place for place, method in enumerate(results.methods)}
    page = Page(results.experiment.name)
    parts = [
        Part("the answer", lambda: add_answer(page, results, findings, colors)),
        Part("the state", lambda: add_state(page, results, findings)),
        Part("ranks", lambda: add_ranking(page, results, findings, colors)),
        *(
            Part(problem.problem, partial(add_problem, page, problem, results, colors))
            for problem in findings.problems
        ),
        *(belief_parts(page, results, findings, beliefs, colors) if beliefs else ()),
        Part("certificates", lambda: add_certificates(page, results, colors)),
        Part("times", lambda: add_times(page, results)),
        Part("failures", lambda: add_failures(page, results)),
        Part("settings", lambda: add_settings(page, results)),
    ]
    for done, part in enumerate(parts):
        announce(part.name, done, len(parts))
        part.write()
    return page


def write_figures(page: Page, folder: str | Path, ending: str = "svg") -> list[Path]:
    """Draw all pictures of a page into a folder, and return the files.

    Parameters
    ----------
    page : Page
    folder : path
    ending : {"svg", "png", "pdf"}
    """
    names: list[str] = []
    for picture in page.drawn:
        names.append(unique(slug(picture.title), names))
    paths = [Path(folder) / f"{name}.{ending}" for name in names]
    for path in paths[:1]:
        check_can_draw(path)
    for path, picture in zip(paths, page.drawn, strict=True):
        draw(picture, path)
    return paths
