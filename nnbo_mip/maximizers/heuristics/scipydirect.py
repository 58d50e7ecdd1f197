"""DIRECT as the package scipydirect has it: Gablonsky's Fortran.

Its defects, and what is done about them: after an error status its ``x`` is in the unit cube, so
what it returns is not read; an objective that raises is swallowed, or makes it go on for ever, so
ours never raises and the exception is raised afterwards; it prints, so standard output is closed to
it; it keeps its state in common blocks, so one search runs at a time.

References
----------
Jones et al. (1993), DIRECT [Jones1993].
Gablonsky and Kelley (2001), the Fortran code [GablonskyKelley2001].
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError, MissingExtraError
from nnbo_mip.maximizers.base.abstract import Abilities, Request
from nnbo_mip.maximizers.heuristics.direct import Rectangles, value_at
from nnbo_mip.maximizers.heuristics.search import NOTHING_TRIED, Search
from nnbo_mip.maximizers.heuristics.unit_cube import UnitCube

MOST_EVALUATIONS = 90_000
MOST_ITERATIONS = 6000
"""Sizes of the arrays in its Fortran."""

STANDARD_OUTPUT = 1
UNBUFFERED = "GFORTRAN_UNBUFFERED_PRECONNECTED"

_ALONE = threading.Lock()


@dataclass(frozen=True)
class ScipyDirect(Rectangles):
    """DIRECT by the package scipydirect."""

    name: ClassVar[str] = "scipydirect"
    abilities: ClassVar[Abilities] = Abilities(any_belief=True)

    def __post_init__(self) -> None:
        """Refuse options that are none, and a machine without the package."""
        super().__post_init__()
        if self.evaluations > MOST_EVALUATIONS or self.iterations > MOST_ITERATIONS:
            raise InputError(
                f"scipydirect takes up to {MOST_EVALUATIONS} evaluations and {MOST_ITERATIONS} "
                f"iterations; got {self.evaluations} and {self.iterations}; take fewer, or "
                '"direct".'
            )
        _imported()

    def _search(self, search: Search, request: Request) -> None:
        cube = UnitCube(search.domain)
        if not cube.n_variables:
            search.values(cube.decode(np.empty((1, 0))))
            return
        search.vain = NOTHING_TRIED
        objective = _Guarded(lambda place: -value_at(search, cube, place))
        minimize = _imported().minimize
        with _ALONE, _silenced():
            minimize(
                objective,
                bounds=[(0.0, 1.0)] * cube.n_variables,
                maxf=search.left,
                maxT=self.iterations,
                algmethod=1 if self.variant == "l" else 0,
            )
        if objective.raised is not None:
            raise objective.raised


class _Guarded:
    """An objective that never raises: after the first exception it only rises.

    Where it is infinite it rises as well, as many equal numbers overflow the Fortran's lists.
    """

    def __init__(self, function: Callable[[FloatArray], float]) -> None:
        self.raised: BaseException | None = None
        self._function = function
        self._worst = 0.0

    def __call__(self, place: FloatArray) -> float:
        if self.raised is None:
            try:
                value = self._function(np.array(place, dtype=np.float64))
            except BaseException as error:  # KeyboardInterrupt as well: Fortran is above us
                self.raised = error
            else:
                if np.isfinite(value):
                    self._worst = max(self._worst, value)
                    return value
        self._worst += 1.0 + 1e-6 * abs(self._worst)
        return self._worst


def _imported() -> Any:
    """Import scipydirect, which reads one variable of the environment when it is loaded."""
    before = os.environ.get(UNBUFFERED)
    os.environ[UNBUFFERED] = "1"  # else it prints when the process ends
    try:
        with _silenced():
            import scipydirect
        works = scipydirect.direct is not None
    except ImportError:
        works = False
    finally:
        if before is None:
            del os.environ[UNBUFFERED]
        else:
            os.environ[UNBUFFERED] = before
    if not works:
        raise MissingExtraError(
            "the maximizer 'scipydirect' needs the package scipydirect, compiled; it could not be "
            "imported; run docs/build_scipydirect.sh (Python 3.11), or take 'direct'."
        )
    return scipydirect


@contextmanager
def _silenced() -> Iterator[None]:
    """Send what is written to file descriptor 1 nowhere."""
    sys.stdout.flush()
    kept = os.dup(STANDARD_OUTPUT)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), STANDARD_OUTPUT)
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, STANDARD_OUTPUT)
        os.close(kept)
