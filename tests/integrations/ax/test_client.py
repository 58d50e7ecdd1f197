"""Ax's client with candidates that are proven: mixed spaces, pending trials, storage."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("ax.api.client")

from ax.api.client import Client  # noqa: E402
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig  # noqa: E402
from ax.utils.common.logger import set_stderr_log_level  # noqa: E402
from botorch.acquisition.analytic import LogProbabilityOfImprovement  # noqa: E402
from botorch.acquisition.logei import qLogNoisyExpectedImprovement  # noqa: E402

import nnbo_mip as nm  # noqa: E402
from nnbo_mip.integrations.ax import CertifiedAcquisition, certified_strategy  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # Ax's are not ours to mend
set_stderr_log_level(logging.ERROR)
N_INITIAL = 4

PARAMETERS = [
    RangeParameterConfig(name="x", parameter_type="float", bounds=(-5, 10)),
    RangeParameterConfig(name="n", parameter_type="int", bounds=(1, 8)),
    ChoiceParameterConfig(
        name="kind", parameter_type="str", values=["a", "b", "c"], is_ordered=False
    ),
    ChoiceParameterConfig(
        name="flag", parameter_type="bool", values=[True, False], is_ordered=False
    ),
]


def a_client(
    parameters: list[Any], constraints: tuple[str, ...] = (), strategy: Any = None, **options: Any
) -> Client:
    client = Client(random_seed=1)
    client.configure_experiment(parameters=parameters, parameter_constraints=list(constraints))
    client.configure_optimization(objective="-loss")
    given = {"gap": 1e-2, "time_limit": 20.0, **options}
    client.set_generation_strategy(strategy or certified_strategy(N_INITIAL, **given))
    return client


def loss(params: dict[str, Any]) -> float:
    kind = {"a": 1.0, "b": 0.0, "c": 2.0}[params.get("kind", "b")]
    return (params["x"] - 2.0) ** 2 / 10.0 + params.get("n", 0) / 4.0 + kind


def run(client: Client, n: int) -> None:
    for _ in range(n):
        for trial, params in client.get_next_trials(max_trials=1).items():
            client.complete_trial(trial, raw_data={"loss": loss(params)})


def kept(client: Client, trial: int) -> list[dict[str, Any]]:
    """Return what is kept of the proofs of a trial."""
    runs = client._experiment.trials[trial].generator_runs
    models = runs[-1].gen_metadata["models_used"]
    return [one for one in models if "nnbo:status" in one]


def last(client: Client) -> CertifiedAcquisition:
    found = client._generation_strategy.adapter.generator._acquisition
    assert isinstance(found, CertifiedAcquisition)
    return found


def test_a_mixed_space_is_searched_with_a_proof(tmp_path: Path) -> None:
    client = a_client(PARAMETERS, ("x + n <= 12", "x <= 9"))
    run(client, N_INITIAL + 2)
    for trial in (N_INITIAL, N_INITIAL + 1):
        ((proven,),) = [kept(client, trial)]
        assert proven["nnbo:status"] == "optimal"
        assert proven["nnbo:value"] <= proven["nnbo:bound"] <= proven["nnbo:value"] + 1e-2 + 1e-9
    client.save_to_json_file(str(tmp_path / "ax.json"))
    again = Client.load_from_json_file(str(tmp_path / "ax.json"))
    assert kept(again, N_INITIAL) == kept(client, N_INITIAL)
    run(again, 1)
    certified = last(again).certified
    assert certified is not None
    x = certified.candidates[0].tolist()
    names = last(again).search_space_digest.feature_names
    levels = [v for v, name in zip(x, names, strict=True) if name.startswith("kind")]
    assert sorted(levels) == [0.0, 0.0, 1.0]
    assert certified.proposals[0].certificate is not None


def test_running_trials_are_pending() -> None:
    client = a_client(PARAMETERS[:1])
    run(client, N_INITIAL)
    ((_, first),) = client.get_next_trials(max_trials=1).items()
    assert last(client).X_pending is None
    client.get_next_trials(max_trials=1)
    pending = last(client).X_pending
    assert pending.tolist() == [[pytest.approx(first["x"])]]
    ((alone,), (beside,)) = (kept(client, N_INITIAL), kept(client, N_INITIAL + 1))
    assert beside["nnbo:value"] < alone["nnbo:value"]


def test_several_candidates_are_asked_at_once() -> None:
    client = a_client(PARAMETERS[:1], botorch_acqf_class=LogProbabilityOfImprovement)
    run(client, N_INITIAL)
    client.get_next_trials(max_trials=2)
    assert [kept(client, N_INITIAL + k)[0]["nnbo:status"] for k in (0, 1)] == ["optimal"] * 2
    asked = last(client)
    digest = asked.search_space_digest
    candidates, values, weights = asked.optimize(2, digest, optimizer_options={"gap": 1e-2})
    assert (candidates.shape, values.shape, weights.tolist()) == ((2, 1), (2,), [1.0, 1.0])
    assert asked.certified is not None
    assert len(asked.certified.proposals) == 2
    with pytest.raises(nm.UnsupportedError, match="a candidate set"):
        asked.optimize(1, digest, candidate_set=candidates)


def test_what_is_not_proven_is_refused_by_name() -> None:
    monte_carlo = a_client(PARAMETERS[:1], botorch_acqf_class=qLogNoisyExpectedImprovement)
    run(monte_carlo, N_INITIAL)
    with pytest.raises(nm.UnsupportedError, match="got a qLogNoisyExpectedImprovement"):
        monte_carlo.get_next_trials(max_trials=1)
    options = a_client(PARAMETERS[:1], num_restarts=4)
    run(options, N_INITIAL)
    with pytest.raises(nm.UnsupportedError, match="the optimizer option num_restarts"):
        options.get_next_trials(max_trials=1)
