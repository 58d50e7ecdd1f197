r"""An embedding that is learned from examples: the code of an autoencoder.

Where the points that make sense lie near a bent surface of few dimensions e in a space of many,
as shapes, recipes or spectra of what was built before do, examples of them teach where it is.
With x in model coordinates, U the first e principal directions of the examples, m their mean,

    code      c = U^T (x - m) + V_2 tanh(V_1 x + a_1)
    decoder   x' = m + U c + W_2 tanh(W_1 c + b_1)

are trained for the least mean of |x' - x|^2 over the examples, from V_2 = W_2 = 0, where they
are the principal components. Models learn in the box of the examples' codes, and points are
looked for there: every point that is asked is an image of the decoder.

No value is needed for the examples, and values that are told later change nothing about the
embedding: it belongs to the settings, is trained from the run's seed when a run is made or
opened, and the journal keeps the examples.

References
----------
Gómez-Bombarelli et al. (2018), optimization over the code of an autoencoder [GomezBombarelli2018].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count, check_number
from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.embeddings.embeddings import Embedding
from nnbo_mip.space.embedded.decoded_space import BentMap, DecodedSpace
from nnbo_mip.space.embedded.embedded_space import check_embeddable
from nnbo_mip.space.space import Space
from nnbo_mip.surrogates.ensembles.training import Schedule, Trainable, train

if TYPE_CHECKING:
    import torch

LEAST_REACH = 1e-9
"""Half of a side of the box of codes at least: examples may be equal in a direction."""


@dataclass(frozen=True)
class Autoencoder(Embedding):
    """A bent surface through examples.

    Experimental: a method of research, which may change or go.

    Parameters
    ----------
    examples : array (n, d), or sequence of the user's x
        Points of the space that are typical of those that make sense, more than `dimension`.
    dimension : int
        e, of the surface.
    hidden : int
        Units of the bend, of encoder and decoder each.
    epochs : int
        Steps of Adam over all examples at once.
    learning_rate : float
        Of Adam, falling to zero.
    """

    name: ClassVar[str] = "autoencoder"

    examples: Any = ()
    dimension: int = 2
    hidden: int = 32
    epochs: int = 2000
    learning_rate: float = 0.01

    def __post_init__(self) -> None:
        """Refuse options that are none, and keep plain numbers and dicts."""
        rows = self.examples.tolist() if isinstance(self.examples, np.ndarray) else self.examples
        if isinstance(rows, str | Mapping) or not isinstance(rows, Sequence):
            raise InputError(
                "examples must be a list of points, or an array with one row a point; got "
                f"{self.examples!r:.80}; pass points of the space."
            )
        object.__setattr__(self, "examples", tuple(_plain(row) for row in rows))
        check_count("dimension", self.dimension)
        check_count("hidden", self.hidden)
        check_count("epochs", self.epochs)
        check_number("learning_rate", self.learning_rate, above=0.0)

    def embedded(self, space: Space, seed: int) -> DecodedSpace:
        """Return the space as models see it."""
        check_embeddable(space)
        domain = space.model()
        sides = int(np.count_nonzero(domain.lower < domain.upper))
        if self.dimension > sides:
            raise InputError(
                f"an embedding must have at most as many dimensions as the space has sides, "
                f"{sides}; got {self.dimension}; lower it, or leave the embedding out."
            )
        if len(self.examples) <= self.dimension:
            raise InputError(
                f"an autoencoder must have more examples than its dimension, {self.dimension}; "
                f"got {len(self.examples)}; pass examples=… of points that make sense."
            )
        X = space.encode([dict(row) if isinstance(row, Mapping) else row for row in self.examples])
        return _learned(space, X, self, seed)


def _plain(row: Any) -> Any:
    """Return a point as a tuple of floats, or as a dict."""
    if isinstance(row, Mapping):
        return dict(row)
    values = row.tolist() if isinstance(row, np.ndarray) else row
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(
            f"each example must be a point of the space; got {row!r:.80}; pass one row a point."
        )
    return tuple(values)


def _learned(space: Space, X: FloatArray, options: Autoencoder, seed: int) -> DecodedSpace:
    """Train on model coordinates (n, k)."""
    import torch

    center = X.mean(axis=0)
    directions = np.linalg.svd(X - center, full_matrices=False)[2][: options.dimension].T
    points = torch.from_numpy(X - center)

    def make(generator: torch.Generator) -> _Training:
        return _Training(points, torch.from_numpy(directions.copy()), options.hidden, generator)

    schedule = Schedule(options.epochs, options.learning_rate, restore_best=True)
    made = train(make, schedule, seed, options.name)
    encoder = _bent(made.encoder, -directions.T @ center, directions.T, center)
    decoder = _bent(made.decoder, center, directions, np.zeros(options.dimension))
    codes = encoder(X)
    low, high = codes.min(axis=0), codes.max(axis=0)
    reach = np.maximum(0.5 * (high - low), LEAST_REACH)
    return DecodedSpace(space, encoder, decoder, 0.5 * low + 0.5 * high, reach)


class _Training(Trainable):
    """Both bends and their loss; points are centered."""

    def __init__(
        self,
        points: torch.Tensor,
        directions: torch.Tensor,
        hidden: int,
        generator: torch.Generator,
    ) -> None:
        self._points = points
        self._directions = directions
        k, e = directions.shape
        self.encoder = _bend(k, hidden, e, generator)
        self.decoder = _bend(e, hidden, k, generator)
        self._size = float(points.square().mean()) or 1.0

    @property
    def parameters(self) -> list[torch.Tensor]:
        """Weights and biases of both bends."""
        return [*self.encoder, *self.decoder]

    def loss(self) -> torch.Tensor:
        """Return the mean squared error in parts of the examples' variance."""
        import torch

        inner, bias, outer = self.encoder
        codes = self._points @ self._directions
        codes = codes + torch.tanh(self._points @ inner.T + bias) @ outer.T
        inner, bias, outer = self.decoder
        back = codes @ self._directions.T + torch.tanh(codes @ inner.T + bias) @ outer.T
        return (back - self._points).square().mean() / self._size


def _bend(
    inputs: int, hidden: int, outputs: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return first weights of a bend: random inside, zero outside."""
    import torch

    kind: dict[str, Any] = {"generator": generator, "dtype": torch.float64}
    inner = torch.randn((hidden, inputs), **kind) / np.sqrt(inputs)
    bias = torch.randn((hidden,), **kind)
    outer = torch.zeros((outputs, hidden), dtype=torch.float64)
    return (inner.requires_grad_(True), bias.requires_grad_(True), outer.requires_grad_(True))


def _bent(
    bend: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    offset: FloatArray,
    linear: FloatArray,
    center: FloatArray,
) -> BentMap:
    """Return a trained bend, which saw points less a center, as a map of the points."""
    inner, bias, outer = (tensor.detach().numpy().copy() for tensor in bend)
    return BentMap(offset, linear.copy(), inner, bias - inner @ center, outer)
