r"""Affine forms of a network over simplices, held by their values at the vertices.

On a simplex an affine function is its values at the c + 1 vertices: what holds for two
affine functions at the vertices holds between them. Every pre-activation is kept between
two such functions, ``M - H <= z <= M + H``, M the center and H >= 0 the radius. An affine
map sends them to

    M_t = b_t + sum_k W_{t,k} M'_k,      H_t = sum_k |W_{t,k}| H'_k,

and a ReLU, with the forms Z- = M - H and Z+ = M + H of its input, lies between

    above:  the interpolation of max(Z+, 0) from the vertices, since a convex function
            is largest there (the best upper form there is where H = 0),
    below:  s Z- with s = 1 if max Z+ > -min Z-, else s = 0,

so M' = (above + below)/2 and H' = (above - below)/2. As long as no ReLU changes its
sign on a simplex, H = 0 and the values of M are the network's own at the vertices: on
such a simplex the maximum is read off, whatever the width and depth.

Rounding. Let the computed vertex values stand for exact affine functions. Then everything
above holds up to the local errors of the affine maps, and `gains` turns those into one
error at the output for each vertex, with A_k = max(|above|, |below|). No other widening
is needed, however often a ReLU's zero was rounded: a ReLU whose sign still changes by a
rounding error on one side of its own zero line has an H' of that size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.exact.enumeration.gains import ErrorGains
from nnbo_mip.network.graph.affine import Affine, Matrix
from nnbo_mip.network.graph.graph import Network


@dataclass(frozen=True, eq=False)
class LayerForms:
    """What is known of a ReLU layer over B simplices with V vertices.

    Parameters
    ----------
    center : (V, B, n) array
        M of the pre-activations.
    radius : (V, B, n) array or None
        H of the pre-activations; None where it is zero throughout.
    low, high : (B, n) arrays
        Least Z- and largest Z+ on each simplex.
    rising : (B, n) bool array
        Where the lower line is z itself (s = 1) rather than 0.
    above : (V, B, n) array
        Upper forms of the outputs.
    """

    center: FloatArray
    radius: FloatArray | None
    low: FloatArray
    high: FloatArray
    rising: BoolArray
    above: FloatArray


@dataclass(frozen=True, eq=False)
class OutputForms:
    """The forms of every layer, and what they say about the output.

    Parameters
    ----------
    layers : tuple of LayerForms
    upper : (B,) array
        Proven upper bound of the output on each simplex.
    error : (B,) array
        The largest error at a vertex that `upper` contains.
    """

    layers: tuple[LayerForms, ...]
    upper: FloatArray
    error: FloatArray


class FormPropagation:
    """Propagates forms through a network with one output."""

    def __init__(self, network: Network, gains: ErrorGains) -> None:
        self._network = network
        self._gains = gains
        self._absolute = [
            {k: abs(w) for k, w in affine.terms.items()}
            for affine in (*network.layers, network.head)
        ]

    def run(self, vertices: FloatArray) -> OutputForms:
        """Propagate from the vertices (V, B, d) to the output."""
        shape = vertices.shape[:2]
        centers = [vertices.reshape(-1, vertices.shape[2])]
        radii: list[FloatArray | None] = [None]
        error = self._gains.constant + np.abs(centers[0]) @ self._gains.sources[0]
        layers = []
        for position, affine in enumerate(self._network.layers):
            center, radius = self._affine(position, affine, centers, radii)
            layer, below = _relu(center, radius, shape)
            above = layer.above.reshape(below.shape)
            error += np.maximum(above, np.abs(below)) @ self._gains.sources[position + 1]
            # Without a sign change on any simplex of the batch the two forms are one.
            exact = radius is None and not bool(((layer.low < 0.0) & (layer.high > 0.0)).any())
            centers.append(above if exact else 0.5 * (above + below))
            radii.append(None if exact else 0.5 * (above - below))
            layers.append(layer)
        center, radius = self._affine(len(layers), self._network.head, centers, radii)
        upper = center[:, 0] if radius is None else center[:, 0] + radius[:, 0]
        return OutputForms(
            tuple(layers),
            (upper + error).reshape(shape).max(axis=0),
            error.reshape(shape).max(axis=0),
        )

    def _affine(
        self,
        position: int,
        affine: Affine,
        centers: list[FloatArray],
        radii: list[FloatArray | None],
    ) -> tuple[FloatArray, FloatArray | None]:
        center = affine.apply(centers)
        radius: FloatArray | None = None
        for source, magnitudes in self._absolute[position].items():
            spread = radii[source]
            if spread is not None:
                part = _times(magnitudes, spread)
                radius = part if radius is None else radius + part
        return center, radius


def _times(matrix: Matrix, batch: FloatArray) -> FloatArray:
    return np.asarray((matrix @ batch.T).T)


def _relu(
    center: FloatArray, radius: FloatArray | None, shape: tuple[int, ...]
) -> tuple[LayerForms, FloatArray]:
    """Return what is known of a layer, and the lower forms of its outputs (V B, n)."""
    grouped = (*shape, center.shape[1])
    least = center if radius is None else center - radius
    most = center if radius is None else center + radius
    low = least.reshape(grouped).min(axis=0)
    high = most.reshape(grouped).max(axis=0)
    rising = (high > -low) | (low >= 0.0)
    below = np.where(rising, least.reshape(grouped), 0.0).reshape(center.shape)
    return (
        LayerForms(
            center=center.reshape(grouped),
            radius=None if radius is None else radius.reshape(grouped),
            low=low,
            high=high,
            rising=rising,
            above=np.maximum(most, 0.0).reshape(grouped),
        ),
        below,
    )
