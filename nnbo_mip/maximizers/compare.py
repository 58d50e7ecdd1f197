"""`compare`: maximizers side by side on one acquisition."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt

from nnbo_mip.acquisitions.base.catalogue import registry as acquisitions
from nnbo_mip.core.checks import check_known
from nnbo_mip.core.errors import InputError, MissingExtraError, UnsupportedError
from nnbo_mip.exact.scores.problem import SMALLEST_SCORE
from nnbo_mip.exact.search.result import SearchResult
from nnbo_mip.maximizers.base.abstract import Maximizer, Proposal
from nnbo_mip.maximizers.base.catalogue import registry
from nnbo_mip.maximizers.base.target import Target
from nnbo_mip.maximizers.comparison import Comparison, ComparisonRow, missed
from nnbo_mip.maximizers.maximize import maximize
from nnbo_mip.scores import logarithms
from nnbo_mip.space.domain import Domain
from nnbo_mip.surrogates.base.abstract import Belief, check_belief

ASKED = ("gap", "time_limit", "seed", "within", "away_from", "eps", "starts", "progress")
"""What `maximize` is told of the search itself."""

MAXIMIZERS = ("auto", "pga", "lbfgs", "direct", "sobol", "random")


def compare(
    belief: Belief,
    acquisition: object,
    domain: Domain,
    maximizers: Sequence[object] = MAXIMIZERS,
    budgets: Mapping[str, object] | None = None,
    *,
    X: npt.ArrayLike | None = None,
    y: npt.ArrayLike | None = None,
    noise: npt.ArrayLike | None = None,
    step: int = 0,
    announce: Callable[[str], object] | None = None,
    **asked: Any,
) -> Comparison:
    """Maximize one acquisition by several maximizers and set their answers side by side.

    Parameters
    ----------
    belief : Belief
        What was learned.
    acquisition : str, dict or Acquisition
        What makes a score of it.
    domain : Domain
        Admissible points: ``space.model()``.
    maximizers : sequence of str, dict or Maximizer
        Those that cannot serve the acquisition get a row that says why.
    budgets : mapping, optional
        Options for all maximizers that have them and are not named with a value of their own,
        such as ``{"evaluations": 5000, "time_limit": 10.0}``.
    X, y, noise, step
        As in `maximize`.
    announce : callable, optional
        Receives the name of each maximizer before it begins.
    **asked
        ``gap``, ``time_limit``, ``seed``, ``within``, ``away_from``, ``eps``, ``starts`` and
        ``progress``, as in `maximize`.

    Returns
    -------
    Comparison
        Prints as a table; `Comparison.to_pandas` returns it.

    Examples
    --------
    >>> import nnbo_mip as nm
    >>> X, y = [[-1.0], [0.0], [1.0]], [0.0, 1.0, 0.5]
    >>> belief = nm.surrogates.create("brvfl", n_hidden=20, seed=0).fit(X, y)
    >>> table = nm.compare(belief, "ei", nm.Space.box([-1.0], [1.0]).model(), ["bab", "grid"], y=y)
    >>> [(row.maximizer, row.status, row.miss) for row in table]
    [('bab', 'optimal', False), ('grid', 'heuristic', False)]
    """
    maximizers, budgets = _listed(maximizers), _checked(budgets)
    check_belief(belief)
    for name in asked:
        check_known("what compare passes on", name, ASKED)
    if announce is not None and not callable(announce):
        raise InputError(
            f"announce must be callable; got {announce!r:.60}; pass a function of a name."
        )
    limit = budgets.get("time_limit")
    if isinstance(limit, float) and math.isinf(limit):
        asked.setdefault("time_limit", math.inf)  # left out, those that prove have a minute
    if acquisitions.create(acquisition).proposes:
        raise UnsupportedError(
            f"maximizers of a score are compared; {acquisitions.create(acquisition).name} chooses "
            'its point itself; take an acquisition with a score, such as "ei".'
        )
    chosen = created(maximizers, budgets)
    names = [_label(spec) for spec in maximizers]
    answers: dict[int, Proposal] = {}
    reasons = {k: made for k, made in enumerate(chosen) if isinstance(made, str)}
    for k, made in enumerate(chosen):
        if isinstance(made, Maximizer):
            if announce is not None:
                announce(names[k])
            try:
                answers[k] = maximize(
                    belief,
                    acquisition,
                    domain,
                    maximizer=made,
                    X=X,
                    y=y,
                    noise=noise,
                    step=step,
                    **asked,
                )
            except UnsupportedError as error:
                reasons[k] = str(error)
    scorer = acquisitions.create(acquisition).scorer(belief, X, y, noise, step)
    return _table(Target(scorer, domain), names, answers, reasons)


def _listed(maximizers: object) -> list[object]:
    """Return the maximizers that were named."""
    listed: list[object] = []
    if isinstance(maximizers, Iterable) and not isinstance(maximizers, str | Mapping):
        listed = list(maximizers)
    if not listed:
        raise InputError(
            f"maximizers must be a list with at least one; got {maximizers!r:.80}; name some."
        )
    return [str(one) if isinstance(one, str) else one for one in listed]


def _checked(budgets: object) -> Mapping[str, object]:
    """Return the budgets, by the names of options."""
    if budgets is None:
        return {}
    if not isinstance(budgets, Mapping) or not all(isinstance(name, str) for name in budgets):
        raise InputError(
            f"budgets must be a dict of options; got {budgets!r:.80}; write "
            '{"evaluations": 5000, "time_limit": 10.0}.'
        )
    return budgets


def created(specs: Sequence[object], budgets: Mapping[str, object]) -> list[Maximizer | str]:
    """Return maximizers with their budgets, or why one cannot be had here.

    Parameters
    ----------
    specs, budgets
        As the maximizers and budgets of `compare`.
    """
    made: list[Maximizer | str] = []
    for spec in specs:
        try:
            made.append(registry.create(spec))
        except MissingExtraError as error:
            made.append(str(error))
    had = [m for m in made if isinstance(m, Maximizer)]
    for option in budgets:
        if had and not any(option in _options(m) for m in had):
            raise InputError(
                "a budget must be an option of one of the maximizers at least; got "
                f'{option!r}, which none has; "time_limit" and "evaluations" are the usual ones.'
            )
    return [
        m if isinstance(m, str) else _with(m, spec, budgets)
        for m, spec in zip(made, specs, strict=True)
    ]


def _with(maximizer: Maximizer, spec: object, budgets: Mapping[str, object]) -> Maximizer:
    """Return a maximizer with the budgets that it has and that it was not named with."""
    own = {} if isinstance(spec, Maximizer) else registry.parsed(spec)[1]
    wanted = set(_options(maximizer)) & set(budgets) - set(own)
    changes = {option: budgets[option] for option in budgets if option in wanted}
    replaced: Maximizer = replace(maximizer, **changes)  # type: ignore[type-var]
    return replaced


def _options(maximizer: Maximizer) -> list[str]:
    return list(inspect.signature(type(maximizer)).parameters)


def _label(spec: object) -> str:
    if isinstance(spec, Mapping):
        options = ",".join(f"{key}={value}" for key, value in spec.items() if key != "name")
        return f"{spec.get('name')}:{options}" if options else str(spec.get("name"))
    return spec.name if isinstance(spec, Maximizer) else str(spec)


def _table(
    target: Target, names: list[str], answers: dict[int, Proposal], reasons: dict[int, str]
) -> Comparison:
    """Bring values and bounds to one scale and compare them."""
    head, searched = target.head, target.searched
    scores = {k: p.value for k, p in answers.items()}
    logarithmic = searched.is_logarithm
    proven = {k: p for k, p in answers.items() if p.kind != "none"}
    bounds = {k: p.bound for k, p in proven.items()}
    if searched != head:
        # Each proposal is in logarithms or not; one scale for all of them.
        found = {k: p.x for k, p in answers.items() if p.x is not None}
        natural = {k: float(target.score(x[None, :])[0]) for k, x in found.items()}
        logarithmic = max(natural.values(), default=1.0) < SMALLEST_SCORE
        scale = target.value if logarithmic else lambda x: float(target.score(x[None, :])[0])
        scores = {k: -math.inf if p.x is None else scale(p.x) for k, p in answers.items()}
        bounds = {k: _scaled(p, searched.name, logarithmic) for k, p in proven.items()}
    name = searched.name if logarithmic else head.name
    best = max(scores.values(), default=-math.inf)
    bound = max(best, min(bounds.values(), default=math.inf)) if answers else math.inf
    optimal = [scores[k] for k, p in answers.items() if p.status == "optimal"]
    rows = []
    for k, label in enumerate(names):
        proposal, value = answers.get(k), scores.get(k, -math.inf)
        refused = SearchResult(status="refused", message=reasons.get(k, ""))
        found_by = refused if proposal is None else proposal.found
        rows.append(
            ComparisonRow(
                maximizer=label,
                found=replace(found_by, value=value, bound=bounds.get(k, math.inf)),
                regret=_difference(best, value),
                largest_regret=_difference(bound, value),
                miss=missed(value, max(optimal), logarithmic) if proposal and optimal else None,
                proposal=proposal,
            )
        )
    return Comparison(name, logarithmic, best, bound, bool(optimal), tuple(rows))


def _scaled(proposal: Proposal, name_of_logarithm: str, logarithmic: bool) -> float:
    """Return the bound of a proposal as a logarithm or not."""
    is_logarithm = proposal.head == name_of_logarithm
    if is_logarithm == logarithmic:
        return proposal.bound
    if is_logarithm:
        return logarithms.exponential_above(proposal.bound)
    return logarithms.logarithm_above(proposal.bound)


def _difference(most: float, value: float) -> float:
    return 0.0 if most == value else most - value
