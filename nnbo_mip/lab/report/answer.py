"""What stands on top of a report: who won, by how much, at what cost; one sentence, one curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.drawing.page.html import number, paragraph, tag
from nnbo_mip.drawing.page.pages import Page
from nnbo_mip.drawing.picture import Picture
from nnbo_mip.lab.pictures.ranks import mean_rank_course
from nnbo_mip.lab.pictures.regret import Colors, regret
from nnbo_mip.lab.statistics.findings import Findings, ProblemFindings
from nnbo_mip.lab.statistics.ranks import mean_ranks
from nnbo_mip.lab.statistics.tests import Friedman
from nnbo_mip.lab.store.results import Results

SHOWN = 6
"""Methods of the curve."""

NAMED = 3
"""Methods that a sentence names; more are counted."""


@dataclass(frozen=True)
class Standings:
    """All ranked methods, the best first.

    Parameters
    ----------
    methods : tuple of str
    figures : (m,) array
        By which they are ordered: mean ranks of medians over problems, or the medians of one.
    is_ranks : bool
    """

    methods: tuple[str, ...]
    figures: FloatArray
    is_ranks: bool


def standings(findings: Findings) -> Standings | None:
    """Return the order of methods; None where no problem has results of all."""
    if not findings.complete or not findings.ranked:
        return None
    medians = np.array(
        [[one.final_median.value for one in problem.samples] for problem in findings.complete]
    )
    is_ranks = len(medians) > 1
    figures = np.mean(mean_ranks(medians), axis=0) if is_ranks else medians[0]
    order = np.argsort(figures, kind="stable")
    methods = tuple(findings.ranked[k] for k in order)
    return Standings(methods, figures[order], is_ranks)


def add_answer(page: Page, results: Results, findings: Findings, colors: Colors) -> None:
    """Write it; nothing where nobody can be compared."""
    found = standings(findings)
    if found is None or len(found.methods) < 2:
        return
    page.leading = found.methods
    alike = _alike(found, findings)
    is_known = alike is not None and len(alike) < len(found.methods) - 1
    sentences = [_winner(found, findings, is_known), _told_apart(found, findings, alike)]
    sentences.append(_cost(found, results))
    page.add(tag("div", *(paragraph(one) for one in sentences if one), class_="answer"))
    shown = set(found.methods[:SHOWN]) | set(_baselines(results))
    page.pictures(_only(_curve(found, findings, colors), shown))


def _winner(found: Standings, findings: Findings, is_known: bool) -> str:
    """Say who has the best figures; that this is a win only where somebody is told apart."""
    first, second = found.methods[:2]
    best, next_ = float(found.figures[0]), float(found.figures[1])
    if found.is_ranks:
        said = "did best: the" if is_known else "has the"
        return (
            f"{first} {said} least mean rank of its medians over {len(findings.complete)} "
            f"problems, {number(best)} of {len(found.methods)} (next {second}: {number(next_)})."
        )
    problem = findings.complete[0]
    times = f", {number(next_ / best)} times as much" if best > 0.0 else ""
    return (
        f"{first} {'did best' if is_known else 'is ahead'} on {problem.problem}: median "
        f"{problem.measure} {number(best)} after {problem.evaluations} evaluations "
        f"(next {second}: {number(next_)}{times})."
    )


def _outcome(found: Standings, findings: Findings) -> Friedman | None:
    return findings.friedman if found.is_ranks else findings.complete[0].friedman


def _alike(found: Standings, findings: Findings) -> list[str] | None:
    """Return from whom the first method cannot be told apart; None where no test says."""
    winner = findings.ranked.index(found.methods[0])
    outcome = _outcome(found, findings)
    if outcome is None:
        return None
    near = np.flatnonzero(outcome.ranks - outcome.ranks[winner] <= outcome.difference)
    return [findings.ranked[k] for k in near if k != winner]


def _told_apart(found: Standings, findings: Findings, alike: list[str] | None) -> str:
    outcome = _outcome(found, findings)
    if outcome is None or alike is None:
        return ""
    blocks = "problems" if found.is_ranks else "instances"
    by = f"by Nemenyi's test of mean ranks over {outcome.blocks} {blocks} (5 %)"
    if not alike:
        return f"It is told apart from all others {by}."
    if len(alike) == len(found.methods) - 1:
        return f"It cannot be told apart from any other method {by}."
    ordered = [name for name in found.methods if name in alike]
    rest = f" and {len(ordered) - NAMED} more" if len(ordered) > NAMED else ""
    return f"It cannot be told apart from {'; '.join(ordered[:NAMED])}{rest} {by}."


def _cost(found: Standings, results: Results) -> str:
    seconds = _seconds(results)
    mine = seconds.get(found.methods[0])
    if mine is None:
        return ""
    quickest = min(seconds, key=lambda name: seconds[name])
    said = f"It took {number(mine)} CPU seconds a run in the mean"
    if quickest != found.methods[0]:
        said += f"; the quickest, {quickest}, took {number(seconds[quickest])}"
    return f"{said}."


def _seconds(results: Results) -> Mapping[str, float]:
    """Return mean CPU seconds of a finished unit by method."""
    units = results.units.where(results.units["status"] == "finished")
    made = {}
    for method in results.methods:
        spent = units["cpu_seconds"][units["method"] == method]
        if len(spent) and np.isfinite(spent).all():
            made[method] = float(np.mean(spent))
    return made


def _baselines(results: Results) -> list[str]:
    units = results.units
    return [name for name in results.methods if not units["surrogate"][units["method"] == name][0]]


def _curve(found: Standings, findings: Findings, colors: Colors) -> Picture:
    if found.is_ranks:
        return mean_rank_course(findings, colors)
    problem: ProblemFindings = findings.complete[0]
    return regret(problem, "median", colors)


def _only(picture: Picture, shown: set[str]) -> Picture:
    kept = tuple(one for one in picture.series if one.name in shown)
    left = len(picture.series) - len(kept)
    more = f" Drawn: the best {SHOWN} and baselines; not drawn: {left} more." if left else ""
    title = f"Who did best: {picture.title}"
    return replace(picture, title=title, series=kept, note=picture.note + more)
