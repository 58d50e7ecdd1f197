"""Optuna's own contract of samplers, whole but for several objectives."""

from __future__ import annotations

from collections.abc import Callable

import pytest

optuna = pytest.importorskip("optuna")

from optuna.testing.pytest_samplers import (  # noqa: E402
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)

from nnbo_mip.integrations.optuna import CertifiedSampler  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::nnbo_mip.ModelWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:optuna"),
]


class TestContract(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], optuna.samplers.BaseSampler]:
        return lambda: CertifiedSampler(seed=0, n_startup_trials=0)
