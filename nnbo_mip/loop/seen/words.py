"""What is said of a run in sentences: the answer, what was proven, what may be left."""

from __future__ import annotations

import math

from nnbo_mip.core.outward import text_above
from nnbo_mip.loop.record.shown import number_text, point_text
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.loop.seen.run_view import DELTA, RunView
from nnbo_mip.loop.stopping.bounds import RegretBound

MOST_INPUTS = 10
"""Of a point that a sentence writes out."""


def answer(run: RunView) -> str:
    """Return the best point, its value, and after how many evaluations."""
    failed = sum(one.failed for one in run.told)
    count = f"{len(run.told)} evaluations" + (f", {failed} of them failed" if failed else "")
    waiting = f"; {len(run.state.pending)} pending" if run.state.pending else ""
    if run.best is None:
        return f"No value yet, after {count}{waiting}."
    end = "smallest" if run.settings.direction == "minimize" else "largest"
    best = run.best
    what = f"The {end} value is {number_text(best.y)}"
    if best.noise:
        what = f"The {end} mean at an evaluated point is {number_text(best.y)} (values deviate by "
        what += f"{best.noise:.3g})"
    at = ""
    if len(run.settings.space.dimensions) <= MOST_INPUTS:
        at = f", at {point_text(best.x, run.settings.space)}"
    return f"{what}{at}: evaluation {best.observation.number + 1}, after {count}{waiting}."


def proof_sentence(run: RunView) -> str:
    """Return how many choices were proven, and over what."""
    said = f"{proved(run.steps)}."
    said = said[0].upper() + said[1:]
    verdict = run.verdict
    if verdict is not None and verdict:
        said += f" The run ended by its rule {verdict.rule!r}: {verdict.reason}."
    return said


def proved(steps: list[Suggestion] | tuple[Suggestion, ...]) -> str:
    """Return what was proven of the choices of models, in a sentence without its full stop."""
    count = len(steps)
    if not count:
        return "nothing was to be proven: no model has chosen a point"
    choices = "choices" if count > 1 else "choice"
    claimed = [one for one in steps if one.kind != "none"]
    if not claimed:
        names = " and ".join(sorted({one.maximizer for one in steps}))
        return f"{count} {choices} of a model, found by {names}, which searches and proves nothing"
    closed = [one for one in claimed if one.status == "optimal"]
    if not closed:
        said = f"{len(claimed)} of {count} {choices} of a model with a proven bound, its gap open"
        return said if len(claimed) == count else f"{said}; the others have none"
    within = sum(one.region is not None for one in closed)
    embedded = sum(one.region is None and one.z is not None for one in closed)
    places = {
        "over the whole space": len(closed) - within - embedded,
        "within their region": within,
        "in their embedding": embedded,
    }
    parts = [(n, where) for where, n in places.items() if n]
    verb = "is" if count == 1 else "are"
    said = f"{len(closed)} of {count} {choices} of a model {verb} certified best "
    if len(parts) == 1:
        said += parts[0][1]
    else:
        said += "for it: " + ", ".join(f"{n} {where}" for n, where in parts)
    if len(claimed) > len(closed):
        said += f"; {len(claimed) - len(closed)} with a proven bound, its gap open"
    if count > len(claimed):
        said += f"; {count - len(claimed)} without a proof"
    return said


def regret_sentence(run: RunView) -> str:
    """Return between what the optimum lies, by the model's band, or why that is not said."""
    found = run.regret
    if not run.told:
        return ""
    if not isinstance(found, RegretBound):
        return f"No bound on what is left: {found}."
    if not math.isfinite(found.regret):
        return f"No bound on what is left: {found}."
    is_max = run.settings.direction == "maximize"
    end, side = text_above(found.upper, 6), "above"
    if not is_max:
        end, side = f"{-float(text_above(-found.lower, 6)):.6g}", "below"
    return (
        f"What is left: at most {text_above(found.regret, 3)}, where the function lies within "
        f"{found.band}. There it is nowhere {side} {end}: proven over {found.about}. If the "
        f"model is right, that band misses it with a probability of at most {DELTA:g}."
    )


def region_words(step: Suggestion) -> str:
    """Return over what the bound of a choice is."""
    if step.kind == "none":
        return "nothing"
    words = "the space" if step.z is None else "the embedding"
    if step.region is None:
        return words
    region = step.region
    sides = f"a region, sides {region.length:.3g} of all"
    if region.moving < region.coordinates:
        sides += f", {region.moving} of {region.coordinates} inputs move"
    return sides
