"""`Network`: an immutable float64 graph of affine maps and ReLUs with named outputs.

One form serves every piecewise-linear network. ReLU layer ``l = 1..L`` reads the
input ``h_0 = x`` and any earlier layers,

    z_l = b_l + sum_{k < l} W_{l,k} h_k,      h_l = max(z_l, 0),

and the head reads all of them, one row an output:

    y = c + sum_{k <= L} V_k h_k.

Skip connections, ensembles, two-headed nets, leaky ReLUs and clips are all of this
form, so one evaluator, one bound engine and one formulation serve them all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.files import MAX_BYTES
from nnbo_mip.network.graph.affine import Affine, Matrix, adjoints, as_float64

if TYPE_CHECKING:
    import torch

FINGERPRINT_VERSION = 2

EVALUATION_BLOCK = 1 << 24
"""Largest number of float64 values a hidden layer holds at once during evaluation."""


@dataclass(frozen=True, eq=False)
class Network:
    """A piecewise-linear function R^d -> R^m.

    Parameters
    ----------
    n_inputs : int
        d, the number of inputs.
    layers : sequence of Affine
        Pre-activations of the ReLU layers, in an order in which each reads only the
        input (source 0) and earlier layers (source k is layer k, counted from 1).
    head : Affine
        The outputs, one row each.
    output_names : sequence of str, optional
        Names of the rows of the head; ``y`` or ``y0, y1, …`` when left out.
    float32_difference : float, optional
        Largest difference to the model's own forward pass, in its own precision (mostly
        float32), that the importer saw at its probe points.
    unverified : str, optional
        A sentence that says what an importer did not verify; empty where it compared the
        network with its model, and for networks that were not imported.
    """

    n_inputs: int
    layers: tuple[Affine, ...]
    head: Affine
    output_names: tuple[str, ...] = ()
    float32_difference: float | None = None
    unverified: str = ""

    def __post_init__(self) -> None:
        given: object = self.output_names
        if isinstance(given, str) or any(not isinstance(name, str) for name in self.output_names):
            raise InputError(
                "output_names must be a sequence of strings, one an output; got "
                f"{self.output_names!r}; put them in a list."
            )
        names = tuple(self.output_names) or default_output_names(self.head.width)
        object.__setattr__(self, "layers", tuple(self.layers))
        object.__setattr__(self, "output_names", names)
        if self.n_inputs < 1:
            raise InputError(
                f"a network needs at least one input; got n_inputs={self.n_inputs}; "
                "pass the number of inputs."
            )
        if len(names) != self.head.width or len(set(names)) != len(names):
            raise InputError(
                f"output_names must hold {self.head.width} different names, one a row of the "
                f"head; got {names}; rename them."
            )
        for position, affine in enumerate((*self.layers, self.head), start=1):
            self._check_affine(affine, position)

    def _check_affine(self, affine: Affine, position: int) -> None:
        where = f"layer {position}" if position <= len(self.layers) else "the head"
        if not affine.is_finite():
            raise InputError(
                f"every weight must be finite; {where} holds NaN or infinity; "
                "retrain or repair the network before importing it."
            )
        for source, matrix in affine.terms.items():
            if not 0 <= source < position:
                raise InputError(
                    f"{where} may read the input (0) and earlier layers (1 to {position - 1}); "
                    f"got source {source}; reorder the layers."
                )
            if matrix.shape[1] != self.source_width(source):
                raise InputError(
                    f"{where} reads source {source} of width {self.source_width(source)}; got a "
                    f"weight matrix of shape {matrix.shape}; W must be (out, in)."
                )

    @property
    def n_relus(self) -> int:
        """Number of ReLUs."""
        return sum(layer.width for layer in self.layers)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.head.width

    def source_width(self, source: int) -> int:
        """Width of a source: the input for 0, ReLU layer `source` otherwise."""
        return self.n_inputs if source == 0 else self.layers[source - 1].width

    def __repr__(self) -> str:
        """Say the shape and the outputs in a line."""
        widths = "-".join(str(self.source_width(k)) for k in range(len(self.layers) + 1))
        outputs = ", ".join(self.output_names[:6]) + (", …" if self.n_outputs > 6 else "")
        return f"Network({widths}-{self.n_outputs}, {self.n_relus} ReLUs, outputs: {outputs})"

    # -- evaluation -------------------------------------------------------------------

    def check_inputs(self, points: npt.ArrayLike) -> FloatArray:
        """Return `points` as an (n, d) float64 batch; a single (d,) point gives n = 1."""
        # The memory layout decides how a product is summed: it must not matter.
        try:
            batch = np.ascontiguousarray(points, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"points must be numbers of shape (n, {self.n_inputs}); got {points!r:.60} "
                f"({error}); pass an array of floats."
            ) from error
        if batch.ndim == 1 and batch.size == self.n_inputs:
            batch = batch[None, :]
        if batch.ndim != 2 or batch.shape[1] != self.n_inputs:
            raise InputError(
                f"points must have shape (n, {self.n_inputs}), one row a point; "
                f"got shape {np.shape(points)}; reshape them."
            )
        return batch

    def output_index(self, output: str | int | None) -> int:
        """Return the row of an output by name or index; ``None`` means the only one."""
        if output is None and self.n_outputs == 1:
            return 0
        if isinstance(output, str) and output in self._places:
            return self._places[output]
        if isinstance(output, int | np.integer) and 0 <= output < self.n_outputs:
            return int(output)
        raise InputError(
            f"output must name one of {', '.join(self.output_names)}; got {output!r}; "
            "choose one of them."
        )

    def evaluate(self, points: npt.ArrayLike, output: str | int | None = None) -> FloatArray:
        """Forward pass in float64.

        Parameters
        ----------
        points : (n, d) array
            A batch of inputs.
        output : str or int, optional
            One output by name or row.

        Returns
        -------
        (n, m) array, or (n,) where `output` is given.
        """
        return self.evaluate_together(points, (output,))[0]

    __call__ = evaluate

    def evaluate_together(
        self, points: npt.ArrayLike, outputs: Sequence[str | int | None]
    ) -> list[FloatArray]:
        """Return what `evaluate` returns for each of some outputs, to the last bit, in one pass."""
        batch = self.check_inputs(points)
        widest = max(self.source_width(k) for k in range(len(self.layers) + 1))
        step = max(1, EVALUATION_BLOCK // widest)
        heads = [self._head_of(output) for output in outputs]
        parts: list[list[FloatArray]] = [[] for _ in heads]
        for start in range(0, len(batch), step):
            sources = self._sources(batch[start : start + step])
            for part, head in zip(parts, heads, strict=True):
                part.append(head.apply(sources))
        values = [
            np.concatenate(part) if part else np.empty((0, head.width))
            for part, head in zip(parts, heads, strict=True)
        ]
        return [v if o is None else v[:, 0] for v, o in zip(values, outputs, strict=True)]

    def _head_of(self, output: str | int | None) -> Affine:
        """Return what computes one output, or all of them."""
        if output is None:
            return self.head
        row = self.output_index(output)
        if row not in self._heads:
            self._heads[row] = self.head if self.n_outputs == 1 else self.head.rows([row])
        return self._heads[row]

    @cached_property
    def _heads(self) -> dict[int, Affine]:
        """What computes single outputs, kept for the next points."""
        return {}

    @cached_property
    def _places(self) -> dict[str, int]:
        """The row of each output."""
        return {name: row for row, name in enumerate(self.output_names)}

    def _sources(self, batch: FloatArray) -> list[FloatArray]:
        sources = [batch]
        for layer in self.layers:
            sources.append(np.maximum(layer.apply(sources), 0.0))
        return sources

    def preactivations(self, points: npt.ArrayLike) -> list[FloatArray]:
        """Return z_1, …, z_L at a batch of points, each (n, width_l)."""
        sources = [self.check_inputs(points)]
        result = []
        for layer in self.layers:
            result.append(layer.apply(sources))
            sources.append(np.maximum(result[-1], 0.0))
        return result

    def value_and_gradient(
        self, points: npt.ArrayLike, output: str | int | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Value (n,) and gradient (n, d) of one output; slope 0 is taken at a kink."""
        head = self._head_of(self.output_index(output))
        batch = self.check_inputs(points)
        sources = self._sources(batch)
        slopes = adjoints(self.layers, head, sources, np.ones((1, 1)))
        return head.apply(sources)[:, 0], slopes[0]

    def pull_back(self, points: npt.ArrayLike, weights: FloatArray) -> FloatArray:
        """Gradient (n, d) of the outputs' sums with weights (n, m) of their own at each point."""
        sources = self._sources(self.check_inputs(points))
        return adjoints(self.layers, self.head, sources, weights)[0]

    def gradient(self, points: npt.ArrayLike, output: str | int | None = None) -> FloatArray:
        """Gradient (n, d) of one output."""
        return self.value_and_gradient(points, output)[1]

    # -- derived networks -------------------------------------------------------------

    def objective(self, weights: str | int | Mapping[str, float] | None = None) -> Network:
        """Return the network with one output, a weighted sum of the named ones.

        Parameters
        ----------
        weights : str, int or mapping of name to weight, optional
            One output, or a weighted sum; ``None`` means the only output.
        """
        if isinstance(weights, Mapping):
            row = np.zeros((1, self.n_outputs))
            for name, weight in weights.items():
                row[0, self.output_index(name)] = weight
            head = self.head.combine(row)
        elif self.n_outputs == 1 and weights is None:
            return self
        else:
            head = self._head_of(self.output_index(weights))
        return replace(self, head=head, output_names=("objective",))

    def negated(self) -> Network:
        """Return the network with every output negated; exact in floating point."""
        return replace(self, head=self.head.negated())

    def simplify(self, lower: npt.ArrayLike, upper: npt.ArrayLike) -> Network:
        """Return a smaller network that is the same function on ``lower <= x <= upper``."""
        from nnbo_mip.network.graph.simplify import simplify

        return simplify(self, lower, upper)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the function and the names of its outputs, in hexadecimal."""
        return self.fingerprint_of(FINGERPRINT_VERSION)

    def fingerprint_of(self, version: int) -> str:
        """Return the SHA-256 of canonical bytes.

        Those of version 2 can be taken apart again: counts stand before what they count, so that
        two networks with the same bytes are one function with the same names. Version 1 joined the
        names by NUL and did not count the terms of a map; it is kept for the certificates that
        name a network by it.
        """
        digest = hashlib.sha256(b"nnbo_mip network %d" % version)
        digest.update(_counts(self.n_inputs, len(self.layers)))
        for affine in (*self.layers, self.head):
            if version > 1:
                digest.update(_counts(len(affine.terms)))
            affine.update_hash(digest)
        if version == 1:
            digest.update("\0".join(self.output_names).encode())
            return digest.hexdigest()
        for name in self.output_names:
            encoded = name.encode(errors="surrogatepass")
            digest.update(_counts(len(encoded)) + encoded)
        return digest.hexdigest()

    # -- doors ------------------------------------------------------------------------

    @staticmethod
    def from_layers(
        layers: Sequence[tuple[npt.ArrayLike | Matrix, npt.ArrayLike]],
        output_names: Sequence[str] = (),
    ) -> Network:
        """Build a plain feed-forward net: ``[(W, b), …]``, W (out, in), the last one linear."""
        if not layers:
            raise InputError("layers must hold at least one (W, b) pair; got none; add the head.")
        try:
            pairs = [(weight, bias) for weight, bias in layers]
        except (TypeError, ValueError) as error:
            raise InputError(
                f"layers must be pairs (W, b), W of shape (out, in); got {layers!r:.60} ({error}); "
                "write [(W, b), …]."
            ) from error
        maps = [
            Affine(as_float64(bias, "a bias", at_least_1d=True), {position: weight})
            for position, (weight, bias) in enumerate(pairs)
        ]
        n_inputs = int(maps[0].terms[0].shape[1])
        return Network(n_inputs, tuple(maps[:-1]), maps[-1], output_names)  # type: ignore[arg-type]

    @staticmethod
    def from_torch(
        module: torch.nn.Module,
        n_inputs: int | None = None,
        *,
        input_shape: tuple[int, ...] | None = None,
        verify: bool = True,
    ) -> Network:
        """Import a PyTorch module; see `nnbo_mip.network.importers.torch.importer`."""
        from nnbo_mip.network.graph.doors import importers

        return importers.factory("torch")(module, n_inputs, input_shape=input_shape, verify=verify)

    @staticmethod
    def from_onnx(path: str | Path, max_bytes: int = MAX_BYTES, *, verify: bool = True) -> Network:
        """Import an ONNX file; see `nnbo_mip.network.importers.onnx.importer`."""
        from nnbo_mip.network.graph.doors import importers

        return importers.factory("onnx")(path, max_bytes, verify=verify)

    @staticmethod
    def from_sklearn(estimator: Any, *, verify: bool = True) -> Network:
        """Import a scikit-learn estimator; see `nnbo_mip.network.importers.sklearn`."""
        from nnbo_mip.network.graph.doors import importers

        return importers.factory("sklearn")(estimator, verify=verify)

    def to_onnx(self, path: str | Path) -> None:
        """Write an ONNX file in float64; see `nnbo_mip.network.importers.onnx.exporter`."""
        from nnbo_mip.network.graph.doors import exporters

        exporters.factory("onnx")(self, path)

    def save(self, path: str | Path) -> None:
        """Write ``.npz`` or ``.json``; never pickle."""
        from nnbo_mip.network.graph.storage import save

        save(self, path)

    @staticmethod
    def load(path: str | Path, max_bytes: int = MAX_BYTES) -> Network:
        """Read what `save` wrote, or the fixture format of ``W_l_k`` arrays."""
        from nnbo_mip.network.graph.storage import load

        return load(path, max_bytes)


def _counts(*numbers: int) -> bytes:
    return np.array(numbers, dtype=np.int64).tobytes()


def default_output_names(count: int) -> tuple[str, ...]:
    """Return ``("y",)`` for one output, ``("y0", "y1", …)`` for more."""
    return ("y",) if count == 1 else tuple(f"y{i}" for i in range(count))
