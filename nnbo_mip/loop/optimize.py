"""`optimize`: the best point of an expensive function, in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nnbo_mip.checks import check_count
from nnbo_mip.errors import InputError
from nnbo_mip.loop.evaluation import Objective
from nnbo_mip.loop.journal import Journal
from nnbo_mip.loop.observation import Observation
from nnbo_mip.loop.optimize_result import OptimizeResult
from nnbo_mip.loop.optimizer import BayesianOptimizer
from nnbo_mip.loop.settings import Settings


def optimize(
    f: Objective,
    space: object,
    n_evals: int,
    *,
    past: object = None,
    journal: str | Path | None = None,
    callback: Callable[[Observation], object] | None = None,
    progress: bool | None = None,
    on_error: str = "continue",
    **options: Any,
) -> OptimizeResult:
    """Minimize, or maximize, a function that is expensive to evaluate.

    Parameters
    ----------
    f : callable
        Takes x, an array for a box and a dict for named dimensions, and returns a number. What
        raises, or returns anything else, NaN or an infinity, is a failed evaluation.
    space : Space or whatever `Space.coerce` takes
    n_evals : int
        Evaluations of the whole run, initial points and failures included.
    past : path, data frame, dict or pair, optional
        Past observations as `nnbo_mip.loop.tables.read_table` takes them, with the values in a
        column ``y``; they are not counted as evaluations.
    journal : path, optional
        A file that keeps the run. If it holds one already, of the same settings, that is
        continued until it has `n_evals` evaluations.
    callback : callable, optional
        Receives each `Observation`; returning True or raising StopIteration ends the run.
    progress : bool, optional
        Whether a line on standard error shows how the run is doing; left out, on a terminal.
    on_error : {"continue", "raise"}
        Whether an exception of `f` is a failed evaluation only, or is raised after that was told.
    **options
        As those of `BayesianOptimizer`: surrogate, acquisition, maximizer, direction, initial,
        seed, time_limit, ….

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
    steps = options.pop("steps", None)
    plan = BayesianOptimizer(space, **options).settings  # in memory: it says what is wrong
    if journal is not None and Journal.holds_a_run(journal):
        optimizer = _continued(journal, plan, options)
    else:
        if steps is None:
            steps = max(1, n_evals - len(plan.initial.points(plan.search)))
        options["seed"] = plan.seed
        optimizer = BayesianOptimizer(space, **options, steps=steps, journal=journal)
    if past is not None and not optimizer.history:
        optimizer.tell_table(past)
    return optimizer.run(f, n_evals, callback=callback, progress=progress, on_error=on_error)


def _continued(
    journal: str | Path, plan: Settings, options: Mapping[str, Any]
) -> BayesianOptimizer:
    """Return the run of a journal, if it has the settings that are planned."""
    objects = {name: options[name] for name, said in plan.descriptions.items() if said is None}
    optimizer = BayesianOptimizer.open(journal, **objects)
    stored, planned = optimizer.settings.to_dict(), plan.to_dict()
    may_differ = {"steps"} | ({"seed"} if options.get("seed", 0) is None else set())
    for name in sorted(set(stored) - may_differ):
        if stored[name] != planned[name]:
            raise InputError(
                f"the journal {str(journal)!r} holds a run with other settings: {name} is "
                f"{stored[name]!r:.120}, got {planned[name]!r:.120}; choose another path, or "
                "continue it with BayesianOptimizer.open(path).run(f, n_evals)."
            )
    return optimizer
