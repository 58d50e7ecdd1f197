"""What is proven of a run as it stands: where the optimum lies, what improvement is left."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from nnbo_mip.core.outward import text_above
from nnbo_mip.core.terms import Direction, Kind, Status
from nnbo_mip.maximizers.base.abstract import Proposal


@dataclass(frozen=True, eq=False)
class RegretBound:
    """Between what the optimum lies, where the function lies within the model's band.

    Parameters
    ----------
    lower, upper : float
        The best value of the function over the space, in the user's units and direction. One end
        is what the best evaluated point has at worst, the other one what no point exceeds.
    direction : {"minimize", "maximize"}
    x : array, dict or None
        The evaluated point that is compared with the optimum: the best one or, where a noise was
        told, that of the best mean.
    reached : float
        The most hopeful end of the band at the best point that was found, in the user's units; the
        proven end is no nearer.
    delta : float
        Probability that is granted to the band to miss the function.
    beta : float
        Standard deviations to either side that the band has.
    calibration : float
        By which the model's deviations were multiplied before, at least 1.
    kind : {"rigorous", "solver", "none"}
        How the far end was proven over all points; it is infinite where it was not.
    status : str
        Of the search for it.
    about : str
        Over what: ``the space``, or an embedding.
    proposal : Proposal or None
        The maximizer's answer, in the model's units, with the certificate.
    """

    lower: float
    upper: float
    direction: Direction
    x: Any
    reached: float
    delta: float
    beta: float
    calibration: float
    kind: Kind
    status: Status
    about: str = "the space"
    proposal: Proposal | None = field(default=None, repr=False)

    @property
    def regret(self) -> float:
        """What no point can be better by than the best evaluated one, within the band."""
        return self.upper - self.lower

    @property
    def reached_regret(self) -> float:
        """What some point may be better by within the band: `regret` is at least this."""
        near = self.lower if self.direction == "maximize" else self.upper
        return abs(self.reached - near)

    @property
    def band(self) -> str:
        """The band, in words."""
        times = f" times {self.calibration:.3g}" if self.calibration > 1.0 else ""
        return f"{self.beta:.3g} standard deviations of the model{times}"

    @property
    def certificate_text(self) -> str:
        """JSON of the certificate of the far end; empty without one."""
        certificate = None if self.proposal is None else self.proposal.certificate
        return "" if certificate is None else certificate.to_json()

    def __iter__(self) -> Any:
        return iter((self.lower, self.upper))

    def __str__(self) -> str:
        if not math.isfinite(self.regret):
            return (
                f"nothing was proven: some point of {self.about} may be better by "
                f"{self.reached_regret:.3g}"
            )
        low, high = -float(text_above(-self.lower, 6)), text_above(self.upper, 6)
        return (
            f"the optimum lies between {low:.6g} and {high} where the function is within "
            f"{self.band}: regret at most {text_above(self.regret, 3)}, proven over {self.about}"
        )


@dataclass(frozen=True, eq=False)
class ImprovementBound:
    """What no point's expected improvement exceeds.

    Parameters
    ----------
    bound : float
        In `units`; infinite where nothing was proven.
    reached : float
        Expected improvement of the best point that was found.
    kind : {"rigorous", "solver", "none"}
    about : str
        Over what: ``the space``, or what of it.
    units : str
        What it is counted in.
    certificate_text : str
        JSON; empty without one.
    """

    bound: float
    reached: float
    kind: Kind
    about: str
    units: str
    certificate_text: str = field(default="", repr=False)
