"""The claims of source 000: chapter 3 on BBOB functions, and tables 4.6 to 4.9."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from scipy.stats import rankdata

from benchmarks.sources.claims import (
    HELD,
    NOT_HELD,
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
from benchmarks.sources.published import RANDOM, RVFL
from benchmarks.sources.runs import Runs
from nnbo_mip.core.arrays import FloatArray

BBOB, FEATURES, TUNING = "E000-1, reduced", "E000-3, reduced", "E000-4, reduced"
RANDOM_SEARCH = "S000-14, random search"

Method = tuple[str, str]

HIERARCHICAL, SIMPLE = "bnn_hierarchical", "bnn_simple"
PROCESS: Method = ("gp", "ei")

MAGNITUDE = 10.0


def claims(evidence: Evidence) -> Iterator[Claim]:
    """Yield the claims of which there are runs."""
    yield from _bbob(evidence)
    yield from _features(evidence)
    yield from _random_search(evidence)
    yield from _tuning(evidence)


def _bbob(evidence: Evidence) -> Iterator[Claim]:
    """Yield what chapter 3 says of ranks; a rank is that of a final regret in an instance."""
    runs = evidence.all(BBOB)
    if not runs:
        return
    problems = list(dict.fromkeys(one.problem for one in runs))
    ranks = {
        problem: _mean_ranks([one for one in runs if one.problem == problem])
        for problem in problems
    }
    methods = sorted(set.intersection(*(set(own) for own in ranks.values())))
    if PROCESS not in methods or len(methods) < 3:
        return
    number = instances(runs, 15)
    overall = {one: float(np.mean([own[one] for own in ranks.values()])) for one in methods}

    def texts(found: Mapping[Method, float]) -> str:
        order = sorted(found, key=lambda one: found[one])
        return ", ".join(f"{_name(one)} {found[one]:.2g}" for one in order)

    leader = (HIERARCHICAL, "ei")
    behind = [rank for one, rank in overall.items() if one != leader]
    yield Claim(
        "S000-25 (C000-1)",
        "The hierarchical network with the normal EI has the best mean rank",
        "first of 7",
        texts(overall),
        number,
        counted([overall.get(leader, np.inf) < min(behind)]),
    )
    worst = sorted(overall, key=lambda one: -overall[one])[:2]
    yield Claim(
        "S000-25 (C000-3)",
        "Ensembles of extreme learning machines are worst, with either EI",
        "last two of 7",
        ", ".join(map(_name, worst)),
        number,
        counted([one[0] == "elm" for one in worst]),
    )
    nets = [one for one in methods if one[0] in (SIMPLE, HIERARCHICAL)]
    for dimension, published, better in ((2, "its highest rank", False), (5, "all of 4", True)):
        own = [ranks[problem] for problem in problems if f"dimension={dimension}," in problem]
        if own:
            mean_ranks = {one: float(np.mean([rank[one] for rank in own])) for one in methods}
            cases = [(mean_ranks[one] < mean_ranks[PROCESS]) == better for one in nets]
            order = "below" if better else "above"
            yield Claim(
                "S000-25 (C000-2)",
                f"With {dimension} inputs Bayesian networks rank {order} the Gaussian process"
                + (" (a low rank is good)" if better else ""),
                published,
                texts(mean_ranks),
                number,
                counted(cases),
            )
    pairs = [
        own[family, "ei"] < own[family, "empirical_ei"]
        for own in ranks.values()
        for family in (SIMPLE, HIERARCHICAL)
        if (family, "ei") in own and (family, "empirical_ei") in own
    ]
    yield Claim(
        "S000-25 (C000-4)",
        "For Bayesian networks the normal EI beats the empirical one in most cells",
        "most",
        f"{share(pairs)} cells",
        number,
        HELD if 2 * sum(pairs) > len(pairs) else NOT_HELD,
    )


def _mean_ranks(runs: list[Runs]) -> dict[Method, float]:
    """Return mean ranks over the instances that all methods of a problem have."""
    common = shared(runs)
    table: FloatArray = np.array([one.on(common) for one in runs])
    ranks = rankdata(table, axis=0).mean(axis=1)
    return {
        (one.surrogate, one.acquisition): float(rank) for one, rank in zip(runs, ranks, strict=True)
    }


def _name(method: Method) -> str:
    return f"`{method[0]}`" + (" (empirical)" if method[1] == "empirical_ei" else "")


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
        "Learned precision: means of BRVFL 1 to 4 within a factor of 10",
        "tables 4.6 to 4.9",
        f"{share(near)} cells",
        number,
        counted(near),
    )
    better, skips = [], []
    for problem, _, runs in cells:
        random = evidence.get(FEATURES, problem=problem, surrogate="random")
        if random is not None:
            common = shared([runs, random])
            better.append(bool(np.mean(runs.on(common)) < np.mean(random.on(common))))
    if better:
        yield Claim(
            "S000-26 (C000-8)",
            "BRVFL 1 to 4 are better than random points on all functions (means)",
            f"{share(_published_better())} cells",
            f"{share(better)} cells",
            number,
            counted(better),
        )
    for problem in RVFL:
        for plain, linked in (("brvfl1", "brvfl2"), ("brvfl3", "brvfl4")):
            one, other = (
                evidence.get(FEATURES, problem=problem, surrogate=name) for name in (plain, linked)
            )
            if one is not None and other is not None:
                common = shared([one, other])
                skips.append(bool(np.mean(other.on(common)) < np.mean(one.on(common))))
    if skips:
        yield Claim(
            "S000-26 (C000-8)",
            "The direct link helps (means, a pair a function and activation; more than half)",
            f"{share(_published_links())} pairs",
            f"{share(skips)} pairs",
            number,
            HELD if 2 * sum(skips) > len(skips) else NOT_HELD,
        )


def _random_search(evidence: Evidence) -> Iterator[Claim]:
    """Yield whether the row of random search is met."""
    near, found = [], []
    for problem, (center, deviation) in RANDOM.items():
        runs = evidence.get(RANDOM_SEARCH, problem=problem)
        if runs is not None and len(runs.finals) > 1:
            ours = np.std(runs.finals, ddof=1) / np.sqrt(len(runs.finals))
            error = np.hypot(deviation / np.sqrt(30.0), ours)
            near.append(bool(abs(mean(runs) - center) <= 2.0 * error))
            found.append(runs)
    if near:
        yield Claim(
            "S000-14",
            "The row of random search, within two standard errors",
            "tables 4.6 to 4.9",
            f"{share(near)} functions",
            instances(found, 30),
            counted(near),
        )


def _tuning(evidence: Evidence) -> Iterator[Claim]:
    """Yield what chapters 5 and 6 say of tuning, by medians of the best loss on each task."""
    problems = list(dict.fromkeys(one.problem for one in evidence.all(TUNING)))
    for row, text, (one, other) in (
        (
            "S000-16 (C000-12)",
            "A network with the conditional criterion is not worse than with EI (medians; on most "
            "tasks)",
            (("bnn_sghmc", "nn_cl"), ("bnn_sghmc", "ei")),
        ),
        (
            "S000-20 (C000-14)",
            "`ivbnn` is not worse than `bnn_sghmc` (medians; on most tasks)",
            (("ivbnn", "ei"), ("bnn_sghmc", "ei")),
        ),
    ):
        cases, texts, extents = [], [], []
        for problem in problems:
            first, second = (
                evidence.get(TUNING, problem=problem, surrogate=surrogate, acquisition=head)
                for surrogate, head in (one, other)
            )
            if first is not None and second is not None:
                common = shared([first, second])
                ours, theirs = (float(np.median(runs.on(common))) for runs in (first, second))
                cases.append(ours <= theirs)
                texts.append(f"{problem.partition(':')[0]} {ours:.3g} and {theirs:.3g}")
                extents.append(len(common))
        if cases:
            yield Claim(
                row,
                text,
                "most of 9 tasks",
                f"{share(cases)} tasks: {'; '.join(texts)}",
                Extent(min(extents), max(extents), 30),
                HELD if 2 * sum(cases) > len(cases) else NOT_HELD,
            )


def _published_better() -> list[bool]:
    return [
        center < RANDOM[problem][0]
        for problem, families in RVFL.items()
        for center, _ in families.values()
    ]


def _published_links() -> list[bool]:
    return [
        families[linked][0] < families[plain][0]
        for families in RVFL.values()
        for plain, linked in (("brvfl1", "brvfl2"), ("brvfl3", "brvfl4"))
    ]
