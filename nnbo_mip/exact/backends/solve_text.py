"""Questions to a solver and its answers as lines of JSON, for solvers in another process.

Floats are written with all their digits, infinities as JSON's usual extension.
"""

from __future__ import annotations

import json

import numpy as np
from scipy.sparse import csr_array

from nnbo_mip.exact.backends.base import SolverAnswer, SolveRequest
from nnbo_mip.exact.formulation.model import MilpModel

VECTORS = ("objective", "row_lower", "row_upper", "column_lower", "column_upper")
ASKED = ("time_limit", "absolute_gap", "threads", "seed", "presolve")


def question_to_text(model: MilpModel, request: SolveRequest) -> str:
    """Return a line that holds a model without special ordered sets, and what is asked.

    Names, the map to inputs, start point and cut-off are left out.
    """
    matrix = model.matrix
    return json.dumps(
        {
            **{name: getattr(model, name).tolist() for name in VECTORS},
            "integer": model.integer.tolist(),
            "offset": model.offset,
            "matrix": [matrix.data.tolist(), matrix.indices.tolist(), matrix.indptr.tolist()],
            **{name: getattr(request, name) for name in ASKED},
        }
    )


def question_from_text(text: str) -> tuple[MilpModel, SolveRequest]:
    """Read what `question_to_text` wrote."""
    data = json.loads(text)
    vectors = {name: np.array(data[name], dtype=np.float64) for name in VECTORS}
    n_columns, n_rows = vectors["objective"].size, vectors["row_lower"].size
    values, columns, starts = data["matrix"]
    model = MilpModel(
        **vectors,
        integer=np.array(data["integer"], dtype=bool),
        offset=data["offset"],
        matrix=csr_array(
            (np.array(values), np.array(columns, dtype=int), np.array(starts, dtype=int)),
            shape=(n_rows, n_columns),
        ),
        sos1=(),
        column_names=tuple(f"c{j}" for j in range(n_columns)),
        row_names=tuple(f"r{i}" for i in range(n_rows)),
        input_matrix=csr_array((0, n_columns)),
        input_constants=np.zeros(0),
    )
    return model, SolveRequest(**{name: data[name] for name in ASKED})


def answer_to_text(answer: SolverAnswer) -> str:
    """Return a line that holds an answer."""
    columns = None if answer.columns is None else answer.columns.tolist()
    return json.dumps(
        [answer.status, columns, answer.objective, answer.bound, answer.native_status]
    )


def answer_from_text(text: str) -> SolverAnswer:
    """Read what `answer_to_text` wrote."""
    status, columns, objective, bound, words = json.loads(text)
    known = None if columns is None else np.array(columns, dtype=np.float64)
    return SolverAnswer(status, known, objective, bound, words)
