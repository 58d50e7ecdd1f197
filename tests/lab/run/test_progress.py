"""What is said of an experiment at work."""

from __future__ import annotations

import pytest

from nnbo_mip.lab.run.forecast import Forecast
from nnbo_mip.lab.run.progress import UnitsDisplay, duration
from nnbo_mip.lab.store.answer import Answer
from tests.lab.stores import answer, failure, planned


def test_what_is_left_takes_what_its_kind_took() -> None:
    forecast = Forecast({("p", "slow"): 4, ("p", "quick"): 10, ("q", "new"): 2}, workers=2)
    assert forecast.seconds_left is None
    for seconds in (90.0, 110.0):
        forecast.ended(("p", "slow"), seconds)
    forecast.ended(("p", "quick"), 1.0)
    usual = (90.0 + 110.0 + 1.0) / 3
    assert forecast.seconds_left == pytest.approx((2 * 100.0 + 9 * 1.0 + 2 * usual) / 2)


def test_lines_of_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    units = [planned(instance=instance) for instance in range(3)]
    display = UnitsDisplay(units, before=5, workers=1, live=False)
    display.ended(answer(units[0].unit, [1.0]))
    display.ended(failure(units[1].unit, "died", "died"))
    twice = failure(units[2].unit, "died").attempts + answer(units[2].unit, [1.0]).attempts
    display.ended(Answer(units[2].unit.key, twice, {}, {}))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("nnbo-mip: 6/8 units  0 s  about 4 s left  last nomu on branin")
    assert lines[1] == "nnbo-mip: failed: nomu on branin, instance 1: died: a reason"
    assert lines[2] == "nnbo-mip: finished at the second try: nomu on branin, instance 2"
    assert lines[3].startswith("nnbo-mip: 8/8 units  1 failed  0 s  last nomu on branin, instance")
    assert len(lines) == 4


def test_durations_are_rounded_as_people_do() -> None:
    assert [duration(seconds) for seconds in (0.4, 59.6, 3599.0, 86400.0)] == [
        "0 s",
        "1 min 0 s",
        "59 min 59 s",
        "1 d 0 h",
    ]
