"""`certify_acqf`: the largest value of an acquisition function of BoTorch, with its proof."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import check_count
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.core.terms import Status
from nnbo_mip.integrations.botorch.comparing import probes
from nnbo_mip.integrations.botorch.domains import Row, domain_of
from nnbo_mip.integrations.botorch.heads import Read
from nnbo_mip.integrations.botorch.reading import array
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.maximizers.maximize import maximize
from nnbo_mip.space.domain import Domain

MOVED = 1e-9
"""By how much of the box's sides a processed point may differ: what rounding makes of it."""


@dataclass(frozen=True, eq=False)
class CertifiedCandidates:
    """What was found, one point after another, and what was proven of each.

    Parameters
    ----------
    candidates : (q, d) tensor
    proposals : tuple of Proposal
        With the certificates. Those of the second point and later ones are about the function
        that believes in the earlier ones.
    values, bounds : (q,) arrays
        The acquisition's value at each point, and what no admissible point exceeds.
    difference : float
        The largest relative difference from BoTorch's own numbers at probe points.
    """

    candidates: torch.Tensor
    proposals: tuple[Proposal, ...]
    values: FloatArray
    bounds: FloatArray
    difference: float

    @property
    def acq_value(self) -> torch.Tensor:
        """The values as BoTorch returns them: a number for one point, else (q,)."""
        values = torch.as_tensor(self.values).to(self.candidates)
        return values[0] if len(values) == 1 else values

    @property
    def status(self) -> Status:
        """``optimal`` where every gap is closed, else the first one that is not."""
        others = (one.status for one in self.proposals if one.status != "optimal")
        return next(others, "optimal")

    @property
    def gap(self) -> float:
        """The largest gap; see `nnbo_mip.maximize` for what it measures."""
        return max(one.gap for one in self.proposals)

    def __str__(self) -> str:
        return "\n".join(map(str, self.proposals))


def certify_acqf(
    acq_function: Any,
    bounds: torch.Tensor,
    q: int = 1,
    *,
    inequality_constraints: Sequence[Row] | None = None,
    equality_constraints: Sequence[Row] | None = None,
    fixed_features: Mapping[int, float] | None = None,
    discrete_dims: Mapping[int, Sequence[float]] | None = None,
    one_hot: Sequence[Sequence[int]] = (),
    post_processing_func: Callable[[torch.Tensor], torch.Tensor] | None = None,
    X_pending: torch.Tensor | None = None,
    starts: torch.Tensor | None = None,
    maximizer: object = "auto",
    gap: float = 1e-4,
    time_limit: float | None = None,
    seed: int = 0,
) -> CertifiedCandidates:
    """Maximize an analytic acquisition function of BoTorch, and prove that no point is better.

    Parameters
    ----------
    acq_function : AcquisitionFunction
        Of a `SingleTaskGP`: LogEI, EI, LogPI, PI, UCB or PosteriorMean.
    bounds : (2, d) tensor
        In float64.
    q : int
        Number of points. They are chosen one after another; those before are pending.
    inequality_constraints, equality_constraints : sequence of (indices, coefficients, rhs)
        ``sum_i coefficients[i] x[indices[i]] >= rhs``, or ``=``, within ``1e-9 (1 + |rhs|)``.
    fixed_features : mapping of int to float, optional
        Inputs that have one value.
    discrete_dims : mapping of int to sequence of float, optional
        Inputs that have a few values.
    one_hot : sequence of sequences of int
        Groups of inputs of which one is 1 and the others are 0.
    post_processing_func : callable, optional
        Applied to every point (1, d). It may round the last digits; where it moves a point, the
        call is refused, as the proof would be of another point.
    X_pending : (k, d) tensor, optional
        Points under evaluation: the mean counts as observed there.
    starts : (k, d) tensor, optional
        Points worth a try; what is not admissible is repaired.
    maximizer : str, dict or Maximizer
    gap : float
        At which a proof may stop; see `nnbo_mip.maximize`.
    time_limit : float, optional
        Wall seconds for each point; 60 if left out.
    seed : int

    Returns
    -------
    CertifiedCandidates
    """
    read = Read.of(acq_function)
    domain = domain_of(
        bounds,
        inequality_constraints,
        equality_constraints,
        fixed_features,
        discrete_dims,
        one_hot,
    )
    if domain.dimension != read.belief.n_inputs:
        raise InputError(
            f"bounds must have the {read.belief.n_inputs} columns that the model learned from; got "
            f"{domain.dimension}; give both ends of every input."
        )
    pending = np.empty((0, domain.dimension)) if X_pending is None else array(X_pending)
    if check_count("q", q) + len(pending) > 1 and not read.changes:
        raise UnsupportedError(
            f"a {type(acq_function).__name__} does not change with pending points, so that every "
            f"point would be the same; got q={q} and {len(pending)} pending ones; ask for one "
            "point."
        )
    difference = read.compared(acq_function, probes(domain.lower, domain.upper, read.observed))
    for x in pending:
        read = read.with_pending(x)
    proposals: list[Proposal] = []
    values, ends = [], []
    for _ in range(q):
        found = maximize(
            read.belief,
            read.acquisition,
            domain,
            maximizer=maximizer,
            gap=gap,
            time_limit=time_limit,
            seed=seed,
            starts=_repaired(starts, domain),
        )
        x = _point(found)
        _check_processed(x, post_processing_func, bounds, domain)
        proposals.append(found)
        values.append(float(read.acquisition.score(read.belief, x)[0]))
        ends.append(_bound(found, read))
        read = read.with_pending(x)
    points = np.stack([_point(found) for found in proposals])
    return CertifiedCandidates(
        torch.as_tensor(points).to(bounds),
        tuple(proposals),
        np.array(values),
        np.array(ends),
        difference,
    )


def _repaired(starts: torch.Tensor | None, domain: Domain) -> FloatArray | None:
    """Return the admissible points next to the given ones."""
    if starts is None:
        return None
    near = (domain.repair(x) for x in array(starts).reshape(-1, domain.dimension))
    return np.array([x for x in near if x is not None]).reshape(-1, domain.dimension)


def _point(found: Proposal) -> FloatArray:
    if found.x is None:
        raise InputError(
            "bounds and constraints must admit a point; got some that admit none, or none that was "
            f"found in time ({found.status}); relax them."
        )
    return found.x


def _bound(found: Proposal, read: Read) -> float:
    """Return the bound of the acquisition's own values, where that of logarithms was answered."""
    asked = read.acquisition.resolve(read.belief).name
    if found.head == asked:
        return found.bound
    above = math.exp(min(found.bound, 0.0))  # only what is below 1e-12 is answered so
    return math.nextafter(math.nextafter(above, math.inf), math.inf)


def _check_processed(
    x: FloatArray,
    process: Callable[[torch.Tensor], torch.Tensor] | None,
    bounds: torch.Tensor,
    domain: Domain,
) -> None:
    """Refuse processing that moves a proven point."""
    if process is None:
        return
    moved = array(process(torch.tensor(x[None, :]).to(bounds))).reshape(-1)
    width = np.maximum(domain.upper - domain.lower, 1.0)
    off = np.abs(moved - x) / width
    if not (off <= MOVED).all():
        j = int(np.argmax(off))
        raise UnsupportedError(
            "post_processing_func must leave a proven point where it is; got a move from "
            f"{x[j]!r} to {moved[j]!r} of input {j}; name the values of this input in "
            "discrete_dims instead."
        )
