"""Rules with a proof: the regret that is left, the improvement that can be expected.

Both need the largest value of an acquisition over the whole space. A sample of points can only
underestimate it, so that a run stops too early; here its proven bound is taken.

References
----------
Makarova et al. (2022), the regret bound as a stop rule [Makarova2022].
Srinivas et al. (2010), the width of the band, and its fifth in experiments [Srinivas2010].
Nguyen et al. (2017), expected improvement as a stop rule [Nguyen2017].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.core.checks import check_flag, check_number
from nnbo_mip.core.outward import text_above
from nnbo_mip.loop.stopping.bounds import ImprovementBound, RegretBound
from nnbo_mip.loop.stopping.rule import Standing, StopRule, Verdict

NOTHING_YET = "a model is asked when the initial points have values"


@dataclass(frozen=True)
class Regret(StopRule):
    r"""Stop where no point can be much better than the best evaluated one, within a band.

    The band is ``mean ± beta std`` with

        beta = sqrt(2 nu log(n^(d/2 + 2) pi^2 / (3 delta))),

    after n observations in d coordinates; the largest upper end over all points is proven.

    Parameters
    ----------
    tolerance : float
        Regret that is small enough, in units of y.
    delta : float
        Probability that the band misses the function, between 0 and 1.
    nu : float
        The theory of Gaussian processes needs 1 for that probability, and bands so wide that few
        runs stop; a fifth is what is used.
    calibrate : bool
        Whether standard deviations are multiplied where values that the model did not see lie
        farther from its mean than they say.
    """

    name: ClassVar[str] = "regret"
    certified: ClassVar[bool] = True
    acquisition: ClassVar[str] = "ucb"

    tolerance: float
    delta: float = 0.1
    nu: float = 0.2
    calibrate: bool = True

    def __post_init__(self) -> None:
        """Refuse options that are none."""
        check_number("tolerance", self.tolerance, above=0.0)
        check_number("delta", self.delta, above=0.0, below=1.0)
        check_number("nu", self.nu, above=0.0)
        check_flag("calibrate", self.calibrate)

    def verdict(self, run: Standing) -> Verdict:
        """Compare the proven bound."""
        found = run.regret_bound(self.delta, self.nu, self.calibrate, enough=self.tolerance)
        if found is None:
            return self._says(False, NOTHING_YET, math.nan)
        return _verdict(
            self,
            self.tolerance,
            found,
            found.reached_regret,
            found.regret,
            f"some point may be better by {found.reached_regret:.3g} within the model's band, "
            f"with a tolerance of {self.tolerance:g}",
            f"the regret is at most {text_above(found.regret, 3)}, with a tolerance of "
            f"{self.tolerance:g}: no point of {found.about} exceeds the best evaluated one by "
            f"more while the function lies within {found.band}",
        )


@dataclass(frozen=True)
class LittleImprovement(StopRule):
    """Stop where no point's expected improvement is above a tolerance.

    Parameters
    ----------
    tolerance : float
        In units of y.

    Notes
    -----
    Where a run's own acquisition is expected improvement its proven bound is taken, and nothing
    is searched once more.
    """

    name: ClassVar[str] = "ei"
    certified: ClassVar[bool] = True
    acquisition: ClassVar[str] = "ei"
    reads_asked: ClassVar[bool] = True

    tolerance: float

    def __post_init__(self) -> None:
        """Refuse a tolerance that is none."""
        check_number("tolerance", self.tolerance, above=0.0)

    def verdict(self, run: Standing) -> Verdict:
        """Compare the proven bound."""
        found = run.improvement_bound(enough=self.tolerance)
        if found is None:
            return self._says(False, NOTHING_YET, math.nan)
        return _verdict(
            self,
            self.tolerance,
            found,
            found.reached,
            found.bound,
            f"some point's expected improvement is {found.reached:.3g} {found.units}, with a "
            f"tolerance of {self.tolerance:g}",
            f"no point of {found.about} has an expected improvement above "
            f"{text_above(found.bound, 3)} {found.units}, with a tolerance of "
            f"{self.tolerance:g}",
        )


def _verdict(
    rule: StopRule,
    tolerance: float,
    found: RegretBound | ImprovementBound,
    reached: float,
    bound: float,
    too_much: str,
    little: str,
) -> Verdict:
    """Compare what was reached, and then what was proven, with a tolerance."""
    if reached > tolerance or not math.isfinite(bound):
        return Verdict(False, too_much, rule.name, reached)
    manner = "rigorously" if found.kind == "rigorous" else "within a solver's counted tolerances"
    said = f"{little}; proven {manner}"
    return Verdict(bound <= tolerance, said, rule.name, bound, found.kind, found.certificate_text)
