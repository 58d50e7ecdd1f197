"""`Findings`: how far methods are from the optimum on each problem, as statistics take it.

The *loss* of a run is its regret. Where the optimum is not known it is the distance to the best
value that any method of the experiment found, so that ranks and tests mean the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray, IntArray
from nnbo_mip.lab.statistics.intervals import Band, Interval, interval_of, mean_band, median_band
from nnbo_mip.lab.statistics.ranks import ranks, ranks_by_interval
from nnbo_mip.lab.statistics.tests import Friedman, friedman, stratified_ranks
from nnbo_mip.lab.store.results import Results

REGRET, DISTANCE = "regret", "distance to the best value found"


@dataclass(frozen=True, eq=False)
class Sample:
    """The losses of one method on one problem.

    Parameters
    ----------
    method : str
    instances, units : (k,) arrays of int
        Those that are finished and have a value.
    losses : (k, n) array
        After each evaluation; NaN before the first value.
    without_values : int
        Finished units none of whose evaluations succeeded.
    """

    method: str
    instances: IntArray
    units: IntArray
    losses: FloatArray
    without_values: int = 0

    def __len__(self) -> int:
        return len(self.instances)

    @property
    def final(self) -> FloatArray:
        """Losses (k,) at the end."""
        return self.losses[:, -1]

    @cached_property
    def mean(self) -> Band:
        """Of every column, with intervals."""
        return mean_band(self.losses)

    @cached_property
    def median(self) -> Band:
        """Of every column, with intervals."""
        return median_band(self.losses)

    @cached_property
    def final_mean(self) -> Interval:
        """Mean at the end, with more resamples than a curve has."""
        return interval_of(self.final)

    @cached_property
    def final_median(self) -> Interval:
        """Median at the end."""
        return interval_of(self.final, np.median)


@dataclass(frozen=True, eq=False)
class ProblemFindings:
    """All methods on one problem.

    Parameters
    ----------
    problem : str
    measure : str
        What a loss is: `REGRET` or `DISTANCE`.
    dimension, starts : int
    samples : tuple of Sample
        Of the methods that have one finished unit at least, in the order of the plan.
    """

    problem: str
    measure: str
    dimension: int
    starts: int
    samples: tuple[Sample, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """Those that have results."""
        return tuple(sample.method for sample in self.samples)

    @property
    def evaluations(self) -> int:
        """How many there are, starts included."""
        return self.samples[0].losses.shape[1] if self.samples else 0

    @cached_property
    def interval_ranks(self) -> IntArray:
        """Ranks (m,) by the intervals of the means at the end."""
        ends = [sample.final_mean for sample in self.samples]
        return ranks_by_interval([end.low for end in ends], [end.high for end in ends])

    @cached_property
    def median_ranks(self) -> IntArray:
        """Ranks (m,) of the medians at the end."""
        return ranks([sample.final_median.value for sample in self.samples])

    @cached_property
    def stratified(self) -> IntArray:
        """Ranks (m,) by Mann-Whitney tests of ends, then of areas from the last start on."""
        first = max(self.starts - 1, 0)
        return stratified_ranks(
            [np.nan_to_num(sample.losses[:, first:], nan=np.inf) for sample in self.samples]
        )

    @cached_property
    def common(self) -> IntArray:
        """Instances that all of these methods have finished."""
        shared = set.intersection(*(set(one.instances.tolist()) for one in self.samples))
        return np.array(sorted(shared), dtype=np.int64)

    @cached_property
    def paired(self) -> FloatArray:
        """Losses (instances, m, n) on common instances."""
        return np.stack(
            [one.losses[np.searchsorted(one.instances, self.common)] for one in self.samples],
            axis=1,
        )

    @cached_property
    def friedman(self) -> Friedman | None:
        """Of the ends on common instances; None where there is nothing to compare."""
        if len(self.samples) < 2 or not len(self.common):
            return None
        return friedman(self.paired[:, :, -1])


@dataclass(frozen=True, eq=False)
class Findings:
    """All problems of an experiment.

    Parameters
    ----------
    methods : tuple of str
        Of the plan.
    problems : tuple of ProblemFindings
        Those with results first to last as in the plan, the others with no samples.
    """

    methods: tuple[str, ...]
    problems: tuple[ProblemFindings, ...]

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """Methods that have results on some problem, in the order of the plan."""
        present = {method for problem in self.problems for method in problem.methods}
        return tuple(method for method in self.methods if method in present)

    @cached_property
    def complete(self) -> tuple[ProblemFindings, ...]:
        """Problems on which all of `ranked` have results: those that lists of ranks are over."""
        return tuple(
            problem
            for problem in self.problems
            if problem.samples and problem.methods == self.ranked
        )

    @cached_property
    def friedman(self) -> Friedman | None:
        """Of the median ends, with problems as blocks; None where there is nothing to compare."""
        if len(self.ranked) < 2 or len(self.complete) < 2:
            return None
        return friedman([[one.final_median.value for one in p.samples] for p in self.complete])

    @classmethod
    def of(cls, results: Results) -> Findings:
        """Read the losses of all finished units."""
        return cls(
            results.methods, tuple(_problem(results, problem) for problem in results.problems)
        )


def _problem(results: Results, problem: str) -> ProblemFindings:
    units = results.units
    rows = units.where(units["problem"] == problem)
    present = dict.fromkeys(rows["method"].tolist())
    finished = set(rows.where(rows["status"] == "finished")["method"].tolist())
    regrets = [results.curves(problem, method) for method in present if method in finished]
    known = bool(np.isfinite(rows["optimum"]).all())
    curves = regrets
    if not known:
        curves = [results.curves(problem, one.method, "best") for one in regrets]
    sign = 1.0 if rows["direction"][0] == "minimize" else -1.0
    values = [one.values if known else sign * one.values for one in curves]
    best = 0.0 if known else _least(values)
    length = min((one.shape[1] for one in values), default=0)
    samples = []
    for curve, losses in zip(curves, values, strict=True):
        has_value = np.isfinite(losses[:, -1])
        if has_value.any():
            kept = np.maximum(losses[has_value, :length] - best, 0.0)
            lost = int(np.sum(~has_value))
            samples.append(
                Sample(curve.method, curve.instances[has_value], curve.units[has_value], kept, lost)
            )
    return ProblemFindings(
        problem,
        REGRET if known else DISTANCE,
        int(rows["dimension"][0]),
        int(rows["starts"].min()),
        tuple(samples),
    )


def _least(values: Sequence[npt.NDArray[np.float64]]) -> float:
    return min((float(np.nanmin(one)) for one in values if np.isfinite(one).any()), default=0.0)
