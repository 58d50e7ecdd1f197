"""A NOMU pair as one network: mean plus clipped raw uncertainty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network


def ucb(
    main: Sequence[Affine],
    side: Sequence[Affine],
    raw: Affine,
    lowest: float,
    highest: float,
    beta: float = 1.0,
) -> Network:
    """Return ``mean + beta * clip(raw, lowest, highest)`` of a NOMU pair as one network.

    Parameters
    ----------
    main : sequence of Affine
        Hidden layers 1 to n of the main net, reading source 0, 1, …, and its mean.
    side : sequence of Affine
        Hidden layers of the side net as layers n + 1 to 2n: the first reads source 0.
    raw : Affine
        The raw uncertainty, reading sources n and 2n.
    lowest, highest, beta : float
        The clip and its factor.
    """
    hidden, mean = main[:-1], main[-1]
    twice = np.ones((2, 1))
    clip = raw.combine(twice)
    clip = Affine(clip.bias - np.array([lowest, highest]), clip.terms)
    layers = (*hidden, *side, clip)
    head = Affine(
        mean.bias + beta * lowest,
        {**mean.terms, len(layers): beta * np.array([[1.0, -1.0]])},
    )
    return Network(main[0].terms[0].shape[1], layers, head)
