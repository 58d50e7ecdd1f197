"""A contract tries what is claimed, leaves out the rest, and skips nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

PLUG_IN = """
import nnbo_mip as nm
from nnbo_mip.surrogates import Capability
from nnbo_mip.testing.contract import Contract, needs
from nnbo_mip.testing.surrogate_contract import SurrogateContract
from tests.surrogates.test_contract import OFFERED, Plane, belief_with


class TestHonest(SurrogateContract):
    def make(self, **options):
        return BelowItsContract(**options)


class BelowItsContract(Plane):
    pass


class TestClaimant(SurrogateContract):
    def make(self, **options):
        return Claimant(**options)


class Claimant(Plane):
    capabilities = OFFERED | {Capability.MIXTURE}
    belief_type = belief_with(capabilities=capabilities).belief_type


class TestUnknown(Contract):
    def offers(self):
        raise LookupError("an extra is missing")

    @needs("anything")
    def test_is_tried(self):
        self.offers()


nm.surrogates.register("plane")(Plane)
"""

OF_THE_PLANE = "test_gradients_are_those_of_the_values"
OF_MIXTURES = "test_the_mixture_has_the_moments_of_the_belief"


def test_what_is_claimed_is_tried_and_the_rest_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "test_plug_in.py").write_text(PLUG_IN, encoding="utf-8")
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider"),
            *("-c", "/dev/null", "--rootdir", "."),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    outcomes: dict[str, dict[str, str]] = {}
    found = re.findall(r"^([A-Z]+) test_plug_in\.py::(\w+)::(\S+)", run.stdout, re.MULTILINE)
    for outcome, contract, test in found:
        outcomes.setdefault(contract, {})[test] = outcome
    honest = outcomes["TestHonest"]
    assert set(honest.values()) == {"PASSED"}
    assert OF_THE_PLANE in honest
    assert OF_MIXTURES not in honest
    assert outcomes["TestClaimant"][OF_MIXTURES] == "FAILED"
    assert outcomes["TestUnknown"] == {"test_is_tried": "FAILED"}
    assert " skipped" not in run.stdout
