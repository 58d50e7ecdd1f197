from __future__ import annotations

import math
from dataclasses import replace

import pytest

from benchmarks.certify.report import PEER_ROLES, Table, geometric_mean
from benchmarks.certify.results import Row, read_rows, write_rows
from benchmarks.certify.targets import targets


def row(network: str, entrant: str, seconds: float, **changes) -> Row:
    role = {"auto": "ours", "gurobi-ml": "commercial"}.get(entrant, "open")
    base = Row(
        network=network,
        fingerprint=network,
        entrant=entrant,
        role=role,
        inputs=2,
        relus=64,
        gap=1e-4,
        limit=60.0,
        repeats=3,
        status="optimal",
        seconds=[9.0 * seconds, seconds, 0.1 * seconds],
        value=2.0,
        claimed_value=2.0,
        bound=2.0 + 1e-5,
        peak_mb=123.4,
    )
    return replace(base, **changes)


def test_ratios_use_medians_floors_and_limits() -> None:
    table = Table(
        [
            row("a", "auto", 0.02),
            row("a", "gurobi-ml", 0.5),
            row("a", "omlt:bigm", 3.0, status="time-out"),
            row("b", "auto", 2.0),
            row("b", "gurobi-ml", 0.05),
            row("b", "omlt:bigm", 8.0),
        ]
    )
    assert table.speedup("a", PEER_ROLES) == pytest.approx(0.5 / 0.1)
    assert table.speedup("a", ("open",)) == pytest.approx(60.0 / 0.1)
    assert table.speedup("b", PEER_ROLES) == pytest.approx(0.1 / 2.0)
    assert table.fastest("b", ("open",)) == ("omlt:bigm", 8.0)
    assert "| geometric mean |" in table.markdown()


def test_false_optimum_is_called_wrong_and_is_no_rival() -> None:
    table = Table([row("a", "auto", 5.0), row("a", "omlt:bigm", 0.2, value=1.9, bound=1.9)])
    assert [why for _, why in table.wrong_rows()] == [
        "bound 1.9 is below 2.0",
    ]
    assert math.isnan(table.counted("a", "omlt:bigm"))
    assert math.isnan(table.speedup("a", PEER_ROLES))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"claimed_value": 2.0 + 1e-9}, "forward pass"),
        ({"outside": 1e-12}, "outside the box"),
        ({"bound": 2.0 - 1e-15}, "is below"),
        ({"bound": 2.01}, "optimal with bound"),
        ({"value": 1.9, "claimed_value": 1.9}, "somebody has 2.0"),
    ],
)
def test_our_claims_get_no_slack_and_a_wrong_one_costs_the_limit(changes, reason) -> None:
    table = Table([row("a", "auto", 0.5, **changes), row("a", "gurobi-ml", 1.0)])
    (wrong,) = table.wrong_rows()
    assert reason in wrong[1]
    assert table.counted("a", "auto") == 60.0


def test_peers_get_their_tolerance() -> None:
    table = Table([row("a", "auto", 0.5), row("a", "gurobi-ml", 1.0, bound=2.0 - 1e-6)])
    assert not table.wrong_rows()


def test_targets_say_what_was_reached() -> None:
    rows = [
        row("d02_mlp_2x64", "auto", 0.2),
        row("d02_mlp_2x64", "gurobi-ml", 1.0),
        row("d05_mlp_2x64", "auto", 2.0, inputs=5, relus=128),
        row("d05_mlp_2x64", "gurobi-ml", 40.0, inputs=5, relus=128),
    ]
    lines = {target.what: (target.reached, target.met) for target in targets(Table(rows))}
    assert lines["d = 2, nowhere slower than the fastest peer"] == (
        "at worst 0.2 times its time",
        True,
    )
    assert lines["d = 2, 10 times faster where the fastest peer needs 1 s or more"] == (
        "5 over 1 networks",
        False,
    )
    assert lines["d05_mlp_2x64 in 1.2 s or 40 times faster"] == ("2.00 s, 20 times faster", False)
    assert lines["geometric mean over 2 networks, 5 times the fastest peer"] == (
        "10 times (63.2 would be all at the floor of 0.1 s)",
        True,
    )


def test_geometric_mean_skips_the_unknown() -> None:
    assert geometric_mean([2.0, math.nan, 8.0]) == pytest.approx(4.0)
    assert math.isnan(geometric_mean([math.nan]))


def test_rows_survive_the_file(tmp_path) -> None:
    path = tmp_path / "rows.json"
    rows = [row("a", "auto", 0.2), row("b", "omlt:bigm", 7.0, status="error", message="no")]
    write_rows(path, rows, {"machine": "test"})
    assert read_rows(path) == rows
    path.write_text(path.read_text().replace('"version": 1', '"version": 99'))
    with pytest.raises(SystemExit, match="this version"):
        read_rows(path)
