"""`Objective`: a head on a posterior, the function of a point whose maximum is proven."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.files import MAX_BYTES
from nnbo_mip.network.graph.graph import FINGERPRINT_VERSION, Network
from nnbo_mip.scores import storage
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.posteriors.compiled import Posterior

H = TypeVar("H", bound=Head)
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Objective:
    """``score(x) = head(posterior(x))``.

    Parameters
    ----------
    posterior : Posterior
        Where mean and std, or members, come from.
    head : Head
        What is made of them.
    """

    posterior: Posterior
    head: Head

    @property
    def dimension(self) -> int:
        """d, the number of inputs."""
        return self.posterior.n_inputs

    def score(self, points: npt.ArrayLike) -> FloatArray:
        """Return the scores (n,) of points (n, d)."""
        return self.head.score_at(self.posterior, points)

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the gradients (n, d) of the score at points (n, d); one-sided at a kink."""
        return self.head.gradient_at(self.posterior, points)

    def tangent(self, point: FloatArray) -> Network:
        """Return a network of one output that has the slopes of the score at a point (d,)."""
        return self.head.tangent_at(self.posterior, point[None, :])

    def parts(self, head: type[H], posterior: type[R]) -> tuple[H, R] | None:
        """Return head and posterior where they are of these classes."""
        mine, read = self.head, self.posterior
        return (mine, read) if isinstance(mine, head) and isinstance(read, posterior) else None

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of network, posterior and head, in hexadecimal."""
        return self.fingerprint_in(FINGERPRINT_VERSION)

    def fingerprint_in(self, version: int) -> str:
        """Return the fingerprint that certificates of a version, 2 or 1, name this by."""
        network = storage.network_of(self.posterior)
        content = {
            "network": None if network is None else network.fingerprint_of(version),
            "readout": storage.posterior_to_dict(self.posterior),
            "head": storage.head_to_dict(self.head),
        }
        text = json.dumps(content, sort_keys=True, allow_nan=False)
        return hashlib.sha256(b"nnbo_mip objective %d" % version + text.encode()).hexdigest()

    def save(self, path: str | Path) -> None:
        """Write an ``.npz`` with the network, posterior and head; never pickle."""
        from nnbo_mip.scores.objective_file import save

        save(self, path)

    @staticmethod
    def load(path: str | Path, max_bytes: int = MAX_BYTES) -> Objective:
        """Read what `save` wrote."""
        from nnbo_mip.scores.objective_file import load

        return load(path, max_bytes)
