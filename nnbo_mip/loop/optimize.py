"""`optimize`: the best point of an expensive function, in one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nnbo_mip.core.checks import check_choice, check_count, check_known
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.evaluation import Objective
from nnbo_mip.loop.optimize_result import OptimizeResult
from nnbo_mip.loop.optimizer import PENDING, BayesianOptimizer
from nnbo_mip.loop.record.events import Observation
from nnbo_mip.loop.record.journal import Journal
from nnbo_mip.loop.settings.settings import CHANGEABLE, Settings
from nnbo_mip.loop.tables.tables import Table, read_table

START_SHARE = 0.5
"""Part of a run that initial points may be where their number is left open."""

MANY = 2**31
"""More steps than any run has, where it is still to be found out how many there will be."""


OPTIONS = tuple(
    name
    for name in inspect.signature(BayesianOptimizer).parameters
    if name not in ("space", "journal")
)
"""Of a run, which `optimize` passes on."""


def optimize(
    f: Objective,
    space: object,
    n_evals: int,
    *,
    past: object = None,
    value: str = "y",
    noise: str | None = None,
    outside: str = "refuse",
    journal: str | Path | None = None,
    pending: str = "again",
    callback: Callable[[Observation], object] | None = None,
    progress: bool | None = None,
    on_error: str = "continue",
    **options: Any,
) -> OptimizeResult:
    """Minimize, or maximize, a function that is expensive to evaluate.

    Parameters
    ----------
    f : callable
        Takes x, an array for a box and a dict for named dimensions, and returns a number, or a
        tuple of it and of its standard deviation. What raises, or returns anything else, NaN or an
        infinity, is a failed evaluation.
    space : Space or whatever `Space.coerce` takes
    n_evals : int
        Evaluations of the whole run, initial points and failures included. A finite space of which
        all points are known ends it before, and so does a stop rule.
    past : path, data frame, dict or pair, optional
        Past observations, told before the first ask and not counted as evaluations.
    value, noise, outside
        How `past` is read, as in `loop.tables.tables.read_table`: the column of values, that
        of their deviations, and whether points outside of the space are refused or dropped.
    journal : path, optional
        A file that keeps the run. If it holds one already, that is continued until it has `n_evals`
        evaluations. Its settings must be the same but for `n_evals`, maximizer, gap, time_limit
        and stop.
        Several processes may be at work on it at once, and make `n_evals` evaluations together.
    pending : {"again", "keep"}
        What becomes of points that somebody asked for by `ask`, and never told: they are evaluated
        again, or left to whoever has them. A point that another call of `optimize` is at is always
        left to it, and evaluated again if that call ends or dies.
    callback : callable, optional
        Receives each `Observation`; returning True or raising StopIteration ends the run.
    progress : bool, optional
        Whether a line on standard error shows how the run is doing; left out, on a terminal and
        in a notebook, where one line is rewritten. In a log there are lines, ever rarer ones.
    on_error : {"continue", "raise"}
        Whether an exception of `f` is a failed evaluation only, or is raised after that was told.
        One that is the same at all initial points is raised in any case.
    **options
        As those of `BayesianOptimizer`: surrogate, acquisition, maximizer, direction, initial,
        stop, seed, time_limit, ….

    Returns
    -------
    OptimizeResult

    Notes
    -----
    Ctrl-C ends the run and returns what there is. What was told is never lost: whatever is raised,
    the journal holds it.

    Examples
    --------
    >>> import nnbo_mip as nm
    >>> result = nm.optimize(
    ...     lambda x: (x[0] - 0.3) ** 2, [(-1.0, 2.0)], 8, surrogate="brvfl:n_hidden=20", initial=4
    ... )
    >>> result.success, result.nfev, result.fun < 0.05
    (True, 8, True)
    """
    check_count("n_evals", n_evals)
    check_choice("pending", pending, PENDING)
    for name in options:
        check_known("the options of optimize", name, OPTIONS)
    if past is None and (value, noise, outside) != ("y", None, "refuse"):
        raise InputError(
            f"value, noise and outside say how past is read; got {value!r}, {noise!r}, {outside!r} "
            "and no past; pass it, or drop them."
        )
    if journal is None and pending != "again":
        raise InputError(
            f"pending says what becomes of points that a journal has pending; got {pending!r} and "
            "no journal; pass it, or drop this."
        )
    steps = options.pop("steps", None)
    plan = Settings.planned(space, **options, steps=MANY)  # says what is wrong
    if journal is not None and Journal.holds_a_run(journal):
        optimizer = _continued(journal, plan, pending, options)
        if past is not None and not (optimizer.history or optimizer.suggestions):
            optimizer.tell_table(past, value, noise, outside)
    else:
        if past is not None:
            past = read_table(past, plan.space, value, noise, outside)
        optimizer = begun(space, n_evals, past, steps, **{**options, "seed": plan.seed})
        if past is not None:
            optimizer.tell_table(past, value, noise, outside)
        if journal is not None:
            try:
                optimizer.save(journal)  # with the past, or not at all
            except InputError:
                if not Journal.holds_a_run(journal):
                    raise
                # Somebody began it a moment ago.
                optimizer = _continued(journal, plan, pending, options)
    return optimizer.run(f, n_evals, callback=callback, progress=progress, on_error=on_error)


def begun(
    space: object,
    n_evals: int,
    past: Table | None = None,
    steps: int | None = None,
    **options: Any,
) -> BayesianOptimizer:
    """Return the optimizer of a run of so many evaluations, before its first ask.

    Parameters
    ----------
    space, n_evals, **options
        As `optimize` takes them.
    past : Table, optional
        What will be told first.
    steps : int, optional
        How many points models will choose; left out, all evaluations but the initial ones.
    """
    plan = Settings.planned(space, **options, steps=MANY)
    starts, most = _initial_points(plan, past), max(1, int(START_SHARE * n_evals))
    if options.get("initial") is None and starts > most:
        values = 0 if past is None else len(past) - int(np.sum(past.failed))
        options["initial"] = values + most  # of which values count as some
        starts = most
    if steps is None:
        steps = max(1, n_evals - starts)
    return BayesianOptimizer(space, **options, steps=steps)


def _initial_points(plan: Settings, past: Table | None) -> int:
    """Return how many initial points are evaluated; values of the past count as some of them."""
    if past is None:
        return len(plan.initial.points(plan.search))
    known = past.X
    if plan.embedded is not None:
        known = np.array([plan.embedded.encode(x)[0] for x in past.x])
        known = known.reshape(len(past), plan.embedded.model().dimension)
    return len(plan.initial.remaining(plan.search, plan.seed, known, ~np.array(past.failed)))


def _continued(
    journal: str | Path, plan: Settings, pending: str, options: Mapping[str, Any]
) -> BayesianOptimizer:
    """Return the run of a journal, if it has the settings that are planned."""
    objects = {name: options[name] for name, said in plan.descriptions.items() if said is None}
    changes = {name: options[name] for name in CHANGEABLE if name in options}
    optimizer = BayesianOptimizer.open(journal, pending, **{**objects, **changes})
    stored, planned = _lasting(optimizer.settings), _lasting(plan)
    if options.get("initial") is None:  # a short run has fewer than are planned for a long one
        planned["options"]["initial"] = stored["options"]["initial"]
    may_differ = {"steps"} | ({"seed"} if options.get("seed", 0) is None else set())
    for name in sorted(set(stored) - may_differ):
        differing = _difference(name, stored[name], planned[name])
        if differing:
            raise InputError(
                f"the journal {str(journal)!r} holds a run with other settings: {differing}; only "
                f"{', '.join(CHANGEABLE)} and n_evals may change; choose another path, or continue "
                "it with BayesianOptimizer.open(path).run(f, n_evals)."
            )
    return optimizer


def _lasting(settings: Settings) -> dict[str, Any]:
    """Return what of settings has to be the same when a run goes on, as the journal keeps it."""
    kept = {key: value for key, value in settings.to_dict().items() if key not in CHANGEABLE}
    for part in ("options", "objects"):
        kept[part] = {key: value for key, value in kept[part].items() if key not in CHANGEABLE}
    return kept


def _difference(name: str, stored: Any, planned: Any) -> str:
    """Say where two settings differ first; empty where they do not."""
    if stored == planned:
        return ""
    entries, others = _entries(stored), _entries(planned)
    if entries is not None and others is not None and set(entries) == set(others):
        return next(
            said
            for key in entries
            if (said := _difference(f"{name}[{key!r}]", entries[key], others[key]))
        )
    return f"{name} is {stored!r:.120}, got {planned!r:.120}"


def _entries(value: Any) -> Mapping[Any, Any] | None:
    """Return the entries of a dict or a list; None of anything else."""
    if isinstance(value, list):
        return dict(enumerate(value))
    return value if isinstance(value, dict) else None
