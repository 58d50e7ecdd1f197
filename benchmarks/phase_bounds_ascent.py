"""Phase branch and bound with batched dual ascent (alpha/beta-CROWN), thousands of nodes at once.

The nodes with the largest bounds are branched together; slopes and split multipliers of the
children start from their parent's and move by projected Polyak steps with momentum towards a
level below the cut-off (`benchmarks.phase_bounds_kernels`). The ReLU branched on has the
largest product of estimated losses at the averaged relaxed points.

First-order ascent alone stalls a little above the cut-off where a linear program is far below
it. Nodes with a small excess get more steps; what still stands goes to a linear program
(`benchmarks.phase_bounds_stalled`), by choice only when all of its phases are fixed.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from benchmarks.phase_bounds_kernels import LANES, F, ascend
from benchmarks.phase_bounds_root import Outcome, Root, prepare
from benchmarks.phase_bounds_stalled import bound_stalled
from nnbo_mip.exact.monitor import Monitor
from nnbo_mip.exact.problem import Problem
from nnbo_mip.network.affine import FloatArray

WIDENING = 1e-5
"""Added to float32 bounds: enough to compare methods, not a proof."""

Phases = np.ndarray[tuple[int, int], np.dtype[np.int8]]


@dataclass(frozen=True)
class AscentOptions:
    """How the ascent works; the defaults are the best of those tried.

    Parameters
    ----------
    steps, more_steps, root_steps : int
        Steps a node gets; more for a node that stalls; steps at the root.
    batch : int
        Nodes branched at once.
    momentum : float
        Part of the last step that is taken again.
    beyond, least : float
        How far below the cut-off a step aims: a part of the node's excess, at least a part
        of the root's.
    programs : bool
        Whether stalled nodes go to linear programs; else only nodes without open ReLUs.
    stalled_excess, stalled_share : float
        A node stalls when its bound is above the cut-off by less than this part of the root's
        excess, or when more than this share of its ReLUs is fixed.
    """

    steps: int = 30
    more_steps: int = 100
    root_steps: int = 200
    batch: int = 1024
    momentum: float = 0.5
    beyond: float = 0.2
    least: float = 0.006
    programs: bool = True
    stalled_excess: float = 0.01
    stalled_share: float = 0.5


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Nodes, one a row.

    `coefficients` are what the ReLUs are multiplied with, `branch` is the open one to branch
    on, -1 if there is none.
    """

    phases: Phases
    alphas: FloatArray
    betas: FloatArray
    bounds: FloatArray
    coefficients: FloatArray
    branch: np.ndarray[tuple[int], np.dtype[np.int64]]

    def __len__(self) -> int:
        return len(self.bounds)

    def take(self, index: Any) -> _Nodes:
        return _Nodes(*(getattr(self, field.name)[index] for field in fields(self)))

    @staticmethod
    def join(parts: list[_Nodes]) -> _Nodes:
        names = [field.name for field in fields(_Nodes)]
        return _Nodes(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))


def solve(problem: Problem, monitor: Monitor, options: AscentOptions) -> Outcome:
    """Maximize a network by best-first search over ReLU phases with batched dual ascent."""
    root = prepare(problem, monitor)
    search = _Search(root, options)
    heap = _Heap()
    heap.push(search.bounded(search.root_node(), options.root_steps))
    while not monitor.should_stop():
        chosen = heap.pop(options.batch, root.cutoff)
        if len(chosen) == 0:
            break
        heap.push(search.bounded(search.children(chosen), options.steps))
    bound = max(root.cutoff, heap.largest_bound())
    return Outcome(bound, search.nodes, search.steps)


class _Heap:
    """Open nodes in chunks of similar bounds, the chunk with the largest bound first."""

    def __init__(self) -> None:
        self._chunks: list[tuple[float, int, _Nodes]] = []
        self._pushed = 0

    def push(self, nodes: _Nodes) -> None:
        order = np.argsort(-nodes.bounds)
        for at in range(0, len(nodes), LANES):
            chunk = nodes.take(order[at : at + LANES])
            heapq.heappush(self._chunks, (-float(chunk.bounds[0]), self._pushed, chunk))
            self._pushed += 1

    def pop(self, count: int, cutoff: float) -> list[_Nodes]:
        """Return chunks of about `count` nodes above the cut-off."""
        parts: list[_Nodes] = []
        while self._chunks and sum(map(len, parts)) < count:
            chunk = heapq.heappop(self._chunks)[-1]
            chunk = chunk.take(chunk.bounds > cutoff)
            if len(chunk):
                parts.append(chunk)
        return parts

    def largest_bound(self) -> float:
        return -self._chunks[0][0] if self._chunks else -np.inf


class _Search:
    def __init__(self, root: Root, options: AscentOptions) -> None:
        p = root.program
        self.root, self.options = root, options
        self.nodes = self.steps = 0
        self._net = (
            p.weights.astype(F),
            p.bias.astype(F),
            p.objective.astype(F),
            F(p.constant),
            root.starts,
            p.n_inputs,
        )
        ends = p.high[p.n_inputs :].astype(F)
        self._high, self._low = ends[: p.n_relus], -ends[p.n_relus : 2 * p.n_relus]
        self._root_excess = np.inf

    def root_node(self) -> _Nodes:
        """Return the node without fixed phases and with the slopes of CROWN."""
        zeros = np.zeros((1, len(self._high)), F)
        slopes = (self._high > -self._low).astype(F)[None, :]
        bound, none = np.full(1, np.inf), np.full(1, -1)
        return _Nodes(zeros.astype(np.int8), slopes, zeros, bound, zeros, none)

    def children(self, parts: list[_Nodes]) -> _Nodes:
        """Return both children of every node; they start at their parent's bound."""
        parents = _Nodes.join(parts)
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
        return _Nodes.join(children)

    def bounded(self, nodes: _Nodes, steps: int) -> _Nodes:
        """Bound nodes and choose where to branch; return those above the cut-off."""
        self.nodes += len(nodes)
        nodes, points = self._ascended(nodes, steps)
        self.root.offer(points)
        if self._root_excess == np.inf and len(nodes):
            self._root_excess = float(nodes.bounds[0]) - self.root.cutoff
        fixed = (nodes.phases != 0).mean(axis=1)
        full = nodes.branch < 0
        excess = nodes.bounds - self.root.cutoff
        stalled = excess < self.options.stalled_excess * self._root_excess
        stalled = full | (self.options.programs & (stalled | (fixed > self.options.stalled_share)))
        if not stalled.any():
            return nodes
        finished = nodes.take(stalled)
        if self.options.programs:
            finished, _ = self._ascended(finished, self.options.more_steps)
        bounds, branch, spent = bound_stalled(self.root, finished.phases)
        self.steps += spent
        finished = replace(
            finished,
            bounds=np.minimum(finished.bounds, bounds),
            branch=np.where(branch >= 0, branch, finished.branch),
        )
        nodes = _Nodes.join([nodes.take(~stalled), finished])
        return nodes.take(nodes.bounds > self.root.cutoff)

    def _ascended(self, nodes: _Nodes, steps: int) -> tuple[_Nodes, FloatArray]:
        """Return the nodes that stay above the cut-off, and relaxed points there."""
        n, k, d = len(nodes), len(self._high), self._net[-1]
        if n == 0:
            return nodes, np.zeros((0, d))
        phases, alphas, betas = map(_tiled, (nodes.phases, nodes.alphas, nodes.betas))
        out = (
            np.empty((len(phases), LANES), F),
            *(np.empty((len(phases), k, LANES), F) for _ in range(3)),
            np.empty((len(phases), d, LANES), F),
        )
        least = self.options.least * min(self._root_excess, 10.0)
        settings = (steps, F(self.options.momentum), F(self.options.beyond), F(least))
        target = F(self.root.cutoff - WIDENING)
        ascend(self._net, phases, alphas, betas, self._low, self._high, target, *settings, out)
        bounds = np.minimum(out[0].reshape(-1)[:n] + WIDENING, nodes.bounds)
        kept = np.flatnonzero(bounds > self.root.cutoff)
        coefficients, on, off, points = (_rows(x, n)[kept] for x in out[1:])
        score = np.where(nodes.phases[kept] == 0, on * off, -1.0)
        branch = score.argmax(axis=1)
        result = _Nodes(
            nodes.phases[kept],
            _rows(alphas, n)[kept],
            _rows(betas, n)[kept],
            bounds[kept],
            coefficients,
            np.where(score.max(axis=1, initial=-1.0) < 0.0, -1, branch),
        )
        return result, points.astype(np.float64)


def _tiled(rows: np.ndarray) -> np.ndarray:
    """Turn (N, K) rows into (tiles, K, LANES); the last row fills up."""
    tiles = -(-len(rows) // LANES)
    full = np.concatenate([rows, np.repeat(rows[-1:], tiles * LANES - len(rows), axis=0)])
    return np.ascontiguousarray(full.reshape(tiles, LANES, -1).transpose(0, 2, 1))


def _rows(tiles: np.ndarray, count: int) -> np.ndarray:
    """Undo `_tiled`."""
    return tiles.transpose(0, 2, 1).reshape(-1, tiles.shape[1])[:count]
