"""`Unit`: one run of an experiment, and everything that its outcome depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

FORMAT = 1
"""Changes when the same settings come to mean another run."""

DIGEST_LENGTH = 24

MOST_EVALUATIONS = 1_000_000
"""Of a run, starts and steps each."""

LATER = ("reports", "told", "clock")
"""Left out where they say nothing, so that units that were planned before keep their keys."""


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
        The design of the starting points, empty without them; ``{instance}`` in it stands for the
        instance.
    n_starts, steps : int
        How many starting points, and how many evaluations after them. Without starting points
        each method begins by its own.
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
    reports : sequence of int
        After which evaluations the method is asked for the point that it reports.
    told : bool
        Whether methods are told the standard deviation of the problem's noise.
    clock : {"wall", "cpu"}
        By which limits of time are kept.
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
    reports: Sequence[int] = ()
    told: bool = False
    clock: str = "wall"

    @cached_property
    def key(self) -> str:
        """Digest of all of it."""
        return hashlib.sha256(self.to_text().encode()).hexdigest()[:DIGEST_LENGTH]

    def to_text(self) -> str:
        """Return it as JSON, always in the same words."""
        plain = asdict(self)
        for name in LATER:
            if not plain[name] or plain[name] == "wall":
                del plain[name]
        return json.dumps(plain, sort_keys=True, allow_nan=False)

    @classmethod
    def from_text(cls, text: str) -> Unit:
        """Make the unit that `to_text` wrote."""
        return cls(**json.loads(text))
