r"""`bigm`: one binary a ReLU, with constants from proven bounds.

For ``l < 0 < u`` proven, the pre-activation is split into its positive part h, which is
the ReLU's output, and its negative part s; y is 1 where the ReLU is on:

    h - s = z,      h, s >= 0
    h <= u y
    s <= -l (1 - y)
    y in {0, 1}

Eliminating s gives the usual four inequalities ``h >= z, h >= 0, h <= u y,
h <= z - l (1 - y)``; the split writes the dense row of z once instead of twice.

References
----------
Fischetti and Jo (2018), the formulation, with the slack of the negative part [FischettiJo2018].
Tjeng et al. (2019), constants from proven bounds [Tjeng2019].
"""

from __future__ import annotations

import numpy as np

from nnbo_mip.exact.formulation.block import Block, Switching, add_split
from nnbo_mip.exact.formulation.builder import ModelBuilder


def add_bigm(builder: ModelBuilder, switching: Switching) -> Block:
    """Append the columns and rows of some ReLUs of a layer."""
    split = add_split(builder, switching)
    switch = builder.add_columns(switching.names("y"), 0.0, 1.0, integer=True)
    lower, upper = switching.lower, switching.upper
    builder.add_rows(
        switching.names("on"),
        builder.rows_of((split.positive, split.positive_scales), (switch, -upper)),
        np.full(upper.size, -np.inf),
        np.zeros(upper.size),
    )
    builder.add_rows(
        switching.names("off"),
        builder.rows_of((split.negative, split.negative_scales), (switch, -lower)),
        np.full(upper.size, -np.inf),
        -lower,
    )
    # With y within eta of 0, h <= u eta + eps S and z = h - s up to eps R; with y within eta
    # of 1 the same holds for s: in both cases h is that close to max(z, 0).
    larger = split.larger_scales
    return Block(
        switching,
        positive=split.positive,
        positive_scales=split.positive_scales,
        negative=split.negative,
        negative_scales=split.negative_scales,
        switch=switch,
        feasibility_gain=split.row_scales + 2.0 * larger,
        integrality_gain=larger,
    )
