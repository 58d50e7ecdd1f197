"""The picture of a comparison shows the numbers of its table."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, MissingExtraError
from nnbo_mip.drawing.comparison import MARGIN
from nnbo_mip.drawing.marks import marks
from nnbo_mip.exact.search.result import Proof, SearchResult
from nnbo_mip.maximizers.base.abstract import Proposal
from nnbo_mip.maximizers.comparison import Comparison, ComparisonRow
from tests.drawing.figures import marked, panels


def row(
    name: str, value: float, *, bound: float = math.inf, best: float = 4.0, top: float = 4.5
) -> ComparisonRow:
    proven = math.isfinite(bound)
    status = "refused" if value == -math.inf else "feasible" if proven else "heuristic"
    proposal = None
    found = SearchResult(
        x=np.array([0.25]),
        value=value,
        bound=bound,
        gap=bound - value,
        status=status,
        kind="rigorous" if proven else "none",
        proof=Proof(name),
        score="ucb",
    )
    if status != "refused":
        proposal = Proposal(
            found=found,
            maximizer=name,
            seconds=2.0,
            evaluations=3,
        )
    return ComparisonRow(
        maximizer=name,
        found=found,
        regret=best - value,
        largest_regret=top - value,
        miss=None,
        proposal=proposal,
    )


def table(*rows: ComparisonRow, bound: float = 4.5, certified: bool = False) -> Comparison:
    return Comparison("ucb", False, 4.0, bound, certified, rows)


def test_values_and_bounds_are_where_the_table_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = marks(3)
    drawn = panels(
        monkeypatch,
        table(row("bab", 4.0, bound=4.5), row("grid", 2.0), row("mip", -math.inf)),
    )
    axes = drawn["values"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["bab", "grid", "mip"]
    assert axes.get_xlim() == pytest.approx((2.0 - MARGIN * 2.5, 4.5 + MARGIN * 2.5))
    by_color = [
        [tuple(map(list, line.get_data())) for line in marked(axes, m.color)] for m in shown
    ]
    assert by_color[0] == [([4.0, 4.5], [0, 0]), ([4.5], [0]), ([4.0], [0])]
    assert by_color[1] == [([2.0], [1])]
    assert by_color[2] == []
    (dashed,) = (line for line in axes.get_lines() if line.get_linestyle() == "--")
    assert list(dashed.get_xdata()) == [4.5, 4.5]
    assert [text.get_text() for text in axes.texts] == ["feasible", "heuristic", "refused"]
    assert "no point is above 4.5, gap open" in axes.get_title()
    assert drawn["figure"].get_suptitle() == "a title"


def test_a_bound_beyond_the_axis_points_there(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = panels(monkeypatch, table(row("mip", 3.0, bound=900.0), row("bab", 4.0, bound=4.5)))[
        "values"
    ]
    right = axes.get_xlim()[1]
    assert right < 5.0
    ends = [line for line in marked(axes, marks(1)[0].color) if line.get_marker() == ">"]
    assert [list(end.get_xdata()) for end in ends] == [[right]]


def test_equal_values_do_not_blow_up_the_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = panels(monkeypatch, table(row("a", 4.0), row("b", 4.0 - 1e-9), bound=math.inf))["values"]
    low, high = axes.get_xlim()
    assert 0.08 <= high - low < 0.1
    assert axes.get_title() == "no bound was proven"
    assert axes.xaxis.get_major_formatter().get_useOffset() is False


def test_distances_are_to_the_bound_where_one_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = panels(monkeypatch, table(row("bab", 4.0, bound=4.5), row("grid", 2.0)))["distances"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert [marked(axes, m.color)[0].get_xydata().tolist() for m in marks(2)] == [
        [[2.0, 0.5]],
        [[2.0, 2.5]],
    ]
    assert axes.get_ylabel() == "below the proven bound by"
    assert axes.get_xlim() == (1.0, 10.0)
    low, high = axes.get_ylim()
    assert 0.01 < low < 0.5 < 2.5 < high


def test_distances_are_to_the_best_point_where_nothing_is_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    axes = panels(monkeypatch, table(row("lbfgs", 4.0), row("grid", 2.0), bound=math.inf))[
        "distances"
    ]
    zero, other = (marked(axes, mark.color)[0].get_xydata().tolist() for mark in marks(2))
    assert other == [[2.0, 2.0]]
    assert axes.get_ylim()[0] < zero[0][1] < 0.004  # zero has no place on a logarithmic scale
    assert [text.get_text() for text in axes.texts] == ["0"]
    assert axes.get_ylabel() == "below the best point by"


def test_misses_lie_above_a_line_where_something_is_certified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    certified = table(row("bab", 4.0, bound=4.5), row("grid", 3.9), certified=True)
    axes = panels(monkeypatch, certified)["distances"]
    (dotted,) = (line for line in axes.get_lines() if line.get_linestyle() == ":")
    # A tenth of a percent below the best value, which is itself 0.5 below the bound.
    assert list(dotted.get_ydata()) == pytest.approx([0.504, 0.504])
    assert "a miss" in axes.texts[0].get_text()
    assert not panels(monkeypatch, table(row("grid", 3.9)))["distances"].texts


def test_all_may_have_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Comparison("ucb", False, -math.inf, math.inf, False, (row("mip", -math.inf),))
    drawn = panels(monkeypatch, refused)
    assert not drawn["distances"].get_lines()
    assert [text.get_text() for text in drawn["values"].texts] == ["refused"]


@pytest.mark.parametrize(
    ("ending", "beginning"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")]
)
def test_files_are_what_their_ending_says(tmp_path: Path, ending: str, beginning: bytes) -> None:
    path = tmp_path / f"picture{ending}"
    table(row("bab", 4.0, bound=4.5), row("grid", 2.0)).draw(path)
    assert path.read_bytes().startswith(beginning)


def test_what_cannot_be_drawn_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"ends in \.png, \.svg or \.pdf; got 'a\.gif'"):
        table(row("grid", 2.0)).draw("a.gif")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install \"nnbo_mip\[plots\]\""):
        table(row("grid", 2.0)).draw("a.png")


def test_marks_differ() -> None:
    assert len(set(marks(56))) == 56


def test_the_example_of_the_room(tmp_path: Path) -> None:
    X, y = [[-1.0], [0.0], [1.0]], [0.0, 1.0, 0.5]
    belief = nm.surrogates.create("brvfl", n_hidden=20, seed=0).fit(X, y)
    found = nm.compare(belief, "ucb", nm.Space.box([-1.0], [1.0]).model(), ["bab", "grid"], y=y)
    found.draw(tmp_path / "comparison.png")
    assert (tmp_path / "comparison.png").stat().st_size > 5000
