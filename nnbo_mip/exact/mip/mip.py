r"""The ``mip`` engine: a mixed-integer program, a solver, and checks on what it says.

The network becomes a `MilpModel` with proven constants; the solver starts from the best
known point. Its bound is raised by what its tolerances can do (`formulation.tolerance`)
and thrown away when a forward pass contradicts it; then it is asked again with presolve
switched, then another solver. Claimants only propose points: a solver whose bounds count,
a prover, has to prove that nothing scores above ``value + gap``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from nnbo_mip.core.errors import InputError, SolverError
from nnbo_mip.core.terms import Kind, Measure
from nnbo_mip.exact.backends.base import DEFAULT, Backend, Hooks, SolverAnswer, SolveRequest
from nnbo_mip.exact.backends.catalogue import get_backend, second_opinions
from nnbo_mip.exact.backends.selftest import ensure_sound
from nnbo_mip.exact.bounds.interval import LayerBounds
from nnbo_mip.exact.branching.preactivations import output_bound, proven_bounds
from nnbo_mip.exact.formulation import Encoding, encode
from nnbo_mip.exact.formulation.encoding import PARTITION_GROUPS, TEXTBOOK_CONSTANT
from nnbo_mip.exact.mip.judge import Judge, Verdict
from nnbo_mip.exact.search.monitor import Monitor
from nnbo_mip.exact.search.options import EngineOptions
from nnbo_mip.exact.search.primal import climb
from nnbo_mip.exact.search.problem import Problem
from nnbo_mip.exact.search.result import Proof, SearchResult

ENGINE = "mip"

ROUNDS = 3
"""Solves of one backend, each asked with a value that has improved since the last."""

CLAIM_SHARE = 0.5
"""Share of the time left that a claimant may take; the rest is for the proof."""

LONE_CLAIM_SHARE = 0.9
"""The same where there is nothing to prove: some time is for handing the claim over."""

Prover = Callable[[Problem, Monitor], SearchResult]


@dataclass(frozen=True)
class MipOptions(EngineOptions):
    """Options of the mixed-integer engine.

    Parameters
    ----------
    threads : int
        Handed to the solver.
    presolve : bool
        Whether the solver may simplify the program first.
    constant : float
        M of the ``naive`` formulation.
    groups : int
        N of the ``partition`` formulation.
    log : callable (line) -> None, optional
        Receives the solver's log.
    """

    threads: int = 1
    presolve: bool = True
    constant: float = TEXTBOOK_CONSTANT
    groups: int = PARTITION_GROUPS
    log: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if self.threads < 1 or self.groups < 1 or not 0.0 < self.constant < math.inf:
            raise InputError(
                "threads and groups must be at least 1 and the constant positive and finite; "
                f"got {self}; raise them."
            )


def solve(
    problem: Problem,
    options: MipOptions,
    monitor: Monitor,
    preactivation_bounds: Sequence[LayerBounds] | None = None,
    prover: Prover | None = None,
) -> SearchResult:
    """Maximize f over the domain through a mixed-integer program.

    Parameters
    ----------
    problem : Problem
    options : MipOptions
    monitor : Monitor
    preactivation_bounds : sequence of (l, u), optional
        Proven at every admissible point; computed when left out.
    prover : callable, optional
        Proves the claims of a claimant instead of the default solver.
    """
    backend = get_backend(options.solver)
    ensure_sound(backend)
    return _MipSearch(problem, options, monitor, backend).run(preactivation_bounds, prover)


def proof_of(backend: Backend) -> Proof:
    """Return the proof by a mixed-integer program that a solver solved."""
    return Proof(ENGINE, backend.name, backend.version())


class _News:
    """What a running solver last said, told to the monitor by the thread that waits for it.

    Parameters
    ----------
    monitor : Monitor
    engine : str
    inflation : float
        What is added to the solver's bounds.
    nodes : int
        Nodes of the solves before.
    """

    def __init__(self, monitor: Monitor, engine: str, inflation: float, nodes: int) -> None:
        self._monitor, self._engine = monitor, engine
        self._inflation, self._nodes_before = inflation, nodes
        self._latest = math.inf, 0

    def receive(self, bound: float, nodes: int) -> None:
        """Keep the solver's bound and nodes; called from its own thread."""
        self._latest = bound, nodes

    def tell(self) -> None:
        """Report the latest news, and that time goes by."""
        bound, nodes = self._latest
        self._monitor.report(
            self._engine, bound + self._inflation, nodes=self._nodes_before + nodes
        )


class _MipSearch:
    """One run of the engine."""

    def __init__(
        self, problem: Problem, options: MipOptions, monitor: Monitor, backend: Backend
    ) -> None:
        self.problem, self.options, self.monitor = problem, options, monitor
        self.backend = backend
        self.counters: Counter[str] = Counter()
        self.complaints: list[str] = []

    def run(self, known: Sequence[LayerBounds] | None, prover: Prover | None) -> SearchResult:
        domain, monitor = self.problem.domain, self.monitor
        if not domain.tighten(domain.lower, domain.upper)[2]:
            return self._result(-math.inf, "rigorous", None)
        if monitor.best_x is None:
            climb(self.problem, monitor, seed=self.options.seed)
        bounds = proven_bounds(self.problem, monitor) if known is None else known
        root = output_bound(self.problem, bounds)
        if self._closes(root):
            return self._result(root, "rigorous", None)
        encoding = self._encode(bounds, self.options.formulation)
        self.counters["binaries"] = int(encoding.model.integer.sum())
        self.counters["switching"] = encoding.n_switching
        if not (encoding.certifies and self.backend.proves):
            self._propose(encoding)
            if not encoding.certifies:
                return self._result(math.inf, "none", self.backend)
            if prover is not None:
                return prover(self.problem, monitor)
            encoding = self._encode(bounds, "bigm")
        return self._prove(encoding, bounds, root)

    def _encode(self, bounds: Sequence[LayerBounds], formulation: str) -> Encoding:
        return encode(
            self.problem,
            bounds,
            formulation,
            constant=self.options.constant,
            groups=self.options.groups,
        )

    # -- claims -----------------------------------------------------------------------

    def _propose(self, encoding: Encoding) -> None:
        """Let a solver propose points whose value is the forward pass, and nothing else."""
        judge = Judge(encoding, self.monitor, self.options.seed)
        share = CLAIM_SHARE if encoding.certifies else LONE_CLAIM_SHARE
        seconds = share * self.monitor.remaining()
        answer = self._ask(self.backend, judge, self.options.presolve, 0.0, None, seconds)
        verdict = judge.verdict(self.backend, answer, None)
        if not self.backend.proves:
            self.complaints.append(
                f"{self.backend.name} is a claimant: its points count, its bounds are not read"
            )
        if verdict.complaint:
            self.complaints.append(verdict.complaint)

    # -- proofs -----------------------------------------------------------------------

    def _prove(
        self, encoding: Encoding, bounds: Sequence[LayerBounds], root: float
    ) -> SearchResult:
        best, author = root, None
        kind: Kind = "rigorous"
        judge = Judge(encoding, self.monitor, self.options.seed)
        for backend, presolve in self._ladder():
            if encoding.model.sos1 and not backend.supports_sos1:
                encoding = self._encode(bounds, "bigm")
                judge = Judge(encoding, self.monitor, self.options.seed)
            if judge.excludes_witness():
                self.complaints.append("the program excludes a known point; it proves nothing")
                break
            verdict = self._bound_by(backend, judge, presolve)
            if verdict.bound is not None:
                if verdict.bound < best:
                    best, kind, author = verdict.bound, "solver", backend
                break
            self.complaints.append(verdict.complaint)
            if self.monitor.should_stop():
                break
        else:
            self.complaints.append("no solver gave a bound that holds: theirs are withdrawn")
        excess = best - self.monitor.best_value if self.monitor.best_x is not None else math.inf
        stopped = self.monitor.should_stop()
        if author is not None and not stopped and math.isfinite(excess) and not self._closes(best):
            self.complaints.append(
                f"the tolerances of {author.name} and the margins that make its bound safe keep "
                f"it {excess:.2g} above the value"
            )
        return self._result(best, kind, author)

    def _ladder(self) -> Iterator[tuple[Backend, bool]]:
        """Yield who is asked next when an answer was thrown away."""
        first = self.backend if self.backend.proves else get_backend(DEFAULT)
        ensure_sound(first)
        yield first, self.options.presolve
        yield first, not self.options.presolve
        for other in second_opinions([first.name]):
            try:
                ensure_sound(other)
            except SolverError:
                continue
            yield other, self.options.presolve
            return

    def _bound_by(self, backend: Backend, judge: Judge, presolve: bool) -> Verdict:
        """Ask one backend, and again while a better value changes what is asked."""
        inflation = judge.inflation(backend)
        verdict = Verdict(None)
        for _ in range(ROUNDS):
            value = self.monitor.best_value
            gap = max(0.5 * (self._target_gap() - inflation), 0.0)
            cutoff = value + gap if math.isfinite(value) and not self.backend.proves else None
            answer = self._ask(backend, judge, presolve, gap, cutoff, self.monitor.remaining())
            verdict = judge.verdict(backend, answer, cutoff)
            if answer.status == "infeasible" and cutoff is None and not verdict.complaint:
                verdict = self._confirm_empty(backend)
            unchanged = self.monitor.best_value == value
            if verdict.bound is None or answer.status == "stopped" or unchanged:
                return verdict
            if self._closes(verdict.bound):
                return verdict
        return verdict

    def _confirm_empty(self, backend: Backend) -> Verdict:
        """Ask again without presolve: a network never makes a domain empty."""
        from nnbo_mip.exact.mip.emptiness import is_empty

        if is_empty(self.problem.domain, backend, self.monitor):
            return Verdict(-math.inf)
        return Verdict(None, f"{backend.name} calls the problem infeasible, but not its domain")

    def _target_gap(self) -> float:
        value, threshold = self.monitor.best_value, self.monitor.threshold
        if threshold is not None:
            return max(threshold - value, 0.0) if math.isfinite(value) else 0.0
        return self.monitor.gap * max(1.0, abs(value) if math.isfinite(value) else 1.0)

    # -- one solve --------------------------------------------------------------------

    def _ask(
        self,
        backend: Backend,
        judge: Judge,
        presolve: bool,
        gap: float,
        cutoff: float | None,
        seconds: float,
    ) -> SolverAnswer:
        monitor = self.monitor
        inflation = judge.inflation(backend) if backend.proves else math.inf
        start = None
        if monitor.best_x is not None and cutoff is None:
            start = judge.encoding.complete(monitor.best_x)
        news = _News(monitor, str(Proof(ENGINE, backend.name)), inflation, self.counters["nodes"])
        hooks = Hooks(
            should_stop=monitor.should_stop,
            interrupt=monitor.interrupt,
            incumbent=judge.offer,
            progress=news.receive,
            tick=news.tell,
            log=self.options.log,
        )
        request = SolveRequest(
            time_limit=seconds,
            absolute_gap=gap,
            start=start,
            cutoff=cutoff,
            threads=self.options.threads,
            seed=self.options.seed,
            presolve=presolve,
            hooks=hooks,
        )
        answer = backend.solve(judge.encoding.model, request)
        self.counters["solves"] += 1
        self.counters["nodes"] += answer.nodes
        self.counters["simplex_steps"] += answer.iterations
        return answer

    # -- the answer -------------------------------------------------------------------

    def _closes(self, bound: float) -> bool:
        if self.monitor.threshold is not None:
            return self.monitor.settles(bound)
        return Measure.NATURAL.closes(self.monitor.best_value, bound, self.monitor.gap)

    def _result(self, bound: float, kind: Kind, author: Backend | None) -> SearchResult:
        return self.monitor.result(
            Proof(ENGINE) if author is None else proof_of(author),
            bound,
            kind,
            counters=self.counters,
            stopped=self.monitor.should_stop() and not self._closes(bound),
            message="; ".join(dict.fromkeys(self.complaints)),
        )
