"""The share of members or draws that improve.

References
----------
Aryan (2020), improvement counted over an ensemble [Aryan2020].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.acquisitions.empirical_ei import EmpiricalEi


@dataclass(frozen=True)
class EmpiricalPi(EmpiricalEi):
    """``(1 / M) #{k : f_k >= incumbent + xi}``; options as those of `EmpiricalEi`."""

    name: ClassVar[str] = "empirical_pi"
    kind: ClassVar[str] = "pi"
