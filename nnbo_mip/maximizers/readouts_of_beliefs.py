"""From a belief to the readout that the exact maximizers see of it."""

from __future__ import annotations

import numpy as np

from nnbo_mip.errors import UnsupportedError
from nnbo_mip.heads.readouts import (
    MembersReadout,
    PlainReadout,
    QuadraticReadout,
    Readout,
    SmoothReadout,
)
from nnbo_mip.surrogates.abstract import Belief
from nnbo_mip.surrogates.brvfl_belief import BrvflBelief
from nnbo_mip.surrogates.members import MemberBelief
from nnbo_mip.surrogates.nomu_belief import NomuBelief


def readout_of(belief: Belief, members: bool = False) -> Readout:
    """Return mean and std of a belief as functions of a network's outputs.

    Parameters
    ----------
    belief : Belief
        One that has a network.
    members : bool
        Whether the head reads the members rather than mean and std.

    Notes
    -----
    The readout equals the belief up to rounding. A belief of another family serves if its
    network has the outputs ``mean`` and ``std``.
    """
    if isinstance(belief, MemberBelief):
        return _of_members(belief, members)
    if isinstance(belief, BrvflBelief):
        white = belief.posterior.whiten(np.eye(belief.features.n_features))
        factor = belief.scale * belief.units.y_scale
        noise = belief.units.y_scale / np.sqrt(belief.beta) if belief.include_noise else 0.0
        return QuadraticReadout(belief.network(), factor * white.T, float(noise))
    if isinstance(belief, NomuBelief) and belief.bounding.kind == "smooth":
        bounding = belief.bounding
        return SmoothReadout(belief.network(), bounding.l_min, bounding.l_max, belief.std_factor)
    network = belief.network()
    if not {"mean", "std"} <= set(network.output_names):
        raise UnsupportedError(
            "the network of a belief must have the outputs mean and std to be maximized exactly; "
            f"that of a {belief.family} belief has {', '.join(network.output_names[:6])}; choose "
            "another surrogate, or a heuristic maximizer."
        )
    return PlainReadout(network)


def _of_members(belief: MemberBelief, members: bool) -> Readout:
    if belief.include_noise and (belief.is_noisy or belief.spread == "mad") and not members:
        raise UnsupportedError(
            "the std of members must be their spread, with a constant noise at most, to be "
            f"maximized exactly; this {belief.family} belief includes a noise "
            f"{'that varies' if belief.is_noisy else 'beside a mean absolute deviation'}; leave "
            "include_noise False."
        )
    network = belief.network()
    if belief.spread == "mad" and not members:
        return PlainReadout(network)
    spread = "variance" if belief.spread == "variance" else "std"
    noise = belief.noise if belief.include_noise and not belief.is_noisy else 0.0
    return MembersReadout(network, spread, belief.units.y_scale, noise)
