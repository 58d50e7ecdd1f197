"""Says why a space holds no admissible point, as far as one constraint or exclusions can tell."""

from __future__ import annotations

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.space.constraints import raw_rows
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.space import Space


def why_empty(space: Space | Domain, domain: Domain) -> str:
    """Return a sentence that names what nothing in the box satisfies, if it is one thing."""
    if (
        len(domain.exclusions)
        and domain.without_exclusions.repair(0.5 * domain.lower + 0.5 * domain.upper) is not None
    ):
        return (
            f"the {len(domain.exclusions)} exclusion boxes leave no point of what the other "
            "constraints allow; keep a smaller distance, or widen the box."
        )
    if isinstance(space, Space):
        for constraint in space.constraints:
            rows, limits = raw_rows([constraint], space.dimensions)
            if np.any(_smallest(rows, domain) > limits):
                return f"no point of the box satisfies {constraint!r}."
    else:
        smallest = _smallest(domain.A, domain)
        for index in np.flatnonzero(smallest > domain.row_limit):
            return (
                f"row {index} of A x <= b asks for at most {domain.b[index]:g}, but is at least "
                f"{smallest[index]:g} over the box."
            )
    exclusions = ", exclusions" if len(domain.exclusions) else ""
    return f"no point of the box satisfies grids, categories{exclusions} and constraints together."


def _smallest(rows: FloatArray, domain: Domain) -> FloatArray:
    """Smallest value (m,) of each row over the box, one-hot groups taken as one choice."""
    terms = np.minimum(rows * domain.lower, rows * domain.upper)
    total = terms.sum(axis=1)
    for group in domain.one_hot:
        members = list(group)
        total += rows[:, members].min(axis=1) - terms[:, members].sum(axis=1)
    return np.asarray(total)
