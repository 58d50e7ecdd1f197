"""`Event`: one thing that happened in a run, and `Observation`: what a tell comes to.

A run is nothing but its events.
"""

from __future__ import annotations

import secrets
import time as clock
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.rebuilt import Rebuilt
from nnbo_mip.loop.record.suggestion import Suggestion

EventKind: TypeAlias = Literal["ask", "tell", "forget", "claim", "stop"]

KINDS: tuple[str, ...] = get_args(EventKind)


@dataclass(frozen=True, eq=False)
class Event:
    """What happened; its content is JSON-able, and the same after being stored.

    Parameters
    ----------
    kind : {"ask", "tell", "forget", "claim", "stop"}
    content : mapping
        See `asked`, `told`, `forgotten`, `claimed` and `stopped`.
    key : str
        Unique, so that an event whose writing was interrupted is not written twice. No figure
        depends on it.
    time : float
        Seconds since 1970. No figure depends on it, unless ``time_limit="auto"`` asks for that.
    """

    kind: EventKind
    content: Mapping[str, Any]
    key: str = field(default_factory=lambda: secrets.token_hex(8))
    time: float = field(default_factory=clock.time)


def asked(
    suggestion: Mapping[str, Any],
    stage: Mapping[str, Any],
    next_c: float | None = None,
) -> Event:
    """Return the event of an ask.

    Parameters
    ----------
    suggestion : mapping
        `Suggestion.to_dict`.
    stage : mapping
        `Stage.to_dict`: the design that the run is in.
    next_c : float, optional
        The scale with which the next model begins; None for initial points.

    Notes
    -----
    The worker that evaluates it is named where it is known.
    """
    content = {"suggestion": suggestion, "stage": stage, "next_c": next_c, "worker": None}
    return Event("ask", content)


def told(
    x: Any,
    y: float | None,
    reason: str,
    noise: float | None,
    answers: str | None,
    z: list[float] | None = None,
) -> Event:
    """Return the event of a tell.

    Parameters
    ----------
    x : list or dict
        The user's x.
    y : float or None
        None for a failure.
    reason : str
        Why it failed, or empty.
    noise : float or None
    answers : str or None
        Key of the ask that is answered.
    z : list of float or None
        The point of the embedding, if there is one.
    """
    content = {"x": x, "y": y, "reason": reason, "noise": noise, "answers": answers, "z": z}
    return Event("tell", content)


def forgotten(key: str) -> Event:
    """Return the event of forgetting the ask with this key."""
    return Event("forget", {"ask": key})


def claimed(key: str, worker: str) -> Event:
    """Return the event of a worker taking over the ask with this key."""
    return Event("claim", {"ask": key, "worker": worker})


def stopped(verdict: Mapping[str, Any], rule: Any, told: int) -> Event:
    """Return the event of a stop rule ending the run.

    Parameters
    ----------
    verdict : mapping
        `Verdict.to_dict`.
    rule : JSON
        The description of the rule, None where it has none.
    told : int
        Observations that it was decided by.
    """
    return Event("stop", {"verdict": verdict, "rule": rule, "told": told})


@dataclass(frozen=True, eq=False)
class Observation(Rebuilt):
    """A point and its value, in the user's units and direction.

    Parameters
    ----------
    number : int
        Its place in `history`, from 0.
    x : array (d,) or dict
    y : float or None
        None where the evaluation failed.
    failed : bool
    reason : str
        Why it failed, if anybody said so.
    noise : float or None
        Standard deviation of y, where it was told.
    suggestion : Suggestion or None
        What `ask` said of the point; None where it was never asked for.
    time : float
        When it was told, in seconds since 1970.
    z : (k,) array
        The point in model coordinates; under an embedding, its point there.
    """

    number: int
    x: Any
    y: float | None
    failed: bool
    reason: str
    noise: float | None
    suggestion: Suggestion | None
    time: float
    z: FloatArray

    def __post_init__(self) -> None:
        for point in (self.x, self.z):
            if isinstance(point, np.ndarray):
                point.setflags(write=False)

    def __repr__(self) -> str:
        value = f"failed={self.reason!r}" if self.failed else f"y={self.y!r}"
        return f"Observation({self.number}, x={self.x!r}, {value})"
