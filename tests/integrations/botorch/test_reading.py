"""Models of BoTorch as beliefs: the same posterior, and everything else refused by its name."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("botorch")

from botorch.acquisition import analytic  # noqa: E402
from botorch.acquisition.logei import qLogExpectedImprovement  # noqa: E402
from botorch.acquisition.objective import ScalarizedPosteriorTransform  # noqa: E402
from botorch.models import MixedSingleTaskGP, ModelListGP, SingleTaskGP  # noqa: E402
from botorch.models.transforms import Log, Normalize, Warp  # noqa: E402
from gpytorch.kernels import MaternKernel, RBFKernel, RQKernel, ScaleKernel  # noqa: E402
from gpytorch.likelihoods import GaussianLikelihood  # noqa: E402
from gpytorch.means import LinearMean  # noqa: E402

import nnbo_mip as nm  # noqa: E402
from nnbo_mip.integrations.botorch import as_belief, certify_acqf  # noqa: E402
from nnbo_mip.integrations.botorch.comparing import check_floor  # noqa: E402
from nnbo_mip.integrations.botorch.heads import Read  # noqa: E402
from tests.integrations.botorch.random_models import box, random_model, sample  # noqa: E402

SEEDS = range(84)
"""All parts of `random_model` beside each other."""


def moments(model: Any, X: Any) -> tuple[Any, Any]:
    with torch.no_grad():
        told = model.posterior(X[:, None, :])
        return told.mean.reshape(-1).numpy(), told.variance.reshape(-1).sqrt().numpy()


def acquisition(name: str, model: Any, **options: Any) -> Any:
    kind = getattr(analytic, name)
    if name == "UpperConfidenceBound":
        return kind(model, beta=2.3, **options)
    if name == "PosteriorMean":
        return kind(model, **options)
    return kind(model, best_f=8.3, **options)


NAMES = (
    *("LogExpectedImprovement", "ExpectedImprovement", "LogProbabilityOfImprovement"),
    *("ProbabilityOfImprovement", "UpperConfidenceBound", "PosteriorMean"),
)


@pytest.mark.parametrize("seed", SEEDS)
def test_mean_and_std_are_those_of_botorch(seed: int) -> None:
    model = random_model(seed)
    belief = as_belief(model)
    X = sample(60, belief.n_inputs, seed + 1)
    mean, std = moments(model, X)
    own_mean, own_std = belief.predict(X.numpy(), return_std=True)
    np.testing.assert_allclose(own_mean, mean, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(own_std, std, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.filterwarnings("ignore:.*has known numerical issues")
def test_values_are_those_of_botorch(name: str, maximize: bool) -> None:
    for seed in range(0, 24, 2):
        transform = ScalarizedPosteriorTransform(torch.tensor([-2.0]).double(), 0.5)
        model = random_model(seed)
        asked = acquisition(
            name, model, maximize=maximize, posterior_transform=None if seed % 4 else transform
        )
        read = Read.of(asked)
        X = sample(50, read.belief.n_inputs, seed + 5)
        with torch.no_grad():
            told = asked(X[:, None, :]).numpy()
        own = read.acquisition.score(read.belief, X.numpy())
        np.testing.assert_allclose(own, told, rtol=1e-8, atol=1e-8)


def test_a_list_of_one_model_is_that_model() -> None:
    model = random_model(5)
    X = sample(5, 2, 0).numpy()
    assert (as_belief(ModelListGP(model)).mean(X) == as_belief(model).mean(X)).all()


def test_a_belief_goes_on_with_our_own_acquisitions() -> None:
    model = random_model(5)
    belief = as_belief(model)
    lower, upper = box(2).numpy()
    proposal = nm.maximize(belief, "ucb", nm.Domain(lower, upper), time_limit=20.0)
    assert proposal.status == "optimal"
    assert belief.noise_std([lower])[0] > 0.0


def with_parts(**parts: Any) -> Any:
    X = sample(8, 2, 0)
    Y = X.sum(dim=1, keepdim=True).sin() + 2.0
    return SingleTaskGP(X, Y, **{"covar_module": RBFKernel().double(), **parts})


class Own(RBFKernel):
    """A kernel of one's own."""


class OwnNoise(GaussianLikelihood):
    """A noise of one's own."""


class OwnModel(SingleTaskGP):
    """A model of one's own."""


def own_model() -> Any:
    X = sample(8, 2, 0)
    return OwnModel(X, X.sum(dim=1, keepdim=True), covar_module=RBFKernel().double())


def mixed() -> Any:
    X = sample(8, 2, 0)
    X[:, 1] = (X[:, 1] > 1.0).double()
    return MixedSingleTaskGP(X, X.sum(dim=1, keepdim=True), cat_dims=[1])


def of_two_outputs() -> Any:
    X = sample(8, 2, 0)
    return SingleTaskGP(X, X, covar_module=RBFKernel(batch_shape=torch.Size([2])).double())


def reversed_inputs() -> Any:
    return with_parts(input_transform=Normalize(2, bounds=box(2), reverse=True))


def in_single() -> Any:
    X = sample(8, 2, 0).float()
    return SingleTaskGP(X, X.sum(dim=1, keepdim=True), covar_module=RBFKernel())


def changed() -> Any:
    """Return a model whose kernel does not compute what its type says."""
    model = with_parts(covar_module=ScaleKernel(RBFKernel()).double())
    usual = model.covar_module.base_kernel.forward
    model.covar_module.base_kernel.forward = lambda *a, **k: 0.999999 * usual(*a, **k)
    return model


MODELS = {
    "Own": lambda: with_parts(covar_module=Own().double()),
    "RQKernel": lambda: with_parts(covar_module=ScaleKernel(RQKernel()).double()),
    "ProductKernel": lambda: with_parts(covar_module=(RBFKernel() * MaternKernel()).double()),
    "active_dims": lambda: with_parts(covar_module=RBFKernel(active_dims=[0]).double()),
    "OwnModel": own_model,
    "MixedSingleTaskGP": mixed,
    "2 outputs": of_two_outputs,
    "Warp": lambda: with_parts(input_transform=Warp(2, [0, 1], bounds=box(2))),
    "not reversed to be maximized with a proof; got a Normalize": reversed_inputs,
    "Log": lambda: with_parts(outcome_transform=Log()),
    "LinearMean": lambda: with_parts(mean_module=LinearMean(2).double()),
    "OwnNoise": lambda: with_parts(likelihood=OwnNoise().double()),
    "float32": in_single,
    "it differs by": changed,
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::botorch.exceptions.warnings.InputDataWarning")
def test_what_is_not_read_is_refused_by_name(name: str) -> None:
    with pytest.raises(nm.UnsupportedError, match=name) as caught:
        as_belief(MODELS[name]())
    assert str(caught.value).count("; ") >= 2


def test_acquisitions_that_are_not_read_are_refused_by_name() -> None:
    model = random_model(5)
    for asked in (
        qLogExpectedImprovement(model, 0.0),
        analytic.PosteriorStandardDeviation(model),
        analytic.LogExpectedImprovement(model, torch.tensor([0.0, 1.0])),
    ):
        with pytest.raises(nm.UnsupportedError, match=type(asked).__name__):
            certify_acqf(asked, box(2))
    no_weight = ScalarizedPosteriorTransform(torch.zeros(1).double())
    with pytest.raises(nm.UnsupportedError, match="must not be 0"):
        certify_acqf(analytic.PosteriorMean(model, no_weight), box(2))


def test_variances_that_botorch_would_raise_are_refused() -> None:
    X = sample(8, 2, 0)
    Y = 1e-4 * X.sum(dim=1, keepdim=True).sin()
    small = SingleTaskGP(X, Y, input_transform=Normalize(2)).eval()
    with pytest.raises(nm.UnsupportedError, match="multiply the outcomes"):
        certify_acqf(analytic.LogExpectedImprovement(small, Y.max()), box(2))
    mean = certify_acqf(analytic.PosteriorMean(small), box(2))  # which reads no variance
    assert mean.status == "optimal"


@pytest.mark.parametrize("seed", range(12))
def test_no_variance_is_below_the_least_one(seed: int) -> None:
    belief = as_belief(random_model(seed))
    check_floor(belief)
    least = 1.0 / (1.0 / belief.kernel.amplitude + (1.0 / np.asarray(belief.diagonal)).sum())
    X = np.concatenate([sample(500, belief.n_inputs, 3).numpy(), belief.points])
    assert (belief.std(X) >= belief.units.y_scale * np.sqrt(least)).all()


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, nnbo_mip.integrations.botorch, nnbo_mip.integrations.ax\n"
        "assert not {'torch', 'botorch', 'gpytorch', 'ax', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("extra", ["botorch", "ax"])
def test_a_missing_package_is_named(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from nnbo_mip.integrations import ax, botorch

    monkeypatch.setitem(sys.modules, extra, None)
    asked = {"botorch": lambda: botorch.certify_acqf, "ax": lambda: ax.CertifiedAcquisition}
    with pytest.raises(nm.MissingExtraError, match=rf"nnbo_mip\[{extra}\]"):
        asked[extra]()
