"""Which relaxer bounds which head on which readout."""

from __future__ import annotations

from typing import Protocol

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.exact.bounds.kernel_units import KernelUnits
from nnbo_mip.exact.bounds.row_relaxation import RowRelaxer, Rows
from nnbo_mip.exact.bounds.tanh_units import TanhUnits
from nnbo_mip.exact.bounds.unit_relaxation import UnitRows
from nnbo_mip.exact.branching.boxes import BoxRelaxer
from nnbo_mip.exact.heads.relaxers.members import CountRelaxer, ImprovementRelaxer, RisenRelaxer
from nnbo_mip.exact.heads.relaxers.moments import MomentRelaxer
from nnbo_mip.exact.heads.relaxers.posterior import PosteriorPart
from nnbo_mip.exact.heads.relaxers.spreads import SpreadRelaxer, spread_relaxer
from nnbo_mip.exact.scores.question import HeadProblem
from nnbo_mip.scores.base.abstract import MomentHead
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.posteriors.gp_readout import GpReadout
from nnbo_mip.scores.posteriors.readouts import MembersReadout, NetworkReadout
from nnbo_mip.scores.posteriors.tanh_readouts import TanhMembers, TanhReadout
from nnbo_mip.scores.posteriors.tree_readout import TreeReadout


class HeadRelaxer(BoxRelaxer, Protocol):
    """Bounds a head over boxes."""

    @property
    def is_useful(self) -> bool:
        """Whether the network's magnitudes stay far from overflow; else nothing is proven."""


def why_not(problem: HeadProblem) -> str:
    """Return why nothing bounds a head over boxes, in a sentence; empty where something does.

    Trees have boxes of their own (`exact.trees`), and no relaxer.
    """
    head, readout = problem.searched, problem.readout
    if isinstance(head, EmpiricalImprovement):
        has_members = isinstance(readout, MembersReadout | TanhMembers | TreeReadout)
        return "" if has_members else "the readout has no members."
    if not isinstance(head, MomentHead):
        return f"a {type(head).__name__} reads neither mean and std nor members."
    if isinstance(readout, TreeReadout):
        return ""
    if isinstance(readout, GpReadout):
        return PosteriorPart(readout, KernelUnits(readout, problem.domain)).why_not
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
        if isinstance(readout, TanhMembers):
            rows = UnitRows.of_tanh(TanhUnits(readout, domain), readout)
            return (RisenRelaxer if head.kind == "ei" else CountRelaxer)(rows, head)
        assert isinstance(readout, MembersReadout)
        if head.kind == "ei":
            return ImprovementRelaxer(readout.network, readout.names, head, domain)
        return CountRelaxer(rows_of_network(problem, readout.names, readout.names[0]), head)
    assert isinstance(head, MomentHead)
    if isinstance(readout, GpReadout):
        units = KernelUnits(readout, domain)
        return MomentRelaxer(
            UnitRows.of_posterior(units, readout), head, PosteriorPart(readout, units)
        )
    spreads = spread_relaxer(readout)
    assert spreads is not None
    return MomentRelaxer(_rows_of(problem, spreads), head, spreads)


def rows_of_network(problem: HeadProblem, outputs: tuple[str, ...], base: str) -> RowRelaxer:
    """Return the rows of some outputs of a readout's network."""
    readout, domain = problem.readout, problem.domain
    assert isinstance(readout, NetworkReadout)
    return RowRelaxer(readout.network, domain.lower, domain.upper, outputs, base)


def _rows_of(problem: HeadProblem, spreads: SpreadRelaxer) -> Rows:
    readout = problem.readout
    if isinstance(readout, TanhReadout):
        return UnitRows.of_tanh(TanhUnits(readout, problem.domain), readout)
    return rows_of_network(problem, spreads.outputs, "mean")
