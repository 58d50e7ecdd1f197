"""The run over public verification instances, on instances of our own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.vnncomp.__main__ import main
from nnbo_mip.network.graph.graph import Network

pytest.importorskip("onnx")

HEAD = """
(declare-const X_0 Real) (declare-const Y_0 Real)
(assert (<= X_0 1.0)) (assert (>= X_0 -1.0))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two instances about |x|, of which the second has a published verdict that is wrong."""
    net = Network.from_layers([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    (tmp_path / "small").mkdir()
    net.to_onnx(tmp_path / "small" / "net.onnx")
    (tmp_path / "small" / "above.vnnlib").write_text(HEAD + "(assert (>= Y_0 1.5))")
    (tmp_path / "small" / "below.vnnlib").write_text(HEAD + "(assert (<= Y_0 0.5))")
    columns = "benchmark,network,property,published_limit_s,verdict"
    verifiers = "alpha_beta_crown,nnenum,neuralsat,pyrat"
    rows = [
        f"{columns},{verifiers}",
        "small,net.onnx,above.vnnlib,10,unsat,unsat:5.0,unsat:1.0,timeout:10.0,unsat:2.0",
        "small,net.onnx,below.vnnlib,10,unsat,unsat:7.0,unsat:3.0,timeout:10.0,unsat:2.0",
    ]
    (tmp_path / "instances.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_verdicts_are_compared_stored_and_resumed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "results.jsonl"
    arguments = [str(folder), "--sets", "small", "--limit", "20", "--out", str(out)]
    assert main(arguments) == 1  # one verdict contradicts the published one
    table = capsys.readouterr().out
    # instances, open, wrong, right, …, proofs and witnesses confirmed, published medians
    assert "| small | 2 | 0 | 1 | 1 |" in table
    assert "| 1 of 1 | 1 of 1 | 6.0 (2) | 2.0 (2) | - | 2.0 (2) |" in table
    stored = [json.loads(line) for line in out.read_text().splitlines()]
    assert [one["verdict"] for one in stored] == ["unsat", "sat"]
    assert [one["check"] for one in stored] == ["confirmed", "confirmed"]
    assert stored[1]["runtime"] in ("agrees", "not installed")
    out.write_text(out.read_text() + '{"torn')
    assert main(arguments) == 1
    assert "s, check" not in capsys.readouterr().out  # nothing was run again
