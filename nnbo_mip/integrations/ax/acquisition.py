"""`CertifiedAcquisition`: Ax's acquisition, its candidates by proof instead of restarts.

References
----------
Bakshy et al. (2018), Ax [Bakshy2018].
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch
from ax.adapter.transforms.one_hot import OH_PARAM_INFIX
from ax.core.search_space import SearchSpaceDigest
from ax.generators.torch.botorch_modular.acquisition import Acquisition
from ax.storage.botorch_modular_registry import register_acquisition
from botorch.acquisition.analytic import AnalyticAcquisitionFunction

from nnbo_mip.core.errors import UnsupportedError
from nnbo_mip.integrations.botorch.certified import CertifiedCandidates, certify_acqf
from nnbo_mip.integrations.botorch.domains import Row

OPTIONS = ("gap", "maximizer", "seed", "time_limit")
"""What Ax's optimizer options may hold; all are those of `certify_acqf`."""


class CertifiedAcquisition(Acquisition):
    """Name it where Ax takes an ``acquisition_class``, with an analytic ``botorch_acqf_class``.

    Integers stay integers and categories categories, also where Ax's own search takes them for
    continuous. Running trials are pending points, which Ax's analytic acquisitions leave out.

    Attributes
    ----------
    certified : CertifiedCandidates or None
        What was proven last; in short in the trial, under ``gen_metadata["models_used"]``.
    """

    certified: CertifiedCandidates | None = None
    X_pending: torch.Tensor | None

    def _construct_botorch_acquisition(
        self, botorch_acqf_class: Any, botorch_acqf_options: Any, model: Any
    ) -> Any:
        """Make it, pending points apart, as analytic functions take none."""
        pending = self.X_pending
        if issubclass(botorch_acqf_class, AnalyticAcquisitionFunction):
            self.X_pending = None
        try:
            return super()._construct_botorch_acquisition(
                botorch_acqf_class, botorch_acqf_options, model
            )
        finally:
            self.X_pending = pending

    def optimize(
        self,
        n: int,
        search_space_digest: SearchSpaceDigest,
        inequality_constraints: list[Row] | None = None,
        equality_constraints: list[Row] | None = None,
        fixed_features: dict[int, float] | None = None,
        rounding_func: Callable[[torch.Tensor], torch.Tensor] | None = None,
        optimizer_options: dict[str, Any] | None = None,
        candidate_set: torch.Tensor | None = None,
        sampling_strategy: Any = None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return n candidates, their values and equal weights; arguments are those of Ax."""
        options = optimizer_options or {}
        unread = [f"the optimizer option {name}" for name in options if name not in OPTIONS]
        asked = {
            "a candidate set": candidate_set is not None or sampling_strategy is not None,
            "pruned parameters": bool(self.options.get("prune_irrelevant_parameters")),
            "fidelities": bool(search_space_digest.fidelity_features),
            "outcome constraints": self._outcome_constraints is not None,
        }
        unread += [name for name, is_asked in asked.items() if is_asked]
        if unread:
            raise UnsupportedError(
                f"candidates of Ax are proven without {' and '.join(unread)}; got "
                f"{'these' if unread[1:] else 'this'}; leave it out, or use Ax's own Acquisition."
            )
        digest = search_space_digest
        groups, binary = _one_hot(digest.feature_names)
        self.certified = certify_acqf(
            self.acqf,
            torch.as_tensor(digest.bounds, dtype=self.dtype, device=self.device).t(),
            n,
            inequality_constraints=inequality_constraints,
            equality_constraints=equality_constraints,
            fixed_features=fixed_features,
            discrete_dims={**digest.discrete_choices, **dict.fromkeys(binary, (0.0, 1.0))},
            one_hot=groups,
            post_processing_func=rounding_func,
            X_pending=self.X_pending,
            **options,
        )
        self.models_used = [self.surrogate.model_name_by_metric, *map(_summary, self._proven())]
        values = torch.as_tensor(self.certified.values, dtype=self.dtype)
        return self.certified.candidates, values, torch.ones(n, dtype=self.dtype)

    def _proven(self) -> list[tuple[str, float, float, float]]:
        """Return status, value, bound and gap of each candidate."""
        found = self.certified
        assert found is not None
        each = zip(found.proposals, found.values.tolist(), found.bounds.tolist(), strict=True)
        return [(one.status, value, bound, one.gap) for one, value, bound in each]


def _summary(proven: tuple[str, float, float, float]) -> dict[str, Any]:
    """Return what is kept with a trial."""
    return {f"nnbo:{name}": x for name, x in zip(NAMES, proven, strict=True)}


NAMES = ("status", "value", "bound", "gap")


def _one_hot(names: list[str]) -> tuple[list[list[int]], list[int]]:
    """Return the inputs of each category of several levels, and those of two levels."""
    together: dict[str, list[int]] = defaultdict(list)
    for j, name in enumerate(names):
        category, infix, _ = name.partition(OH_PARAM_INFIX)
        if infix:
            together[category].append(j)
    groups = list(together.values())
    return [g for g in groups if len(g) > 1], [g[0] for g in groups if len(g) == 1]


register_acquisition(CertifiedAcquisition)
