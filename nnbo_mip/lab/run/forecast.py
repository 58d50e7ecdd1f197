"""How long the rest of an experiment takes, from what its finished units took.

>>> from nnbo_mip.lab.run.forecast import Forecast
>>> forecast = Forecast({("branin", "nomu"): 3, ("branin", "gp"): 1}, workers=2)
>>> forecast.seconds_left is None
True
>>> forecast.ended(("branin", "nomu"), 10.0)
>>> forecast.ended(("branin", "gp"), 4.0)
>>> forecast.seconds_left  # two units of 10 s, and two workers
10.0
"""

from __future__ import annotations

from collections.abc import Mapping

Kind = tuple[str, str]
"""Problem and method of a unit."""


class Forecast:
    """Expects of a unit what those of its problem and method took, or what all took.

    Parameters
    ----------
    waiting : mapping of (str, str) to int
        How many units there are of each kind.
    workers : int
    """

    def __init__(self, waiting: Mapping[Kind, int], workers: int) -> None:
        self._waiting = dict(waiting)
        self._workers = max(workers, 1)
        self._ended: dict[Kind, tuple[int, float]] = {}

    def ended(self, kind: Kind, seconds: float) -> None:
        """Take notice of a unit that took so long."""
        self._waiting[kind] -= 1
        count, total = self._ended.get(kind, (0, 0.0))
        self._ended[kind] = count + 1, total + seconds

    @property
    def seconds_left(self) -> float | None:
        """Wall seconds; None where nothing is known."""
        if not self._ended:
            return None
        count = sum(count for count, _ in self._ended.values())
        usual = sum(total for _, total in self._ended.values()) / count
        work = 0.0
        for kind, waiting in self._waiting.items():
            known, total = self._ended.get(kind, (1, usual))
            work += waiting * total / known
        return work / self._workers
