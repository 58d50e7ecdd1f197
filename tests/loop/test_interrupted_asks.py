"""An ask that ends before its answer is handed over loses none of its points."""

from __future__ import annotations

from typing import Any

import pytest

from tests.loop.runs import advance, optimizer


def test_an_ask_of_many_that_fails_midway_loses_none_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = optimizer()
    advance(run, 4)
    before = type(run._asking).next
    calls = iter([True, True, False])

    def next_(self: Any, state: Any, callback: Any = None) -> Any:
        if not next(calls, True):
            raise KeyboardInterrupt
        return before(self, state, callback)

    monkeypatch.setattr(type(run._asking), "next", next_)
    with pytest.raises(KeyboardInterrupt):
        run.ask(3)
    lost = run.pending
    assert len(lost) == 2
    again = run.ask(3)
    assert [one.key for one in again[:2]] == [one.key for one in lost]
    assert len({one.key for one in again}) == 3


def test_an_ask_that_is_interrupted_when_it_is_written_is_given_out_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = optimizer(initial=9)
    run.ask()  # somebody is at it
    before = type(run._ledger).add_ask
    calls = iter([True, False])

    def add_ask(self: Any, *arguments: Any, **options: Any) -> bool:
        done = before(self, *arguments, **options)
        if not next(calls, True):
            raise KeyboardInterrupt  # as Ctrl-C does where it was held back
        return done

    monkeypatch.setattr(type(run._ledger), "add_ask", add_ask)
    with pytest.raises(KeyboardInterrupt):
        run.ask(3)
    with_number = [one.number for one in run.pending]
    assert with_number == [0, 1, 2]
    assert [one.number for one in run.ask(3)] == [1, 2, 3]
