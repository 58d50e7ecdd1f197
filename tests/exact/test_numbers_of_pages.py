"""Numbers in the pages about proofs are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nnbo_mip.core.terms import SMALLEST_UNIT, Measure
from nnbo_mip.exact.backends.highs import Highs
from nnbo_mip.exact.backends.scip import Scip
from nnbo_mip.exact.checking import recheck, recheck_phases, reproof
from nnbo_mip.exact.checking.heads import boxes, pieces
from nnbo_mip.exact.formulation import inputs
from nnbo_mip.exact.formulation.model import MARGIN
from nnbo_mip.exact.scores.problem import SMALLEST_SCORE
from nnbo_mip.space.domain import ROW_SLACK

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    """Return the text of a page, its lines joined."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


EXACTNESS = page("docs/theory/exactness.md")
ACQUISITIONS = page("docs/guide/acquisitions.md")
SOLVERS = page("docs/guide/solvers.md")


def number(pattern: str, text: str) -> float:
    """Return the one number that a pattern finds, however often."""
    found = set(re.findall(pattern, text))
    assert len(found) == 1, (pattern, found)
    return float(found.pop())


@pytest.mark.parametrize("text", [EXACTNESS, ACQUISITIONS], ids=["exactness", "acquisitions"])
def test_when_a_gap_is_closed(text: str) -> None:
    units = {float(unit) for unit in re.findall(r"`gap \* max\((\S+), abs\(value\)\)`", text)}
    tiny = 1e-300
    measures = (Measure.NATURAL, Measure.SCORE)
    assert units == {measure.allowance(tiny, 1.0) for measure in measures}
    assert units == {1.0, SMALLEST_UNIT}
    assert Measure.LOGARITHM.allowance(tiny, 0.25) == 0.25


def test_below_what_score_the_logarithm_is_answered() -> None:
    assert number(r"Where the value is below (\S+),", ACQUISITIONS) == SMALLEST_SCORE


@pytest.mark.parametrize("name", ["README.md", "docs/theory/exactness.md"])
def test_the_slack_of_rows(name: str) -> None:
    assert number(r"within `(\S+) (?:\* )?\(1 \+ ", page(name)) == ROW_SLACK


def test_the_limits_of_checks() -> None:
    assert number(r"at most (\d+) free inputs", EXACTNESS) == reproof.FEW_INPUTS
    assert number(r"up to (\d+) ReLUs", EXACTNESS) == recheck_phases.MOST_RELUS
    assert number(r"more than (\d+) free coordinates", EXACTNESS) == boxes.MOST_FREE
    assert "at most six undecided ReLUs" in EXACTNESS
    assert recheck.MOST_UNDECIDED == pieces.MOST_UNDECIDED == 6


def test_the_margins_of_solvers() -> None:
    assert number(r"column is relaxed by (\S+), ten times the feasibility", SOLVERS) == MARGIN
    for backend in (Highs, Scip):
        assert pytest.approx(10.0 * backend.tolerances.feasibility, rel=1e-12) == MARGIN
    assert "ten times the feasibility tolerance" in EXACTNESS
    assert 2.0 ** number(r"grids of more than 2\^(\d+) values", SOLVERS) == inputs.LARGEST_WHOLE
    assert number(r"of more than (\d+) values are refused", SOLVERS) == inputs.LONGEST_LIST


def test_the_provers_of_a_check_are_those_that_are_named() -> None:
    source = (ROOT / "nnbo_mip/exact/checking/reproof.py").read_text(encoding="utf-8")
    engines = set(re.findall(r"from nnbo_mip\.exact\.(\w+)[\w.]* import", source))
    assert engines == {"checking", "search", "branching", "mip", "backends"}
    section = EXACTNESS.partition("Then provers take turns")[2].partition("### ")[0]
    assert "by the code of an engine (" in section
    assert source.count("by the code of an engine (") == 2  # a proof, and one up to tolerances
    for word in ("checking/recheck.py", "checking/recheck_phases.py", "`phases`", "mixed-integer"):
        assert word in section


def test_no_page_counts_the_tests() -> None:
    counted = re.compile(r"\d{3,},? (?:tests )?passed")
    assert not [path for path in (ROOT / "docs").rglob("*.md") if counted.search(path.read_text())]
