"""What the families say: the best of each beside the default, and proofs against multistart.

Means and ratios are over the seeds that all compared methods have. Up to `SOME_INPUTS`
coordinates the default is the Gaussian process with the exact maximizer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.regret.methods import DEFAULT, FAMILIES
from benchmarks.regret.problems import FEW_INPUTS, Case
from benchmarks.regret.results import Results
from benchmarks.regret.table import markdown
from nnbo_mip.lab.statistics.paired import log10
from nnbo_mip.loop.settings.defaults import SOME_INPUTS


def families_report(results: Results) -> str:
    """Return both tables; empty where there are no two families."""
    families = [name for name in FAMILIES if _methods_of(results, name)]
    if len(families) < 2:
        return ""
    parts = [
        "The best of each family: mean regret at the end over the seeds that all of them have.",
        _best_table(results, families),
        "Exact against lbfgs on the same model: ratio of regrets at the end, geometric mean; pairs "
        "of runs in which the exact one ended lower; functions on which it is wholly worse.",
        _pairs_table(results, families),
    ]
    return "\n\n".join(parts)


def _best_table(results: Results, families: Sequence[str]) -> str:
    rows = []
    for case in results.cases:
        groups = [[DEFAULT], *(_methods_of(results, family) for family in families)]
        methods = [name for group in groups for name in group if results.runs(case, name)]
        seeds = results.shared_seeds(case, methods)
        cells = [_best_cell(results, case, group, seeds) for group in groups]
        rows.append([case.label, str(len(seeds)), *cells])
    return markdown(["function", "seeds", DEFAULT, *families], rows)


def _best_cell(results: Results, case: Case, group: Sequence[str], seeds: Sequence[int]) -> str:
    """Return the lowest mean of a group of methods, and with which maximizer it was reached."""
    means = {
        name: float(results.final(case, name, seeds).mean())
        for name in group
        if seeds and results.runs(case, name)
    }
    if not means:
        return ""
    best = min(means, key=lambda name: means[name])
    return f"{means[best]:.2g}" + (f" {best.split('/')[1]}" if "/" in best else "")


def _pairs_table(results: Results, families: Sequence[str]) -> str:
    rows = []
    for family in families:
        for what, few in ((f"d <= {FEW_INPUTS}", True), (f"d > {FEW_INPUTS}", False)):
            cases = [case for case in results.cases if case.has_few_inputs == few]
            cells = _pair_cells(results, family, cases)
            if cells:
                rows.append([family, what, *cells])
    return markdown(["family", "functions", "pairs", "ratio", "lower", "wholly worse on"], rows)


def _pair_cells(results: Results, family: str, cases: Sequence[Case]) -> list[str]:
    """Return how exact runs compare with those of lbfgs; empty where none have the same seed."""
    differences, worse = [], []
    for case in cases:
        exact, multistart = _exact_of(results, family, case), f"{family}/lbfgs"
        if exact is None:
            continue
        seeds = results.shared_seeds(case, [exact, multistart])
        if not seeds:
            continue
        pair = [log10(results.final(case, name, seeds)) for name in (exact, multistart)]
        differences.append(pair[0] - pair[1])
        difference = results.difference(case, exact, multistart)
        if difference is not None and difference.is_wholly_worse:
            worse.append(case.label)
    if not differences:
        return []
    pairs = np.concatenate(differences)
    ratio, lower = 10.0 ** float(pairs.mean()), int((pairs < 0.0).sum())
    return [str(len(pairs)), f"{ratio:.2g}", str(lower), ", ".join(worse)]


def _methods_of(results: Results, family: str) -> list[str]:
    return [name for name in results.methods if name.split("/")[0] == family]


def _exact_of(results: Results, family: str, case: Case) -> str | None:
    """Return the method with this family's exact maximizer, None where there is none."""
    own = f"{family}/auto"
    is_default = family == "gp" and case.problem.dimension <= SOME_INPUTS
    if is_default and not results.runs(case, own):
        return DEFAULT
    return None if family == "gp" else own
