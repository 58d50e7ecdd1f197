"""The tables of docs/dev/results.md, from the stores of the experiments of benchmarks/sources.

    python -m benchmarks.sources.results [results/*.db]

With stores, what they hold is first written to docs/plots/sources.json, in the place of what is
there of the same experiments; without, the tables are made of what is there. The steps of
`benchmarks.sources.maximizers` are read where they are.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from benchmarks.regret.table import markdown
from benchmarks.sources import claims_000 as sources_claims_000
from benchmarks.sources import claims_004 as sources_claims_004
from benchmarks.sources import claims_rest as sources_claims_rest
from benchmarks.sources import maximizers as sources_maximizers
from benchmarks.sources.claims import FEW, HELD, NOT_HELD, PARTLY, Claim, Evidence, mean, median
from benchmarks.sources.published import BUDGETS, FACTORS_GP, MEANS_1D, MEANS_2D, MEDIANS_GP, RVFL
from benchmarks.sources.runs import Runs, gathered, kept, merged, read

DOCS = Path(__file__).parents[2] / "docs"
PAGE, DATA = DOCS / "dev" / "results.md", DOCS / "plots" / "sources.json"

END = "<!-- end -->"


def tables(runs: Sequence[Runs]) -> Iterable[tuple[str, str]]:
    """Yield the tables of the page by name."""
    evidence = Evidence(runs)
    found = claims(evidence)
    yield "verdicts", _verdicts(found)
    yield "claims", _claims(found)
    yield "gaussian", _gaussian(evidence)
    yield "two-inputs", _two_inputs(evidence)
    yield "features", _features(evidence)
    yield "all", _all(runs)
    yield "maximizers", _maximizers()


def claims(evidence: Evidence) -> list[Claim]:
    """Return all claims of which there are runs."""
    return [
        *sources_claims_004.claims(evidence, sources_maximizers.read()),
        *sources_claims_000.claims(evidence),
        *sources_claims_rest.claims(evidence),
    ]


def written(name: str) -> str:
    """Return the table of this name as the page has it."""
    page = PAGE.read_text(encoding="utf-8")
    return page.partition(_mark(name))[2].partition(END)[0].strip()


def _verdicts(found: Sequence[Claim]) -> str:
    counts = {
        verdict: sum(one.counts and one.verdict == verdict for one in found)
        for verdict in (HELD, PARTLY, NOT_HELD)
    }
    few = sum(bool(one.verdict) and not one.counts for one in found)
    judged = (
        f"Of {sum(counts.values())} claims {counts[HELD]} held, {counts[PARTLY]} held in part and "
        f"{counts[NOT_HELD]} did not hold."
    )
    if few == 0:
        return judged
    return f"{judged} Not counted, with fewer than {FEW} instances and in brackets: {few}."


def _claims(found: Sequence[Claim]) -> str:
    head = ["row", "claim", "published", "ours", "instances", "verdict"]
    return markdown(head, [one.cells for one in found])


def _gaussian(evidence: Evidence) -> str:
    """Return published and own medians, means and factors of the Gaussian process by budget."""
    rows = []
    for problem, medians in MEDIANS_GP.items():
        for place, budget in enumerate(BUDGETS):
            both = [
                evidence.get(reading, problem=problem, budget=budget)
                for reading in sources_claims_004.READINGS
            ]
            center, reach = FACTORS_GP[problem][place]
            rows.append(
                [
                    f"{problem} {budget:g}",
                    _number(medians[place]),
                    *(_number(np.median(runs.finals)) if runs else "" for runs in both),
                    _number(MEANS_1D[problem, "gp"][place]),
                    *(_number(np.mean(runs.finals)) if runs else "" for runs in both),
                    f"{center:g} ± {reach:g}",
                    *(_number(np.mean(runs.factors)) if runs else "" for runs in both),
                ]
            )
    head = ["budget", *(name for one in ("median", "mean", "c") for name in (one, "a = 1", "a"))]
    return markdown(head, rows)


def _two_inputs(evidence: Evidence) -> str:
    rows = []
    for problem, published in MEANS_2D.items():
        for family, center in published.items():
            runs = evidence.get(sources_claims_004.TWO_INPUTS, problem=problem, surrogate=family)
            if runs is not None:
                rows.append([problem, f"`{family}`", _number(center), *_summary(runs)])
    return markdown(["function", "surrogate", "mean", "ours", "median", "largest", "runs"], rows)


def _features(evidence: Evidence) -> str:
    rows = []
    for problem, published in RVFL.items():
        for family, (center, deviation) in published.items():
            runs = evidence.get(sources_claims_000.FEATURES, problem=problem, surrogate=family)
            if runs is not None:
                text = f"{_number(center)} ± {_number(deviation)}"
                rows.append([_function(problem), f"`{family}`", text, *_summary(runs)])
    return markdown(["function", "surrogate", "mean", "ours", "median", "largest", "runs"], rows)


def _all(runs: Sequence[Runs]) -> str:
    """Return final regrets of everything that was run."""
    rows = []
    for name, members in groupby(runs, key=lambda one: one.experiment):
        group = list(members)
        rows += [
            [
                name,
                _function(one.problem),
                _method(one, group),
                *_summary(one),
                f"{np.mean(one.seconds):.2g}",
                str(one.limited),
            ]
            for one in group
        ]
    head = ["experiment", "problem", "method", "mean", "median", "largest", "runs"]
    return markdown([*head, "CPU s", "cut short"], rows)


def _maximizers() -> str:
    """Return what maximizers found on the same networks."""
    steps = sources_maximizers.read()
    rows = []
    for problem in dict.fromkeys(step.problem for step in steps):
        own = [step for step in steps if step.problem == problem]
        for name in sources_maximizers.MAXIMIZERS:
            lost = [max(step.values.values()) - step.values[name] for step in own]
            rows.append(
                [
                    problem,
                    f"`{name}`",
                    str(len(own)),
                    _number(np.median(lost)),
                    _number(max(lost)),
                    f"{np.median([step.seconds[name] for step in own]):.2g}",
                ]
            )
    head = ["problem", "maximizer", "steps", "median loss", "largest loss", "median s"]
    return markdown(head, rows)


def _summary(runs: Runs) -> list[str]:
    figures = [mean(runs), median(runs), max(runs.finals)]
    return [*map(_number, figures), str(len(runs.finals))]


def _method(one: Runs, group: Sequence[Runs]) -> str:
    """Return what sets runs apart from others of the experiment: their name, if options do not."""
    text = _described(one, group)
    twins = [other for other in group if other.problem == one.problem]
    alike = sum(_described(other, group) == text for other in twins)
    return text if alike == 1 else f"{one.title}: {one.method}"


def _described(one: Runs, group: Sequence[Runs]) -> str:
    """Return a family and the options in which the experiment varies."""
    chosen = [other for other in group if other.acquisition]
    values = {
        attribute: [getattr(other, attribute) for other in chosen]
        for attribute in ("acquisition", "budget", "escape", "maximizer")
    }
    own = [getattr(one, attribute) for attribute, known in values.items() if len(set(known)) > 1]
    parts = [f"{part:g}" if isinstance(part, float) else str(part) for part in own if part]
    return ", ".join([one.title, *parts])


def _function(spec: str) -> str:
    """Return a problem's name and, where there is one, its dimension or number."""
    name, _, options = spec.partition(":")
    known = dict(option.split("=") for option in options.split(",") if option)
    number = f" f{known['function']}" if "function" in known else ""
    inputs = f", d = {known['dimension']}" if "dimension" in known else ""
    return f"{name}{number}{inputs}"


def _number(value: float | np.floating | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _mark(name: str) -> str:
    return f"<!-- {name} -->"


def main(arguments: Sequence[str] | None = None) -> int:
    """Gather, and write the tables into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sources.results")
    parser.add_argument("stores", nargs="*", type=Path, help="of nnbo-mip run")
    stores = parser.parse_args(arguments).stores
    if stores:
        kept(merged(read(DATA), gathered(stores)), DATA)
    page = PAGE.read_text(encoding="utf-8")
    for name, table in tables(read(DATA)):
        before, _, rest = page.partition(_mark(name))
        page = f"{before}{_mark(name)}\n{table}\n{END}{rest.partition(END)[2]}"
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
