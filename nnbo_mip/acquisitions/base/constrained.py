"""An acquisition together with beliefs about outcomes that must not exceed 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nnbo_mip.acquisitions.base.abstract import Acquisition
from nnbo_mip.acquisitions.base.scorer import Scorer
from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.scores.functions.constrained import ConstrainedImprovement
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.surrogates.base.abstract import Belief, Capability, check_belief


def constrained_scorer(
    acquisition: Acquisition,
    belief: Belief,
    constraints: Sequence[Belief],
    X: npt.ArrayLike | None,
    y: npt.ArrayLike | None,
    outcomes: npt.ArrayLike | None,
    noise: npt.ArrayLike | None,
    step: int,
) -> Scorer:
    """Return expected improvement over the best feasible value, times the chance of feasibility.

    Parameters
    ----------
    acquisition : Acquisition
        ``ei`` or ``logei``.
    belief : Belief
        Of the function.
    constraints : sequence of Belief
        Of the k outcomes.
    X, y : (n, d) and (n,) arrays
        Evaluated points and their values.
    outcomes : (n, k) array
        Their outcomes; a point is feasible where all are at most 0. As long as none is, the
        chance of feasibility alone is the score.
    noise : float or (n,) array, optional
        Deviation of an observation.
    step : int
        As in `Acquisition.scorer`.
    """
    beliefs = tuple(constraints)
    for one in beliefs:
        check_belief(one)
        if one.n_inputs != belief.n_inputs or Capability.STD not in one.capabilities:
            raise InputError(
                f"the belief of a constraint must read {belief.n_inputs} inputs and have a std; "
                f"got one of {one.n_inputs} that offers {sorted(one.capabilities)}; fit it on the "
                "same points, with a surrogate that has a std."
            )
    if X is None or y is None:
        raise InputError(
            "constraints need X and y: the points whose outcomes are known; give both."
        )
    known = _outcomes(outcomes, len(np.asarray(y)), len(beliefs))
    feasible = np.asarray((known <= 0.0).all(axis=1))
    limits = (0.0,) * len(beliefs)
    if not feasible.any():
        acquisition.check_served(belief.family, belief.capabilities)
        log = getattr(acquisition, "log", False)
        return Scorer(ConstrainedImprovement(limits, (), log), belief, constraints=beliefs)
    kept: Any = noise if noise is None or np.ndim(noise) == 0 else np.asarray(noise)[feasible]
    plain = acquisition.scorer(belief, np.asarray(X)[feasible], np.asarray(y)[feasible], kept, step)
    head = plain.head
    if not isinstance(head, ExpectedImprovement):
        raise UnsupportedError(
            f"constraints go with expected improvement; got {acquisition.name}; take ei or logei."
        )
    made = ConstrainedImprovement(limits, (head.threshold,), head.log)
    return Scorer(made, belief, constraints=beliefs)


def _outcomes(given: npt.ArrayLike | None, rows: int, columns: int) -> FloatArray:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"outcomes must be an array of numbers; got {given!r:.60} ({error}); convert it."
        ) from error
    if values.shape != (rows, columns) or not np.isfinite(values).all():
        raise InputError(
            f"outcomes must be finite, one row an observation and one column a constraint, "
            f"{(rows, columns)}; got {'none' if given is None else values.shape}"
            f"{'' if given is None or np.isfinite(values).all() else ' with NaN or infinity'}; "
            "leave out failed observations."
        )
    return values
