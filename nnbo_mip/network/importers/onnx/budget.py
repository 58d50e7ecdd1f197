"""How many numbers the values of an ONNX graph may hold together.

A file of some bytes can ask for values of many gigabytes, each of which alone is allowed. What is
allowed together grows with what the file itself holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.network.graph.matrices import n_entries
from nnbo_mip.network.importers.onnx.values import Value
from nnbo_mip.network.importers.tensors import Tensor

FREE_NUMBERS = 1 << 24
"""What any graph may hold (128 MiB)."""

PER_NUMBER = 8
"""And this for each number in the file: layers are folded, shifted and scaled."""


class Budget:
    """What is left to be held, and the widest value so far.

    Parameters
    ----------
    given : iterable of Value
        The constants that the file holds.
    """

    def __init__(self, given: Iterable[Value]) -> None:
        self._left = FREE_NUMBERS + PER_NUMBER * sum(map(_numbers, given))
        self.widest = 1

    def spend(self, results: Iterable[Value], node: Any) -> None:
        """Count what a node computed, or refuse the graph."""
        for value in results:
            self._left -= _numbers(value)
            self.widest = max(self.widest, _width(value))
        if self._left < 0:
            raise UnsupportedError(
                f"the values of a graph may hold {FREE_NUMBERS} numbers, and {PER_NUMBER} for each "
                f"number in the file; node {node.name or node.output[:1]!r} ({node.op_type}) "
                "exceeds that; the network is too large to be certified."
            )


def _numbers(value: Value) -> int:
    if not isinstance(value, Tensor):
        return int(value.size)
    return value.rows.width + sum(map(n_entries, value.rows.terms.values()))


def _width(value: Value) -> int:
    return value.rows.width if isinstance(value, Tensor) else int(value.size)
