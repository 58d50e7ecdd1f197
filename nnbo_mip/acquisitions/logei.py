"""The logarithm of expected improvement: its maximizers, without its vanishing gradients.

References
----------
Ament et al. (2023), the logarithm of expected improvement [Ament2023].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.ei import Ei


@dataclass(frozen=True)
class LogEi(Ei):
    """``log E max(f - incumbent - xi, 0)``; options as those of `Ei`."""

    name: ClassVar[str] = "logei"
    log: ClassVar[bool] = True
