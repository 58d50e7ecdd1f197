r"""`sos1`: no binaries; at most one of the two parts of a pre-activation is not zero.

For ``l < 0 < u`` proven,

    h - s = z,      0 <= h <= u,      0 <= s <= -l
    SOS1(h, s)
    h / u + s / (-l) <= 1

The last row, the triangle, is implied by the others only where the solver has branched;
it is what makes the relaxation as tight as that of `bigm`. Needs a solver that branches on
special ordered sets itself.

References
----------
Beale and Tomlin (1970), special ordered sets [BealeTomlin1970].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.exact.formulation.block import Block, Switching, add_split
from nnbo_mip.exact.formulation.builder import ModelBuilder


def add_sos1(builder: ModelBuilder, switching: Switching) -> Block:
    """Append the columns, groups and rows of some ReLUs of a layer."""
    split = add_split(builder, switching)
    pairs = zip(split.positive.tolist(), split.negative.tolist(), strict=True)
    builder.add_sos1(list(pairs))
    builder.add_rows(
        switching.names("triangle"),
        builder.rows_of(
            (split.positive, split.positive_scales / switching.upper),
            (split.negative, split.negative_scales / -switching.lower),
        ),
        np.full(switching.neurons.size, -np.inf),
        np.ones(switching.neurons.size),
        errors=4.0 * np.finfo(np.float64).eps,  # the quotients are rounded
    )
    larger = split.larger_scales
    return Block(
        switching,
        positive=split.positive,
        positive_scales=split.positive_scales,
        negative=split.negative,
        negative_scales=split.negative_scales,
        feasibility_gain=split.row_scales + 2.0 * larger,
        integrality_gain=np.zeros(larger.size),
    )
