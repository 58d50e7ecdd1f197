"""Heads and posteriors as plain data, and back; anything else is refused in a sentence.

A head is the name of its class and its numbers:

    {"class": "ExpectedImprovement", "threshold": 1.5, "log": false}

A posterior, beside its network, is a kind, numbers and matrices:

    {"kind": "smooth", "numbers": {"l_min": 0.001, "l_max": 1.5, "factor": 1.0}, "matrices": {}}

with the matrices under their names, or their SHA-256 where only the identity is wanted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.errors import FileFormatError, InputError, UnsupportedError
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.constrained import ConstrainedImprovement
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.entropy import MaxValueEntropy
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.noisy import AugmentedEI, QuantileImprovement
from nnbo_mip.scores.functions.probability import LogProbability, ProbabilityOfImprovement
from nnbo_mip.scores.functions.sampled_incumbents import NoisyImprovement
from nnbo_mip.scores.posteriors.compiled import (
    MembersPosterior,
    PlainPosterior,
    Posterior,
    QuadraticPosterior,
    SmoothPosterior,
)
from nnbo_mip.scores.posteriors.joint import JointPosterior
from nnbo_mip.scores.posteriors.pairs import PairwisePosterior
from nnbo_mip.scores.posteriors.process import ProcessPosterior
from nnbo_mip.scores.posteriors.spherical import SphericalMembers, SphericalPosterior
from nnbo_mip.scores.posteriors.tanh import TanhFeatures, TanhMembers
from nnbo_mip.scores.posteriors.trees import TreePosterior

HEADS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        AugmentedEI,
        ConstrainedImprovement,
        EmpiricalImprovement,
        ExpectedImprovement,
        LinearHead,
        LogProbability,
        MaxValueEntropy,
        NoisyImprovement,
        ProbabilityOfImprovement,
        QuantileImprovement,
    )
}

POSTERIORS: dict[str, type[Any]] = {
    "plain": PlainPosterior,
    "smooth": SmoothPosterior,
    "members": MembersPosterior,
    "quadratic": QuadraticPosterior,
    "tanh members": TanhMembers,
    "tanh features": TanhFeatures,
    "gaussian process": ProcessPosterior,
    "trees": TreePosterior,
    "spherical": SphericalPosterior,
    "spherical members": SphericalMembers,
    "joint": JointPosterior,
    "pairwise": PairwisePosterior,
}

REMEDY = "use what nnbo_mip wrote"


def head_to_dict(head: Head) -> dict[str, Any]:
    """Return the class of a head and its numbers."""
    name = type(head).__name__
    if HEADS.get(name) is not type(head):
        raise UnsupportedError(
            f"a head must be one of {', '.join(HEADS)} to be stored; got a {name}; use one of "
            "them, or do without a certificate."
        )
    numbers = {entry.name: getattr(head, entry.name) for entry in _stored(HEADS[name])}
    return {"class": name, **{key: _plain(value) for key, value in numbers.items()}}


def head_from_dict(data: object) -> Head:
    """Make the head that `head_to_dict` described; anything else raises FileFormatError."""
    if not isinstance(data, Mapping):
        raise FileFormatError(f"a head must be a mapping; got {data!r:.80}; {REMEDY}.")
    numbers = dict(data)
    name = numbers.pop("class", None)
    if not isinstance(name, str) or name not in HEADS:
        raise FileFormatError(
            f"the class of a head must be one of {', '.join(HEADS)}; got {name!r:.80}; {REMEDY}."
        )
    _check_names(f"a {name}", numbers, HEADS[name])
    try:
        head: Head = HEADS[name](**numbers)
    except InputError as error:
        raise FileFormatError(f"the numbers of a head are wrong: {error}") from error
    return head


def posterior_parts(posterior: Posterior) -> tuple[str, dict[str, Any], dict[str, FloatArray]]:
    """Return kind, numbers and matrices of a posterior."""
    kind = next((name for name, known in POSTERIORS.items() if known is type(posterior)), None)
    if kind is None:
        raise UnsupportedError(
            f"a posterior must be one of {', '.join(POSTERIORS)} to be stored; got a "
            f"{type(posterior).__name__}; use one of them, or do without a certificate."
        )
    numbers: dict[str, Any] = {}
    matrices: dict[str, FloatArray] = {}
    if isinstance(posterior, JointPosterior):
        for k, part in enumerate(posterior.parts):
            own_kind, own_numbers, own_matrices = posterior_parts(part)
            numbers[str(k)] = {"kind": own_kind, "numbers": own_numbers}
            matrices |= {f"{k}.{name}": matrix for name, matrix in own_matrices.items()}
        return kind, numbers, matrices
    for entry in _stored(POSTERIORS[kind]):
        value = getattr(posterior, entry.name)
        if isinstance(value, np.ndarray):
            matrices[entry.name] = value
        elif entry.name != "network":
            numbers[entry.name] = _plain(value)
    return kind, numbers, matrices


def posterior_to_dict(posterior: Posterior) -> dict[str, Any]:
    """Return what tells a posterior from others on the same network: matrices by their SHA-256.

    The parts of a joint one have their networks named by fingerprints.
    """
    kind, numbers, matrices = posterior_parts(posterior)
    if isinstance(posterior, JointPosterior):
        for k, part in enumerate(posterior.parts):
            network = network_of(part)
            numbers[str(k)]["network"] = None if network is None else network.fingerprint
    digests = {name: matrix_digest(matrix) for name, matrix in matrices.items()}
    return {"kind": kind, "numbers": numbers, "matrices": digests}


def network_of(posterior: Posterior) -> Network | None:
    """Return the network that a posterior reads, None where it is a function of another kind."""
    network = getattr(posterior, "network", None)
    return network if isinstance(network, Network) else None


def posterior_from_parts(
    network: Network | None, kind: object, numbers: object, matrices: Mapping[str, FloatArray]
) -> Posterior:
    """Make a posterior of its parts; what does not fit raises FileFormatError."""
    if not isinstance(kind, str) or kind not in POSTERIORS:
        raise FileFormatError(
            f"the kind of a posterior must be one of {', '.join(POSTERIORS)}; got {kind!r:.80}; "
            f"{REMEDY}."
        )
    if not isinstance(numbers, Mapping):
        raise FileFormatError(
            f"the numbers of a posterior must be a mapping; got {numbers!r:.80}; {REMEDY}."
        )
    if kind == "joint":
        return _joint_from_parts(numbers, matrices)
    given = {**numbers, **matrices}
    if network is not None:
        given["network"] = network
    _check_names(f"a posterior of kind {kind}", given, POSTERIORS[kind])
    try:
        posterior: Posterior = POSTERIORS[kind](**given)
    except (InputError, UnsupportedError) as error:
        raise FileFormatError(f"the parts of the posterior do not fit: {error}") from error
    return posterior


def _joint_from_parts(
    numbers: Mapping[str, Any], matrices: Mapping[str, FloatArray]
) -> JointPosterior:
    """Make a joint posterior, whose parts read no networks."""
    parts = []
    for k in range(len(numbers)):
        described = numbers.get(str(k))
        if not isinstance(described, Mapping) or set(described) != {"kind", "numbers"}:
            raise FileFormatError(
                f"part {k} of a joint posterior must have a kind and numbers; got "
                f"{described!r:.80}; {REMEDY}."
            )
        start = f"{k}."
        own = {n.removeprefix(start): m for n, m in matrices.items() if n.startswith(start)}
        parts.append(posterior_from_parts(None, described["kind"], described["numbers"], own))
    try:
        return JointPosterior(tuple(parts))
    except InputError as error:
        raise FileFormatError(f"the parts of the posterior do not fit: {error}") from error


def matrix_digest(matrix: FloatArray) -> str:
    """Return the SHA-256 of a matrix's shape and numbers."""
    digest = hashlib.sha256(b"nnbo_mip matrix 1")
    digest.update(np.array(matrix.shape, dtype=np.int64).tobytes())
    digest.update((np.ascontiguousarray(matrix, dtype=np.float64) + 0.0).tobytes())
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    """Return NumPy's numbers as Python's, and whole numbers as floats."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return value if isinstance(value, str) else float(value) + 0.0


def _stored(kind: type[Any]) -> list[Field[Any]]:
    """Return the fields that make a head or a posterior what it is: those that are compared."""
    return [entry for entry in fields(kind) if entry.compare]


def _check_names(what: str, given: Mapping[str, Any], kind: type[Any]) -> None:
    entries = _stored(kind)
    required = {entry.name for entry in entries if entry.default is MISSING}
    missing, unknown = required - set(given), set(given) - {entry.name for entry in entries}
    if missing or unknown:
        raise FileFormatError(
            f"{what} has a fixed set of numbers; missing {sorted(missing)}, unknown "
            f"{sorted(map(str, unknown))!r:.80}; {REMEDY}."
        )
