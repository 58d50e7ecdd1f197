"""The table of all surrogates: seconds of a fit, regrets on five functions.

    nnbo-mip run benchmarks/all_surrogates.toml --workers 1 --store all_surrogates.db
    python -m benchmarks.all_surrogates all_surrogates.db

The table stands in docs/dev/surrogate_measurements.md. With a store, what it holds is first
written to docs/plots/all_surrogates.json; without, the table is made of what is there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.regret.table import markdown
from nnbo_mip.lab.store.results import Results

DOCS = Path(__file__).parents[1] / "docs"
PAGE, DATA = DOCS / "dev" / "surrogate_measurements.md", DOCS / "plots" / "all_surrogates.json"
MARK, END = "<!-- all surrogates -->", "<!-- end -->"

BASELINES = ("random", "sobol")


@dataclass(frozen=True)
class Cell:
    """What became of one method on one problem.

    Parameters
    ----------
    surrogate, problem : str
        As the experiment has them; of a baseline its name.
    regrets : list of float
        At the end, one an instance.
    fit_seconds : float
        Median wall time of a fit over all steps of all instances; 0 without a model.
    failed : int
        Instances that ended with an error.
    """

    surrogate: str
    problem: str
    regrets: list[float]
    fit_seconds: float
    failed: int


def cells(store: Path) -> list[Cell]:
    """Return what a store holds, in the order of the plan."""
    results = Results.open(store)
    units, steps = results.units, results.steps
    found = []
    for method in results.methods:
        for problem in results.problems:
            rows = units.where((units["problem"] == problem) & (units["method"] == method))
            curves = results.curves(problem, method)
            times = [steps.where(steps["unit"] == unit)["fit_seconds"] for unit in curves.units]
            seconds = np.concatenate([np.empty(0), *times])
            found.append(
                Cell(
                    surrogate=str(rows["surrogate"][0]) or method,
                    problem=problem,
                    regrets=[float(f"{one:.4g}") for one in curves.values[:, -1]],
                    fit_seconds=float(f"{np.median(seconds):.4g}") if len(seconds) else 0.0,
                    failed=int((rows["status"] == "failed").sum()),
                )
            )
    return found


def table(found: Sequence[Cell]) -> str:
    """Return medians of regrets by function, a mean rank over all runs, and seconds of a fit."""
    problems = list(dict.fromkeys(cell.problem for cell in found))
    methods = list(dict.fromkeys(cell.surrogate for cell in found))
    known = {(cell.surrogate, cell.problem): cell for cell in found}
    ranks = mean_ranks(found)
    rows = []
    for method in sorted(methods, key=lambda one: ranks.get(one, np.inf)):
        own = [known[method, problem] for problem in problems]
        seconds = [cell.fit_seconds for cell in own if cell.regrets]
        rows.append(
            [
                f"`{method}`",
                "" if method in BASELINES else f"{min(seconds):.2g} to {max(seconds):.2g}",
                *(f"{np.median(cell.regrets):.2g}" if cell.regrets else "" for cell in own),
                f"{ranks[method]:.1f}" if method in ranks else "",
            ]
        )
    names = [problem.partition(":")[0] for problem in problems]
    return markdown(["surrogate", "fit, s", *names, "mean rank"], rows)


def mean_ranks(found: Sequence[Cell]) -> dict[str, float]:
    """Return mean ranks over functions of median regrets; methods that lack one are left out."""
    from scipy.stats import rankdata

    problems = list(dict.fromkeys(cell.problem for cell in found))
    medians: dict[str, list[float]] = {}
    for cell in found:
        if cell.regrets:
            medians.setdefault(cell.surrogate, []).append(float(np.median(cell.regrets)))
    whole = {method: own for method, own in medians.items() if len(own) == len(problems)}
    if not whole:
        return {}
    ranks = rankdata(np.array(list(whole.values())), axis=0).mean(axis=1)
    return dict(zip(whole, ranks.tolist(), strict=True))


def read() -> list[Cell]:
    """Return what is kept."""
    return [Cell(**one) for one in json.loads(DATA.read_text(encoding="utf-8"))]


def written() -> str:
    """Return the table as the page has it."""
    page = PAGE.read_text(encoding="utf-8")
    return page.partition(MARK)[2].partition(END)[0].strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Gather, and write the table into the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.all_surrogates")
    parser.add_argument("store", nargs="?", type=Path, help="of nnbo-mip run")
    store = parser.parse_args(arguments).store
    if store is not None:
        lines = ",\n".join(json.dumps(asdict(cell)) for cell in cells(store))
        DATA.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{MARK}\n{table(read())}\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
