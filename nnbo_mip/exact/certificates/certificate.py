"""`Certificate`: what was proven, by whom, about which function on which set.

A certificate is a claim, not a proof. Its digest tells whether it was changed since it
was written, but anybody can write another one; `Certificate.check` therefore proves the
claim again, by other code than made it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.core.rebuilt import Rebuilt
from nnbo_mip.core.terms import Decision, Direction, Kind, Output, Status, decide
from nnbo_mip.drawing.page.html import card_of
from nnbo_mip.exact.certificates import format as certificate_format
from nnbo_mip.exact.search.result import Proof

if TYPE_CHECKING:
    from nnbo_mip.core.control import ProgressOption
    from nnbo_mip.exact.check import CheckResult
    from nnbo_mip.network.graph.graph import Network
    from nnbo_mip.scores.objective import Objective


@dataclass(frozen=True)
class Certificate(Rebuilt):
    """The statement "no admissible point scores beyond `bound`", with all it rests on.

    Parameters
    ----------
    direction : {"maximize", "minimize"}
        Which end of the function was sought; under ``minimize``, `bound` is a lower bound.
    status : {"optimal", "feasible", "heuristic", "infeasible"}
        What value, bound and the requested gap amount to.
    kind : {"rigorous", "solver", "none"}
        ``rigorous``: proven in outward-rounded or exact arithmetic; ``solver``: true up to
        the tolerances of a solver, which `bound` already contains; ``none``: not proven.
    value : float
        Float64 forward pass at `x`; infinite without a point.
    bound : float
        The proven bound; infinite without a proof.
    gap : float
        Distance of value and bound, or of their logarithms for EI and PI; NaN where no
        admissible point exists.
    x : tuple of float or None
        Raw coordinates of the best point found, one a number and one a level of a category.
    requested_gap : float
        ``optimal`` means ``gap <= requested_gap * max(1, |value|)`` for networks and for heads
        that are linear; for other heads see `certificate_gap`.
    row_slack : float
        Rows ``A x <= b`` count as satisfied within ``row_slack * (1 + |b|)``.
    output : str, mapping of str to float, or None
        The output that was optimized, or the weights of a sum of them; None: the only one.
    engine : str
        Who proved the bound.
    solver, solver_version : str or None
        The solver behind the engine, if any.
    nnbo_mip_version : str
        The version that wrote the certificate.
    network_fingerprint, objective_fingerprint : str
        SHA-256 of the network and of the one output, or the objective, that was optimized.
    space : mapping
        The space, whole, as its ``to_dict`` gives it.
    space_fingerprint : str
        SHA-256 of its domain in raw coordinates.
    float32_difference : float or None
        Largest difference to the framework's float32 forward pass that the importer saw.
    seed : int
        Seed of the search.
    seconds : float
        Wall time of the search.
    counters : mapping of str to int
        Work done: boxes, nodes, ….
    sub_certificates : tuple of Certificate
        Claims about the same network and space from which this one follows.
    head : mapping or None
        Class and numbers of the head that was maximized; None for an output of the network.
    posterior : mapping or None
        Kind, numbers and SHA-256 of the matrices of the posterior that the head reads.
    version : int
        Version of the file's format, which says how fingerprints are computed: 2, or 1 for
        certificates of earlier releases.
    unverified : str or None
        What is said of a network that was imported without comparison; see `Network`.
    threshold : float or None
        What the search had to decide, and ended at: whether any point scores beyond it.
    digest : str
        SHA-256 of everything above; computed when left out.

    Notes
    -----
    `engine`, `solver`, `solver_version`, `nnbo_mip_version`, `float32_difference`, `unverified`,
    `seed`, `seconds` and `counters` are information: `check` neither proves nor repeats them.
    """

    direction: Direction
    status: Status
    kind: Kind
    value: float
    bound: float
    gap: float
    x: tuple[float, ...] | None
    requested_gap: float
    row_slack: float
    output: Output
    engine: str
    solver: str | None
    solver_version: str | None
    nnbo_mip_version: str
    network_fingerprint: str
    objective_fingerprint: str
    space: Mapping[str, Any]
    space_fingerprint: str
    float32_difference: float | None
    seed: int
    seconds: float
    counters: Mapping[str, int] = field(default_factory=dict)
    sub_certificates: tuple[Certificate, ...] = ()
    head: Mapping[str, Any] | None = None
    posterior: Mapping[str, Any] | None = None
    version: int = certificate_format.VERSION
    unverified: str | None = None
    threshold: float | None = None
    digest: str = ""

    def __post_init__(self) -> None:
        if self.x is not None:
            object.__setattr__(self, "x", tuple(float(number) for number in self.x))
        if isinstance(self.output, Mapping):
            object.__setattr__(self, "output", MappingProxyType(dict(self.output)))
        object.__setattr__(self, "space", MappingProxyType(dict(self.space)))
        object.__setattr__(self, "counters", MappingProxyType(dict(self.counters)))
        object.__setattr__(self, "sub_certificates", tuple(self.sub_certificates))
        for name in ("head", "posterior"):
            if (content := getattr(self, name)) is not None:
                object.__setattr__(self, name, MappingProxyType(dict(content)))
        if not self.digest:
            object.__setattr__(self, "digest", self.content_digest())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    # -- files ------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return what `to_json` writes, format and version first; infinities and NaN as text."""
        content = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        content["sub_certificates"] = [sub.to_dict() for sub in self.sub_certificates]
        content = {
            certificate_format.KEYS.get(name, name): _encoded(value)
            for name, value in content.items()
            if value is not None or name not in certificate_format.OPTIONAL
        }
        return {"format": certificate_format.FORMAT, "version": content.pop("version"), **content}

    def to_json(self) -> str:
        """Return the certificate as JSON; `from_json` restores every float64 exactly."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write the JSON text to a file; a crash leaves no half file."""
        from nnbo_mip.core.files import write_atomically

        write_atomically(path, self.to_json().encode())

    @classmethod
    def from_json(cls, text: str | bytes) -> Certificate:
        """Read what `to_json` wrote; FileFormatError says what else is wrong.

        A changed claim is read all the same, and `check` refutes it.
        """
        return cls(**certificate_format.decode(text, cls))

    @classmethod
    def load(cls, path: str | Path) -> Certificate:
        """Read what `save` wrote."""
        text = certificate_format.read(path)
        try:
            return cls.from_json(text)
        except FileFormatError as error:
            raise FileFormatError(f"{path} holds no certificate: {error}") from error

    def content_digest(self) -> str:
        """Return the SHA-256 of everything but `digest`."""
        content = self.to_dict()
        del content["digest"]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    # -- use --------------------------------------------------------------------------

    def check(
        self,
        network: Network | Objective | str | Path,
        space: object = None,
        *,
        time_limit: float = 60.0,
        seed: int = 0,
        progress: ProgressOption = None,
    ) -> CheckResult:
        """Prove the claim again, by other code than made it.

        Parameters
        ----------
        network : Network, Objective or path
            The network the claim is about; for the claim about a head, its `Objective`.
        space : optional
            The space the claim should be about, in any form that `certify` takes; the one
            stored in the certificate when left out. Where both have names, these count as well.
        time_limit : float
            Wall seconds for the proof.
        seed : int
            Seed of the search for counterexamples.
        progress : callable, bool or "live", optional
            As in `certify`; the bound that is reported is the one that is claimed.

        Returns
        -------
        CheckResult
            ``confirmed``, ``refuted`` or ``undecided``, with the reason.
        """
        from nnbo_mip.exact.check import check

        return check(self, network, space, time_limit=time_limit, seed=seed, progress=progress)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return card_of(str(self))

    def __str__(self) -> str:
        about = [] if self.head is None else [f"  head    {self.head_text}"]
        lines = [
            f"Certificate ({self.kind}): {self.claim}",
            *about,
            f"  status  {self.status} (requested gap {self.requested_gap:g})",
            f"  proof   {self.prover}, nnbo_mip {self.nnbo_mip_version}, {self.seconds:.2f} s",
            f"  network {self.network_fingerprint[:16]}…, space {self.space_fingerprint[:16]}…",
        ]
        if self.decided is not None:
            lines.append(f"  decided {self.decided}: {self.decision}")
        if self.unverified:
            lines.append(f"  warning {self.unverified}")
        return "\n".join(lines)

    @property
    def claim(self) -> str:
        """The claim, as a sentence."""
        if self.status == "infeasible":
            return "no admissible point exists."
        found = "no admissible point was found" if self.x is None else f"{self.value!r} was found"
        if math.isinf(self.bound):
            return f"{found}; nothing is claimed about other points."
        beyond = "above" if self.direction == "maximize" else "below"
        return f"no admissible point scores {beyond} {self.bound!r}; {found}."

    @property
    def decided(self) -> Decision | None:
        """What value and bound decide about the threshold; None where there is none."""
        if self.threshold is None:
            return None
        return decide(self.direction, self.value, self.bound, self.threshold)

    @property
    def decision(self) -> str:
        """What is decided about the threshold, in words; empty where there is none."""
        if self.threshold is None:
            return ""
        beyond = "above" if self.direction == "maximize" else "below"
        return {
            "holds": f"no admissible point scores {beyond} {self.threshold!r}",
            "violated": f"the point found scores {beyond} {self.threshold!r}",
            "undecided": f"no point that scores {beyond} {self.threshold!r} was found, "
            "nor was it proven that there is none",
        }[decide(self.direction, self.value, self.bound, self.threshold)]

    @property
    def head_text(self) -> str:
        """The head as Python writes it, with its posterior; empty for an output of the network."""
        if self.head is None:
            return ""
        numbers = ", ".join(f"{k}={v!r}" for k, v in self.head.items() if k != "class")
        kind = "unknown" if self.posterior is None else self.posterior.get("kind", "unknown")
        return f"{self.head.get('class', 'unknown')}({numbers}) on a {kind} posterior"

    @property
    def proof(self) -> Proof:
        """Who proved the bound, as far as it is written down."""
        stored = Proof.stored(self.engine)
        if self.solver is None or stored.solved_by[0] is not None:
            return stored
        return replace(stored, solver=self.solver, version=self.solver_version or "")

    @property
    def prover(self) -> str:
        """Engine, solver and version in a few words."""
        if self.solver is None:
            return self.engine
        version = f" {self.solver_version}" if self.solver_version else ""
        return f"{self.engine} with {self.solver}{version}"


def _encoded(value: Any) -> Any:
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        return {key: _encoded(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_encoded(entry) for entry in value]
    return value
