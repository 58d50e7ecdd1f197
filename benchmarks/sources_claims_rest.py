"""The claims of sources 000 to 003, as far as the families that there are can be asked."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.sources_claims import (
    Claim,
    Evidence,
    Extent,
    counted,
    instances,
    mean,
    share,
    shared,
    within,
)
from benchmarks.sources_published import RANDOM, RVFL
from benchmarks.sources_runs import Runs

FEATURES, ONE_INPUT = "E000-3, reduced", "E001-2, reduced"
FOUR_FUNCTIONS, RATIOS = "E002-3, reduced", "E003-4, reduced"

MAGNITUDE = 10.0
FOUND = 1e-2

AGAINST_RANDOM = (
    ("C10", "test1", True, "BO on Test1: the Gaussian process is better than random points"),
    ("C11", "test2", False, "BO on Test2: random points are better than the Gaussian process"),
    ("C12", "test3b", False, "BO on Test3: the Gaussian process is worse than random points"),
    ("C13", "test4b", True, "BO on Test4: the Gaussian process is better than random points"),
)


def claims(evidence: Evidence) -> Iterator[Claim]:
    """Yield the claims of which there are runs."""
    yield from _features(evidence)
    for name, problem, better, text in AGAINST_RANDOM:
        gp, random = _pair(evidence, ONE_INPUT, problem)
        if gp is not None and random is not None:
            common = shared([gp, random])
            ours, theirs = (float(np.mean(runs.on(common))) for runs in (gp, random))
            yield Claim(
                f"S001-23 ({name})",
                f"{text} (means after 40 evaluations)",
                "a figure",
                f"{ours:.3g} and {theirs:.3g}",
                Extent(len(common), len(common), 20),
                counted([(ours < theirs) == better]),
            )
    yield from _found(
        evidence,
        FOUR_FUNCTIONS,
        50,
        (
            ("S002-12", "forrester", 1e-3),
            ("S002-16 (C6)", "mccormick", FOUND),
            ("S002-16 (C7)", "camelback", FOUND),
        ),
    )
    yield from _found(evidence, RATIOS, 200, (("S003-16", "branin", FOUND),))


def _features(evidence: Evidence) -> Iterator[Claim]:
    """Yield what tables 4.6 to 4.9 say of random features with learned precision."""
    cells = []
    for problem, families in RVFL.items():
        for family, (center, _) in families.items():
            runs = evidence.get(FEATURES, problem=problem, surrogate=family)
            if runs is not None:
                cells.append((problem, center, runs))
    if not cells:
        return
    number = instances([runs for *_, runs in cells], 30)
    near = [within(mean(runs), center, MAGNITUDE) for _, center, runs in cells]
    yield Claim(
        "S000-26",
        "Learned precision: means of BRVFL 3 and 4 within a factor of 10",
        "tables 4.6 to 4.9",
        f"{share(near)} cells",
        number,
        counted(near),
    )
    better, rows = [], []
    for problem, _, runs in cells:
        random = evidence.get(FEATURES, problem=problem, surrogate="random")
        if random is not None:
            common = shared([runs, random])
            better.append(bool(np.mean(runs.on(common)) < np.mean(random.on(common))))
    if better:
        yield Claim(
            "S000-26",
            "BRVFL 3 and 4 are better than random points on all of these functions (means)",
            "12 of 12 cells",
            f"{share(better)} cells",
            number,
            counted(better),
        )
    for problem, (center, deviation) in RANDOM.items():
        random = evidence.get(FEATURES, problem=problem, surrogate="random")
        if random is not None and len(random.finals) > 1:
            error = np.hypot(
                deviation / np.sqrt(30.0),
                np.std(random.finals, ddof=1) / np.sqrt(len(random.finals)),
            )
            rows.append(bool(abs(mean(random) - center) <= 2.0 * error))
    if rows:
        yield Claim(
            "S000-23",
            "The row of random search, within two standard errors",
            "tables 4.6 to 4.9",
            f"{share(rows)} functions",
            number,
            counted(rows),
        )


def _found(
    evidence: Evidence, experiment: str, published: int, goals: tuple[tuple[str, str, float], ...]
) -> Iterator[Claim]:
    """Yield on how many instances the Gaussian process comes so near to an optimum."""
    for row, problem, goal in goals:
        gp, random = _pair(evidence, experiment, problem)
        if gp is None:
            continue
        cases = [regret <= goal for regret in gp.finals]
        text = f"{share(cases)} runs, mean regret {mean(gp):.2g}"
        if random is not None:
            text += f" (random points {mean(random):.2g})"
        yield Claim(
            row,
            f"The Gaussian process reaches the minimum of {problem} (regret at most {goal:g} after "
            f"{gp.steps} steps)",
            "a figure",
            text,
            instances([gp], published),
            counted(cases),
        )


def _pair(evidence: Evidence, experiment: str, problem: str) -> tuple[Runs | None, Runs | None]:
    gp, random = (
        evidence.get(experiment, problem=problem, surrogate=name) for name in ("gp", "random")
    )
    return gp, random
