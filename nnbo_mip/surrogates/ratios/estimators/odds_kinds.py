"""From the arrays of a file back to log-odds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from nnbo_mip.surrogates.ratios.estimators.kernel_odds import KernelOdds
from nnbo_mip.surrogates.ratios.estimators.odds import Odds
from nnbo_mip.surrogates.ratios.estimators.parzen import ParzenOdds
from nnbo_mip.surrogates.ratios.estimators.stack_odds import StackOdds
from nnbo_mip.surrogates.ratios.estimators.svm_odds import SvmOdds
from nnbo_mip.surrogates.ratios.estimators.tree_odds import TreeOdds

KINDS: dict[str, type[Odds]] = {
    kind.kind: kind for kind in (StackOdds, TreeOdds, SvmOdds, KernelOdds, ParzenOdds)
}


def odds_of(kind: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Odds:
    """Make log-odds of this kind; what does not fit raises LookupError or ValueError."""
    made = KINDS[kind].from_arrays(arrays)
    assert isinstance(made, Odds)
    return made
