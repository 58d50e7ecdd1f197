"""Bayesian optimization that proves which point is next; the exact maximum of ReLU networks.

>>> import nnbo_mip as nm
>>> net = nm.Network.from_layers([([[2.0], [-1.0]], [1.0, 3.0]), ([[1.0, 0.5]], [0.0])])
>>> result = nm.certify(net, nm.Space.box([-1.0], [2.0]))
>>> result.value, result.status
(5.5, 'optimal')
>>> result.certificate.check(net).verdict
'confirmed'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nnbo_mip import acquisitions as acquisitions
    from nnbo_mip import maximizers as maximizers
    from nnbo_mip import network as network
    from nnbo_mip import problems as problems
    from nnbo_mip import scores as scores
    from nnbo_mip import surrogates as surrogates
    from nnbo_mip.core.control import Progress as Progress
    from nnbo_mip.core.errors import EvaluationWarning as EvaluationWarning
    from nnbo_mip.core.errors import FileFormatError as FileFormatError
    from nnbo_mip.core.errors import InputError as InputError
    from nnbo_mip.core.errors import JournalError as JournalError
    from nnbo_mip.core.errors import JournalWarning as JournalWarning
    from nnbo_mip.core.errors import MissingExtraError as MissingExtraError
    from nnbo_mip.core.errors import ModelWarning as ModelWarning
    from nnbo_mip.core.errors import NnboError as NnboError
    from nnbo_mip.core.errors import NnboWarning as NnboWarning
    from nnbo_mip.core.errors import SolverError as SolverError
    from nnbo_mip.core.errors import TrainingError as TrainingError
    from nnbo_mip.core.errors import UncertifiedWarning as UncertifiedWarning
    from nnbo_mip.core.errors import UnsupportedError as UnsupportedError
    from nnbo_mip.core.version import __version__ as __version__
    from nnbo_mip.exact.certificates.certificate import Certificate as Certificate
    from nnbo_mip.exact.certify import certify as certify
    from nnbo_mip.exact.certify_result import CertifyResult as CertifyResult
    from nnbo_mip.exact.check import CheckResult as CheckResult
    from nnbo_mip.exact.property_certificate import PropertyCertificate as PropertyCertificate
    from nnbo_mip.exact.verification.property import Property as Property
    from nnbo_mip.exact.verify import verify as verify
    from nnbo_mip.exact.verify_result import VerifyResult as VerifyResult
    from nnbo_mip.loop import stopping as stopping
    from nnbo_mip.loop.optimize import optimize as optimize
    from nnbo_mip.loop.optimize_result import OptimizeResult as OptimizeResult
    from nnbo_mip.loop.optimizer import BayesianOptimizer as BayesianOptimizer
    from nnbo_mip.loop.record.events import Observation as Observation
    from nnbo_mip.loop.record.suggestion import Suggestion as Suggestion
    from nnbo_mip.maximizers.base.abstract import Proposal as Proposal
    from nnbo_mip.maximizers.compare import compare as compare
    from nnbo_mip.maximizers.comparison import Comparison as Comparison
    from nnbo_mip.maximizers.maximize import maximize as maximize
    from nnbo_mip.network.graph.graph import Network as Network
    from nnbo_mip.space.constraints import LinearConstraint as LinearConstraint
    from nnbo_mip.space.dimensions import Categorical as Categorical
    from nnbo_mip.space.dimensions import Integer as Integer
    from nnbo_mip.space.dimensions import Real as Real
    from nnbo_mip.space.domain import Domain as Domain
    from nnbo_mip.space.ordinal import Ordinal as Ordinal
    from nnbo_mip.space.space import Space as Space

# Where each public name lives; imported when it is first asked for.
_HOMES = {
    "Network": "nnbo_mip.network.graph.graph",
    "Space": "nnbo_mip.space.space",
    "Real": "nnbo_mip.space.dimensions",
    "Integer": "nnbo_mip.space.dimensions",
    "Ordinal": "nnbo_mip.space.ordinal",
    "Categorical": "nnbo_mip.space.dimensions",
    "LinearConstraint": "nnbo_mip.space.constraints",
    "Domain": "nnbo_mip.space.domain",
    "certify": "nnbo_mip.exact.certify",
    "CertifyResult": "nnbo_mip.exact.certify_result",
    "Certificate": "nnbo_mip.exact.certificates.certificate",
    "CheckResult": "nnbo_mip.exact.check",
    "verify": "nnbo_mip.exact.verify",
    "VerifyResult": "nnbo_mip.exact.verify_result",
    "Property": "nnbo_mip.exact.verification.property",
    "PropertyCertificate": "nnbo_mip.exact.property_certificate",
    "maximize": "nnbo_mip.maximizers.maximize",
    "Proposal": "nnbo_mip.maximizers.base.abstract",
    "compare": "nnbo_mip.maximizers.compare",
    "Comparison": "nnbo_mip.maximizers.comparison",
    "BayesianOptimizer": "nnbo_mip.loop.optimizer",
    "Suggestion": "nnbo_mip.loop.record.suggestion",
    "Observation": "nnbo_mip.loop.record.events",
    "optimize": "nnbo_mip.loop.optimize",
    "OptimizeResult": "nnbo_mip.loop.optimize_result",
    "Progress": "nnbo_mip.core.control",
    "NnboError": "nnbo_mip.core.errors",
    "InputError": "nnbo_mip.core.errors",
    "UnsupportedError": "nnbo_mip.core.errors",
    "MissingExtraError": "nnbo_mip.core.errors",
    "SolverError": "nnbo_mip.core.errors",
    "FileFormatError": "nnbo_mip.core.errors",
    "TrainingError": "nnbo_mip.core.errors",
    "JournalError": "nnbo_mip.core.errors",
    "JournalWarning": "nnbo_mip.core.errors",
    "EvaluationWarning": "nnbo_mip.core.errors",
    "ModelWarning": "nnbo_mip.core.errors",
    "NnboWarning": "nnbo_mip.core.errors",
    "UncertifiedWarning": "nnbo_mip.core.errors",
    "__version__": "nnbo_mip.core.version",
}

# Rooms that are public as they are: `nm.surrogates.create`, …
_ROOMS = {
    **{
        name: f"nnbo_mip.{name}"
        for name in ("acquisitions", "maximizers", "network", "problems", "scores", "surrogates")
    },
    "stopping": "nnbo_mip.loop.stopping",
}

__all__ = [*_HOMES, *_ROOMS]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOMES, *_ROOMS])
