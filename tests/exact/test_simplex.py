from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from nnbo_mip.exact.bounds import simplex


def random_program(rng, m=8, n=6):
    """Return (A, r, c, constant, low, high) with slacks s = r + A y in [low, high]."""
    A = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.7)
    low = np.concatenate([rng.uniform(-2, 0.5, n), np.zeros(m)])
    high = np.concatenate([low[:n] + rng.uniform(0.1, 3.0, n), rng.uniform(0.5, 4.0, m)])
    inside = low[:n] + rng.random(n) * (high[:n] - low[:n])
    r = rng.uniform(0.0, 0.5, m) - A @ inside
    return A, r, rng.normal(size=n), float(rng.normal()), low, high


def reference(A, r, c, constant, low, high):
    """Return the optimum by SciPy, -inf when infeasible."""
    n = A.shape[1]
    result = linprog(
        -c,
        A_ub=np.vstack([A, -A]),
        b_ub=np.concatenate([high[n:] - r, r - low[n:]]),
        bounds=np.column_stack([low[:n], high[:n]]),
    )
    return constant - result.fun if result.status == 0 else -np.inf


class Dictionary:
    """Work arrays of one program."""

    def __init__(self, program):
        A, r, c, constant, low, high = program
        m, n = A.shape
        self.program = program
        self.T, self.d, self.v = np.empty((m, n)), np.empty(n), np.empty(m)
        self.basic, self.nonbasic = np.empty(m, dtype=np.int64), np.empty(n, dtype=np.int64)
        self.at_upper = np.empty(n, dtype=np.bool_)
        self.mu = np.zeros(m)
        self.objective = simplex.reset(
            A, r, c, constant, low, high, self.T, self.d, self.v,
            self.basic, self.nonbasic, self.at_upper,
        )  # fmt: skip

    def solve(self, cutoff=-np.inf):
        low, high = self.program[4:]
        self.status, self.objective, self.steps, self.row, self.sign = simplex.dual_simplex(
            self.T, self.d, self.v, self.basic, self.nonbasic, self.at_upper,
            low, high, self.objective, cutoff, 500,
        )  # fmt: skip
        simplex.read_multipliers(self.d, self.nonbasic, len(self.d), self.mu)
        return self.status

    def bound(self, mu=None):
        A, r, c, constant, low, high = self.program
        m, n = A.shape
        sizes = np.maximum(np.abs(low[:n]), np.abs(high[:n]))
        return simplex.safe_bound(
            A, r, c, constant, low, high, self.mu if mu is None else mu, np.empty(n),
            sizes, np.abs(r) + np.abs(A) @ sizes, np.zeros(m), 0.0,
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_optimum_agrees_with_scipy_and_the_bound_contains_it(seed):
    program = random_program(np.random.default_rng(seed))
    dictionary = Dictionary(program)
    assert dictionary.solve() == simplex.OPTIMAL
    expected = reference(*program)
    assert dictionary.objective == pytest.approx(expected, abs=1e-8)
    assert expected - 1e-9 <= dictionary.bound() <= expected + 1e-7


@pytest.mark.parametrize("seed", range(20))
def test_any_multipliers_give_a_valid_bound(seed):
    rng = np.random.default_rng(seed)
    program = random_program(rng)
    dictionary = Dictionary(program)
    expected = reference(*program)
    for _ in range(20):
        assert dictionary.bound(rng.normal(size=len(dictionary.mu))) >= expected - 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_cut_off_stops_early_with_a_proof(seed):
    program = random_program(np.random.default_rng(seed))
    optimum = reference(*program)
    dictionary = Dictionary(program)
    level = optimum + 0.1
    assert dictionary.objective > level, "the slack basis would prove the level"
    assert dictionary.solve(cutoff=level) == simplex.CUT_OFF
    assert dictionary.bound() <= level + 1e-9


def test_infeasible_rows_prove_any_level():
    rng = np.random.default_rng(7)
    A, r, c, constant, low, high = random_program(rng)
    n = A.shape[1]
    # Two copies of a row whose slacks cannot both be small and large.
    A = np.vstack([A, A[:1]])
    r = np.append(r, r[0] - 10.0)
    low, high = np.append(low, 0.0), np.append(high, 1.0)
    program = (A, r, c, constant, low, high)
    assert reference(*program) == -np.inf
    dictionary = Dictionary(program)
    assert dictionary.solve() == simplex.INFEASIBLE
    level = dictionary.objective - 50.0
    simplex.add_ray(
        dictionary.T, dictionary.v, dictionary.basic, dictionary.nonbasic, low, high,
        dictionary.row, dictionary.sign, dictionary.objective - level + 1.0, n, dictionary.mu,
    )  # fmt: skip
    assert dictionary.bound() <= level
