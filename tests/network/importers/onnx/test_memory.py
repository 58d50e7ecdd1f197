"""Small ONNX files that ask for much: refused before it is allocated, in 2 GiB of address space."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

LIMIT = 2 << 30

SCRIPT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
import nnbo_mip as nm
try:
    print(nm.Network.from_onnx(sys.argv[1]))
except nm.NnboError as error:
    print("refused:", error)
assert "torch" not in sys.modules
"""


def node(kind: str, *names: str, **attributes: Any) -> Any:
    """Return a node that reads all names but the last."""
    return onnx.helper.make_node(kind, list(names[:-1]), [names[-1]], **attributes)


ZEROS = np.zeros((1000, 1000), np.int32)
ONES = np.ones((65536, 1), np.float32)

CASES: dict[str, tuple[list[Any], dict[str, Any], int, str]] = {
    "gather twice": (
        [
            node("Gather", "x", "i", "a", axis=1),
            node("Gather", "a", "i", "b", axis=2),
            node("Flatten", "b", "y"),
        ],
        {"i": ZEROS},
        1,
        "this one asks for 1000000000",
    ),
    "gather a constant twice": (
        [
            node("Gather", "c", "i", "a"),
            node("Gather", "a", "i", "b", axis=1),
            node("Add", "x", "b", "y"),
        ],
        {"i": ZEROS, "c": np.zeros((1, 1), np.float32)},
        1,
        "this one asks for 1000000000",
    ),
    "an outer product": (
        [node("Gemm", "x", "w", "a"), node("Gemm", "a", "v", "y")],
        {"w": ONES, "v": ONES.T.copy()},
        65536,
        "a weight matrix may hold 33554432 entries; got 65536 x 65536",
    ),
    "one input many times": (
        [onnx.helper.make_node("Concat", ["x"] * 100, ["a"], axis=1), node("Relu", "a", "y")],
        {},
        100_000,
        "this one asks for 10000000",
    ),
    "many inputs": ([node("Relu", "x", "y")], {}, 1 << 22, "may have 1048576 entries; got 4194304"),
    "many wide layers": (
        [
            node("Relu", "x" if k == 0 else f"a{k - 1}", "y" if k == 29 else f"a{k}")
            for k in range(30)
        ],
        {},
        1_000_000,
        "the values of a graph may hold",
    ),
    "a column of rows": (
        [
            node("Unsqueeze", "x", "axes", "a"),
            node("MatMul", "a", "w", "b"),
            node("Flatten", "b", "y"),
        ],
        {"axes": np.array([2]), "w": np.full((1, 1), 2.0, np.float32)},
        300_000,
        "Network(300000-300000",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_little_that_asks_for_much(case: str, tmp_path: Path) -> None:
    nodes, constants, width, answer = CASES[case]
    kinds = onnx.TensorProto
    graph = onnx.helper.make_graph(
        nodes,
        "graph",
        [onnx.helper.make_tensor_value_info("x", kinds.FLOAT, ["N", width])],
        [onnx.helper.make_tensor_value_info("y", kinds.FLOAT, None)],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    path = tmp_path / "hostile.onnx"
    opsets = [onnx.helper.make_opsetid("", 13)]
    path.write_bytes(onnx.helper.make_model(graph, opset_imports=opsets).SerializeToString())
    answered = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(limit=LIMIT), str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert answered.returncode == 0, answered.stderr[-2000:]
    assert answer in answered.stdout
