"""The claims of source 004: NOMU and others in Bayesian optimization with mean-width scaling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from benchmarks.sources.claims import (
    HELD,
    NOT_HELD,
    Claim,
    Evidence,
    Extent,
    best_budget,
    counted,
    instances,
    mean,
    median,
    share,
    shared,
    within,
)
from benchmarks.sources.maximizers import EXACT, GAP, SEARCHES, Step
from benchmarks.sources.published import (
    BUDGETS,
    FACTORS_GP,
    MEANS_1D,
    MEANS_2D,
    MEDIANS_1D,
    MEDIANS_GP,
    NOMU_BY_RULE,
)
from benchmarks.sources.runs import Runs
from nnbo_mip.lab.statistics.intervals import interval_of
from nnbo_mip.maximizers.comparison import MISS

GP, NETS = "E004-1, Gaussian process, default kernel", "E004-1, small nets"
LIBRARY = "E004-1, Gaussian process"
READINGS = {GP: "amplitude 1", LIBRARY: "amplitude searched"}
"""What "default parameters" may mean; docs/dev/results.md says what speaks for the first."""

NOMU_RULES, GP_RULES = "E004-2, NOMU on Forrester", "E004-2, Gaussian process"
TWO_INPUTS, FIVE_INPUTS = "E004-3, Gaussian process", "E004-4, small nets"
TWO_INPUTS_NETS = "E004-3, small nets"
EXACT_RUNS = "E004, exact maximizers, reduced"

NET_FAMILIES = ("nomu", "deep_ensemble", "mc_dropout")
ONE_INPUT = tuple(MEDIANS_GP)
PADDED = "exponential:padding=4"

SAME, NEAR = 1.01, 3.0
"""Factors within which medians are the same grid point, and means are reproduced."""

FAR_BELOW = 10.0
MOSTLY = 0.8


def claims(evidence: Evidence, steps: Sequence[Step]) -> Iterator[Claim]:
    """Yield the claims of which there are runs."""
    yield from _gaussian(evidence)
    yield from _nets(evidence)
    yield from _dynamic_c(evidence)
    yield from _two_inputs(evidence)
    yield from _nets_two_inputs(evidence)
    yield from _five_inputs(evidence)
    yield from _maximizers(steps)
    yield from _exact_runs(evidence)


def _cells(evidence: Evidence, reading: str = GP) -> dict[tuple[str, float], Runs]:
    found = {}
    for problem in ONE_INPUT:
        for budget in BUDGETS:
            runs = evidence.get(reading, problem=problem, budget=budget)
            if runs is not None:
                found[problem, budget] = runs
    return found


def _gaussian(evidence: Evidence) -> Iterator[Claim]:
    """Yield what tables A.1, 6.2 and 6.3 say of the Gaussian process, for both readings of it."""
    for reading, name in READINGS.items():
        cells = _cells(evidence, reading)
        if not cells:
            continue
        number = instances(list(cells.values()), 30)
        forrester = [runs for (problem, _), runs in cells.items() if problem == "forrester"]
        yield Claim(
            "S004-23",
            f"The Gaussian process ({name}) finds the best point of the grid on Forrester with "
            "every budget (medians)",
            "8.25e-7",
            _listed([median(runs) for runs in forrester]),
            number,
            counted([within(median(runs), 8.25e-7, SAME) for runs in forrester]),
        )
        printed = {cell: BUDGETS.index(cell[1]) for cell in cells}
        medians = [
            within(median(runs), MEDIANS_GP[cell[0]][printed[cell]], SAME)
            for cell, runs in cells.items()
        ]
        means = [
            within(mean(runs), MEANS_1D[cell[0], "gp"][printed[cell]] or 0.0, NEAR)
            for cell, runs in cells.items()
        ]
        factors = [
            _overlap(runs.factors, *FACTORS_GP[cell[0]][printed[cell]])
            for cell, runs in cells.items()
        ]
        for row, text, table, cases in (
            ("S004-23", "medians on three functions, to 1 %", "A.1", medians),
            ("S004-23", "means, within a factor of 3", "6.2", means),
            ("S004-11", "mean factors c of the first step: 95 % intervals overlap", "6.3", factors),
        ):
            yield Claim(
                row,
                f"Its {text} ({name})",
                f"table {table}",
                f"{share(cases)} cells",
                number,
                counted(cases),
            )


def _overlap(values: Sequence[float], center: float, reach: float) -> bool:
    """Whether the interval of a mean and the printed one have a point in common."""
    ours = interval_of(np.array(values))
    return ours.low <= center + reach and center - reach <= ours.high


def _nets(evidence: Evidence) -> Iterator[Claim]:
    """Yield what is said of networks with one input and no dynamic c."""
    nets = evidence.all(NETS)
    if not nets:
        return
    number = instances(nets, 30)
    best, texts = [], []
    for problem in ONE_INPUT:
        own = [runs for runs in nets if runs.problem.partition(":")[0] == problem]
        budgets = {runs.budget for runs in own}
        gp = [runs for (name, budget), runs in _cells(evidence).items() if name == problem]
        gp = [runs for runs in gp if runs.budget in budgets]
        if not own or not gp:
            continue
        common = shared([*own, *gp])
        chosen = best_budget(gp, common)
        others = [
            best_budget([runs for runs in own if runs.surrogate == family], common)
            for family in NET_FAMILIES
        ]
        other = min(others, key=lambda runs: float(np.mean(runs.on(common))))
        ours, theirs = (float(np.mean(runs.on(common))) for runs in (chosen, other))
        best.append(ours < theirs)
        texts.append(
            f"{problem}: gp {ours:.2g} ({chosen.budget:g}), "
            f"{other.surrogate} {theirs:.2g} ({other.budget:g})"
        )
    yield Claim(
        "S004-23 (C004-1)",
        "With its best budget the Gaussian process beats all networks on all three functions "
        "(means of shared instances; best budgets in brackets)",
        "3 of 3",
        "; ".join(texts),
        number,
        counted(best),
    )
    far = [median(runs) < mean(runs) / FAR_BELOW for runs in nets]
    yield Claim(
        "S004-23 (C004-2)",
        "Medians of networks are far below their means (by a factor of 10): few runs fail badly",
        f"{share(_printed_far())} cells",
        f"{share(far)} cells",
        number,
        HELD if 2 * sum(far) > len(far) else NOT_HELD,
    )
    budget_cases, budget_texts = [], []
    for problem in ONE_INPUT:
        small, large = (
            evidence.get(NETS, problem=problem, surrogate="nomu", budget=budget)
            for budget in (0.1, 1.0)
        )
        if small is not None and large is not None:
            budget_cases.append(mean(large) < mean(small))
            budget_texts.append(f"{problem} {mean(small):.2g} and {mean(large):.2g}")
    yield Claim(
        "S004-23 (C004-3)",
        "Without dynamic c NOMU is better with budget 1 than with 0.1 (means)",
        "1.6e-2 and 5.6e-5; 6.5e-3 and 9.3e-4; 7.3e-2 and 6.7e-2",
        "; ".join(budget_texts),
        number,
        counted(budget_cases),
    )
    ratios = []
    for problem in ONE_INPUT:
        ensemble, nomu = (
            evidence.get(NETS, problem=problem, surrogate=family, budget=0.1)
            for family in ("deep_ensemble", "nomu")
        )
        if ensemble is not None and nomu is not None:
            ratios.append(float(np.mean(ensemble.factors) / np.mean(nomu.factors)))
    yield Claim(
        "S004-23 (C004-4)",
        "The ensemble's uncertainty is 100 to 1000 times smaller than NOMU's (ratio of first "
        "factors, budget 0.1; the source's may be variances, ours are deviations)",
        "1179, 358, 82",
        _listed(ratios),
        number,
        counted([ratio >= 80.0 for ratio in ratios]),
    )


def _printed_far() -> list[bool]:
    """Return for every cell that can be read whether the printed median is far below the mean."""
    return [
        low < high / FAR_BELOW
        for cell, lows in MEDIANS_1D.items()
        for low, high in zip(lows, MEANS_1D[cell], strict=True)
        if high is not None
    ]


def _dynamic_c(evidence: Evidence) -> Iterator[Claim]:
    rules = {rule: evidence.get(NOMU_RULES, escape=rule) for rule in NOMU_BY_RULE}
    found = {rule: runs for rule, runs in rules.items() if runs is not None}
    if len(found) == len(rules):
        common = shared(list(found.values()))
        regrets = {rule: runs.on(common) for rule, runs in found.items()}
        means = {rule: float(np.mean(regrets[rule])) for rule in found}
        number = Extent(len(common), len(common), 30)
        none, padded = regrets["none"], regrets[PADDED]
        yield Claim(
            "S004-24 (C004-7)",
            "NOMU on Forrester, budget 0.1: dynamic c takes away the bad runs (mean, largest)",
            "mean 1.6e-2 to 6.2e-6",
            f"mean {means['none']:.2g} to {means[PADDED]:.2g}, largest {none.max():.2g} to "
            f"{padded.max():.2g}",
            number,
            counted([means[PADDED] < means["none"], bool(padded.max() < none.max())]),
        )
        order = [PADDED, "linear:padding=4", "linear"]
        yield Claim(
            "S004-24 (C004-8)",
            "Decay: exponential with padding is better than linear with padding, and that than "
            "linear (means)",
            "6.2e-6, 1.6e-5, 2.1e-4",
            _listed(means[rule] for rule in order),
            number,
            counted([means[order[0]] <= means[order[1]], means[order[1]] <= means[order[2]]]),
        )
        doublings = {rule: float(np.mean(found[rule].doublings)) for rule in order}
        yield Claim(
            "S004-24 (C004-8)",
            "Exponential decay doubles c less often than linear decay (doublings a run, both "
            "padded)",
            "fewer",
            f"{doublings[order[0]]:.3g} and {doublings[order[1]]:.3g}",
            number,
            counted([doublings[order[0]] < doublings[order[1]]]),
        )
    for problem, worse in (("forrester", True), ("sinone", False)):
        without, with_it = (
            evidence.get(GP_RULES, problem=problem, escape=rule, budget=0.1)
            for rule in ("none", PADDED)
        )
        if without is None or with_it is None:
            continue
        common = shared([without, with_it])
        before, after = (float(np.mean(runs.on(common))) for runs in (without, with_it))
        yield Claim(
            "S004-24 (C004-9)",
            f"Dynamic c {'hurts' if worse else 'helps'} the Gaussian process on {problem} (budget "
            "0.1, means without and with it)",
            "rank 1 to 4 of 20" if worse else "rank 17 to 1 of 20",
            f"{before:.2g} and {after:.2g}",
            Extent(len(common), len(common), 30),
            counted([(after > before) == worse]),
        )


def _two_inputs(evidence: Evidence) -> Iterator[Claim]:
    pairs = {
        problem: tuple(
            evidence.get(TWO_INPUTS, problem=problem, surrogate=family) for family in ("gp", "pgp")
        )
        for problem in MEANS_2D
    }
    known = {
        problem: (gp, pgp)
        for problem, (gp, pgp) in pairs.items()
        if gp is not None and pgp is not None
    }
    if not known:
        return
    number = instances([runs for pair in known.values() for runs in pair], 40)
    near = [within(mean(gp), MEANS_2D[problem]["gp"], NEAR) for problem, (gp, _) in known.items()]
    yield Claim(
        "S004-25",
        "Two inputs: means of the scaled Gaussian process within a factor of 3",
        "table A.5",
        f"{share(near)} functions",
        number,
        counted(near),
    )
    better = [mean(gp) < mean(pgp) for gp, pgp in known.values()]
    yield Claim(
        "S004-25 (C004-12)",
        "Scaled and with dynamic c it beats the pure one on four of five functions (means)",
        "4 of 5",
        f"{share(better)} functions",
        number,
        HELD if sum(better) >= len(better) - 1 else NOT_HELD,
    )
    if "branin" in known:
        gp, pgp = (float(np.mean(runs.edges)) for runs in known["branin"])
        yield Claim(
            "S004-25 (C004-13)",
            "On Branin the pure process samples almost only the boundary (part of its points "
            "there, at least 0.8)",
            "a figure",
            f"pure {pgp:.2g}, scaled {gp:.2g}",
            number,
            counted([pgp >= MOSTLY]),
        )


def _nets_two_inputs(evidence: Evidence) -> Iterator[Claim]:
    """Yield whether NOMU is ahead of the ensemble on functions with two inputs."""
    cases, texts, found = [], [], []
    for problem in MEANS_2D:
        runs = evidence.all(TWO_INPUTS_NETS, problem=problem)
        means = {one.surrogate: mean(one) for one in runs}
        if {"nomu", "deep_ensemble"} <= set(means):
            cases.append(means["nomu"] < means["deep_ensemble"])
            order = sorted(means, key=lambda one: means[one])
            texts.append(f"{problem} " + ", ".join(f"`{one}` {means[one]:.2g}" for one in order))
            found += runs
    if found:
        yield Claim(
            "S004-25 (C004-11)",
            "Two inputs: NOMU is better than the ensemble on all five functions (means)",
            "rank 1 or 2",
            "; ".join(texts),
            instances(found, 40),
            counted(cases),
        )


def _five_inputs(evidence: Evidence) -> Iterator[Claim]:
    """Yield what table 6.7 says of functions with five inputs, as far as there are methods."""
    places, last, texts, found = [], [], [], []
    for problem in ("g_function", "levy", "rosenbrock"):
        runs = evidence.all(FIVE_INPUTS, problem=problem)
        if len(runs) < 4:
            continue
        common = shared(runs)
        means = {one.surrogate: float(np.mean(one.on(common))) for one in runs}
        order = sorted(means, key=lambda one: means[one])
        if problem != "g_function":
            places.append(order.index("nomu") < 2)
        last.append(order[-1] == "random")
        texts.append(f"{problem} " + ", ".join(f"`{one}` {means[one]:.2g}" for one in order))
        found += runs
    if found:
        number = instances(found, 40)
        yield Claim(
            "S004-26 (C004-14)",
            "Five inputs: NOMU is among the first two on Levy's and Rosenbrock's functions (means)",
            "first",
            "; ".join(texts),
            number,
            counted(places),
        )
        yield Claim(
            "S004-26 (C004-14)",
            "Five inputs: random search is last (means)",
            "last, or tied",
            f"{share(last)} functions",
            number,
            counted(last),
        )


def _exact_runs(evidence: Evidence) -> Iterator[Claim]:
    """Yield whether runs end lower where the networks are maximized exactly."""
    for problem in ("forrester", "branin"):
        runs = {one.maximizer: one for one in evidence.all(EXACT_RUNS, problem=problem)}
        if set(runs) >= {*EXACT, *SEARCHES}:
            common = shared(list(runs.values()))
            means = {name: float(np.mean(one.on(common))) for name, one in runs.items()}
            best = min(means[name] for name in SEARCHES)
            yield Claim(
                "S004-27",
                f"{problem}: runs with exact maximizers end at least as low as all others (means)",
                "future work",
                ", ".join(f"`{name}` {mean:.2g}" for name, mean in means.items()),
                Extent(len(common), len(common), None),
                counted([means[name] <= best for name in EXACT]),
            )


def _maximizers(steps: Sequence[Step]) -> Iterator[Claim]:
    if not steps:
        return
    number = Extent(len(steps), len(steps), None)
    best = [
        step.certified and all(step.values[one] >= max(step.values.values()) - GAP for one in EXACT)
        for step in steps
    ]
    yield Claim(
        "S004-27",
        "On the same networks exact maximizers find at least as much as all others at every step",
        "future work",
        f"{share(best)} steps",
        number,
        counted(best),
    )
    for name in SEARCHES:
        # A score is compared with the best one as `nm.compare` does it.
        missed = [
            step.values[name] < max(step.values.values()) - MISS * abs(max(step.values.values()))
            for step in steps
        ]
        yield Claim(
            "S004-27",
            f"`{name}` misses the maximum by more than 0.1 %",
            "future work",
            f"{share(missed)} steps",
            number,
            "",
        )


def _listed(figures: Iterable[float]) -> str:
    return ", ".join(f"{figure:.3g}" for figure in figures)
