"""Probability of improvement of a mixture, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.ei_mixture import EiMixture


@dataclass(frozen=True)
class PiMixture(EiMixture):
    """``sum_k g_k P(f_k >= incumbent + xi)``; options as those of `EiMixture`."""

    name: ClassVar[str] = "pi_mixture"
    kind: ClassVar[str] = "pi"
