"""`State`: what is known of a run, folded from its events; no input, no output, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.core.rebuilt import Rebuilt
from nnbo_mip.loop.record.events import Event, Observation
from nnbo_mip.loop.record.serialization import point_in, point_out
from nnbo_mip.loop.record.suggestion import Suggestion
from nnbo_mip.space.embedded.embedded_space import EmbeddedSpace, SearchSpace
from nnbo_mip.space.space import Space


@dataclass(frozen=True)
class Stage:
    """An initial design and the models that follow it; a restart begins a new stage.

    Parameters
    ----------
    index : int
        0 for the first design, k for that of the k-th restart.
    known : int
        Observations that there were when the design was made.
    pending : tuple of str
        Keys of the asks that were pending then.
    learns_from : int
        First observation that the stage's models learn from.
    """

    index: int = 0
    known: int = 0
    pending: tuple[str, ...] = ()
    learns_from: int = 0

    @property
    def forgets(self) -> bool:
        """Whether its models learn nothing from what was before it."""
        return self.learns_from == self.known

    def to_dict(self) -> dict[str, Any]:
        """Return what the journal keeps."""
        return {
            "index": self.index,
            "known": self.known,
            "pending": list(self.pending),
            "learns_from": self.learns_from,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Stage:
        """Make the stage that `to_dict` described."""
        pending = tuple(stored["pending"])
        return cls(stored["index"], stored["known"], pending, stored["learns_from"])


@dataclass(frozen=True, eq=False)
class State(Rebuilt):
    """The fold of some events.

    Parameters
    ----------
    space : Space
    embedded : EmbeddedSpace or None
        The space as models see it, where they see it through an embedding.
    suggestions : mapping of str to Suggestion
        Everything that was asked, by key, in order.
    pending : tuple of str
        Keys of what was asked and neither told nor forgotten, in order.
    observations : tuple of Observation
        Everything that was told, in order.
    stage : Stage or None
        None before the first ask.
    initial : int
        Initial points that were asked for in this stage.
    steps : int
        Points that a model chose, over all stages.
    c : float or None
        The scale with which the next model begins; None before the first model.
    places : mapping of str to (e,) array
        Where models see what was asked, by key: its model coordinates, or the point of the
        embedding.
    images : mapping of str to (k,) array
        Model coordinates of what was asked, by key.
    owners : mapping of str to str
        Keys of the workers that are at what is pending, by key of the ask; nobody is named where
        `ask` was called by hand.
    given_out : mapping of str to float
        When what was asked was given out, or last claimed, in seconds since 1970, by key.
    stop : mapping or None
        What a stop rule said last, as `events.stopped` has it; None where none ended the run.
    """

    space: Space
    embedded: EmbeddedSpace | None = None
    suggestions: Mapping[str, Suggestion] = field(default_factory=dict)
    pending: tuple[str, ...] = ()
    observations: tuple[Observation, ...] = ()
    stage: Stage | None = None
    initial: int = 0
    steps: int = 0
    c: float | None = None
    places: Mapping[str, FloatArray] = field(default_factory=dict)
    images: Mapping[str, FloatArray] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)
    given_out: Mapping[str, float] = field(default_factory=dict)
    stop: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name in ("suggestions", "places", "images", "owners", "given_out"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def search(self) -> SearchSpace:
        """Where models learn and points are looked for."""
        return self.space if self.embedded is None else self.embedded

    def after(self, events: Iterable[Event]) -> State:
        """Return the state after further events."""
        draft = _Draft(self)
        for event in events:
            draft.add(event)
        return draft.finished()

    def best(self, sign: float) -> Observation | None:
        """Return the first observation whose value times a sign is the largest, if there is one."""
        told = [one for one in self.observations if one.y is not None]
        return max(told, key=lambda one: sign * (one.y or 0.0), default=None)

    @property
    def evaluation_seconds(self) -> list[float]:
        """How long evaluations took, from being given out to being told, of what was asked."""
        return [
            max(0.0, one.time - self.given_out[one.suggestion.key])
            for one in self.observations
            if one.suggestion is not None
        ]

    def pends(self, ask: Event) -> bool:
        """Whether the point of an ask is one that is pending."""
        x = ask.content["suggestion"]["x"]
        return any(point_out(self.suggestions[key].x) == x for key in self.pending)

    def seen(self) -> FloatArray:
        """Return all points that were told or are pending (n, e), where models see them."""
        return np.concatenate([self.told(), self._array(self.places[key] for key in self.pending)])

    def told(self) -> FloatArray:
        """Return all points that were told (n, e), where models see them."""
        return self._array(told.z for told in self.observations)

    def _array(self, points: Iterable[FloatArray]) -> FloatArray:
        rows = list(points)
        return np.array(rows).reshape(len(rows), self.search.model().dimension)


class _Draft:
    """A state under construction; it costs one copy a fold rather than one an event."""

    def __init__(self, state: State) -> None:
        self._space = state.space
        self._embedded = state.embedded
        self._suggestions = dict(state.suggestions)
        self._places = dict(state.places)
        self._images = dict(state.images)
        self._owners = dict(state.owners)
        self._given_out = dict(state.given_out)
        self._pending = dict.fromkeys(state.pending)
        self._observations = list(state.observations)
        self._stage = state.stage
        self._initial = state.initial
        self._steps = state.steps
        self._c = state.c
        self._stop = state.stop

    def add(self, event: Event) -> None:
        try:
            {
                "ask": self._ask,
                "tell": self._tell,
                "forget": self._forget,
                "claim": self._claim,
                "stop": self._stopped,
            }[event.kind](event)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise FileFormatError(
                f"an event of kind {event.kind!r} must hold what a run writes; event {event.key} "
                f"does not ({type(error).__name__}: {error}), as if the journal had been changed "
                "by hand, or by another program; restore it from a copy."
            ) from error

    def finished(self) -> State:
        return State(
            self._space,
            self._embedded,
            self._suggestions,
            tuple(self._pending),
            tuple(self._observations),
            self._stage,
            self._initial,
            self._steps,
            self._c,
            self._places,
            self._images,
            {key: worker for key, worker in self._owners.items() if key in self._pending},
            self._given_out,
            self._stop,
        )

    def _ask(self, event: Event) -> None:
        content = event.content
        number = len(self._suggestions)
        suggestion = Suggestion.from_dict(content["suggestion"], number, event.key)
        stage = Stage.from_dict(content["stage"])
        self._suggestions[event.key] = suggestion
        self._given_out[event.key] = event.time
        image = self._space.encode(suggestion.x)[0]
        self._images[event.key] = image
        self._places[event.key] = image if suggestion.z is None else suggestion.z
        self._pending[event.key] = None
        if self._stage is None or stage.index > self._stage.index:
            self._stage, self._initial = stage, 0
        if suggestion.is_initial:
            self._initial += stage.index == self._stage.index
        else:
            self._steps += 1
        if content.get("worker") is not None:  # journals up to schema 4 name none
            self._owners[event.key] = content["worker"]
        if content["next_c"] is not None:
            self._c = float(content["next_c"])

    def _tell(self, event: Event) -> None:
        content = event.content
        x, z, answers = point_in(content["x"]), content["z"], content["answers"]
        self._pending.pop(answers, None)
        self._observations.append(
            Observation(
                number=len(self._observations),
                x=x,
                y=content["y"],
                failed=content["y"] is None,
                reason=content["reason"],
                noise=content["noise"],
                suggestion=self._suggestions.get(answers),
                time=event.time,
                z=self._space.encode(x)[0] if z is None else point_in(z),
            )
        )

    def _forget(self, event: Event) -> None:
        self._pending.pop(event.content["ask"], None)

    def _stopped(self, event: Event) -> None:
        content = event.content
        self._stop = {name: content[name] for name in ("verdict", "rule", "told")}

    def _claim(self, event: Event) -> None:
        self._owners[event.content["ask"]] = event.content["worker"]
        self._given_out[event.content["ask"]] = event.time
