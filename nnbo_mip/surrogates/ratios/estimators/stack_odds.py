"""Log-odds that a network of ReLUs computes: piecewise linear, so their maximum can be proven."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import Array, FloatArray
from nnbo_mip.network.graph.builder import GraphBuilder
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.surrogates.base.abstract import Capability
from nnbo_mip.surrogates.ensembles.stack import Stack
from nnbo_mip.surrogates.ratios.estimators.odds import Odds

STACK_ODDS = frozenset({Capability.MEAN, Capability.GRADIENT, Capability.NETWORK})
"""What they offer."""


@dataclass(frozen=True, eq=False)
class StackOdds(Odds):
    """One network.

    Parameters
    ----------
    stack : Stack
        One member with one output, the log-odds.
    family : str
        Name of the surrogate that made it.
    """

    kind: ClassVar[str] = "stack"
    capabilities = STACK_ODDS

    stack: Stack
    family: str = "bore"

    @property
    def n_inputs(self) -> int:
        """d, the number of inputs."""
        return self.stack.n_inputs

    def mean(self, X: npt.ArrayLike) -> FloatArray:
        """Return the log-odds (n,)."""
        return np.asarray(self.stack.evaluate(self.check_points(X))[0, :, 0])

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the gradients (n, d); slope 0 at a kink."""
        return np.asarray(self.stack.differentiate(points)[1][0])

    def network(self) -> Network:
        """Return the network of ``mean``, the log-odds, and ``std``, which is zero."""
        builder = GraphBuilder(self.n_inputs)
        output = self.stack.compile(builder, builder.input)[0]
        return builder.finish({"mean": output, "std": builder.constant([0.0])})

    def shifted(self, step: float) -> StackOdds:
        """Return the log-odds plus a constant."""
        biases = self.stack.biases
        moved = (*biases[:-1], biases[-1] + step)
        return replace(self, stack=replace(self.stack, biases=moved))

    def to_arrays(self) -> dict[str, Array]:
        """Return plain arrays."""
        return {**self.stack.to_arrays(), "family": np.array(self.family)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> StackOdds:
        """Make the log-odds that `to_arrays` described."""
        stack = Stack.from_arrays(arrays)
        if stack.n_members != 1 or stack.biases[-1].shape != (1, 1):
            raise ValueError("log-odds of more than one output")
        return cls(stack, str(arrays["family"]))
