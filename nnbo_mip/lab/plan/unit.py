"""`Unit`: one run of an experiment, and everything that its outcome depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

FORMAT = 1
"""Changes when the same settings come to mean another run."""

DIGEST_LENGTH = 24


@dataclass(frozen=True)
class Unit:
    """One method on one problem from one set of starts; JSON-able throughout.

    Parameters
    ----------
    problem : str or mapping
        What `nnbo_mip.problems.create` takes; ``{instance}`` in it stands for the instance.
    scaled : bool
        Whether values are scaled to [-1, 1], to be maximized (`Problem.scaled`).
    starts : mapping
        The design of the starting points; ``{instance}`` in it stands for the instance.
    n_starts, steps : int
        How many starting points, and how many evaluations after them.
    instance : int
        The seed of starts, method and noise.
    method : mapping
        ``{"options": …}`` of `BayesianOptimizer`, all of them with their values, ``{"design": …}``,
        the points of a baseline, ``{"peer": …}``, or ``{"entry": …, "options": …}``.
    versions : mapping of str to str
        Of the packages on which the method rests.
    imports : mapping of str to str
        Modules to be imported first, and the digests of their files.
    format : int
    """

    problem: Any
    scaled: bool
    starts: Mapping[str, Any]
    n_starts: int
    steps: int
    instance: int
    method: Mapping[str, Any]
    versions: Mapping[str, str] = field(default_factory=dict)
    imports: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT

    @cached_property
    def key(self) -> str:
        """Digest of all of it."""
        return hashlib.sha256(self.to_text().encode()).hexdigest()[:DIGEST_LENGTH]

    def to_text(self) -> str:
        """Return it as JSON, always in the same words."""
        return json.dumps(asdict(self), sort_keys=True, allow_nan=False)

    @classmethod
    def from_text(cls, text: str) -> Unit:
        """Make the unit that `to_text` wrote."""
        return cls(**json.loads(text))
