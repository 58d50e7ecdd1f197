"""Says why a space holds no admissible point, as far as one constraint alone can tell."""

from __future__ import annotations

import numpy as np

from nnbo_mip.network.affine import FloatArray
from nnbo_mip.space.constraints import raw_rows
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.space import Space


def why_empty(space: Space | Domain, domain: Domain) -> str:
    """Return a sentence that names a constraint nothing in the box satisfies, if there is one."""
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
    return "no point of the box satisfies grids, categories and constraints together."


def _smallest(rows: FloatArray, domain: Domain) -> FloatArray:
    """Smallest value (m,) of each row over the box, one-hot groups taken as one choice."""
    terms = np.minimum(rows * domain.lower, rows * domain.upper)
    total = terms.sum(axis=1)
    for group in domain.one_hot:
        members = list(group)
        total += rows[:, members].min(axis=1) - terms[:, members].sum(axis=1)
    return np.asarray(total)
