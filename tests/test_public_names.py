"""The public names are the ones that were agreed on, and cost nothing to import."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

import nnbo_mip

PUBLIC = [
    "BayesianOptimizer",
    "Categorical",
    "Certificate",
    "CertifyResult",
    "CheckResult",
    "Comparison",
    "Domain",
    "EvaluationWarning",
    "FileFormatError",
    "InputError",
    "Integer",
    "JournalError",
    "JournalWarning",
    "LinearConstraint",
    "MissingExtraError",
    "ModelWarning",
    "Network",
    "NnboError",
    "NnboWarning",
    "Observation",
    "OptimizeResult",
    "Ordinal",
    "Progress",
    "Property",
    "PropertyCertificate",
    "Proposal",
    "Real",
    "SolverError",
    "Space",
    "Suggestion",
    "TrainingError",
    "UncertifiedWarning",
    "UnsupportedError",
    "VerifyResult",
    "__version__",
    "acquisitions",
    "certify",
    "compare",
    "maximize",
    "maximizers",
    "network",
    "optimize",
    "problems",
    "scores",
    "stopping",
    "surrogates",
    "verify",
]


def test_the_public_names_are_listed_here() -> None:
    assert dir(nnbo_mip) == PUBLIC
    assert sorted(nnbo_mip.__all__) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(nnbo_mip, name) is not None


def test_every_public_name_of_scores_exists() -> None:
    assert all(getattr(nnbo_mip.scores, name) is not None for name in dir(nnbo_mip.scores))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="certifi"):
        nnbo_mip.certifi  # noqa: B018


def test_type_checkers_see_every_name() -> None:
    source = Path(nnbo_mip.__file__).read_text(encoding="utf-8")
    assert all(f" as {name}\n" in source for name in PUBLIC)


def test_certifying_from_numpy_imports_no_framework() -> None:
    script = """
import sys, nnbo_mip as nm
net = nm.Network.from_layers([([[2.0], [-1.0]], [1.0, 3.0]), ([[1.0, 0.5]], [0.0])])
result = nm.certify(net, nm.Space.box([-1.0], [2.0]), method="boxes")
assert result.certificate.check(net).confirmed
assert not {"torch", "sklearn", "onnx", "pyomo", "matplotlib", "pulp"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[1])


def test_importing_is_quick() -> None:
    # Generous: on an idle machine it takes a tenth of this.
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", "import nnbo_mip"], check=True, cwd=Path(__file__).parents[1]
    )
    assert time.perf_counter() - started < 5.0
