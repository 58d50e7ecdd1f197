"""`PropertyCertificate`: why a property holds of a network, or is violated.

A property that holds comes with one certificate a case: of the minimum of the network that the
case reduces to. Who checks it makes these networks again, from the network and the property.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.checks import as_seed, as_time_limit
from nnbo_mip.core.control import ProgressOption
from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.core.rebuilt import Rebuilt
from nnbo_mip.core.terms import Decision
from nnbo_mip.drawing.page.html import card_of
from nnbo_mip.exact.certificates import format as certificate_format
from nnbo_mip.exact.certificates.certificate import Certificate
from nnbo_mip.exact.check import CheckResult, Verdict
from nnbo_mip.exact.verification.property import Case, Property
from nnbo_mip.exact.verification.reduction import Reduction, margin_rows, reduce_case
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.inputs import as_network

FORMAT = "nnbo_mip.property_certificate"
VERSION = 1
ANSWERS = ("holds", "violated", "undecided")

POINTS_COMPARED = 64
"""Points of each case at which a check compares the network with what the case reduces to."""


@dataclass(frozen=True, eq=False)
class PropertyCertificate(Rebuilt):
    """What was found out about a property of a network, with all it rests on.

    Parameters
    ----------
    answer : {"holds", "violated", "undecided"}
    network_fingerprint : str
    property : Property
    certificates : tuple of Certificate
        One for each case that has points, in their order; where the property holds.
    witness, outputs : tuple of float or None
        Inputs in an unsafe case, and the float64 forward pass there; where it is violated.
    nnbo_mip_version : str
    seconds : float
        Wall time; information that nobody checks, as the version is.
    digest : str
        SHA-256 of everything above; computed when left out.
    """

    answer: Decision
    network_fingerprint: str
    property: Property
    certificates: tuple[Certificate, ...]
    witness: tuple[float, ...] | None
    outputs: tuple[float, ...] | None
    nnbo_mip_version: str
    seconds: float
    digest: str = ""

    def __post_init__(self) -> None:
        if not self.digest:
            object.__setattr__(self, "digest", self.content_digest())

    # -- files ------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return what `to_json` writes."""
        content = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        content["property"] = self.property.to_dict()
        content["certificates"] = [one.to_dict() for one in self.certificates]
        return {"format": FORMAT, "version": VERSION, **content}

    def to_json(self) -> str:
        """Return the certificate as JSON; `from_json` restores every float64 exactly."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write the JSON text to a file; a crash leaves no half file."""
        from nnbo_mip.core.files import write_atomically

        write_atomically(path, self.to_json().encode())

    @staticmethod
    def from_json(text: str | bytes) -> PropertyCertificate:
        """Read what `to_json` wrote; a changed claim is read all the same, and `check` refutes."""
        try:
            data = json.loads(text)
            if data["format"] != FORMAT or data["version"] != VERSION:
                raise ValueError(f"format {data['format']!r}, version {data['version']!r}")
            if data["answer"] not in ANSWERS:
                raise ValueError(f"the answer {data['answer']!r}")
            return PropertyCertificate(
                answer=data["answer"],
                network_fingerprint=str(data["network_fingerprint"]),
                property=Property.from_dict(data["property"]),
                certificates=tuple(
                    Certificate.from_json(json.dumps(one)) for one in data["certificates"]
                ),
                witness=_numbers(data["witness"]),
                outputs=_numbers(data["outputs"]),
                nnbo_mip_version=str(data["nnbo_mip_version"]),
                seconds=float(data["seconds"]),
                digest=str(data["digest"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            if isinstance(error, FileFormatError):
                raise
            raise FileFormatError(
                "a property's certificate must be JSON that verify saved; got other content "
                f"({error}); use a file that verify saved."
            ) from error

    @staticmethod
    def load(path: str | Path) -> PropertyCertificate:
        """Read what `save` wrote."""
        return PropertyCertificate.from_json(certificate_format.read(path))

    def content_digest(self) -> str:
        """Return the SHA-256 of everything but `digest`."""
        content = self.to_dict()
        del content["digest"]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    # -- use --------------------------------------------------------------------------

    def check(
        self,
        network: Network | str | Path,
        *,
        time_limit: float = 60.0,
        seed: int = 0,
        progress: ProgressOption = None,
    ) -> CheckResult:
        """Prove the claim again: every case by other code than proved it, or the witness exactly.

        Parameters
        ----------
        network : Network or path
            The network that the claim is about.
        time_limit : float
            Wall seconds.
        seed : int
        progress : callable, bool or "live", optional
            As in `certify`.
        """
        started = time.perf_counter()
        deadline, seed = started + as_time_limit(time_limit), as_seed(seed)
        verdict, reason = self._judge(as_network(network), deadline, seed, progress)
        return CheckResult(verdict, reason, time.perf_counter() - started)

    def _judge(
        self, network: Network, deadline: float, seed: int, progress: ProgressOption
    ) -> tuple[Verdict, str]:
        if self.digest != self.content_digest():
            return "refuted", "the certificate was altered after it was written."
        if self.network_fingerprint != network.fingerprint:
            return "refuted", "the certificate is about another network: the fingerprints differ."
        self.property.check_fits(network.n_inputs, network.n_outputs)
        if self.answer == "violated":
            x = None if self.witness is None else np.array(self.witness)
            place = None if x is None else violated_case(network, self.property, x)
            if place is None:
                return "refuted", "its witness lies in no unsafe case."
            return "confirmed", f"the forward pass at the witness lies in case {place + 1}."
        if self.answer == "undecided":
            return "confirmed", "the certificate claims nothing."
        cases = [case for case in self.property.cases if not case.is_empty]
        if len(cases) != len(self.certificates):
            return "refuted", f"it has {len(self.certificates)} certificates, not {len(cases)}."
        for number, (case, certificate) in enumerate(zip(cases, self.certificates, strict=True)):
            share = (deadline - time.perf_counter()) / (len(cases) - number)
            found = self._judge_case(network, case, certificate, share, seed, progress)
            if found is not None:
                return found[0], f"case {number + 1} is {found[0]}: {found[1]}"
        return "confirmed", f"{len(cases)} cases were proven again to be out of reach."

    @staticmethod
    def _judge_case(
        network: Network,
        case: Case,
        certificate: Certificate,
        seconds: float,
        seed: int,
        progress: ProgressOption,
    ) -> tuple[Verdict, str] | None:
        """Return what is wrong with the proof of a case; None where it is confirmed."""
        reduction = reduce_case(network, case)
        if disagrees(network, case, reduction, np.random.default_rng(seed)):
            return "undecided", "the network of its rows does not score as the network does."
        above = certificate.threshold is not None and certificate.threshold >= reduction.least
        if certificate.direction != "minimize" or certificate.decided != "holds" or not above:
            return "refuted", "its certificate does not claim that the case is out of reach."
        found = certificate.check(
            reduction.network,
            reduction.domain,
            time_limit=max(seconds, 1e-3),
            seed=seed,
            progress=progress,
        )
        return None if found.confirmed else (found.verdict, found.reason)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return card_of(str(self))

    def __str__(self) -> str:
        lines = [f"Certificate of a property with {len(self.property.cases)} cases: {self.answer}"]
        if self.witness is not None:
            lines.append(f"  witness {list(self.witness)} with outputs {list(self.outputs or ())}")
        lines += [f"  case {n + 1}  {one.claim}" for n, one in enumerate(self.certificates)]
        return "\n".join(lines)


def read_certificate(path: str | Path) -> Certificate | PropertyCertificate:
    """Read a certificate of either kind from a file."""
    content = certificate_format.read(path)
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict) and found.get("format") == FORMAT:
        return PropertyCertificate.from_json(content)
    return Certificate.load(path)


def violated_case(network: Network, prop: Property, x: FloatArray) -> int | None:
    """Return the case in which x and the float64 forward pass at x lie, exactly; None: in none."""
    if x.shape != (network.n_inputs,):
        return None
    y = network.evaluate(x[None, :])[0]
    found = (number for number, case in enumerate(prop.cases) if case.contains(x, y))
    return next(found, None)


def disagrees(network: Network, case: Case, reduction: Reduction, rng: np.random.Generator) -> bool:
    """Whether the network of a case scores otherwise than its rows say, at points of the box.

    The rows are summed here as they are written, from the outputs of the network itself.
    """
    x = rng.uniform(case.lower, case.upper, (POINTS_COMPARED, network.n_inputs))
    y = network.evaluate(x)
    largest, scale = np.full(len(x), -np.inf), np.ones(len(x))
    for row in margin_rows(case):
        total = np.full(len(x), -float(row.limit))
        scale += abs(float(row.limit))
        for columns, weights in ((x, row.inputs), (y, row.outputs)):
            for index, weight in weights.items():
                total += float(weight) * columns[:, index]
                scale += abs(float(weight)) * np.abs(columns[:, index])
        largest = np.maximum(largest, total)
    if np.isneginf(largest).all():
        return False
    found = reduction.network.evaluate(x, 0)
    return not bool((np.abs(found - largest) <= 1e-6 * scale).all())


def _numbers(values: Any) -> tuple[float, ...] | None:
    return None if values is None else tuple(float(value) for value in values)
