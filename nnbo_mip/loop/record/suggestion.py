"""`Suggestion`: what `ask` returns."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.core.outward import text_above
from nnbo_mip.drawing.page.html import card_of
from nnbo_mip.exact.search.result import HasResult, Proof, SearchResult
from nnbo_mip.loop.record.explanation import Explanation
from nnbo_mip.loop.record.region_box import RegionBox
from nnbo_mip.loop.record.serialization import number_in, number_out, point_in, point_out
from nnbo_mip.loop.record.shown import number_text, point_text
from nnbo_mip.maximizers.base.abstract import Proposal

if TYPE_CHECKING:
    from nnbo_mip.exact.certificates.certificate import Certificate
    from nnbo_mip.exact.check import CheckResult

OF_SEARCH = (
    "status",
    "value",
    "bound",
    "gap",
    "kind",
    "counters",
    "time_limited",
    "message",
)
"""What the journal keeps of the search result under its own name, beside `engine` and `head`."""

OF_STEP = (
    "x",
    "maximizer",
    "mean",
    "std",
    "c",
    "eps",
    "doublings",
    "region",
    "seconds",
    "fit_seconds",
    "evaluations",
    "z",
)
"""What it keeps of the rest."""

KEPT = (*OF_SEARCH, "engine", "head", *OF_STEP)

NUMBERS = ("value", "bound", "gap", "mean", "std", "c", "eps", "seconds", "fit_seconds")
"""Infinities and NaN among them are written as texts."""


@dataclass(frozen=True, eq=False)
class Suggestion(HasResult):
    """A point to evaluate, and what was proven of it.

    Parameters
    ----------
    x : array (d,) or dict
        In the user's units: an array for a box, a dict for named dimensions.
    found : SearchResult
        Score, bound, gap and work, of what `x` is encoded to, without the point itself, which is
        `x`. Its status is ``initial`` for a point that no model chose, whose score is NaN. Read
        them as `value`, `bound`, `gap`, `status`, `head`, `message`, ….
    number : int
        Of the suggestion in its run, from 0.
    key : str
        Its name in the journal.
    maximizer : str
        Who was asked.
    mean, std : float
        What the model expects at `x`, in the user's units and direction: the middle, and half the
        width of the band of one deviation to either side; NaN where it does not say.
    c : float
        By which the uncertainty was multiplied.
    eps : float
        Distance that was asked for from every known point; 0 for none.
    doublings : int
        Of c, until that distance was kept.
    region : RegionBox or None
        The box that `bound` and `gap` are about; None for the whole space.
    seconds, fit_seconds : float
        Wall time of the maximization, and of the training before it.
    evaluations : int
        Points at which the score was computed.
    z : (e,) array or None
        The point of the embedding whose image x is; value, bound, gap, mean, std and the
        certificate are then about the embedding's box, [-1, 1]^e. None without an embedding.
    certificate_text : str
        JSON of the certificate, empty without one.
    proposal : Proposal or None
        The maximizer's own answer, in model coordinates, with the function that it is about;
        None where the suggestion comes from the journal.
    why : callable or None
        What `explain` asks: it knows the model of the step. None as for `proposal`, and in copies.
    """

    x: Any
    found: SearchResult
    number: int = 0
    key: str = ""
    maximizer: str = ""
    mean: float = math.nan
    std: float = math.nan
    c: float = 1.0
    eps: float = 0.0
    doublings: int = 0
    region: RegionBox | None = None
    seconds: float = 0.0
    fit_seconds: float = 0.0
    evaluations: int = 0
    z: FloatArray | None = None
    certificate_text: str = field(default="", repr=False)
    proposal: Proposal | None = field(default=None, repr=False)
    why: Callable[[Suggestion], Explanation] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        for point in (self.x, self.z):
            if isinstance(point, np.ndarray):
                point.setflags(write=False)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[type, dict[str, Any]]]:
        """Name what a copy is made of: all but the model, which may hold what cannot be sent."""
        build, (kind, values) = super().__reduce__()
        return build, (kind, {**values, "why": None})

    @staticmethod
    def initial(x: Any, z: FloatArray | None = None, message: str = "") -> Suggestion:
        """Return a point that no model chose."""
        found = SearchResult(status="initial", value=math.nan, message=message)
        return Suggestion(x=x, z=z, found=found)

    @property
    def is_initial(self) -> bool:
        """Whether no model chose it."""
        return self.status == "initial"

    @cached_property
    def certificate(self) -> Certificate | None:
        """What was proven, to be saved and checked again; None where nothing was."""
        if not self.certificate_text:
            return None
        from nnbo_mip.exact.certificates.certificate import Certificate

        return Certificate.from_json(self.certificate_text)

    def check(self, time_limit: float = 60.0) -> CheckResult:
        """Prove the certificate's claim again, by other code than made it."""
        if self.proposal is None:
            raise InputError(
                "a suggestion can be checked where its model is at hand, so as ask returned it; "
                f"number {self.number} "
                f"{'is an initial point' if self.is_initial else 'was read from the journal'}; "
                "check its certificate with the objective that it is about."
            )
        return self.proposal.check(time_limit=time_limit)

    def explain(self) -> Explanation:
        """Return why this point, to be printed: what it promises, and what any other could.

        What the model thinks there and at the best point, on which known points it leans, and
        which limits the point touches, are read off the model that chose it.
        """
        if self.why is None:
            raise InputError(
                "a suggestion can be explained where its model is at hand, so as ask returned it; "
                f"number {self.number} "
                f"{'is an initial point' if self.is_initial else 'was read from the record'}; "
                "print it for what was recorded."
            )
        return self.why(self)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return card_of(f"Suggestion {self.number + 1}\n{str(self).replace('x = ', 'x ', 1)}")

    def to_dict(self) -> dict[str, Any]:
        """Return what the journal keeps, JSON-able: all but number, key, proposal and model."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in KEPT}
        plain |= {name: number_out(plain[name]) for name in NUMBERS}
        plain |= {"x": point_out(self.x), "counters": dict(self.counters)}
        plain["z"] = None if self.z is None else self.z.tolist()
        plain["region"] = None if self.region is None else self.region.to_dict()
        text = self.certificate_text
        return plain | {"certificate": json.loads(text) if text else None}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], number: int, key: str) -> Suggestion:
        """Make the suggestion that `to_dict` described."""
        try:
            plain = {name: stored[name] for name in KEPT}
            plain |= {name: number_in(plain[name]) for name in NUMBERS}
            certificate = stored["certificate"]
        except (KeyError, TypeError, OverflowError) as error:
            raise FileFormatError(f"a stored suggestion lacks {error}.") from error
        found = {name: plain.pop(name) for name in OF_SEARCH}
        proof, score = Proof.stored(plain.pop("engine")), plain.pop("head")
        text = "" if certificate is None else json.dumps(certificate)
        plain |= {"x": point_in(plain["x"]), "certificate_text": text}
        if plain["z"] is not None:
            plain["z"] = point_in(plain["z"])
        if plain["region"] is not None:
            plain["region"] = RegionBox.from_dict(plain["region"])
        result = SearchResult(**found, proof=proof, score=score)
        return cls(**plain, found=result, number=number, key=key)

    def __str__(self) -> str:
        lines = [f"x = {point_text(self.x)}"]
        if not self.is_initial:
            if not math.isnan(self.mean):
                band = "" if math.isnan(self.std) else f" ± {self.std:.2g}"
                lines.append(f"  model   expects {number_text(self.mean)}{band} there")
            lines.append(f"  promise {self.head} {self.value:.6g}; {self._proven()}")
            lines.append(
                f"  time    fit {self.fit_seconds:.2f} s, {self.maximizer} {self.seconds:.2f} s"
            )
        lines.append(f"  status  {self.status}{': ' + self.message if self.message else ''}")
        return "\n".join(lines)

    def _proven(self) -> str:
        """Say what no other point exceeds, and over what that was proven."""
        embedded = "" if self.z is None else f"in an embedding of {len(self.z)} coordinates"
        if not math.isfinite(self.bound):
            return "no bound was proven" + (f", {embedded}" if embedded else "")
        about = embedded or "over the whole space"
        if self.region is not None:
            about = f"within a region whose sides are {self.region.length:.3g} of all"
            if self.region.moving < self.region.coordinates:
                about += f", in {self.region.moving} of {self.region.coordinates} coordinates"
            about += f", {embedded}" if embedded else ""
        if self.head == "ts":
            about += ", of one function that was drawn from the model"
        return f"proven: at most {text_above(self.bound, 6)} {about}, gap {self.gap:.3g}"
