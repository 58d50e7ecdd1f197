"""What a search for the maximum of a head answers, and the linear problems it rests on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.core.terms import Kind, Status
from nnbo_mip.exact.scores.question import HeadProblem
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.result import EngineResult
from nnbo_mip.scores.base.abstract import Head
from nnbo_mip.scores.functions.empirical import EmpiricalImprovement
from nnbo_mip.scores.functions.entropy import MaxValueEntropy
from nnbo_mip.scores.functions.improvement import ExpectedImprovement
from nnbo_mip.scores.functions.linear import LinearHead
from nnbo_mip.scores.functions.mixtures import (
    MixtureImprovement,
    MixtureQuantile,
    SampledImprovement,
)
from nnbo_mip.scores.functions.noisy import AugmentedEI, QuantileImprovement
from nnbo_mip.scores.functions.probability import ProbabilityOfImprovement

SMALLEST_SCORE = 1e-12
"""Scores of EI and PI below it are answered as their logarithms."""


@dataclass(frozen=True, eq=False)
class Step:
    """One linear problem: no admissible point has a weighted sum above `bound`.

    Parameters
    ----------
    weights : mapping of str to float
        Of the outputs ``mean`` and ``std`` or ``relu_raw``, or of ``score``.
    value, bound : float
        The largest sum found, and the bound that was proven.
    kind : {"rigorous", "solver", "none"}
        How it was proven.
    engine : str
        By whom.
    x : (d,) array or None
        Where `value` was found.
    tangents : tuple of float
        Values of relu(raw) at which tangents stood for the std, which they exceed elsewhere;
        empty where the std itself was summed.
    counters : mapping of str to int
        Work done.
    time_limited : bool
        Whether wall time ended it.
    message : str
        A sentence for the user, or empty.
    """

    weights: Mapping[str, float]
    value: float
    bound: float
    kind: Kind
    engine: str
    x: FloatArray | None = None
    tangents: tuple[float, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)
    time_limited: bool = False
    message: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))
        object.__setattr__(self, "counters", MappingProxyType(dict(self.counters)))

    @property
    def is_empty(self) -> bool:
        """Whether it was proven that there is no admissible point."""
        return self.bound == -math.inf and self.x is None


@dataclass(frozen=True, eq=False)
class HeadResult:
    """The best point found for a head, and the bound proven for all others.

    Parameters
    ----------
    x : (d,) array or None
        Best admissible point found.
    value : float
        Score of `head` at `x`, evaluated alone in float64.
    bound : float
        No admissible point scores above it; ``+inf`` without a proof.
    gap : float
        ``log(bound) - log(value)`` for EI and PI and their logarithms, else ``bound - value``.
    kind : {"rigorous", "solver", "none"}
        How `bound` was proven.
    status : {"optimal", "feasible", "heuristic", "infeasible"}
        What `gap` amounts to.
    engine : str
        The way that proved `bound`, with its engine for linear problems.
    head : str
        What `value` and `bound` are: ``ei`` and ``pi`` whose value is below `SMALLEST_SCORE` are
        answered as ``logei`` and ``logpi``.
    steps : tuple of Step
        The linear problems that were solved, in their order.
    counters : mapping of str to int
        Work done, that of all steps together.
    time_limited : bool
        Whether wall time, rather than work, ended the search.
    message : str
        One sentence for the user; empty when there is nothing to add.
    """

    x: FloatArray | None
    value: float
    bound: float
    gap: float
    kind: Kind
    status: Status
    engine: str
    head: str
    steps: tuple[Step, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)
    time_limited: bool = False
    message: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        object.__setattr__(self, "counters", MappingProxyType(dict(self.counters)))

    @property
    def linear_problems(self) -> int:
        """How many linear problems were solved."""
        return len(self.steps)


def answer(problem: HeadProblem, result: EngineResult, steps: Sequence[Step] = ()) -> HeadResult:
    """Turn an engine's answer about what is searched into one about the head.

    Parameters
    ----------
    problem : HeadProblem
    result : EngineResult
        In the values that `problem` compares: logarithms for EI and PI.
    steps : sequence of Step
    """
    value, bound, name = result.value, result.bound, name_of(problem.head)
    gap = math.nan if result.status == "infeasible" else bound - value
    if result.x is not None and problem.searched != problem.head:
        score = problem.score(result.x)
        if score < SMALLEST_SCORE:
            name = f"log{name}"
        else:
            value, bound = score, max(problem.score_above(bound), score)
            if isinstance(problem.head, ProbabilityOfImprovement):
                bound = min(bound, 1.0)
    return HeadResult(
        x=result.x,
        value=value,
        bound=bound,
        gap=gap,
        kind=result.kind,
        status=result.status,
        engine=result.engine,
        head=name,
        steps=tuple(steps),
        counters=result.counters,
        time_limited=result.time_limited,
        message=result.message,
    )


def assemble(
    way: str, problem: HeadProblem, monitor: Monitor, steps: Sequence[Step], message: str = ""
) -> HeadResult:
    """Answer a sequence of linear problems with the best value and bound the monitor has.

    Parameters
    ----------
    way : str
        What was made of the linear problems.
    problem : HeadProblem
    monitor : Monitor
        Of `problem`; its bound is the one that the steps have proven.
    steps : sequence of Step
    message : str
        A sentence for the user.
    """
    counters = Counter({"linear_problems": len(steps)})
    for step in steps:
        counters.update({k: n for k, n in step.counters.items() if k != "evaluations"})
    empty = next((step for step in steps if step.is_empty), None)
    bound, kind = monitor.bound, monitor.bound_kind
    if empty is not None and monitor.best_x is None:
        bound, kind = -math.inf, empty.kind
    engines = dict.fromkeys(step.engine for step in steps if step.kind != "none")
    notes = dict.fromkeys(note for note in (message, *(s.message for s in steps)) if note)
    result = monitor.result(
        f"{way} ({', '.join(engines)})" if engines else way,
        bound,
        kind,
        counters=counters,
        stopped=(monitor.should_stop() and not monitor.closed())
        or any(step.time_limited for step in steps),
        message=" ".join(notes),
    )
    return answer(problem, result, steps)


def joint_kind(steps: Sequence[Step]) -> Kind:
    """Return how what follows from all of these steps together is proven."""
    kinds = {step.kind for step in steps}
    if "none" in kinds:
        return "none"
    return "solver" if "solver" in kinds else "rigorous"


def name_of(head: Head) -> str:
    """Return the name under which acquisitions know a head."""
    if isinstance(head, ExpectedImprovement):
        return "logei" if head.log else "ei"
    if isinstance(head, EmpiricalImprovement):
        return f"empirical_{head.kind}"
    if isinstance(head, MixtureImprovement):
        return f"{head.kind}_mixture"
    if isinstance(head, LinearHead) and head.std_weight >= 0.0:
        return "ucb" if head.std_weight > 0.0 else "mean"
    names: dict[type[Head], str] = {
        ProbabilityOfImprovement: "pi",
        MaxValueEntropy: "mes",
        AugmentedEI: "aei",
        QuantileImprovement: "eqi",
        MixtureQuantile: "quantile_mixture",
        SampledImprovement: "ei_sampled",
    }
    return names.get(type(head), type(head).__name__.removesuffix("Head").lower())
