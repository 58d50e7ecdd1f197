"""`optimize_acqf_certified`: BoTorch's `optimize_acqf`, by proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from botorch.optim import optimize_acqf

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.integrations.botorch.certified import certify_acqf
from nnbo_mip.integrations.botorch.domains import Row, ends_of


def optimize_acqf_certified(
    acq_function: Any,
    bounds: torch.Tensor,
    q: int = 1,
    num_restarts: int | None = None,
    raw_samples: int | None = None,
    options: dict[str, Any] | None = None,
    inequality_constraints: Sequence[Row] | None = None,
    equality_constraints: Sequence[Row] | None = None,
    nonlinear_inequality_constraints: object = None,
    fixed_features: Mapping[int, float] | None = None,
    post_processing_func: Callable[[torch.Tensor], torch.Tensor] | None = None,
    batch_initial_conditions: torch.Tensor | None = None,
    return_best_only: bool = True,
    gen_candidates: Any = None,
    sequential: bool = True,
    acq_function_sequence: object = None,
    *,
    discrete_dims: Mapping[int, Sequence[float]] | None = None,
    X_pending: torch.Tensor | None = None,
    maximizer: object = "auto",
    gap: float = 1e-4,
    seed: int = 0,
    timeout_sec: float | None = None,
    return_acq_values: bool = True,
    **search: Any,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return candidates (q, d) and their values, as `botorch.optim.optimize_acqf` does.

    Parameters
    ----------
    acq_function, bounds, q, inequality_constraints, equality_constraints, fixed_features
        As there and in `certify_acqf`, which returns the bound and the certificate as well.
    num_restarts, raw_samples, options, gen_candidates, **search
        Of BoTorch's own search, which is run first where `num_restarts` is given: its point is a
        start, so that no worse one is returned. Left out, it is not run.
    batch_initial_conditions : tensor, optional
        Further starts.
    sequential : bool
        True: points are chosen one after another, for all `q`.
    nonlinear_inequality_constraints, acq_function_sequence
        None.
    return_best_only : bool
        True.
    discrete_dims, X_pending, maximizer, gap, seed, post_processing_func
        As in `certify_acqf`.
    timeout_sec : float, optional
        Of all points together; the proof of each has an equal part. BoTorch's search is not
        counted.
    return_acq_values : bool
        Whether values are returned, or None in their place.
    """
    _check_asked(
        nonlinear_inequality_constraints=nonlinear_inequality_constraints is not None,
        acq_function_sequence=acq_function_sequence is not None,
        **{
            "return_best_only=False": not return_best_only,
            "sequential=False with q > 1": q > 1 and not sequential,
        },
    )
    d = len(ends_of(bounds)[0])
    own = {
        "raw_samples": raw_samples,
        "options": options,
        "gen_candidates": gen_candidates,
        **search,
    }
    given = {name: value for name, value in own.items() if value is not None}
    if given and num_restarts is None:
        raise UnsupportedError(
            f"options of BoTorch's own search must come with num_restarts; got {', '.join(given)} "
            "without it; give it, or leave these out."
        )
    shared: dict[str, Any] = {
        "inequality_constraints": inequality_constraints,
        "equality_constraints": equality_constraints,
        "fixed_features": fixed_features,
    }
    starts = [] if batch_initial_conditions is None else [batch_initial_conditions]
    if num_restarts is not None:
        point, _ = optimize_acqf(acq_function, bounds, 1, num_restarts, **given, **shared)
        starts.append(point)
    found = certify_acqf(
        acq_function,
        bounds,
        q,
        **shared,
        discrete_dims=discrete_dims,
        post_processing_func=post_processing_func,
        X_pending=X_pending,
        starts=torch.cat([one.reshape(-1, d) for one in starts]) if starts else None,
        maximizer=maximizer,
        gap=gap,
        time_limit=None if timeout_sec is None else timeout_sec / q,
        seed=seed,
    )
    return found.candidates, found.acq_value if return_acq_values else None


def _check_asked(**asked: bool) -> None:
    """Refuse what has no proof."""
    names = [name for name, is_asked in asked.items() if is_asked]
    if names:
        raise UnsupportedError(
            f"an acquisition is maximized with a proof without {', '.join(names)}; got "
            f"{'these' if names[1:] else 'this'}; use botorch.optim.optimize_acqf for that."
        )
