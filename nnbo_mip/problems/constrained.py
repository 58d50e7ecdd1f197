"""The wrapper `constrained`: a problem on the part of its space that linear constraints leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nnbo_mip.core.errors import InputError
from nnbo_mip.problems.problem import AGREEMENT, Problem
from nnbo_mip.space.constraints import LinearConstraint
from nnbo_mip.space.space import Space

KEYS = ("coefficients", "sense", "bound")


def constrained(
    problem: object, constraints: object, optimum: float | None = None, optimizers: Any = None
) -> Problem:
    """Return a problem on the points that satisfy linear constraints.

    Known optimizers that satisfy them stay optimal. Where none does, the optimum is what is
    passed, else unknown.

    Parameters
    ----------
    problem : Problem, str or mapping
        What `create` takes.
    constraints : LinearConstraint, mapping, or a sequence of them
        A mapping has the keys coefficients, sense and bound, as a LinearConstraint has; the
        dimensions of a box are called x0, x1, ….
    optimum : float, optional
        The best value under the constraints.
    optimizers : user's x or sequence of them, optional
        Where it is attained.
    """
    from nnbo_mip.problems.catalogue import registry

    inner = registry.create(problem)
    added = _as_constraints(constraints)
    space = _with_rows(inner.space, (*inner.space.constraints, *added))
    if optimum is None and optimizers is None and inner.optimizers is not None:
        kept = inner.optimizers[space.numeric().admissible(inner.optimizers)]
        if len(kept):
            optimum, optimizers = inner.optimum, space.from_numeric(kept)
    if optimum is not None and inner.optimum is not None and _beats(inner, optimum):
        raise InputError(
            f"an optimum under constraints cannot be better than the one without, "
            f"{inner.optimum}; got {optimum}; correct it."
        )
    rows = "constraint" if len(added) == 1 else "constraints"
    return replace(
        inner,
        name=f"{inner.name}, {len(added)} {rows}",
        space=space,
        optimum=optimum,
        optimizers=optimizers,
        worst=inner.worst if optimum is not None else None,
    )


def _beats(inner: Problem, optimum: float) -> bool:
    gain = -float(inner.regret_of([optimum])[0])
    return gain > AGREEMENT * (1.0 + abs(optimum))


def _with_rows(space: Space, constraints: tuple[LinearConstraint, ...]) -> Space:
    if space.is_named:
        return Space(space.dimensions, constraints)
    box = space.numeric()
    return Space.box(box.lower, box.upper, constraints)


def _as_constraints(given: object) -> list[LinearConstraint]:
    listed = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if not listed:
        raise InputError("a constrained problem needs a constraint; got none; pass one.")
    return [_as_constraint(entry) for entry in listed]


def _as_constraint(given: object) -> LinearConstraint:
    if isinstance(given, LinearConstraint):
        return given
    if isinstance(given, Mapping) and set(given) == set(KEYS):
        return LinearConstraint(**{key: given[key] for key in KEYS})
    raise InputError(
        f"a constraint must be a LinearConstraint or a mapping with the keys {', '.join(KEYS)}; "
        f"got {given!r}; write it so."
    )
