"""Nodes of the dual ascent: their arrays, the heap of the open ones, the layout of the kernels."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray

CHUNK = 128
"""Nodes that are kept together; as many as the kernels take at once."""

Phases = np.ndarray[tuple[int, int], np.dtype[np.int8]]
Float32Array = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True, eq=False)
class AscentNodes:
    """Nodes, one a row.

    Parameters
    ----------
    phases : (N, K) array
        1 active, -1 inactive, 0 open.
    alphas, betas : (N, K) arrays
        Slopes and split multipliers, see `exact.bounds.dual_ascent`.
    coefficients : (N, K) array
        What the ReLUs are multiplied with.
    bounds : (N,) array
        Proven.
    branch : (N,) array
        The open ReLU to branch on, -1 if there is none.
    """

    phases: Phases
    alphas: Float32Array
    betas: Float32Array
    coefficients: Float32Array
    bounds: FloatArray
    branch: np.ndarray[tuple[int], np.dtype[np.int64]]

    def __len__(self) -> int:
        return len(self.bounds)

    def take(self, index: Any) -> AscentNodes:
        """Return some of the nodes, by anything that indexes rows."""
        return AscentNodes(*(getattr(self, field.name)[index] for field in fields(self)))

    @staticmethod
    def join(parts: list[AscentNodes]) -> AscentNodes:
        """Return the nodes of all parts."""
        names = [field.name for field in fields(AscentNodes)]
        return AscentNodes(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))


class NodeHeap:
    """Open nodes in chunks of similar bounds, the chunk with the largest bound first."""

    def __init__(self) -> None:
        self._chunks: list[tuple[float, int, AscentNodes]] = []
        self._pushed = 0
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def push(self, nodes: AscentNodes) -> None:
        """Add nodes."""
        order = np.argsort(-nodes.bounds)
        for at in range(0, len(nodes), CHUNK):
            chunk = nodes.take(order[at : at + CHUNK])
            heapq.heappush(self._chunks, (-float(chunk.bounds[0]), self._pushed, chunk))
            self._pushed += 1
        self._size += len(nodes)

    def pop(self, count: int) -> list[AscentNodes]:
        """Return chunks of about `count` nodes with the largest bounds."""
        parts: list[AscentNodes] = []
        while self._chunks and sum(map(len, parts)) < count:
            parts.append(heapq.heappop(self._chunks)[-1])
            self._size -= len(parts[-1])
        return parts

    def largest_bound(self) -> float:
        """Return the largest bound of an open node, -inf when there is none."""
        return -self._chunks[0][0] if self._chunks else -np.inf


def tiled(rows: np.ndarray) -> np.ndarray:
    """Turn (N, K) rows into (tiles, K, CHUNK); the last row fills up."""
    tiles = -(-len(rows) // CHUNK)
    full = np.concatenate([rows, np.repeat(rows[-1:], tiles * CHUNK - len(rows), axis=0)])
    return np.ascontiguousarray(full.reshape(tiles, CHUNK, -1).transpose(0, 2, 1))


def as_rows(tiles: np.ndarray, count: int) -> np.ndarray:
    """Undo `tiled`, keeping `count` rows."""
    return tiles.transpose(0, 2, 1).reshape(-1, tiles.shape[1])[:count]
