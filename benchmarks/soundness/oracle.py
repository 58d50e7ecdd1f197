"""The oracle: the exact maximum of a fuzz case where enumeration can reach it."""

from __future__ import annotations

from benchmarks.soundness.nets import FuzzCase
from benchmarks.soundness.verdicts import Oracle
from nnbo_mip.testing.exact_maximum import TooLargeError, exact_maximum


def ask_oracle(case: FuzzCase) -> Oracle | None:
    """Return the maximum in rational arithmetic; None where the case is too large."""
    try:
        return Oracle(exact_maximum(case.network, case.domain).value)
    except TooLargeError:
        return None
