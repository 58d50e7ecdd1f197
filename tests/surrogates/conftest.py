"""Gaussian processes can climb GPyTorch's likelihood where a test asks for it."""

from __future__ import annotations

import pytest

from nnbo_mip.surrogates.gp.gp import LIKELIHOODS
from tests.surrogates.gpytorch_likelihood import gpytorch_likelihood


@pytest.fixture
def with_gpytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``backend="gpytorch"`` be one."""
    monkeypatch.setitem(LIKELIHOODS, "gpytorch", gpytorch_likelihood)
