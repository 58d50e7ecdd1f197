"""The claims of sources 001 to 003, as far as they are about optimization."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy.stats import wilcoxon

from benchmarks.sources.claims import (
    Claim,
    Evidence,
    Extent,
    counted,
    instances,
    mean,
    median,
    share,
    shared,
)

ONE_INPUT, TWO_INPUTS = "E001-2, reduced", "E001-4, reduced"
FOUR_FUNCTIONS, RATIOS = "E002-3, reduced", "E003-4, reduced"

GPYOPT, EMBEDDED = "S002-12", "S002-17"
PARZEN, CLASSIFIERS, LAPLACE, SPEED = "S003-4", "S003-5", "S003-13", "S003-22"
WHOLE = "300 steps"
LEVEL = 0.05

HYPER = "kde with a hyper-prior"
MIXTURES = ("kde", "gmm", "spn")
FOUND = 1e-2


def claims(evidence: Evidence) -> Iterator[Claim]:
    """Yield the claims of which there are runs."""
    yield from _one_input(evidence)
    yield from _two_inputs(evidence)
    yield from _mixture_improvement(evidence)
    yield from _hybrid_monte_carlo(evidence)
    yield from _embedding(evidence)
    yield from _ratios(evidence)
    yield from _against_random(evidence)
    yield from _fewer_steps(evidence)


def _means(evidence: Evidence, experiment: str, problem: str) -> tuple[dict[str, float], Extent]:
    """Return mean final regrets with the normal EI by family, on the instances that all have."""
    runs = [
        one
        for one in evidence.all(experiment, problem=problem)
        if one.acquisition != "ei_mixture" and one.method != HYPER
    ]
    if not runs:
        return {}, Extent(0, 0, 20)
    common = shared(runs)
    means = {one.surrogate: float(np.mean(one.on(common))) for one in runs}
    return means, Extent(len(common), len(common), 20)


Rule = Callable[[dict[str, float]], list[bool]]
"""What decides a claim: mean regrets by family, and of which cases it is true."""


def _wins(name: str) -> Rule:
    return lambda means: [means[name] <= min(means.values())]


def _loses(*names: str) -> Rule:
    return lambda means: [means[name] > means["random"] for name in names]


def _ahead(names: Sequence[str], other: str) -> Rule:
    return lambda means: [means[name] < means[other] for name in names]


def _listed(means: dict[str, float]) -> str:
    order = sorted(means, key=lambda one: means[one])
    return ", ".join(f"`{name}` {means[name]:.2g}" for name in order)


def _one_input(evidence: Evidence) -> Iterator[Claim]:
    """Yield what source 001 says of its four functions of one input."""
    for row, problem, text, judged in (
        ("C10", "test1", "the Gaussian process wins", _wins("gp")),
        ("C10", "test1", "`bnn_sghmc` fails: it is worse than random points", _loses("bnn_sghmc")),
        ("C11", "test2", "the sum-product network wins", _wins("spn")),
        ("C11", "test2", "random points are better than the process", _loses("gp")),
        ("C11", "test2", "all mixtures are better than the process", _ahead(MIXTURES, "gp")),
        ("C12", "test3b", "everything is worse than random points", _loses("gp", *MIXTURES, "bnn")),
        (
            "C13",
            "test4b",
            "`kde`, `spn`, `bnn` and the process are better than random points",
            _ahead(("kde", "spn", "bnn", "gp"), "random"),
        ),
    ):
        means, extent = _means(evidence, ONE_INPUT, problem)
        if {"gp", "random", "bnn", "bnn_sghmc", *MIXTURES} <= set(means):
            cases = judged(means)
            yield Claim(
                f"S001-23 ({row})",
                f"{problem}: {text} (means after 40 evaluations)",
                "a figure",
                _listed(means),
                extent,
                counted(cases),
            )


def _two_inputs(evidence: Evidence) -> Iterator[Claim]:
    """Yield what source 001 says of BBOB functions."""
    best, below, extents, texts = [], [], [], []
    for problem in dict.fromkeys(one.problem for one in evidence.all(TWO_INPUTS)):
        means, extent = _means(evidence, TWO_INPUTS, problem)
        if not {"gp", "random"} <= set(means):
            continue
        best += _wins("gp")(means)
        below.append(any(means[name] > means["random"] for name in means))
        extents.append(extent.fewest)
        number = problem.partition("function=")[2].partition(",")[0]
        texts.append(f"f{number}: {min(means, key=lambda one: means[one])}")
    if not best:
        return
    extent = Extent(min(extents), max(extents), 20)
    yield Claim(
        "S001-24 (C15)",
        "BBOB with two inputs: the Gaussian process is best (means after 35 evaluations)",
        "best overall",
        f"best: {'; '.join(texts)}",
        extent,
        counted(best),
    )
    yield Claim(
        "S001-24 (C15)",
        "Other models are below random points on several functions (at least one model)",
        "several",
        f"{share(below)} functions",
        extent,
        counted(below),
    )


def _mixture_improvement(evidence: Evidence) -> Iterator[Claim]:
    """Yield whether `kde` gains by what the source leaves to the future."""
    for text, chosen in (
        ("by the exact EI of the mixture", {"acquisition": "ei_mixture"}),
        ("by a prior of its widths", {"method": HYPER}),
        ("as one of two in an average, with a Gaussian process", {"surrogate": "average"}),
    ):
        cases, numbers = [], []
        for experiment in (ONE_INPUT, TWO_INPUTS):
            for other in evidence.all(experiment, **chosen):
                found = evidence.all(
                    experiment, problem=other.problem, surrogate="kde", acquisition="ei"
                )
                plain = [one for one in found if one.method != HYPER]
                if plain:
                    common = shared([other, plain[0]])
                    numbers.append(len(common))
                    cases.append(bool(np.mean(other.on(common)) < np.mean(plain[0].on(common))))
        if cases:
            yield Claim(
                "S001-26",
                f"`kde` gains {text} (means)",
                "future work",
                f"{share(cases)} functions",
                Extent(min(numbers), max(numbers), None),
                counted(cases),
            )


def _hybrid_monte_carlo(evidence: Evidence) -> Iterator[Claim]:
    """Yield what source 002 says of networks by hybrid Monte Carlo beside Gaussian processes."""
    for runs in evidence.all(GPYOPT):
        cases = [regret <= 1e-3 for regret in runs.finals]
        yield Claim(
            "S002-12",
            f"The process with {runs.acquisition} finds Forrester's minimum to 1e-3 in 20 steps",
            "our aim",
            f"{share(cases)} runs, median {median(runs):.2g}",
            instances([runs], None),
            counted(cases),
        )
    yield from _found(
        evidence,
        FOUR_FUNCTIONS,
        50,
        (
            ("S002-16 (C6)", "mccormick", FOUND),
            ("S002-16 (C7)", "camelback", FOUND),
        ),
    )
    for row, problem, text, better in (
        ("C4", "forrester", "the network is not worse than the Gaussian process", True),
        ("C5", "rosenbrock", "the network is better than the process", True),
        ("C6", "mccormick", "the network settles above the process", False),
        ("C7", "camelback", "the process is better than the network", False),
    ):
        net, gp = (
            evidence.get(FOUR_FUNCTIONS, problem=problem, surrogate=name, acquisition=head)
            for name, head in (("bnn_hmc", "ucb"), ("gp", "ei"))
        )
        if net is not None and gp is not None:
            common = shared([net, gp])
            ours, theirs = (float(np.median(one.on(common))) for one in (net, gp))
            held = ours <= theirs if problem == "forrester" else (ours < theirs) == better
            yield Claim(
                f"S002-16 ({row})",
                f"{problem}: {text} (medians after {net.steps} steps)",
                "a figure",
                f"network {ours:.2g}, process {theirs:.2g}",
                Extent(len(common), len(common), 50),
                counted([held]),
            )


def _embedding(evidence: Evidence) -> Iterator[Claim]:
    """Yield whether a random embedding helps where few variables matter."""
    runs = {"rembo" in one.method: one for one in evidence.all(EMBEDDED) if one.acquisition}
    if len(runs) == 2:
        common = shared(list(runs.values()))
        embedded, plain = (float(np.median(runs[kind].on(common))) for kind in (True, False))
        yield Claim(
            "S002-17",
            "Two of 25 variables matter: with the embedding better than without (medians)",
            "our aim",
            f"{embedded:.2g} and {plain:.2g}",
            Extent(len(common), len(common), None),
            counted([embedded < plain]),
        )


def _against_random(evidence: Evidence) -> Iterator[Claim]:
    """Yield whether density ratios beat random points, and whether `boggn` finds the minimum."""
    for row, experiment in (("S003-4", PARZEN), ("S003-5", CLASSIFIERS)):
        for runs in evidence.all(experiment):
            random = evidence.get(experiment, problem=runs.problem, surrogate="random")
            if random is None or not runs.acquisition:
                continue
            common = shared([runs, random])
            test = wilcoxon(runs.on(common), random.on(common), alternative="less")
            yield Claim(
                row,
                f"{runs.title} beats random points on "
                f"{runs.problem} with 100 evaluations (Wilcoxon, 5 %)",
                "our aim",
                f"medians {median(runs):.2g} and {median(random):.2g}, p {test.pvalue:.2g}",
                Extent(len(common), len(common), None),
                counted([bool(test.pvalue < LEVEL)]),
            )
    for runs in evidence.all(LAPLACE, surrogate="boggn"):
        cases = [regret < 0.1 for regret in runs.finals]
        yield Claim(
            "S003-13",
            "`boggn` has a regret below 0.1 on Forrester in 40 evaluations (eight of ten runs)",
            "our aim",
            f"{share(cases)} runs, median {median(runs):.2g}",
            instances([runs], None),
            counted([sum(cases) >= 0.8 * len(cases)]),
        )


def _fewer_steps(evidence: Evidence) -> Iterator[Claim]:
    """Yield whether training with a third of the steps costs regret."""
    for problem in dict.fromkeys(one.problem for one in evidence.all(SPEED)):
        runs = {one.method: one for one in evidence.all(SPEED, problem=problem)}
        if WHOLE not in runs:
            continue
        for method, fewer in runs.items():
            if method != WHOLE:
                common = shared([fewer, runs[WHOLE]])
                ours, theirs = fewer.on(common), runs[WHOLE].on(common)
                ours_median, theirs_median = float(np.median(ours)), float(np.median(theirs))
                # That ten runs show no difference does not show that there is none.
                test = wilcoxon(ours, theirs, alternative="greater")
                yield Claim(
                    "S003-22",
                    f"{problem}, `bore`: {method} instead of {WHOLE} cost no regret (in part: a "
                    "larger median, not shown to be worse by Wilcoxon, 5 %)",
                    "our aim",
                    f"medians {ours_median:.2g} and {theirs_median:.2g}, p {test.pvalue:.2g}",
                    Extent(len(common), len(common), None),
                    counted([ours_median <= theirs_median, bool(test.pvalue >= LEVEL)]),
                )


def _ratios(evidence: Evidence) -> Iterator[Claim]:
    """Yield what source 003 says of its classifier beside others."""
    yield from _found(evidence, RATIOS, 200, (("S003-16", "branin", FOUND),))
    cases, texts, numbers = [], [], []
    for problem in ("branin", "camelback", "hartmann3"):
        runs = evidence.all(RATIOS, problem=problem)
        own = [one for one in runs if one.surrogate == "boggn"]
        if own:
            others = [one for one in runs if one.surrogate != "boggn"]
            cases += [median(own[0]) < median(one) for one in others]
            texts.append(
                f"{problem} "
                + ", ".join(f"{one.title} {median(one):.2g}" for one in sorted(runs, key=median))
            )
            numbers += [len(one.finals) for one in runs]
    if cases:
        yield Claim(
            "S003-21 (C4)",
            "`boggn` beats all others on regret (medians)",
            "all",
            f"{share(cases)} pairs; {'; '.join(texts)}",
            Extent(min(numbers), max(numbers), 200),
            counted(cases),
        )


def _found(
    evidence: Evidence, experiment: str, published: int, goals: tuple[tuple[str, str, float], ...]
) -> Iterator[Claim]:
    """Yield on how many instances the Gaussian process comes so near to an optimum."""
    for row, problem, goal in goals:
        gp, random = (
            evidence.get(experiment, problem=problem, surrogate=name) for name in ("gp", "random")
        )
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
