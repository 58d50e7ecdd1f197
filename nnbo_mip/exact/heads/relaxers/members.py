r"""Conditions of heads that read members, over boxes.

*Empirical EI* is piecewise linear: one more ReLU a member, and the relaxation of a network.

*Empirical PI* counts the members that reach the threshold. Over a box at most the p can whose
upper bound reaches it. Where p exceeds what the level allows by one, each of the p has to reach
it, and the plane of the one that is closest to failing is the condition.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.bounds.compiled_relaxation import CompiledRelaxer
from nnbo_mip.exact.bounds.planes import UNREACHABLE, Conditions, conditions
from nnbo_mip.exact.bounds.relaxation import Planes
from nnbo_mip.exact.bounds.row_relaxation import Rows
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF, gamma, rounding_model, shares_above
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.space.domain import Domain


class ImprovementRelaxer:
    """Planes above the average improvement of members.

    Parameters
    ----------
    network : Network
    names : sequence of str
        The members' outputs.
    head : EmpiricalImprovement
        Of the kind ``ei``.
    domain : Domain
    """

    def __init__(
        self,
        network: Network,
        names: Sequence[str],
        head: EmpiricalImprovement,
        domain: Domain,
    ) -> None:
        rows = network.head.rows([network.output_index(name) for name in names])
        layer = Affine(rows.bias - head.threshold, dict(rows.terms))
        count = len(names)
        last = len(network.layers) + 1
        average = Affine(np.zeros(1), {last: np.full((1, count), 1.0 / count)})
        whole = Network(network.n_inputs, (*network.layers, layer), average)
        rounding = rounding_model(whole, domain.lower, domain.upper)
        self.is_useful = rounding.is_useful
        self._relaxer = CompiledRelaxer(whole, rounding)
        # The threshold and 1 / M were rounded once.
        # A plane's constant has at most depth + 1 times the magnitude of the network.
        self.depth = self._relaxer.depth
        sizes = (self.depth + 2.0) * rounding.magnitude + abs(head.threshold)
        self._margin = 4.0 * UNIT_ROUNDOFF * sizes

    def floats_per_box(self) -> int:
        """Float64 values held for one box."""
        return self._relaxer.floats_per_box()

    def bound(self, lower: FloatArray, upper: FloatArray, level: float, slope_steps: int) -> Planes:
        """Bound the score from above over boxes (d, B) by affine functions."""
        planes = self._relaxer.bound(lower, upper, level, slope_steps)
        return Planes(planes.slopes, planes.constant + self._margin, planes.bound + self._margin)


class RisenRelaxer:
    """Planes above the average improvement of members that are no network of ReLUs.

    Over a box a member's improvement is below the line between its values at the member's ends.

    Parameters
    ----------
    rows : Rows
        Of the members' outputs.
    head : EmpiricalImprovement
        Of the kind ``ei``.
    """

    def __init__(self, rows: Rows, head: EmpiricalImprovement) -> None:
        self._threshold, self._rows = head.threshold, rows
        self.depth, self.is_useful = rows.depth, rows.is_useful

    def floats_per_box(self) -> int:
        """Float64 values held for one box."""
        return self._rows.floats_per_box()

    def bound(self, lower: FloatArray, upper: FloatArray, level: float, slope_steps: int) -> Planes:
        """Bound the score from above over boxes (d, B) by affine functions."""
        drawn = self._rows.draw(lower, upper)
        count = drawn.at_center.shape[1]
        ends = np.array([drawn.ends(output) for output in range(count)])
        low, high = (ends[:, side].T - self._threshold for side in (0, 1))
        crossing = (low < 0.0) & (high > 0.0)
        width = np.where(crossing, high - low, 1.0)
        slopes = np.where(crossing, high / width, (low >= 0.0).astype(np.float64))
        lines = np.where(crossing, -slopes * low, 0.0) - slopes * self._threshold
        sizes = np.abs(lines) + slopes * (abs(self._threshold) + np.abs(high) + np.abs(low))
        rounding = gamma(count + 16)
        constants = (lines + rounding * sizes).sum(axis=1) / count + rounding * sizes.mean(axis=1)
        levels = np.full(lower.shape[1], level)
        nothing = np.zeros(lower.shape[1])
        return self._rows.carry(drawn, nothing, slopes / count, constants, levels, slope_steps)


class CountRelaxer:
    """Conditions for the share of members that reach a threshold.

    Parameters
    ----------
    rows : Rows
        Of the members' outputs.
    head : EmpiricalImprovement
        Of the kind ``pi``.
    """

    def __init__(self, rows: Rows, head: EmpiricalImprovement) -> None:
        self._threshold, self._rows = head.threshold, rows
        self.depth, self.is_useful = rows.depth, rows.is_useful

    def floats_per_box(self) -> int:
        """Float64 values held for one box."""
        return self._rows.floats_per_box()

    def bound(
        self, lower: FloatArray, upper: FloatArray, level: float, slope_steps: int
    ) -> Conditions:
        """Return conditions for shares above a level over boxes (d, B)."""
        drawn = self._rows.draw(lower, upper)
        batch, _, count = drawn.slopes.shape
        reach = (np.abs(drawn.slopes) * drawn.radius.T[:, :, None]).sum(axis=1)
        margin = drawn.at_center - self._threshold
        sizes = np.abs(drawn.at_center) + abs(self._threshold) + reach + drawn.off
        off = drawn.off + 4.0 * UNIT_ROUNDOFF * sizes
        low, high = margin - reach - off, margin + reach + off
        possible = high >= 0.0
        shares = shares_above(count)
        scores = shares[possible.sum(axis=1)]
        # The one whose plane has to be positive, or shows where to cut: it can still fail.
        undecided = possible & (low < 0.0)
        chosen = np.where(undecided, high, np.inf).argmin(axis=1)
        boxes = np.arange(batch)
        rows = np.zeros((batch, count))
        rows[boxes, chosen] = 1.0
        nothing = np.zeros(batch)
        limits = np.full(batch, self._threshold)
        sums = self._rows.carry(drawn, nothing, rows, nothing, limits, slope_steps)
        allowed = int((shares <= level).sum()) - 1
        decisive = undecided[boxes, chosen] & (possible.sum(axis=1) == allowed + 1)
        # A member counts where it equals the threshold, so the limit lies below.
        limits = np.where(decisive, np.nextafter(self._threshold, -np.inf), -UNREACHABLE)
        limits = np.where(possible.sum(axis=1) <= allowed, UNREACHABLE, limits)
        return conditions(sums, limits, scores)
