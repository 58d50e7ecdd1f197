r"""Re-proves ``f(x) <= level`` over ReLU phases, where there are too many inputs for boxes.

A node fixes some ReLUs active or inactive and, perhaps, grids to part of their values. It
is finished when a bound from linear-programming multipliers (`recheck_program`) is at or
below the level, or, with every ReLU fixed, in exact arithmetic (`recheck_leaf`). Otherwise
it is split at a ReLU that the program treats wrongly, or along the faces of an exclusion in which
the program's point scores above the level (`recheck_exclusions`). Before the search, the ends of
inputs and pre-activations are tightened by programs of the same kind, in which only
points that score at least the level matter.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.checking.dyadic import ExactNetwork
from nnbo_mip.exact.checking.recheck_bounds import BoxBounder
from nnbo_mip.exact.checking.recheck_leaf import Leaf, pattern_is_below
from nnbo_mip.exact.checking.recheck_program import (
    ACTIVE,
    INACTIVE,
    UNDECIDED,
    Node,
    NodeProgram,
    Objective,
)
from nnbo_mip.exact.checking.recheck_rows import Rows
from nnbo_mip.exact.checking.sweep import Recheck, Verdict, Watch, ignore
from nnbo_mip.exact.search.problem import Problem

MOST_RELUS = 500
"""ReLUs up to which a linear program a node is worth its time."""

TIGHTENING_ROUNDS = 3
OFF_GRID = 1e-9
"""Share of its range by which a coordinate may miss its grid and count as on it."""

NOTICEABLE = 0.02
"""Share of the total width by which a round must have tightened for another one."""


def recheck_phases(
    problem: Problem, level: float, time_limit: float, watch: Watch = ignore
) -> Recheck:
    """Prove ``f(x) <= level`` on the domain, or find out why not.

    Parameters
    ----------
    problem : Problem
        Of at most `MOST_RELUS` ReLUs; larger ones are answered with ``time`` at once.
    level : float
        The claimed bound, finite.
    time_limit : float
        Wall seconds.
    watch : callable, optional
    """
    if not 0 < problem.network.n_relus <= MOST_RELUS:
        return Recheck("time", None, 0, 0.0)
    return _PhaseRecheck(problem, level, time_limit, watch).run()


class _PhaseRecheck:
    def __init__(self, problem: Problem, level: float, time_limit: float, watch: Watch) -> None:
        self.problem, self.level, self.watch = problem, level, watch
        self.deadline = time.perf_counter() + time_limit
        self.rows = Rows(problem.domain)
        domain = problem.domain
        self.bounder = BoxBounder(problem.network, domain.lower, domain.upper)
        self.nodes = 0

    @cached_property
    def exact(self) -> ExactNetwork:
        """The network in exact arithmetic, made when it is first needed."""
        return ExactNetwork(self.problem.network)

    def run(self) -> Recheck:
        domain = self.problem.domain
        box = self._shrunk(domain.lower, domain.upper)
        if box is None:
            return self._outcome("proved", None)
        root = self._tightened(self._node(*box))
        if root is None:
            return self._outcome("proved", None)
        program = self._program(root)
        stack = [(root, 1.0)]
        while stack:
            finished = 1.0 - sum(share for _, share in stack)
            if time.perf_counter() >= self.deadline:
                return Recheck("time", None, self.nodes, finished)
            self.watch(self.nodes, finished)
            node, share = stack.pop()
            children = self._step(program, root, node)
            if isinstance(children, Recheck):
                return children
            stack.extend((child, share / len(children)) for child in children)
        return self._outcome("proved", None)

    def _outcome(self, verdict: Verdict, x: FloatArray | None) -> Recheck:
        return Recheck(verdict, x, self.nodes, 1.0)

    def _shrunk(self, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Shrink a box (d,) by rows, grids and exclusions; None if it holds no point."""
        low, high, feasible = self.rows.shrink(lower[:, None], upper[:, None])
        return (low[:, 0], high[:, 0]) if feasible[0] else None

    def _program(self, root: Node) -> NodeProgram:
        return NodeProgram(self.problem.network, self.rows.A, self.rows.limit, self.level, root)

    def _node(self, lower: FloatArray, upper: FloatArray, known: Node | None = None) -> Node:
        """Return the node of a box, with the better of new and known ends."""
        low, high = self.bounder.ends(lower, upper)
        if known is not None:
            low, high = np.maximum(low, known.low), np.minimum(high, known.high)
        phases = np.select([low >= 0.0, high <= 0.0], [ACTIVE, INACTIVE], UNDECIDED)
        return Node(lower, upper, low, high, phases.astype(np.int8))

    # -- tightening -------------------------------------------------------------------

    def _tightened(self, root: Node) -> Node | None:
        """Tighten inputs and undecided ReLUs; None when no point reaches the level."""
        for _ in range(TIGHTENING_ROUNDS):
            before = _total_width(root)
            program = self._program(root)
            for index in np.flatnonzero(root.upper > root.lower):
                self.watch(self.nodes, 0.0)
                ends = self._ends(program, root, _unit(program, int(index)))
                if ends is None:
                    return None
                lower, upper = root.lower.copy(), root.upper.copy()
                lower[index] = max(lower[index], ends[0])
                upper[index] = min(upper[index], ends[1])
                box = self._shrunk(lower, upper)
                if box is None:
                    return None
                root = replace(root, lower=box[0], upper=box[1])
            root = self._node(root.lower, root.upper, root)
            for index in np.flatnonzero(root.phases == UNDECIDED):
                self.watch(self.nodes, 0.0)
                objective = Objective(float(program.b[index]), program.W[index])
                ends = self._ends(program, root, objective)
                if ends is None:
                    return None
                low, high = root.low.copy(), root.high.copy()
                low[index], high[index] = max(low[index], ends[0]), min(high[index], ends[1])
                root = replace(root, low=low, high=high)
                if time.perf_counter() >= self.deadline:
                    return root
            root = self._node(root.lower, root.upper, root)
            if (root.low > root.high).any():
                return None
            if _total_width(root) > (1.0 - NOTICEABLE) * before:
                break
        return root

    def _ends(
        self, program: NodeProgram, root: Node, objective: Objective
    ) -> tuple[float, float] | None:
        """Return proven ends of an affine function where f >= level; None: nowhere."""
        high = program.bound(root, objective, above_level=True).bound
        mirrored = Objective(-objective.constant, -objective.weights)
        low = -program.bound(root, mirrored, above_level=True).bound
        return None if high == -np.inf or low == np.inf else (low, high)

    # -- search -----------------------------------------------------------------------

    def _step(self, program: NodeProgram, root: Node, node: Node) -> list[Node] | Recheck:
        """Finish a node or return its children."""
        self.nodes += 1
        relaxed = program.bound(node, program.output)
        if relaxed.bound <= self.level:
            return []
        x = np.clip(relaxed.x, node.lower, node.upper)
        if self._exceeds(x):
            return self._outcome("counterexample", x)
        exclusion = int(self.rows.exclusions.trapping(x[:, None])[0])
        if exclusion >= 0 and self.problem.value(x) + self.bounder.output_error > self.level:
            return self._beside(node, exclusion)  # no phase brings the bound below the level
        free = node.phases == UNDECIDED
        children = self._split_grid(node, x, everywhere=not free.any())
        if children:
            return children
        if not free.any():
            if self._enumerated(root, node):
                return []
            exclusion = self.rows.exclusions.meeting(node.lower, node.upper)
            return self._beside(node, exclusion) if exclusion >= 0 else self._outcome("stuck", x)
        score = np.where(free, relaxed.excess, -1.0)
        if score.max() <= 0.0:
            score = np.where(free, np.minimum(-node.low, node.high), -1.0)
        return _split_relu(node, int(score.argmax()))

    def _exceeds(self, x: FloatArray) -> bool:
        """Whether x is admissible and scores above the level in real arithmetic."""
        if not self.problem.domain.admissible(x[None, :])[0]:
            return False
        value, error = self.problem.value(x), self.bounder.output_error
        if value - error > self.level:
            return True
        return value + error > self.level and self.exact.value(x).exceeds(self.level)

    def _beside(self, node: Node, exclusion: int) -> list[Node]:
        """Cut a node along the faces of an exclusion that meets it."""
        steepness = self.bounder.planes(node.lower[:, None], node.upper[:, None]).slopes[:, 0]
        lower, upper, _ = self.rows.exclusions.cut(
            exclusion,
            node.lower[:, None],
            node.upper[:, None],
            np.abs(steepness) * (node.upper - node.lower),
        )
        boxes = [self._shrunk(low, high) for low, high in zip(lower.T, upper.T, strict=True)]
        return [self._inside(node, *box) for box in boxes if box is not None]

    def _inside(self, node: Node, lower: FloatArray, upper: FloatArray) -> Node:
        """Return a node over part of its box; phases that were fixed stay fixed."""
        smaller = self._node(lower, upper, node)
        return replace(
            smaller, phases=np.where(node.phases == UNDECIDED, smaller.phases, node.phases)
        )

    def _split_grid(self, node: Node, x: FloatArray, *, everywhere: bool) -> list[Node]:
        """Split at a coordinate whose x is off its grid, or at any with a choice left."""
        for j, grid in enumerate(self.problem.domain.grids):
            if grid is None or node.lower[j] == node.upper[j]:
                continue
            off = abs(float(grid.value(grid.nearest(x[j]))) - x[j])
            if off <= OFF_GRID * (node.upper[j] - node.lower[j]) and not everywhere:
                continue
            first, last = int(grid.index_above(node.lower[j])), int(grid.index_below(node.upper[j]))
            below = int(np.clip(grid.index_below(x[j]), first, last - 1))
            upper, lower = node.upper.copy(), node.lower.copy()
            upper[j], lower[j] = grid.value(below), grid.value(below + 1)
            children = [self._node(node.lower, upper, node), self._node(lower, node.upper, node)]
            return [child for child in children if (child.low <= child.high).all()]
        return []

    def _enumerated(self, root: Node, node: Node) -> bool:
        """Finish a node whose ReLUs are all fixed, in exact arithmetic."""
        widths = np.cumsum([layer.width for layer in self.problem.network.layers])[:-1]
        pattern = np.split(node.phases == ACTIVE, widths)
        chosen = np.split(root.phases == UNDECIDED, widths)
        leaf = Leaf(node.lower, node.upper, pattern, chosen)
        return pattern_is_below(self.exact, leaf, pattern, self.rows.A, self.rows.limit, self.level)


def _split_relu(node: Node, index: int) -> list[Node]:
    """Return the node with a ReLU inactive, and with it active, the likelier one last."""
    inactive, active = node.phases.copy(), node.phases.copy()
    inactive[index], active[index] = INACTIVE, ACTIVE
    high, low = node.high.copy(), node.low.copy()
    high[index] = low[index] = 0.0
    return [
        replace(node, phases=inactive, high=high),
        replace(node, phases=active, low=low),
    ]


def _unit(program: NodeProgram, index: int) -> Objective:
    """Return the coordinate x_index as an objective."""
    weights = np.zeros(program.d + program.n)
    weights[index] = 1.0
    return Objective(0.0, weights)


def _total_width(node: Node) -> float:
    free = node.phases == UNDECIDED
    return float((node.high - node.low)[free].sum())
