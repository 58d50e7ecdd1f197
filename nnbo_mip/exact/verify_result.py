"""`VerifyResult`: what `verify` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.rebuilt import Rebuilt
from nnbo_mip.core.terms import Decision
from nnbo_mip.drawing.page.html import card_of
from nnbo_mip.exact.property_certificate import PropertyCertificate

VERDICTS = {"holds": "unsat", "violated": "sat", "undecided": "unknown"}
"""What the verification competition calls the answers."""

SHOWN = 8


@dataclass(frozen=True, eq=False)
class VerifyResult(Rebuilt):
    """Whether a property holds, and why.

    Parameters
    ----------
    answer : {"holds", "violated", "undecided"}
    x : (d,) array or None
        The witness: inputs in an unsafe case.
    outputs : (m,) array or None
        Float64 forward pass at the witness.
    case : int or None
        Index of the case that the witness lies in.
    certificate : PropertyCertificate
        Save it, check it.
    counters : mapping of str to int
        Work done in all cases.
    message : str
        What was left open; empty where nothing was.
    seconds : float
        Wall time.
    unverified : str
        What is said of a network that was imported without comparison.
    """

    answer: Decision
    x: FloatArray | None
    outputs: FloatArray | None
    case: int | None
    certificate: PropertyCertificate
    counters: Mapping[str, int]
    message: str
    seconds: float
    unverified: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "counters", MappingProxyType(dict(self.counters)))

    @property
    def verdict(self) -> str:
        """``unsat``, ``sat`` or ``unknown``, as the verification competition says it."""
        return VERDICTS[self.answer]

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return card_of(str(self))

    def __str__(self) -> str:
        lines = [f"{self.answer} ({self.verdict}): {self._sentence()}"]
        if self.x is not None and self.outputs is not None:
            lines.append(f"  x       {_shown(self.x)}")
            lines.append(f"  outputs {_shown(self.outputs)}")
        work = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in self.counters.items())
        lines.append(f"  work    {self.seconds:.2f} s ({work})")
        if self.message and self.answer == "undecided":
            lines.append(f"  open    {self.message}")
        if self.unverified:
            lines.append(f"  warning {self.unverified}")
        return "\n".join(lines)

    def _sentence(self) -> str:
        if self.answer == "violated" and self.case is not None:
            return f"the forward pass at x lies in unsafe case {self.case + 1}."
        if self.answer == "undecided":
            return "no input in an unsafe case was found, nor was it proven that there is none."
        kinds = {one.kind for one in self.certificate.certificates}
        manner = "within counted solver tolerances" if "solver" in kinds else "rigorously"
        count = len(self.certificate.certificates)
        if not count:
            return "no case of the property has any inputs."
        cases = "the unsafe case" if count == 1 else f"any of {count} unsafe cases"
        return f"no input reaches {cases}, proven {manner}."


def _shown(numbers: FloatArray) -> str:
    shown = ", ".join(repr(number) for number in numbers[:SHOWN].tolist())
    return f"[{shown}, …]" if len(numbers) > SHOWN else f"[{shown}]"
