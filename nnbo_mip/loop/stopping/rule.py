"""What a stop rule is: options that look at how a run stands, and answer with a verdict."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.core.terms import Direction
from nnbo_mip.loop.record.serialization import number_in, number_out
from nnbo_mip.loop.stopping.bounds import ImprovementBound, RegretBound


@dataclass(frozen=True)
class Verdict:
    """Whether a run should stop, and why; it is true where it should.

    Parameters
    ----------
    stops : bool
    reason : str
        One sentence, without its full stop: the number, what it is compared with, its proof.
    rule : str
        The name of the rule that decided.
    number : float
        What was compared: a bound, a value, a count; NaN where nothing was.
    kind : {"rigorous", "solver", "none"}
        How a bound was proven; ``none`` for a rule that counts.
    certificate : str
        JSON of the certificate of the bound; empty without one.
    """

    stops: bool
    reason: str
    rule: str
    number: float
    kind: str = "none"
    certificate: str = ""

    def __bool__(self) -> bool:
        return self.stops

    def __str__(self) -> str:
        return f"{'stop' if self.stops else 'go on'}: {self.reason}."

    def to_dict(self) -> dict[str, Any]:
        """Return what the journal keeps, JSON-able."""
        return {
            "stops": self.stops,
            "reason": self.reason,
            "rule": self.rule,
            "number": number_out(self.number),
            "kind": self.kind,
            "certificate": self.certificate,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Verdict:
        """Make the verdict that `to_dict` described."""
        names = ("stops", "reason", "rule", "number", "kind", "certificate")
        try:
            given = {name: stored[name] for name in names}
        except (KeyError, TypeError) as error:
            raise FileFormatError(f"a stored verdict lacks {error}.") from error
        return cls(**{**given, "number": number_in(given["number"])})


class Standing(Protocol):
    """How a run stands; what is dear is computed when it is asked for."""

    @property
    def direction(self) -> Direction:
        """``minimize`` or ``maximize``."""

    @property
    def evaluations(self) -> int:
        """That were made of what was asked; failures count, past observations do not."""

    @property
    def seconds(self) -> float:
        """Wall seconds of the calls that worked on the run."""

    @property
    def values(self) -> tuple[float | None, ...]:
        """All values that were told, in order, in the user's units; None for failures."""

    @property
    def chosen(self) -> tuple[bool, ...]:
        """Of all that was told, whether a model chose it."""

    def best_value(self) -> float | None:
        """Return the best value, or the best mean of a model where values are noisy."""

    def regret_bound(
        self, delta: float, nu: float, calibrate: bool, enough: float | None = None
    ) -> RegretBound | None:
        """Return between what the optimum lies; None before there is a model.

        Parameters
        ----------
        delta, nu, calibrate
            As those of `Regret`.
        enough : float, optional
            A regret above which nothing need be proven.
        """

    def improvement_bound(self, enough: float | None = None) -> ImprovementBound | None:
        """Return what no point's expected improvement exceeds; None before there is a model."""


class StopRule(abc.ABC):
    """A frozen dataclass of options; a pure rule."""

    name: ClassVar[str]
    """Its name in the registry."""

    certified: ClassVar[bool] = False
    """Whether it rests on a bound of an acquisition, which the model must be able to serve."""

    acquisition: ClassVar[str] = ""
    """That acquisition; it is asked of the model before anything is evaluated."""

    reads_asked: ClassVar[bool] = False
    """Whether it may be decided by what was just asked, before that is evaluated."""

    @abc.abstractmethod
    def verdict(self, run: Standing) -> Verdict:
        """Return whether the run should stop now."""

    @property
    def parts(self) -> tuple[StopRule, ...]:
        """The rules that it is made of; itself."""
        return (self,)

    def _says(self, stops: bool, reason: str, number: float) -> Verdict:
        return Verdict(stops, reason, self.name, float(number))


@dataclass(frozen=True)
class NoStop(StopRule):
    """Go on until the evaluations are made."""

    name: ClassVar[str] = "none"

    def verdict(self, run: Standing) -> Verdict:
        """Return that nothing asks to stop."""
        return self._says(False, "no stop rule was given", float("nan"))


NO_STOP = NoStop()
"""What None stands for."""
