"""Which relaxer bounds which head on which readout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
from nnbo_mip.exact.heads.relaxers.spreads import no_spread, spread_relaxer
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


@dataclass(frozen=True, eq=False)
class Boxed:
    """What bounds a problem over boxes: found when it is first asked for, and then kept.

    Trees have boxes of their own (`exact.trees`), and no relaxer.

    Parameters
    ----------
    problem : HeadProblem
    """

    problem: HeadProblem

    @cached_property
    def why_not(self) -> str:
        """Why nothing bounds the problem, in a sentence; empty where something does."""
        head, readout = self.problem.searched, self.problem.readout
        if isinstance(head, EmpiricalImprovement):
            has_members = isinstance(readout, MembersReadout | TanhMembers | TreeReadout)
            return "" if has_members else "the readout has no members."
        if not isinstance(head, MomentHead):
            return f"a {type(head).__name__} reads neither mean and std nor members."
        if isinstance(readout, TreeReadout):
            return ""
        if isinstance(readout, GpReadout):
            return self._process.why_not
        return no_spread(readout)

    @cached_property
    def relaxer(self) -> HeadRelaxer:
        """What bounds the head; `UnsupportedError` where nothing does."""
        head, readout = self.problem.searched, self.problem.readout
        if self.why_not:
            raise UnsupportedError(f"boxes must bound the head; {self.why_not} choose another way.")
        if isinstance(head, EmpiricalImprovement):
            return self._of_members(head)
        assert isinstance(head, MomentHead)
        if isinstance(readout, GpReadout):
            return MomentRelaxer(self._process.rows, head, self._process)
        spreads = spread_relaxer(readout)
        return MomentRelaxer(self._rows(spreads.outputs, "mean"), head, spreads)

    @cached_property
    def _process(self) -> PosteriorPart:
        readout = self.problem.readout
        assert isinstance(readout, GpReadout)
        return PosteriorPart(readout, KernelUnits(readout, self.problem.domain))

    def _of_members(self, head: EmpiricalImprovement) -> HeadRelaxer:
        readout = self.problem.readout
        if isinstance(readout, TanhMembers):
            return (RisenRelaxer if head.kind == "ei" else CountRelaxer)(self._rows((), ""), head)
        assert isinstance(readout, MembersReadout)
        if head.kind == "ei":
            return ImprovementRelaxer(readout.network, readout.names, head, self.problem.domain)
        return CountRelaxer(self._rows(readout.names, readout.names[0]), head)

    def _rows(self, outputs: tuple[str, ...], base: str) -> Rows:
        """Return the rows of all outputs of tanh units, or of some of a network."""
        readout, domain = self.problem.readout, self.problem.domain
        if isinstance(readout, TanhReadout):
            return UnitRows.of_tanh(TanhUnits(readout, domain), readout)
        assert isinstance(readout, NetworkReadout)
        return RowRelaxer(readout.network, domain.lower, domain.upper, outputs, base)
