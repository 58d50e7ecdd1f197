r"""Linear problems that serve one head: one clock, one incumbent, one Ctrl-C.

Each maximizes a weighted sum of outputs with the engines of `methods` and need not be solved: its
bound is valid wherever it stops. A sequence says how far it has to go, by

* a *level*: what is not above it is of no interest, so the search may stop as soon as nothing
  is above it, and need not find the largest sum;
* an *allowance*: how far the bound may stay above the largest sum that was found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from nnbo_mip.core.arrays import FloatArray
from nnbo_mip.exact.methods import run
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.options import EngineOptions
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Step
from nnbo_mip.exact.search.rounding import UNIT_ROUNDOFF, rounding_model, sum_above
from nnbo_mip.network.graph.affine import Affine
from nnbo_mip.network.graph.builder import drop_unread_layers
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.network.graph.matrices import nonzero_rows

SHARE = 0.5
"""Share of the time left that one linear problem may take."""

Allowance = Callable[[float], float]
"""From the largest sum found to how far above it the bound may stay."""


@dataclass(frozen=True)
class SequenceOptions(EngineOptions):
    """How linear problems are solved.

    Parameters
    ----------
    method : str
        As in `certify`.
    most_problems : int
        Linear problems after which a sequence ends with what it has.
    """

    method: str = "auto"
    most_problems: int = 60


class StepMonitor(Monitor):
    """The monitor of one linear problem; it listens to that of the head, and feeds it.

    Parameters
    ----------
    problem : Problem
    allowance : callable
    level : float
    seconds : float
        Wall seconds for this problem.
    whole : Monitor
        Of the head: every better point is offered to it, its interruption ends this search.
    """

    def __init__(
        self,
        problem: Problem,
        allowance: Allowance,
        level: float,
        seconds: float,
        whole: Monitor,
    ) -> None:
        super().__init__(problem, 0.0, seconds, patience=whole.patience)
        self._allowance, self._level, self._whole = allowance, level, whole

    def _accept(self, point: FloatArray) -> None:
        super()._accept(point)
        # Engines that ask for a relative gap get this one.
        self.gap = self._allowance(self.best_value) / max(1.0, abs(self.best_value))
        self._whole.offer(point[None, :])

    @property
    def cutoff(self) -> float:
        """What is not above it needs no further search."""
        return max(super().cutoff, self._level)

    def _closes(self, bound: float) -> bool:
        return bound <= self._level or super()._closes(bound)

    @property
    def interrupted(self) -> bool:
        """Whether somebody asked this search or the whole one to stop."""
        return super().interrupted or self._whole.interrupted

    def interrupt(self) -> None:
        """Ask the whole search to return what it has."""
        self._whole.interrupt()

    @contextmanager
    def clock_stopped(self) -> Iterator[None]:
        """Stop both clocks."""
        with self._whole.clock_stopped(), super().clock_stopped():
            yield

    def wants_report(self) -> bool:
        """Whether the whole search would report now."""
        return self._whole.wants_report()

    def report(self, engine: str, bound: float, **counters: int) -> None:
        """Report the whole search's value and bound, and this engine's work."""
        self._whole.report(engine, self._whole.bound, **counters)


class Sequence:
    """Solves linear problems for one head and keeps what they prove.

    Parameters
    ----------
    options : SequenceOptions
    whole : Monitor
        Of the head.
    least_in_roundings : float
        No problem is asked for a smaller gap than this times its float64 rounding error.
    """

    def __init__(
        self, options: SequenceOptions, whole: Monitor, least_in_roundings: float = 0.0
    ) -> None:
        self.options, self.whole = options, whole
        self._least_in_roundings = least_in_roundings
        self.steps: list[Step] = []

    @property
    def box(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends (d,) of the domain."""
        domain = self.whole.problem.domain
        return domain.lower, domain.upper

    def exhausted(self) -> bool:
        """Whether there is no time, no wish, no hope or no budget for another problem."""
        return self.whole.should_stop() or len(self.steps) >= self.options.most_problems

    def maximize(
        self,
        objective: Network,
        weights: Mapping[str, float],
        *,
        margin: float = 0.0,
        allowance: Allowance,
        level: float = -math.inf,
        share: float = SHARE,
        tangents: tuple[float, ...] = (),
    ) -> Step:
        """Solve one linear problem as far as asked for, and keep it as a step.

        Parameters
        ----------
        objective : Network
            One output; at most `margin` below the sum it stands for, in real arithmetic.
        weights : mapping of str to float
            The sum, for the record.
        margin : float
        allowance : callable
        level : float
        share : float
            Of the time left.
        tangents : tuple of float
            For the record.
        """
        whole = self.whole
        problem = Problem(objective, whole.problem.domain)
        seconds = share * whole.remaining()
        least = self._least_in_roundings * problem.rounding.output
        monitor = StepMonitor(
            problem, lambda value: max(allowance(value), least), level, seconds, whole
        )
        if whole.best_x is not None:
            monitor.offer(whole.best_x[None, :])
        result, complaint = run(self.options.method, problem, self.options, monitor)
        if monitor.is_hopeless and not monitor.closed():
            whole.give_up()
        found = monitor.settled(result)
        step = Step(
            weights,
            replace(
                found,
                bound=sum_above(found.bound, margin),
                message=" ".join(part for part in (found.message, complaint) if part),
            ),
            tangents,
        )
        self.steps.append(step)
        return step


class Outputs:
    """Weighted sums of a network's outputs as networks, with what their rounding may cost.

    Parameters
    ----------
    network : Network
    lower, upper : (d,) array
        The box over which magnitudes are taken.
    """

    def __init__(self, network: Network, lower: FloatArray, upper: FloatArray) -> None:
        self.network, self._box = network, (lower, upper)
        self._magnitudes: dict[str, float] = {}

    def magnitude(self, output: str) -> float:
        """Return a bound on the sum of all summands' sizes of an output."""
        if output not in self._magnitudes:
            model = rounding_model(self.network.objective(output), *self._box)
            self._magnitudes[output] = model.magnitude
        return self._magnitudes[output]

    def weighted(self, weights: Mapping[str, float]) -> tuple[Network, float]:
        """Return the network of a sum, and by how much its weights' rounding may lower it."""
        used = {name: float(weight) for name, weight in weights.items() if weight != 0.0}
        objective = without_unread(self.network.objective(used or dict(weights)))
        if len(used) == 1 and abs(next(iter(used.values()))) == 1.0:
            return objective, 0.0  # multiplied by one and added to nothing
        sizes = sum(abs(weight) * self.magnitude(name) for name, weight in used.items())
        return objective, 4.0 * len(used) * UNIT_ROUNDOFF * sizes


def without_unread(objective: Network) -> Network:
    """Return a network without the layers of which its output reads nothing."""
    head = objective.head
    terms = {k: w for k, w in head.terms.items() if nonzero_rows(w).any()}
    return drop_unread_layers(
        Network(
            objective.n_inputs, objective.layers, Affine(head.bias, terms), objective.output_names
        )
    )


def appended(network: Network, rows: Affine, outputs: Affine, reads_rows: FloatArray) -> Network:
    """Return the network with one more ReLU layer, and one output that reads it.

    Parameters
    ----------
    network : Network
    rows : Affine
        Pre-activations of the new layer, in terms of the input and the layers there are.
    outputs : Affine
        One row: the rest of the new output.
    reads_rows : (n,) array
        Weights of the new layer in it.
    """
    last = len(network.layers) + 1
    head = Affine(outputs.bias, {**outputs.terms, last: np.asarray(reads_rows)[None, :]})
    layers = (*network.layers, rows)
    return without_unread(Network(network.n_inputs, layers, head, ("objective",)))
