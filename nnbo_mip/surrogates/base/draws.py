"""Draws of a belief as the members of one posterior."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.joined import joined
from nnbo_mip.scores.posteriors.compiled import MembersPosterior
from nnbo_mip.scores.posteriors.spherical import SphericalMembers, SphericalPosterior
from nnbo_mip.surrogates.base.abstract import Belief, Capability


def posterior_of_draws(draws: Sequence[Belief]) -> MembersPosterior | SphericalMembers:
    """Return the means of the draws as members; what they share is kept once."""
    spherical = [read for draw in draws if (read := _on_sphere(draw)) is not None]
    if len(spherical) == len(draws):
        return SphericalMembers(
            spherical[0].center, spherical[0].rate, np.stack([read.weights for read in spherical])
        )
    if not all(Capability.NETWORK in draw.capabilities for draw in draws):
        raise UnsupportedError(
            "draws must be networks, or linear on the sphere, to be maximized exactly; those of a "
            f"{draws[0].family} belief do not; choose a surrogate of ReLUs, or a heuristic "
            "maximizer."
        )
    names = [f"member{k}" for k in range(len(draws))]
    members = joined([draw.network() for draw in draws], names, "mean")
    return MembersPosterior(_with_mean(members))


def _on_sphere(draw: Belief) -> SphericalPosterior | None:
    """Return the posterior of a draw that is linear on the sphere; None for another one."""
    if Capability.NETWORK in draw.capabilities:
        return None
    try:
        read = draw.posterior()
    except UnsupportedError:
        return None
    return read if isinstance(read, SphericalPosterior) else None


def _with_mean(network: Network) -> Network:
    """Return the network with the average of its outputs as a further output ``mean``."""
    head = network.head
    average = head.combine(np.full((1, head.width), 1.0 / head.width))
    terms = {k: np.vstack([average.dense(k), head.dense(k)]) for k in head.terms}
    whole = Affine(np.concatenate([average.bias, head.bias]), terms)
    return Network(network.n_inputs, network.layers, whole, ("mean", *network.output_names))
