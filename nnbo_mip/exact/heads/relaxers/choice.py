"""Which relaxer bounds which head on which readout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, singledispatch
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
from nnbo_mip.exact.heads.relaxers.spreads import SpreadRelaxer, no_spread, spread_relaxer
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.scores.base.abstract import MomentHead
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.posteriors.gp_readout import GpReadout
from nnbo_mip.scores.posteriors.readouts import MembersReadout, NetworkReadout, Readout
from nnbo_mip.scores.posteriors.tanh_readouts import TanhMembers, TanhReadout
from nnbo_mip.scores.posteriors.tree_readout import TreeReadout
from nnbo_mip.space.domain import Domain


class HeadRelaxer(BoxRelaxer, Protocol):
    """Bounds a head over boxes."""

    @property
    def is_useful(self) -> bool:
        """Whether the network's magnitudes stay far from overflow; else nothing is proven."""


@singledispatch
def moments_over(readout: Readout, domain: Domain) -> tuple[Rows, SpreadRelaxer]:
    """Return what bounds mean and std of a posterior; one more kind registers its own."""
    raise UnsupportedError(no_spread(readout))


@moments_over.register
def _of_network(readout: NetworkReadout, domain: Domain) -> tuple[Rows, SpreadRelaxer]:
    spreads = spread_relaxer(readout)
    return _rows_of(readout, domain, spreads.outputs, "mean"), spreads


@moments_over.register
def _of_tanh(readout: TanhReadout, domain: Domain) -> tuple[Rows, SpreadRelaxer]:
    return UnitRows.of_tanh(TanhUnits(readout, domain), readout), spread_relaxer(readout)


@moments_over.register
def _of_process(readout: GpReadout, domain: Domain) -> tuple[Rows, SpreadRelaxer]:
    part = PosteriorPart(readout, KernelUnits(readout, domain))
    return part.rows, part


@singledispatch
def members_over(readout: Readout, domain: Domain, head: EmpiricalImprovement) -> HeadRelaxer:
    """Return what bounds a head of the members of a posterior."""
    raise UnsupportedError("the readout has no members.")


@members_over.register
def _of_members(readout: MembersReadout, domain: Domain, head: EmpiricalImprovement) -> HeadRelaxer:
    if head.kind == "ei":
        return ImprovementRelaxer(readout.network, readout.names, head, domain)
    return CountRelaxer(_rows_of(readout, domain, readout.names, readout.names[0]), head)


@members_over.register
def _of_tanh_members(
    readout: TanhMembers, domain: Domain, head: EmpiricalImprovement
) -> HeadRelaxer:
    rows = UnitRows.of_tanh(TanhUnits(readout, domain), readout)
    return (RisenRelaxer if head.kind == "ei" else CountRelaxer)(rows, head)


def _rows_of(
    readout: NetworkReadout, domain: Domain, outputs: tuple[str, ...], base: str
) -> RowRelaxer:
    return RowRelaxer(readout.network, domain.lower, domain.upper, outputs, base)


@dataclass(frozen=True, eq=False)
class Boxed:
    """What bounds a problem over boxes: made when it is first asked for, and then kept.

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
        if not isinstance(head, MomentHead | EmpiricalImprovement):
            return f"a {type(head).__name__} reads neither mean and std nor members."
        if isinstance(readout, TreeReadout):
            return ""
        return self._found if isinstance(self._found, str) else ""

    @property
    def relaxer(self) -> HeadRelaxer:
        """What bounds the head; `UnsupportedError` where nothing does."""
        found = self.why_not or self._found
        if isinstance(found, str):
            raise UnsupportedError(f"boxes must bound the head; {found} choose another way.")
        return found

    @cached_property
    def _found(self) -> HeadRelaxer | str:
        """The relaxer, or why there is none."""
        head, readout, domain = self.problem.searched, self.problem.readout, self.problem.domain
        try:
            if isinstance(head, EmpiricalImprovement):
                return members_over(readout, domain, head)
            assert isinstance(head, MomentHead)
            rows, spreads = moments_over(readout, domain)
        except UnsupportedError as error:
            return str(error)
        return spreads.why_not or MomentRelaxer(rows, head, spreads)
