"""Search over ReLU phases with batched dual ascent, a thousand nodes at once.

For searches that have grown long, over plain boxes. The nodes with the largest bounds are
branched together; slopes and split multipliers of the children start from their parent's and
move by projected Polyak steps with momentum towards a level below the cut-off
(`exact.bounds.dual_ascent`). The ReLU branched on has the largest product of estimated losses
at the averaged relaxed points.

First-order ascent alone stalls a little above the cut-off where a linear program is far below
it. Nodes with a small excess get more steps; what still stands goes to the dual simplex
(`exact.bounds.similar_programs`). Every discarded node has a recomputed, outward-rounded bound.

References
----------
Xu et al. (2021), branch and bound with alpha-CROWN [Xu2021].
Wang et al. (2021), beta-CROWN [Wang2021].
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.budget import GRACE
from nnbo_mip.exact.bounds.program import Program, seconds_per_node
from nnbo_mip.exact.branching.ascent_nodes import (
    CHUNK,
    AscentNodes,
    NodeHeap,
    Phases,
    as_rows,
    tiled,
)
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.primal import climb_regions
from nnbo_mip.exact.search.problem import Problem

ENGINE = "phases"

MARGIN = 5e-6
"""Bounds in float32 must be this far below the cut-off to be worth proving (scaled)."""

MOMENTUM, BEYOND, LEAST = np.float32(0.5), np.float32(0.2), 0.006
"""Part of the last step that is taken again; how far below the cut-off a step aims, as a part
of the node's excess, and at least as a part of the root's."""

LARGEST_EXCESS = 10.0
LARGEST_WEIGHT = 1e6
"""Programs with larger coefficients (scaled) are not for float32."""

WORK_PER_BATCH = 1_000_000_000
"""Floating-point operations of the ascent between two looks at the clock."""

OPERATIONS_IN_FLOAT32 = 4e9
"""Of a second of the ascent, roughly, to see whether there is time for a batch."""

LARGEST_HEAP_BYTES = 512 * 2**20

Node = tuple[FloatArray, FloatArray, float]
"""Ends (n + m,) of a program's variables, and the proven bound."""


@dataclass(frozen=True)
class AscentOptions:
    """How the ascent works; the defaults are the best of those tried.

    Parameters
    ----------
    steps, more_steps, first_steps : int
        Steps a node gets; more for a node that stalls; steps of the nodes it starts with.
    batch : int
        Nodes branched at once.
    programs : bool
        Whether stalled nodes go to linear programs; else only nodes without open ReLUs.
    stalled_excess, stalled_share : float
        A node stalls when its bound is above the cut-off by less than this part of the first
        excess, or when more than this share of its ReLUs is fixed.
    """

    steps: int = 30
    more_steps: int = 100
    first_steps: int = 60
    batch: int = 1024
    programs: bool = True
    stalled_excess: float = 0.01
    stalled_share: float = 0.5


class AscentSearch:
    """Search below some nodes of one program.

    Parameters
    ----------
    problem : Problem
        Its domain must be a box, perhaps with exclusions.
    program : Program
    monitor : Monitor
    options : AscentOptions

    Attributes
    ----------
    nodes, steps : int
        Nodes bounded, and dual simplex steps.
    settled : float
        Largest proven bound of the nodes that need no further search.
    hurried : bool
        Whether it ended as the time that was left was too short for another batch.
    excluded : list of AscentNodes
        Nodes whose relaxed point lies in an exclusion and scores above the cut-off: phases do not
        help there, so they are left to a search that cuts nodes at exclusions.
    """

    def __init__(
        self, problem: Problem, program: Program, monitor: Monitor, options: AscentOptions
    ) -> None:
        self.problem, self.program, self.monitor, self.options = problem, program, monitor, options
        self.nodes = self.steps = 0
        self.settled = -np.inf
        self.excluded: list[AscentNodes] = []
        d, k = program.n_inputs, program.n_relus
        self._scale = program.objective_unit
        read = (program.weights != 0.0) * np.arange(1, d + k + 1)
        self._net = (
            program.weights.astype(np.float32),
            program.bias.astype(np.float32),
            (program.objective / self._scale).astype(np.float32),
            np.maximum(d, read.max(axis=1, initial=0)),
            d,
        )
        ends = program.high[d:].astype(np.float32)
        self._high, self._low = ends[:k], -ends[k : 2 * k]
        work = options.steps * (d + k) * (k + 1) * 2
        self._batch = int(min(options.batch, max(CHUNK, WORK_PER_BATCH // work)))
        self._most = LARGEST_HEAP_BYTES // (13 * k + 16)
        operations = 2 * self._batch * work * (options.steps + options.more_steps) / options.steps
        self._seconds_per_batch = operations / OPERATIONS_IN_FLOAT32
        self.hurried = False
        self._first_excess = np.inf
        self._seconds_per_node = seconds_per_node(problem, ascends=True)

    def below(self, nodes: list[Node], node_limit: int) -> list[Node]:
        """Search below nodes that have the whole box; return the nodes left open."""
        program, d, k = self.program, self.program.n_inputs, self.program.n_relus
        highs = np.array([high for _, high, _ in nodes])
        phases = np.where(highs[:, d : d + k] == 0.0, -1, highs[:, d + k : d + 2 * k] == 0.0)
        bounds = np.array([bound for _, _, bound in nodes])
        left: list[Node] = []
        for fixed, bound in zip(*self.run(phases.astype(np.int8), bounds, node_limit), strict=True):
            high = program.high.copy()
            high[d : d + k][fixed < 0] = 0.0
            high[d + k : d + 2 * k][fixed > 0] = 0.0
            left.append((program.low, high, bound))
        return left

    def run(self, phases: Phases, bounds: FloatArray, node_limit: int) -> tuple[Phases, FloatArray]:
        """Search below nodes (N, K) with proven bounds; return the nodes left open."""
        heap = NodeHeap()
        slopes = np.where(phases == 0, self._high > -self._low, phases > 0).astype(np.float32)
        zeros, none = np.zeros_like(slopes), np.full(len(phases), -1)
        first = AscentNodes(phases, slopes, zeros, zeros, bounds, none)
        for at in range(0, len(first), self._batch):
            part = first.take(slice(at, at + self._batch))
            if not self._stopped(node_limit):
                part = self._bounded(part, self.options.first_steps)
            heap.push(part)
        while not self._stopped(node_limit) and len(heap) <= self._most:
            before = self.nodes
            chosen = heap.pop(self._batch)
            if not chosen:
                break
            heap.push(self._bounded(self._children(AscentNodes.join(chosen)), self.options.steps))
            work = (self.nodes - before) * self._seconds_per_node
            self.monitor.spend(work, max(heap.largest_bound(), self.settled))
            self.monitor.report(ENGINE, heap.largest_bound(), nodes=self.nodes, open=len(heap))
        left = AscentNodes.join([first.take(slice(0, 0)), *heap.pop(len(heap)), *self.excluded])
        return left.phases, left.bounds

    def _stopped(self, node_limit: int) -> bool:
        seconds, monitor = self._seconds_per_batch, self.monitor
        self.hurried |= seconds > GRACE and seconds > monitor.remaining() + GRACE
        return self.hurried or self.nodes >= node_limit or monitor.should_stop()

    def _children(self, parents: AscentNodes) -> AscentNodes:
        """Return both children of every node; they start at their parent's bound."""
        rows = np.arange(len(parents))
        children = []
        for phase in (1, -1):
            child = parents.take(rows)
            # An open ReLU with a < 0 has rho = alpha a; a + beta or beta must be the same.
            a = np.minimum(parents.coefficients[rows, parents.branch], 0.0)
            rho = a * parents.alphas[rows, parents.branch]
            child.phases[rows, parents.branch] = phase
            child.alphas[rows, parents.branch] = float(phase > 0)
            child.betas[rows, parents.branch] = rho - a if phase > 0 else rho
            children.append(child)
        return AscentNodes.join(children)

    def _open(self, nodes: AscentNodes) -> AscentNodes:
        """Settle what is not above the cut-off; return the rest."""
        is_open = nodes.bounds > self.monitor.cutoff
        self.settled = max(self.settled, nodes.bounds[~is_open].max(initial=-np.inf))
        return nodes.take(is_open)

    def _bounded(self, nodes: AscentNodes, steps: int) -> AscentNodes:
        """Bound nodes and choose where to branch; return those that can be branched on."""
        self.nodes += len(nodes)
        options, cutoff = self.options, self.monitor.cutoff
        nodes = self._open(nodes)
        nodes = self.improved(nodes, steps)
        if self._first_excess == np.inf and len(nodes):
            self._first_excess = float(nodes.bounds.max()) - cutoff
        stalled = nodes.branch < 0
        if options.programs:
            stalled |= nodes.bounds - cutoff < options.stalled_excess * self._first_excess
            stalled |= (nodes.phases != 0).mean(axis=1) > options.stalled_share
        finished = nodes.take(stalled)
        if options.programs:
            finished = self.improved(finished, options.more_steps)
        nodes = AscentNodes.join([nodes.take(~stalled), self._programmed(finished)])
        nodes = self._open(nodes)
        is_leaf = nodes.branch < 0  # its bound stands as it is
        self.settled = max(self.settled, nodes.bounds[is_leaf].max(initial=-np.inf))
        return nodes.take(~is_leaf)

    def _programmed(self, nodes: AscentNodes) -> AscentNodes:
        """Bound nodes by their linear programs."""
        from nnbo_mip.exact.bounds.similar_programs import bound_similar

        if len(nodes) == 0:
            return nodes
        monitor = self.monitor
        bounds, branch, points, spent = bound_similar(
            self.program, nodes.phases, monitor.cutoff, monitor.should_stop
        )
        self.steps += spent
        is_open = np.isfinite(bounds) & (bounds > monitor.cutoff)
        self._offer(points[is_open])
        nodes = replace(
            nodes,
            bounds=np.fmin(nodes.bounds, bounds),
            branch=np.where(branch >= 0, branch, nodes.branch),
        )
        return self._without_excluded(nodes, points, is_open)

    def improved(self, nodes: AscentNodes, steps: int) -> AscentNodes:
        """Return the nodes that stay above the cut-off, with better multipliers."""
        from nnbo_mip.exact.bounds.dual_ascent import ascend, prove

        n, k, d = len(nodes), len(self._high), self.program.n_inputs
        if n == 0:
            return nodes
        phases, alphas, betas = (tiled(x) for x in (nodes.phases, nodes.alphas, nodes.betas))
        tiles = len(phases)
        out = (
            np.empty((tiles, CHUNK), np.float32),
            *(np.zeros((tiles, k, CHUNK), np.float32) for _ in range(3)),
            np.empty((tiles, d, CHUNK), np.float32),
        )
        cutoff = self.monitor.cutoff
        constant = np.float32((self.program.constant - cutoff) / self._scale)
        excess = min(self._first_excess / self._scale, LARGEST_EXCESS)
        ascend(
            (*self._net[:3], constant, *self._net[3:]),
            phases,
            alphas,
            betas,
            self._low,
            self._high,
            np.float32(-MARGIN),
            steps,
            MOMENTUM,
            BEYOND,
            np.float32(LEAST * excess),
            out,
        )
        coefficients, on, off, points = (as_rows(x, n) for x in out[1:])
        with np.errstate(over="ignore", invalid="ignore"):
            score = np.where(nodes.phases == 0, on * off, -1.0)
        nodes = AscentNodes(
            nodes.phases,
            as_rows(alphas, n),
            as_rows(betas, n),
            coefficients,
            nodes.bounds.copy(),
            np.where((nodes.phases == 0).any(axis=1), score.argmax(axis=1), -1),
        )
        p = self.program
        prove(
            p.data,
            p.errors,
            p.low,
            p.high,
            nodes.phases,
            nodes.alphas,
            nodes.betas,
            coefficients,
            self._scale,
            nodes.bounds,
        )
        is_open = nodes.bounds > cutoff
        self._offer(points[is_open])
        return self._open(self._without_excluded(nodes, points, is_open))

    def _without_excluded(
        self, nodes: AscentNodes, points: FloatArray, is_open: np.ndarray
    ) -> AscentNodes:
        """Put open nodes aside whose points (N, d) lie in an exclusion; return the rest."""
        exclusions = self.problem.domain.exclusions
        if not len(exclusions) or not is_open.any():
            return nodes
        x = self._inputs(np.where(is_open[:, None], points, 0.0))
        excluded = is_open & exclusions.contain(x)
        excluded[excluded] = self.problem.values(x[excluded]) > self.monitor.cutoff
        self.excluded.append(nodes.take(excluded))
        return nodes.take(~excluded)

    def _inputs(self, points: FloatArray) -> FloatArray:
        """Return the inputs (n, d) of points in the program's units."""
        domain, program = self.problem.domain, self.program
        return np.clip(program.lower + program.width * points, domain.lower, domain.upper)

    def _offer(self, points: FloatArray) -> None:
        """Offer relaxed points (n, d) in the program's units; a new best one climbs."""
        if len(points) == 0:
            return
        x = self._inputs(points)
        x = x[~self.problem.domain.exclusions.contain(x)]
        if len(x) == 0:
            return
        values = self.problem.values(x)
        best = int(values.argmax())
        if values[best] > self.monitor.best_value:
            self.monitor.offer(x[best][None, :])
            climb_regions(self.problem, self.monitor, x[best], np.random.default_rng(0))
