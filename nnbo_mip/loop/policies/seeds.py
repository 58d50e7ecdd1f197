"""Where every random number of a run comes from: the run's seed, a step, and a purpose.

There is no generator that moves on, so there is no state to be saved but the number of the step.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What a seed is for; the numbers are part of the journal's format."""

    DESIGN = 0
    EXTRA = 1
    FIT = 2
    BELIEVE = 3
    SCALE = 4
    ACQUISITION = 5
    MAXIMIZE = 6
    EMBED = 7
    REGION = 8
    NOISE = 9
    STOP = 10


def seed_for(run: int, step: int, purpose: Purpose) -> int:
    """Return a seed of 32 bits, independent for each run, step and purpose."""
    return int(np.random.SeedSequence([run, step, int(purpose)]).generate_state(1)[0])
