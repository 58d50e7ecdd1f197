"""`Outside`: a method that is not ours, asked and told; what it does wrong is one sentence."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from nnbo_mip.core.errors import InputError, MethodError
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.lab.peers.base import AskTell, MethodTask
from nnbo_mip.lab.peers.catalogue import registry as peers
from nnbo_mip.lab.peers.entry import function_of
from nnbo_mip.loop.record.suggestion import Suggestion


class Outside:
    """A function of the user's, or a peer, which begins with the shared starts.

    Parameters
    ----------
    task : MethodTask
    content : mapping
        ``{"entry": "module:function", "options": {…}}`` or ``{"peer": {"name": …, …}}``.
    """

    def __init__(self, task: MethodTask, content: Mapping[str, Any]) -> None:
        self._task = task
        self._asked = 0
        if "entry" in content:
            self._label = str(content["entry"])
            function = function_of(self._label)
            with self._sentence("the function"):
                made = function(task, **content["options"])
        else:
            peer = peers.create(content["peer"])
            self._label = peer.name
            with self._sentence("its beginning"):
                made = peer.begin(task)
        self._made: AskTell = self._checked(made)

    def ask(self) -> tuple[Any, Suggestion | None]:
        """Return a start, or the choice of the method."""
        self._asked += 1
        if self._asked <= len(self._task.starts):
            return self._task.starts[self._asked - 1], None
        started = time.perf_counter()
        with self._sentence("ask"):
            x = self._made.ask()
        seconds = time.perf_counter() - started
        point = self._admissible(x)
        fit_seconds = float(getattr(self._made, "fit_seconds", 0.0))
        # No model of ours chose it, and nothing is proven of it.
        found = SearchResult(
            status="heuristic",
            value=math.nan,
            proof=Proof(self._label),
            message=str(getattr(self._made, "message", "")),
        )
        return point, Suggestion(
            x=point, found=found, seconds=seconds - fit_seconds, fit_seconds=fit_seconds
        )

    def tell(self, x: Any, y: float) -> None:
        """Pass the value on."""
        with self._sentence("tell"):
            self._made.tell(x, y)

    def report(self) -> Any | None:
        """Return the point that the method takes to be the best; None if it does not say."""
        if not callable(getattr(self._made, "report", None)):
            return None
        with self._sentence("report"):
            x = self._made.report()  # type: ignore[attr-defined]
        return None if x is None else self._admissible(x)

    def stops(self) -> bool:
        """Go on."""
        return False

    def _checked(self, made: Any) -> AskTell:
        for name in ("ask", "tell"):
            if not callable(getattr(made, name, None)):
                raise MethodError(
                    f"the method {self._label!r} must return an object with ask() and tell(x, y); "
                    f"got a {type(made).__name__} without {name}; see docs/guide/lab.md."
                )
        method: AskTell = made
        return method

    def _admissible(self, x: Any) -> Any:
        """Return a point as the space has it; refuse one outside."""
        space = self._task.space
        try:
            raw = space.to_numeric(x)
        except InputError as error:
            raise self._refused(x, str(error)) from error
        if len(raw) != 1:
            raise self._refused(x, f"these are {len(raw)} points")
        if not space.numeric().admissible(raw)[0]:
            raise self._refused(x, "a constraint does not hold")
        return space.from_numeric(raw[0])

    def _refused(self, x: Any, why: str) -> MethodError:
        got = " ".join(repr(x).split())
        return MethodError(
            f"the method {self._label!r} must ask for a point of the space; got {got:.120} "
            f"({why}); space.clip(x) takes rounding errors away."
        )

    @contextmanager
    def _sentence(self, what: str) -> Iterator[None]:
        """Say who raised."""
        try:
            yield
        except Exception as error:
            first = (str(error).strip().splitlines() or [""])[0]
            raise MethodError(
                f"the method {self._label!r} must not raise; {what} raised "
                f"{type(error).__name__}: {first}; mend it."
            ) from error
