r"""Branch and bound over ReLU phases (``bab`` for many inputs).

The network is flattened to its undecided ReLUs, whose bounds are tightened by linear
programs. Then a search fixes one ReLU active or inactive, halves a grid, or cuts a node along
the faces of an exclusion (`phase_exclusions`). Nodes are bounded by the dense dual simplex of
`exact.bounds.simplex`; a subtree is explored depth first in compiled code, and what it leaves
open goes back to a heap ordered by bound. Once a search has proven long, batched dual ascent
goes on with the open nodes of a box, perhaps with exclusions (`phase_ascent`). For other domains
inputs and ReLUs are tightened under the condition that only points above the cut-off matter,
and the search starts again with the better program.

The bound is rigorous: every discarded node's bound was recomputed from its multipliers
in outward-rounded arithmetic, and the linear programs themselves are never trusted.

References
----------
Ehlers (2017), search over ReLU phases [Ehlers2017].
Bunel et al. (2020), branch and bound over ReLU phases [Bunel2020].
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.budget import GIB, GRACE, current_budget
from nnbo_mip.core.errors import InputError
from nnbo_mip.exact.bounds.flat import (
    Bounds,
    FlatSystem,
    flatten,
    undecided_system,
    with_flat_bounds,
)
from nnbo_mip.exact.bounds.lp_bounds import tighten_above, tighten_layers
from nnbo_mip.exact.bounds.program import Program, build_program, seconds_per_node
from nnbo_mip.exact.bounds.relaxation import Relaxer
from nnbo_mip.exact.branching.phase_ascent import LARGEST_WEIGHT, AscentOptions, AscentSearch
from nnbo_mip.exact.branching.phase_exclusions import UnitExclusions
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.options import EngineOptions
from nnbo_mip.exact.search.primal import climb, climb_regions
from nnbo_mip.exact.search.primal_exclusions import ways_out
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain

ENGINE = "phases"
LARGEST_GRID = 100_000
LARGEST_STACK_BYTES = 512 * 2**20

SECONDS_PER_ENTRY, LARGEST_PIVOTED = 6e-7, 2_500_000
"""Rough time of a node with three solves of 200 steps, for each entry of the dictionary; of larger
ones solves are cut short. Nothing is begun for which there is no time."""

RELUS_OF_FEW_STEPS = 250
"""Beyond which the steps of a solve count, too, as they grow with the ReLUs."""

RELUS_OF_FULL_SOLVES = 700
"""Up to which a linear program is hardly ever cut short (`simplex.STEP_ENTRIES`)."""

STACK_SHARE = 0.5
"""Of the memory that is left, for the dictionaries of a depth-first search."""

WORK_PER_CALL = 100_000_000
"""Nodes times entries of the dictionary that one compiled call may take: about a second."""


@dataclass(frozen=True)
class PhaseOptions(EngineOptions):
    """Options of the phase engine.

    Parameters
    ----------
    max_nodes : int
        Nodes bounded before the search stops with what it has.
    nodes_per_call : int
        Nodes a subtree may take before its open nodes return to the heap.
    ascends : bool
        Whether dual ascent may take over at all.
    nodes_before_ascent : int
        Nodes after which dual ascent takes over, where the domain is a plain box; a second's
        work is the limit as well.
    nodes_before_tightening : int
        Nodes after which bounds are tightened under the cut-off and the search restarts,
        where it is not.
    tightening_rounds : int
        Rounds of that tightening; 0 never tightens.
    """

    max_nodes: int = 1_000_000_000
    nodes_per_call: int = 2000
    ascends: bool = True
    nodes_before_ascent: int = 5000
    nodes_before_tightening: int = 20_000
    tightening_rounds: int = 2

    def __post_init__(self) -> None:
        smallest = min(
            self.max_nodes,
            self.nodes_per_call,
            self.nodes_before_ascent,
            self.nodes_before_tightening,
        )
        if smallest < 1 or self.tightening_rounds < 0:
            raise InputError(
                "max_nodes, nodes_per_call and what comes before ascent and tightening must be at "
                f"least 1 and tightening_rounds at least 0; got {self}; raise them."
            )


def supports(problem: Problem) -> bool:
    """Whether the engine can take a problem: grids must be small enough to be listed."""
    return all(grid is None or grid.count <= LARGEST_GRID for grid in problem.domain.grids)


def solve(problem: Problem, options: PhaseOptions, monitor: Monitor) -> SearchResult:
    """Maximize f over the domain by branch and bound over ReLU phases; see the module."""
    if not supports(problem):
        raise InputError(
            f"the phase engine lists the values of grids, at most {LARGEST_GRID:,} a coordinate; "
            'got a longer grid; use the method "bab" or "mip".'
        )
    if not problem.rounding.is_useful:
        return monitor.too_large(ENGINE)
    with monitor.clock_stopped():
        load_kernels()
    return _PhaseSearch(problem, options, monitor).run()


@cache
def load_kernels() -> None:
    """Compile the kernels, once a machine, or load what was compiled, once a process."""
    search = _small_search()
    search.search_box(search.problem.domain.lower, search.problem.domain.upper)


@cache
def load_ascent_kernels() -> None:
    """Do the same for the kernels that only a long search needs."""
    search = _small_search()
    lower, upper = search.problem.domain.lower, search.problem.domain.upper
    search.monitor.offer(lower[None, :])
    flat, _ = undecided_system(search.problem, lower, upper)
    program = build_program(search.problem, flat, lower, upper)
    search.ascend(program, PhaseQueue(program.low, program.high), AscentOptions(stalled_share=-1.0))


def _small_search() -> _PhaseSearch:
    hidden = ([[1.0, 0.5], [-1.0, 0.7]], [0.1, -0.2])
    second = ([[1.0, -1.0], [0.3, 1.0]], [0.1, -0.3])
    network = Network.from_layers([hidden, second, ([[1.0, -1.0]], [0.0])])
    problem = Problem(network, Domain([-1.0, -1.5], [2.0, 1.0]))
    return _PhaseSearch(problem, PhaseOptions(max_nodes=3), Monitor(problem, 1e-3))


_Entry = tuple[float, int, npt.NDArray[np.int32], FloatArray, FloatArray]


class PhaseQueue:
    """The open nodes of one program, largest bound first.

    A node fixes a few dozen of the program's variables, so it is stored as their numbers
    and ends: a hundredth of what all ends would take.

    Parameters
    ----------
    low, high : (n + m,) arrays
        Ends of the program's variables at the root, which is the first node.
    """

    def __init__(self, low: FloatArray, high: FloatArray) -> None:
        self._low, self._high = low, high
        self._heap: list[_Entry] = []
        self._pushed = 0
        self.push(low, high, np.inf)

    def __len__(self) -> int:
        return len(self._heap)

    def largest_bound(self) -> float:
        """Return the largest bound of an open node, -inf when there is none."""
        return -self._heap[0][0] if self._heap else -np.inf

    def push(self, low: FloatArray, high: FloatArray, bound: float) -> None:
        """Add a node by its ends and its proven bound."""
        changed = np.flatnonzero((low != self._low) | (high != self._high)).astype(np.int32)
        entry = (-float(bound), self._pushed, changed, low[changed], high[changed])
        heapq.heappush(self._heap, entry)
        self._pushed += 1

    def pop(self) -> tuple[FloatArray, FloatArray, float]:
        """Remove the node of the largest bound and return its ends and bound."""
        negated, _, changed, changed_low, changed_high = heapq.heappop(self._heap)
        low, high = self._low.copy(), self._high.copy()
        low[changed], high[changed] = changed_low, changed_high
        return low, high, -negated


class _PhaseSearch:
    def __init__(self, problem: Problem, options: PhaseOptions, monitor: Monitor) -> None:
        self.problem, self.options, self.monitor = problem, options, monitor
        self.nodes = self.steps = 0
        self.settled = -np.inf  # largest bound among nodes that need no further search
        self.stopped = False
        self.unreachable = -np.inf  # relaxed value that no admissible point near it attains

    def run(self) -> SearchResult:
        domain, monitor = self.problem.domain, self.monitor
        lower, upper, feasible = domain.tighten(domain.lower, domain.upper)
        if feasible:
            if monitor.best_x is None:
                climb(self.problem, monitor, seed=self.options.seed)
            if self.problem.network.n_relus > RELUS_OF_FULL_SOLVES:
                self._relax_once(lower, upper)
            self.search_box(lower, upper)
        return monitor.result(
            Proof(ENGINE),
            self.settled,
            "rigorous",
            counters={"nodes": self.nodes, "simplex_steps": self.steps},
            stopped=self.stopped,
        )

    def _relax_once(self, lower: FloatArray, upper: FloatArray) -> None:
        """Bound the box without a program, as solves of many ReLUs are cut short."""
        relaxer = Relaxer(self.problem.network, self.problem.rounding)
        planes = relaxer.bound(lower[:, None], upper[:, None], self.monitor.cutoff, 0)
        bound = max(float(planes.bound[0]), self.monitor.best_value)
        self.monitor.tighten(bound, "rigorous", Proof("relaxation"))

    def search_box(self, lower: FloatArray, upper: FloatArray) -> None:
        flat, bounds = undecided_system(self.problem, lower, upper)
        flat = tighten_layers(self.problem, flat, lower, upper, self.monitor)
        bounds = with_flat_bounds(bounds, flat)
        flat = flatten(self.problem.network, bounds)
        program = build_program(self.problem, flat, lower, upper)
        options, queue = self.options, PhaseQueue(program.low, program.high)
        ascends = options.ascends and self.monitor.best_x is not None
        if ascends and is_for_ascent(self.problem, program):
            limit = min(options.nodes_before_ascent, _nodes_of_a_call(program))
            self._search(program, queue, min(limit, options.max_nodes))
            if len(queue) and not self._out_of_budget():
                with self.monitor.clock_stopped():
                    load_ascent_kernels()
                self.ascend(program, queue, AscentOptions())
        elif options.tightening_rounds:
            self._search(program, queue, min(options.nodes_before_tightening, options.max_nodes))
            if len(queue) and not self._out_of_budget():
                self._tighten_and_search(flat, bounds, lower, upper, queue.largest_bound())
                return
        self._search(program, queue, options.max_nodes - self.nodes)
        self.settled = max(self.settled, queue.largest_bound())

    def _tighten_and_search(
        self, flat: FlatSystem, bounds: Bounds, lower: FloatArray, upper: FloatArray, left: float
    ) -> None:
        """Start again with what is known of points above the cut-off; `left` is proven."""
        for _ in range(self.options.tightening_rounds):
            # Points not above the level are covered by the level itself.
            level = self.monitor.cutoff
            tightened = tighten_above(self.problem, flat, lower, upper, level, self.monitor)
            self.settled = max(self.settled, level)
            if tightened is None:
                return
            flat, new_lower, new_upper = tightened
            lower, upper, feasible = self.problem.domain.tighten(new_lower, new_upper)
            if not feasible:
                return
            flat, bounds = undecided_system(
                self.problem, lower, upper, with_flat_bounds(bounds, flat)
            )
            if self._out_of_budget():
                break
        program = build_program(self.problem, flat, lower, upper)
        queue = PhaseQueue(program.low, program.high)
        self._search(program, queue, self.options.max_nodes - self.nodes)
        self.settled = max(self.settled, min(left, queue.largest_bound()))

    def ascend(self, program: Program, queue: PhaseQueue, options: AscentOptions) -> None:
        """Search by dual ascent below the queue's nodes; what is left returns to the queue."""
        search = AscentSearch(self.problem, program, self.monitor, options)
        opened = [queue.pop() for _ in range(len(queue))]
        # The ascent knows phases only; parts of the box, beside exclusions, wait for the search.
        left = [node for node in opened if not _has_all_inputs(program, *node[:2])]
        opened = [node for node in opened if _has_all_inputs(program, *node[:2])]
        if opened:
            left += search.below(opened, self.options.max_nodes - self.nodes)
        for node in left:
            queue.push(*node)
        self.nodes += search.nodes
        self.steps += search.steps
        self.settled = max(self.settled, search.settled)
        self.stopped |= search.hurried

    def _out_of_budget(self) -> bool:
        self.stopped = self.stopped or self.monitor.is_hurried()
        spent = self.nodes >= self.options.max_nodes
        return self.stopped or spent or self.monitor.is_hopeless

    def _search(self, program: Program, queue: PhaseQueue, node_limit: int) -> None:
        """Search below a program's open nodes until none is left, or the limit is reached."""
        from nnbo_mip.exact.branching import phase_search

        monitor = self.monitor
        grids, exclusions = _grids(self.problem, program), None
        inner = (np.empty((0, program.n_inputs)),) * 2
        if len(self.problem.domain.exclusions):
            exclusions = UnitExclusions.of(self.problem, program)
            inner = exclusions.inner_exclusions
        stack = _stack_size(program)
        # No admissible point scores below the negated magnitude.
        floor = -1.01 * self.problem.rounding.magnitude - self.problem.rounding.output
        most = min(self.options.nodes_per_call, _nodes_of_a_call(program))
        spent, seconds = 0, SECONDS_PER_ENTRY * min(program.A.size, LARGEST_PIVOTED)
        while len(queue):
            self.stopped |= seconds > GRACE and seconds > monitor.remaining() + GRACE
            if spent >= node_limit or self._out_of_budget():
                break
            low, high, bound = queue.pop()
            if bound <= monitor.cutoff:
                self.settled = max(self.settled, bound)
                continue
            outcome, settled, nodes, steps, open_low, open_high, open_bound, best, reached = (
                phase_search.search(
                    program.data,
                    program.errors,
                    (program.weights, program.bias),
                    grids,
                    inner,
                    program.n_inputs,
                    low,
                    high,
                    monitor.cutoff,
                    floor,
                    max(_worth_a_stop(monitor), self.unreachable),
                    min(most, max(1, node_limit - spent)),
                    stack,
                )
            )
            spent += nodes
            self.nodes += nodes
            self.steps += steps
            self.settled = max(self.settled, settled)
            excluded = outcome == phase_search.EXCLUDED
            if excluded and exclusions is not None:
                x = program.to_point(best)
                slopes = self.problem.values_and_gradients(x[None, :])[1][0] * program.width
                for ends in exclusions.split(open_low[-1], open_high[-1], best, slopes):
                    queue.push(*ends, open_bound[-1])
                monitor.offer(ways_out(self.problem.domain, x))
            else:
                self._offer(program.to_point(best), reached)
            for k in range(len(open_bound) - excluded):
                queue.push(open_low[k], open_high[k], open_bound[k])
            left = max(queue.largest_bound(), self.settled)
            monitor.spend(nodes * seconds_per_node(self.problem, ascends=False), left)
            if monitor.wants_report():
                monitor.report(ENGINE, left, nodes=self.nodes, open=len(queue))

    def _offer(self, point: FloatArray, reached: float) -> None:
        """Offer a point the search came by, of relaxed value `reached`; a new best one climbs."""
        domain = self.problem.domain
        if reached <= max(self.monitor.best_value, self.unreachable):
            return
        x = np.clip(point, domain.lower, domain.upper)
        admissible = x if domain.is_box else domain.repair(x)
        if admissible is not None and self.problem.value(admissible) > self.monitor.best_value:
            self.monitor.offer(admissible[None, :])
            rng = np.random.default_rng(self.options.seed)
            climb_regions(self.problem, self.monitor, admissible, rng)
        if self.monitor.best_value < reached:
            self.unreachable = reached


def is_for_ascent(problem: Problem, program: Program) -> bool:
    """Whether the domain is a box, exclusions aside, and float32 can hold the program."""
    unit = program.objective_unit
    parts = (program.weights, program.bias, program.objective / unit, program.constant / unit)
    return problem.domain.without_exclusions.is_box and all(
        np.abs(part).max(initial=0.0) <= LARGEST_WEIGHT for part in parts
    )


def _has_all_inputs(program: Program, low: FloatArray, high: FloatArray) -> bool:
    """Whether a node has the whole box of its program."""
    d = program.n_inputs
    same = (low[:d] == program.low[:d]).all() and (high[:d] == program.high[:d]).all()
    return bool(same)


def _worth_a_stop(monitor: Monitor) -> float:
    """Return the value above which the search should come back and raise the cut-off."""
    value = monitor.best_value
    return value if value == -np.inf else value + 0.1 * (monitor.cutoff - value) + 1e-12


def _nodes_of_a_call(program: Program) -> int:
    """Return how many nodes to explore between two looks at the clock, by their size."""
    steps = max(1.0, (program.n_relus / RELUS_OF_FEW_STEPS) ** 2)
    return int(max(1, WORK_PER_CALL // (steps * program.A.size + 1)))


def _stack_size(program: Program) -> int:
    """Return how many dictionaries the depth-first search may keep."""
    m, n = program.A.shape
    budget = current_budget()
    memory = float(LARGEST_STACK_BYTES)
    if budget is not None:
        memory = min(memory, STACK_SHARE * max(0.0, budget.memory_limit * GIB - budget.used))
    size = max(1, memory // (8 * (m * n + 4 * (m + n)) + 1))
    return int(min(size, program.n_relus + 64))


def _grids(problem: Problem, program: Program) -> tuple[np.ndarray, np.ndarray, FloatArray]:
    """Return the grids' values in the program's units, concatenated."""
    grid_of = np.full(problem.dimension, -1, dtype=np.int64)
    starts = [0]
    parts: list[FloatArray] = []
    for j, grid in enumerate(problem.domain.grids):
        if grid is None or program.width[j] == 0.0:
            continue
        values = grid.value(np.arange(grid.count))
        upper = program.lower[j] + program.width[j]
        values = values[(values >= program.lower[j]) & (values <= upper)]
        scaled = np.clip((values - program.lower[j]) / program.width[j], 0.0, 1.0)
        grid_of[j] = len(parts)
        parts.append(scaled)
        starts.append(starts[-1] + len(scaled))
    return grid_of, np.array(starts, dtype=np.int64), np.concatenate([*parts, np.zeros(0)])
