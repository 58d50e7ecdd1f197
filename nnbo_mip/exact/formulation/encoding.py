r"""`encode`: a problem as a mixed-integer linear program, and the way back.

Layer by layer, pre-activations are affine expressions of the columns so far. A ReLU whose
sign is proven costs nothing: with ``u <= 0`` it is 0, with ``l >= 0`` it is its
pre-activation, folded into whatever reads it. The same is done with ReLUs whose other side
is below 2^-200, at the price of that error. Only the others get columns and rows, by the
formulation asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from nnbo_mip.core.arrays import BoolArray, FloatArray, IntArray
from nnbo_mip.core.errors import InputError, UncertifiedWarning, UnsupportedError
from nnbo_mip.exact.bounds.interval import LayerBounds
from nnbo_mip.exact.formulation.bigm import add_bigm
from nnbo_mip.exact.formulation.block import Block, Switching
from nnbo_mip.exact.formulation.builder import ModelBuilder
from nnbo_mip.exact.formulation.expression import Expressions, apply_affine, scale_rows
from nnbo_mip.exact.formulation.inputs import InputColumns, add_inputs, input_values
from nnbo_mip.exact.formulation.model import SMALLEST_SCALE, MilpModel
from nnbo_mip.exact.formulation.naive import add_naive
from nnbo_mip.exact.formulation.partition import add_partition
from nnbo_mip.exact.formulation.sos1 import add_sos1
from nnbo_mip.exact.search.problem import Problem

FORMULATIONS = ("bigm", "naive", "partition", "sos1")
TEXTBOOK_CONSTANT = 1000.0
PARTITION_GROUPS = 2

LARGEST_BOUND = 1e100
"""Values beyond this overflow somewhere between a network and a solver."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """A problem written as a `MilpModel`.

    Parameters
    ----------
    problem : Problem
    formulation : str
    model : MilpModel
    inputs : InputColumns
    blocks : tuple of Block
        The ReLUs that have columns, at most one block a layer.
    active : tuple of (n_l,) bool arrays
        Which ReLUs of each layer are proven to be on.
    objective_error : float
        Bound on ``|f(x) - objective|`` at the columns that stand for x.
    certifies : bool
        Whether a bound on the program is a bound on f; not so for `naive`.
    """

    problem: Problem
    formulation: str
    model: MilpModel
    inputs: InputColumns
    blocks: tuple[Block, ...]
    active: tuple[BoolArray, ...]
    objective_error: float
    certifies: bool

    @property
    def n_switching(self) -> int:
        """Number of ReLUs whose sign is not proven."""
        return sum(int(block.positive.size) for block in self.blocks)

    def complete(self, point: FloatArray) -> FloatArray:
        """Return the full feasible columns (n,) of an admissible point (d,): a forward pass."""
        model = self.model
        columns = input_values(self.inputs, point, model.n_columns)
        pre_activations = self.problem.network.preactivations(point)
        for block in self.blocks:
            block.complete(columns, pre_activations[block.switching.layer - 1][0])
        columns = np.clip(columns, model.column_lower, model.column_upper)
        return np.where(model.integer, np.round(columns), columns)


def encode(
    problem: Problem,
    bounds: Sequence[LayerBounds],
    formulation: str = "bigm",
    *,
    constant: float = TEXTBOOK_CONSTANT,
    groups: int = PARTITION_GROUPS,
) -> Encoding:
    """Write a problem as a mixed-integer linear program.

    Parameters
    ----------
    problem : Problem
    bounds : sequence of (l, u)
        Proven bounds on the pre-activations of every ReLU layer over the domain's box.
    formulation : {"bigm", "naive", "partition", "sos1"}
    constant : float
        M of `naive`.
    groups : int
        N of `partition`.
    """
    if formulation not in FORMULATIONS:
        raise InputError(
            f"formulation must be one of {', '.join(FORMULATIONS)}; got {formulation!r}; "
            "choose one of them."
        )
    _check_bounds(problem, bounds)
    if formulation == "naive":
        warnings.warn(
            f"the naive formulation guesses its constant M={constant:g} and has returned wrong "
            "optima; it never certifies: use the formulation 'bigm' for anything but a comparison.",
            UncertifiedWarning,
            stacklevel=3,
        )
    return _Encoder(problem, formulation, constant, groups).encode(bounds)


class _Encoder:
    """Carries the expressions of the layers written so far."""

    def __init__(self, problem: Problem, formulation: str, constant: float, groups: int) -> None:
        self.problem, self.formulation = problem, formulation
        self.constant, self.groups = constant, groups
        self.builder = ModelBuilder()
        self.inputs = add_inputs(self.builder, problem.domain)
        self.sources = [self.inputs.expressions]
        self.blocks: list[Block] = []
        self.active: list[BoolArray] = []

    def encode(self, bounds: Sequence[LayerBounds]) -> Encoding:
        for layer, (lower, upper) in enumerate(bounds, start=1):
            self._add_layer(layer, lower, upper)
        magnitudes = self.builder.magnitudes
        f = apply_affine(self.problem.network.head, self.sources, magnitudes)
        scaled = scale_rows(f.matrix, f.constants, f.errors, magnitudes)
        objective = Expressions(f.constants, scaled.matrix * scaled.scales[0], f.errors)
        return Encoding(
            problem=self.problem,
            formulation=self.formulation,
            model=self.builder.build(objective, self.inputs.expressions),
            inputs=self.inputs,
            blocks=tuple(self.blocks),
            active=tuple(self.active),
            objective_error=float(scaled.errors[0] * scaled.scales[0]),
            certifies=self.formulation != "naive",
        )

    def _add_layer(self, layer: int, lower: FloatArray, upper: FloatArray) -> None:
        z = apply_affine(
            self.problem.network.layers[layer - 1], self.sources, self.builder.magnitudes
        )
        textbook = self.formulation == "naive"
        crossing = (lower < -SMALLEST_SCALE) & (upper > SMALLEST_SCALE)
        switching = np.full(lower.size, True) if textbook else crossing
        active = ~switching & (upper > SMALLEST_SCALE)
        ignored = np.where(active, np.maximum(-lower, 0.0), np.maximum(upper, 0.0))
        chosen = np.flatnonzero(switching)
        block = None
        if chosen.size:
            block = self._add_block(
                Switching(layer, chosen, _rows(z, chosen), lower[chosen], upper[chosen])
            )
            self.blocks.append(block)
        self.active.append(active)
        self.sources.append(self._outputs(z, active, np.where(switching, 0.0, ignored), block))

    def _add_block(self, switching: Switching) -> Block:
        if self.formulation == "bigm":
            return add_bigm(self.builder, switching)
        if self.formulation == "sos1":
            return add_sos1(self.builder, switching)
        if self.formulation == "naive":
            return add_naive(self.builder, switching, self.constant)
        return add_partition(self.builder, switching, self.groups)

    def _outputs(
        self, z: Expressions, active: BoolArray, ignored: FloatArray, block: Block | None
    ) -> Expressions:
        """Return ``max(z, 0)`` of a whole layer: 0, z, or a column."""
        width = active.size
        keep = csr_array(
            (active.astype(np.float64), (np.arange(width), np.arange(width))), shape=(width, width)
        )
        matrix = csr_array(keep @ z.widened(self.builder.n_columns))
        if block is not None:
            columns = csr_array(
                (block.positive_scales, (block.switching.neurons, block.positive)),
                shape=matrix.shape,
            )
            matrix = csr_array(matrix + columns)
        errors = np.where(active, z.errors, 0.0) + ignored
        return Expressions(np.where(active, z.constants, 0.0), matrix, errors)


def _rows(z: Expressions, index: IntArray) -> Expressions:
    return Expressions(z.constants[index], csr_array(z.matrix[index]), z.errors[index])


def _check_bounds(problem: Problem, bounds: Sequence[LayerBounds]) -> None:
    widths = [layer.width for layer in problem.network.layers]
    got = [pair[0].size for pair in bounds]
    if widths != got:
        raise InputError(
            f"bounds must hold one pair (l, u) a ReLU layer, of widths {widths}; got {got}; "
            "compute them for this network."
        )
    ends = np.concatenate([np.zeros(1), *(end for pair in bounds for end in pair)])
    largest = max(float(np.abs(ends).max()), problem.rounding.magnitude)
    if not largest <= LARGEST_BOUND:
        raise UnsupportedError(
            f"the integer programs need values of at most {LARGEST_BOUND:g} inside the network; "
            f"got {largest:g}; rescale the network or its inputs."
        )
