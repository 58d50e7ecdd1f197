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
from nnbo_mip.exact.heads.relaxers.spreads import no_spread, spread_relaxer
from nnbo_mip.exact.scores.problem import HeadProblem
from nnbo_mip.scores.base.abstract import Head, MomentHead, Shape
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.posteriors.gp_readout import GpReadout
from nnbo_mip.scores.posteriors.readouts import MembersReadout, NetworkReadout, Readout
from nnbo_mip.scores.posteriors.tanh_readouts import TanhReadout
from nnbo_mip.space.domain import Domain


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
        if head.shape is Shape.EMPIRICAL:
            return "" if readout.has_members else "the readout has no members."
        if head.shape is Shape.MIXTURE:
            return f"a {type(head).__name__} reads neither mean and std nor members."
        if readout.forest is not None:
            return ""
        return no_spread(readout) if self._process is None else self._process.why_not

    @cached_property
    def relaxer(self) -> HeadRelaxer:
        """What bounds the head; `UnsupportedError` where nothing does."""
        if self.why_not:
            raise UnsupportedError(f"boxes must bound the head; {self.why_not} choose another way.")
        return _relaxer(self.problem.searched, self)

    @cached_property
    def _process(self) -> PosteriorPart | None:
        return _process_of(self.problem.readout, self.problem.domain)

    def of_moments(self, head: MomentHead) -> HeadRelaxer:
        """Return what bounds a head of mean and std."""
        readout = self.problem.readout
        if self._process is not None:
            return MomentRelaxer(self._process.rows, head, self._process)
        spreads = spread_relaxer(readout)
        return MomentRelaxer(self._rows(spreads.outputs, "mean"), head, spreads)

    def of_members(self, head: EmpiricalImprovement) -> HeadRelaxer:
        """Return what bounds a head of members."""
        readout, domain = self.problem.readout, self.problem.domain
        if not isinstance(readout, MembersReadout):
            return (RisenRelaxer if head.kind == "ei" else CountRelaxer)(self._rows((), ""), head)
        if head.kind == "ei":
            return ImprovementRelaxer(readout.network, readout.names, head, domain)
        return CountRelaxer(self._rows(readout.names, readout.names[0]), head)

    def _rows(self, outputs: tuple[str, ...], base: str) -> Rows:
        return _rows_of(self.problem.readout, self.problem.domain, outputs, base)


@singledispatch
def _relaxer(head: Head, boxed: Boxed) -> HeadRelaxer:
    """Return what bounds a head, by what it reads."""
    raise UnsupportedError(f"boxes must bound the head; got a {type(head).__name__}.")


@_relaxer.register
def _of_moment_head(head: MomentHead, boxed: Boxed) -> HeadRelaxer:
    return boxed.of_moments(head)


@_relaxer.register
def _of_member_head(head: EmpiricalImprovement, boxed: Boxed) -> HeadRelaxer:
    return boxed.of_members(head)


@singledispatch
def _process_of(readout: Readout, domain: Domain) -> PosteriorPart | None:
    """Return what bounds the mean and std of a Gaussian process; None for other posteriors."""
    return None


@_process_of.register
def _of_process(readout: GpReadout, domain: Domain) -> PosteriorPart:
    return PosteriorPart(readout, KernelUnits(readout, domain))


@singledispatch
def _rows_of(readout: Readout, domain: Domain, outputs: tuple[str, ...], base: str) -> Rows:
    """Return the rows of all outputs of tanh units, or of some of a network."""
    raise UnsupportedError(f"boxes must bound outputs; a {type(readout).__name__} has none.")


@_rows_of.register
def _of_tanh(readout: TanhReadout, domain: Domain, outputs: tuple[str, ...], base: str) -> Rows:
    return UnitRows.of_tanh(TanhUnits(readout, domain), readout)


@_rows_of.register
def _of_network(
    readout: NetworkReadout, domain: Domain, outputs: tuple[str, ...], base: str
) -> Rows:
    return RowRelaxer(readout.network, domain.lower, domain.upper, outputs, base)
