"""Maxima of BoTorch's acquisition functions: proven, over what BoTorch was asked, and checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("botorch")

from botorch.acquisition import analytic  # noqa: E402
from botorch.optim import optimize_acqf  # noqa: E402

import nnbo_mip as nm  # noqa: E402
from nnbo_mip.integrations.botorch import certify_acqf, optimize_acqf_certified  # noqa: E402
from nnbo_mip.integrations.botorch.heads import Read  # noqa: E402
from tests.integrations.botorch.random_models import box, random_model, sample  # noqa: E402
from tests.integrations.botorch.test_reading import NAMES, acquisition  # noqa: E402

Rows = list[tuple[Any, Any, float]]


def logei(seed: int = 8, d: int = 2) -> Any:
    return analytic.LogExpectedImprovement(random_model(seed, d), best_f=9.0)


def value(asked: Any, X: Any) -> Any:
    with torch.no_grad():
        return asked(X[:, None, :])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.filterwarnings("ignore:.*has known numerical issues")
def test_no_point_exceeds_the_bound(name: str, maximize: bool) -> None:
    asked = acquisition(name, random_model(8, 2), maximize=maximize)
    found = certify_acqf(asked, box(2))
    assert found.status == "optimal"
    assert found.difference <= 1e-8
    own = float(found.values[0])
    assert own <= found.bounds[0]
    grid = torch.cartesian_prod(*(torch.linspace(*ends, 60) for ends in box(2).t().tolist()))
    assert float(value(asked, grid.double()).max()) <= found.bounds[0] + 1e-9
    there = float(value(asked, found.candidates)[0])
    assert there == pytest.approx(own, rel=1e-8, abs=1e-8)


def test_values_too_small_for_ei_are_returned_as_ei() -> None:
    model = random_model(8, 2)
    asked = analytic.ProbabilityOfImprovement(model, best_f=22.0)
    found = certify_acqf(asked, box(2))
    assert found.proposals[0].head == "logpi"
    assert 0.0 < found.values[0] <= found.bounds[0] < 1e-12
    assert math.log(found.bounds[0]) == pytest.approx(found.proposals[0].bound, rel=1e-12)


def test_the_call_and_the_return_are_those_of_botorch() -> None:
    asked = logei()
    theirs, their_value = optimize_acqf(asked, box(2), 1, 4, 64)
    ours, our_value = optimize_acqf_certified(asked, box(2), 1, 4, 64)
    assert ours.shape == theirs.shape
    assert our_value.shape == their_value.shape
    assert ours.dtype == theirs.dtype
    assert float(our_value) >= float(their_value) - 1e-8
    found = certify_acqf(asked, box(2), starts=theirs, time_limit=1e-6)  # nothing but the start
    assert found.values[0] >= float(their_value) - 1e-8
    alone, nothing = optimize_acqf_certified(
        asked, box(2), batch_initial_conditions=theirs[None], return_acq_values=False
    )
    assert nothing is None
    assert alone.shape == (1, 2)


def test_the_certificate_is_confirmed_by_other_code() -> None:
    (proposal,) = certify_acqf(logei(), box(2)).proposals
    assert proposal.check().verdict == "confirmed"


def test_linear_constraints_and_fixed_features_hold() -> None:
    first, second = torch.tensor([0, 1]), torch.tensor([1.0, 4.0]).double()
    rows: Rows = [(first, second, 6.0)]
    found = certify_acqf(logei(6, 3), box(3), inequality_constraints=rows)
    x = found.candidates[0]
    assert float(x[0] + 4.0 * x[1]) >= 6.0 - 1e-8
    lies: Rows = [(first, -second, -3.0)]
    line: Rows = [(first, second, 2.5)]
    found = certify_acqf(
        logei(6, 3),
        box(3),
        inequality_constraints=lies,
        equality_constraints=line,
        fixed_features={-1: 17.0},
    )
    x = found.candidates[0]
    assert float(x[0] + 4.0 * x[1]) == pytest.approx(2.5, abs=1e-8)
    assert float(x[2]) == 17.0
    assert found.status == "optimal"


def test_discrete_inputs_and_categories_are_exact() -> None:
    asked = logei(7, 4)
    ends = box(4)
    ends[:, 2:] = torch.tensor([[0.0, 0.0], [1.0, 1.0]])
    found = certify_acqf(asked, ends, discrete_dims={0: (3.0, -1.0, 4.5)}, one_hot=[(2, 3)])
    assert float(found.candidates[0, 0]) in (-1.0, 3.0, 4.5)
    assert sorted(found.candidates[0, 2:].tolist()) == [0.0, 1.0]
    assert found.status == "optimal"


@pytest.mark.parametrize("seed", [0, 2, 5, 9])
def test_pending_points_are_believed(seed: int) -> None:
    model = random_model(seed)
    asked = analytic.LogExpectedImprovement(model, best_f=8.0)
    read = Read.of(asked)
    d = read.belief.n_inputs
    X, pending = sample(40, d, seed + 3), sample(2, d, seed + 4)
    after = read
    for x in pending.numpy():
        after = after.with_pending(x)
    # What BoTorch's joint posterior says of f(X) given noisy values at the pending points.
    with torch.no_grad():
        told = model.posterior(torch.cat([X, pending])).distribution
    covariance, n = told.covariance_matrix.numpy(), len(X)
    noise = read.belief.noise**2 * np.eye(2)
    known = covariance[n:, n:] + noise
    between = covariance[:n, n:]
    left = np.diag(covariance)[:n] - (between @ np.linalg.inv(known) * between).sum(axis=1)
    np.testing.assert_allclose(after.belief.std(X.numpy()), np.sqrt(left), rtol=0, atol=1e-8)
    mean = told.mean.numpy()[:n]
    np.testing.assert_allclose(after.belief.mean(X.numpy()), mean, rtol=0, atol=1e-8)
    best = max(8.0, *read.belief.mean(pending.numpy()))
    head: Any = after.acquisition.resolve(after.belief)
    assert head.threshold == pytest.approx(best, rel=1e-12)


def test_points_of_a_batch_are_worth_less_and_those_before_are_pending() -> None:
    asked = logei()
    found = certify_acqf(asked, box(2), 3)
    assert found.candidates.shape == (3, 2)
    assert found.acq_value.shape == (3,)
    assert found.status == "optimal"
    assert (np.diff(found.values) < 0.0).all()
    (again,) = certify_acqf(asked, box(2), X_pending=found.candidates[:2]).values
    assert again == pytest.approx(found.values[2], abs=1e-4)


def test_processing_may_round_but_not_move() -> None:
    certify_acqf(logei(), box(2), post_processing_func=lambda X: X * (1.0 + 1e-14))
    with pytest.raises(nm.UnsupportedError, match="must leave a proven point"):
        certify_acqf(logei(), box(2), post_processing_func=lambda X: X.round(decimals=1))


REFUSED: dict[str, dict[str, Any]] = {
    "sequential=False": {"q": 2, "sequential": False},
    "return_best_only=False": {"return_best_only": False},
    "nonlinear_inequality_constraints": {"nonlinear_inequality_constraints": [(sum, True)]},
    "acq_function_sequence": {"q": 2, "acq_function_sequence": []},
    "come with num_restarts": {"raw_samples": 4},
    "must be a tensor of shape": {"bounds": [0.0, 1.0]},
    "must be in torch.float64": {"bounds": box(2).float()},
    "must have the 2 columns": {"bounds": box(3)},
    "joins several points": {
        "inequality_constraints": [(torch.tensor([[0, 0], [1, 0]]), torch.ones(2), 0.0)]
    },
    "must name inputs 0 to 1": {"fixed_features": {2: 0.0}},
    "must have one value": {"fixed_features": {0: torch.zeros(3)}},
    "must admit a point": {"equality_constraints": [(torch.tensor([0]), torch.ones(1), 99.0)]},
}


@pytest.mark.parametrize("match", REFUSED)
def test_what_cannot_be_proven_is_refused_in_a_sentence(match: str) -> None:
    asked = {"bounds": box(2), **REFUSED[match]}
    with pytest.raises((nm.UnsupportedError, nm.InputError), match=match):
        optimize_acqf_certified(logei(), **asked)


def test_a_mean_has_one_largest_point() -> None:
    asked = analytic.PosteriorMean(random_model(8, 2))
    with pytest.raises(nm.UnsupportedError, match="does not change with pending points"):
        certify_acqf(asked, box(2), 2)
