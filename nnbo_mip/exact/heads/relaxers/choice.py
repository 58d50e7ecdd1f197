"""Which relaxer bounds which head on which readout."""

from __future__ import annotations

from typing import Protocol

from nnbo_mip.errors import UnsupportedError
from nnbo_mip.exact.branching.boxes import BoxRelaxer
from nnbo_mip.exact.heads.question import HeadProblem
from nnbo_mip.exact.heads.relaxers.members import CountRelaxer, ImprovementRelaxer
from nnbo_mip.exact.heads.relaxers.moments import MomentRelaxer
from nnbo_mip.exact.heads.relaxers.spreads import spread_relaxer
from nnbo_mip.heads import EmpiricalImprovement, MomentHead
from nnbo_mip.heads.readouts import MembersReadout


class HeadRelaxer(BoxRelaxer, Protocol):
    """Bounds a head over boxes."""

    @property
    def is_useful(self) -> bool:
        """Whether the network's magnitudes stay far from overflow; else nothing is proven."""


def why_not(problem: HeadProblem) -> str:
    """Return why no relaxer bounds a head over boxes, in a sentence; empty where one does."""
    head, readout = problem.searched, problem.readout
    if isinstance(head, EmpiricalImprovement):
        return "" if isinstance(readout, MembersReadout) else "the readout has no members."
    if not isinstance(head, MomentHead):
        return f"a {type(head).__name__} reads neither mean and std nor members."
    if spread_relaxer(readout) is None:
        return f"the std of a {type(readout).__name__} has no bounds over boxes."
    return ""


def relaxer_of(problem: HeadProblem) -> HeadRelaxer:
    """Return the relaxer of what a problem searches."""
    head, readout, domain = problem.searched, problem.readout, problem.domain
    reason = why_not(problem)
    if reason:
        raise UnsupportedError(f"boxes must bound the head; {reason} choose another way.")
    if isinstance(head, EmpiricalImprovement):
        assert isinstance(readout, MembersReadout)
        kind = ImprovementRelaxer if head.kind == "ei" else CountRelaxer
        return kind(readout.network, readout.names, head, domain)
    assert isinstance(head, MomentHead)
    spreads = spread_relaxer(readout)
    assert spreads is not None
    return MomentRelaxer(readout.network, head, domain, spreads)
