"""`verify`: whether a property holds of a network, with a certificate or a witness."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.budget import DEFAULT_MEMORY, as_memory_limit
from nnbo_mip.core.checks import as_seed, as_time_limit, check_choice
from nnbo_mip.core.control import ProgressOption, now
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.terms import Decision
from nnbo_mip.core.version import __version__
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.certify import certify
from nnbo_mip.exact.methods import METHODS
from nnbo_mip.exact.property_certificate import PropertyCertificate, violated_case
from nnbo_mip.exact.verification.attack import attack
from nnbo_mip.exact.verification.property import Property
from nnbo_mip.exact.verification.reduction import Reduction, reduce_case
from nnbo_mip.exact.verification.vnnlib import read_property
from nnbo_mip.exact.verify_result import VerifyResult
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.inputs import as_network

ROUNDS = ((8192, 0.2, 10.0), (1 << 17, 1.0, math.inf))
"""Points of the attacks of a round; share of the time left that it takes, and its most seconds.
What the first round leaves open is attacked with more points, and its proof begins anew."""

ATTACK_SHARE = 0.2
"""Share of a round's time in which all cases are attacked, before the first of them is proven."""


def verify(
    network: Network | str | Path,
    property: Property | str | Path,
    *,
    method: str = "auto",
    solver: str = "highs",
    time_limit: float = 60.0,
    seed: int = 0,
    progress: ProgressOption = None,
    memory_limit: float = DEFAULT_MEMORY,
) -> VerifyResult:
    """Decide whether any input of a property reaches an unsafe output.

    Parameters
    ----------
    network : Network or path
        A path names an .onnx, .onnx.gz, .npz or .json file.
    property : Property or path
        A path names a .vnnlib or .vnnlib.gz file; it describes what is unsafe.
    method, solver : str
        As in `certify`.
    time_limit : float
        Wall seconds for all cases together.
    seed : int
    progress : callable, bool or "live", optional
        As in `certify`, one case after the other.
    memory_limit : float
        GiB that each search may take, as in `certify`.

    Returns
    -------
    VerifyResult
        ``holds`` with one certificate a case, ``violated`` with a witness, or ``undecided``.

    Notes
    -----
    Strict comparisons are proven as weak ones: ``holds`` means that no input satisfies even
    these. A witness satisfies every comparison as it is written, exactly.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from nnbo_mip.exact.verification.property import Case, Property, Row
    >>> net = Network.from_layers([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])  # |x|
    >>> above = Row({}, {0: Fraction(-1)}, Fraction(-3))  # y_0 >= 3
    >>> verify(net, Property(1, 1, (Case([-2.0], [2.0], (above,)),))).answer
    'holds'
    """
    net = as_network(network)
    prop = property if isinstance(property, Property) else _read(property)
    prop.check_fits(net.n_inputs, net.n_outputs)
    options = _Options(
        check_choice("method", method, METHODS),
        solver,
        as_seed(seed),
        as_time_limit(time_limit),
        as_memory_limit(memory_limit),
    )
    return _Verification(net, prop, options, progress).run()


def _read(given: object) -> Property:
    if isinstance(given, str | Path):
        return read_property(given)
    raise InputError(
        f"property must be a Property or the path of a VNN-LIB file; got a {type(given).__name__}; "
        "write the property to a file."
    )


@dataclass(frozen=True)
class _Options:
    method: str
    solver: str
    seed: int
    time_limit: float
    memory_limit: float


class _Verification:
    """One question: the cases that have points, attacked together and proven one by one."""

    def __init__(
        self, network: Network, prop: Property, options: _Options, progress: ProgressOption
    ) -> None:
        self.network, self.property = network, prop
        self.options, self.progress = options, progress
        self.cases = [number for number, case in enumerate(prop.cases) if not case.is_empty]
        self.proofs: dict[int, Certificate] = {}
        self.counters: Counter[str] = Counter()
        self.messages: list[str] = []
        self._started, self._wall = now(), time.perf_counter()

    def run(self) -> VerifyResult:
        reductions = {n: reduce_case(self.network, self.property.cases[n]) for n in self.cases}
        for points, share, most in ROUNDS:
            x = self._round(reductions, points, min(share * self._remaining(), most))
            if x is not None:
                return self._result("violated", x)
            if len(self.proofs) == len(self.cases):
                return self._result("holds", None)
        return self._result("undecided", None)

    def _round(
        self, reductions: dict[int, Reduction], points: int, seconds: float
    ) -> FloatArray | None:
        """Attack the cases that are open, then prove them; return a witness if one is found."""
        left = [number for number in self.cases if number not in self.proofs]
        until = now() + seconds
        self.messages = []
        for number in left:
            seconds_each = ATTACK_SHARE * seconds / len(left)
            x, evaluations = attack(reductions[number], points, seconds_each, self.options.seed)
            self.counters["evaluations"] += evaluations
            if self._is_witness(x):
                return x
        for position, number in enumerate(left):
            seconds = (until - now()) / (len(left) - position)
            if seconds <= 0.0:
                self.messages.append(f"time was up before case {number + 1}")
                break
            x = self._decide(number, reductions[number], seconds)
            if x is not None:
                return x
        return None

    def _remaining(self) -> float:
        return max(0.0, self.options.time_limit - (now() - self._started))

    def _decide(self, number: int, reduction: Reduction, seconds: float) -> FloatArray | None:
        """Prove one case, or return a witness."""
        found = certify(
            reduction.network,
            reduction.domain,
            direction="minimize",
            method=self.options.method,
            solver=self.options.solver,
            time_limit=seconds,
            seed=self.options.seed,
            progress=self.progress,
            threshold=reduction.least,
            memory_limit=self.options.memory_limit,
        )
        self.counters.update(found.counters)
        if found.decided == "holds":
            self.proofs[number] = found.certificate
        elif found.decided == "violated" and self._is_witness(found.found.x):
            return found.found.x
        elif found.decided == "violated":
            self.messages.append(
                f"case {number + 1} is met up to rounding at {found.x.tolist()}, but not exactly"
            )
        else:
            self.messages.append(f"case {number + 1} is open: {found.message}")
        return None

    def _is_witness(self, x: FloatArray | None) -> bool:
        return x is not None and violated_case(self.network, self.property, x) is not None

    def _result(self, answer: Decision, x: FloatArray | None) -> VerifyResult:
        seconds = time.perf_counter() - self._wall
        outputs = None if x is None else self.network.evaluate(x[None, :])[0]
        certificate = PropertyCertificate(
            answer=answer,
            network_fingerprint=self.network.fingerprint,
            property=self.property,
            certificates=tuple(self.proofs[n] for n in self.cases) if answer == "holds" else (),
            witness=None if x is None else tuple(x.tolist()),
            outputs=None if outputs is None else tuple(outputs.tolist()),
            nnbo_mip_version=__version__,
            seconds=seconds,
        )
        return VerifyResult(
            answer=answer,
            x=None if x is None else np.array(x),
            outputs=outputs,
            case=None if x is None else violated_case(self.network, self.property, x),
            certificate=certificate,
            counters=dict(self.counters),
            message="; ".join(self.messages),
            seconds=seconds,
            unverified=self.network.unverified,
        )
