"""The training loop against Adam written out, and what it does when a loss runs away."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from nnbo_mip.core.errors import InputError, TrainingError
from nnbo_mip.surrogates.ensembles.training import ATTEMPTS, Schedule, Trainable, descend, train

TARGET = np.array([1.0, -2.0, 0.5])
CURVATURE = np.array([1.0, 4.0, 0.3])


@dataclass
class Bowl(Trainable):
    """sum c (w - t)^2, whose value may be spoiled: `spoil(call, value)` takes its place."""

    w: torch.Tensor
    spoil: Callable[[int, torch.Tensor], torch.Tensor] = lambda call, value: value
    calls: int = 0
    seen: list[float] = field(default_factory=list)

    @property
    def parameters(self) -> list[torch.Tensor]:
        return [self.w]

    def loss(self) -> torch.Tensor:
        value = self.value()
        self.calls += 1
        return self.spoil(self.calls, value)

    def judged_loss(self) -> torch.Tensor:
        return self.value()

    def value(self) -> torch.Tensor:
        value = (torch.from_numpy(CURVATURE) * (self.w - torch.from_numpy(TARGET)).square()).sum()
        self.seen.append(value.item())
        return value


def bowl(**options: object) -> Bowl:
    return Bowl(torch.zeros(3, dtype=torch.float64, requires_grad=True), **options)


def adam(schedule: Schedule, factor: float = 1.0) -> np.ndarray:
    """Return the weights after Adam of Kingma and Ba with the schedule, written out."""
    w, m, v = np.zeros(3), np.zeros(3), np.zeros(3)
    for epoch in range(schedule.epochs):
        rate = schedule.learning_rate
        if schedule.decay == "cosine":
            rate *= 0.5 * (1.0 + math.cos(math.pi * epoch / schedule.epochs))
        slope = 2.0 * CURVATURE * (w - TARGET) + 2.0 * schedule.weight_penalty * w
        m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
        m_hat, v_hat = m / (1.0 - 0.9 ** (epoch + 1)), v / (1.0 - 0.999 ** (epoch + 1))
        w = w - factor * rate * m_hat / (np.sqrt(v_hat) + 1e-8)
    return w


@pytest.mark.parametrize("decay", ["constant", "cosine"])
@pytest.mark.parametrize("penalty", [0.0, 0.7])
@pytest.mark.parametrize("factor", [1.0, 0.1])
def test_steps_are_those_of_adam(decay: str, penalty: float, factor: float) -> None:
    schedule, model = Schedule(50, 0.05, decay, penalty), bowl()
    assert descend(model, schedule, factor)
    np.testing.assert_allclose(model.w.detach().numpy(), adam(schedule, factor), rtol=1e-10)


def test_the_penalty_is_lambda_times_the_squares() -> None:
    """The minimum of c (w - t)^2 + lambda w^2 is w = c t / (c + lambda)."""
    model = bowl()
    assert descend(model, Schedule(3000, 0.05, "cosine", 0.7))
    expected = CURVATURE * TARGET / (CURVATURE + 0.7)
    np.testing.assert_allclose(model.w.detach().numpy(), expected, atol=1e-6)


def test_step_sizes_fall_as_a_cosine() -> None:
    schedule = Schedule(100, 0.02)
    assert schedule.step_size(0) == 0.02
    assert schedule.step_size(50) == pytest.approx(0.01)
    assert 0.0 < schedule.step_size(99) < 1e-5
    assert Schedule(100, 0.02, "constant").step_size(99) == 0.02


def test_the_best_epoch_is_restored() -> None:
    schedule = Schedule(40, 0.6, "constant")
    last, best = bowl(), bowl()
    assert descend(last, schedule)
    assert descend(best, Schedule(40, 0.6, "constant", restore_best=True))
    assert last.seen[-1] > min(last.seen), "choose a step size that overshoots"
    assert best.value().item() == min(last.seen)


def test_the_last_epoch_stays_where_it_is_the_best() -> None:
    first, second = bowl(), bowl()
    assert descend(first, Schedule(5, 0.01))
    assert descend(second, Schedule(5, 0.01, restore_best=True))
    assert torch.equal(first.w, second.w)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_not_finite_ends_the_descent(bad: float) -> None:
    model = bowl(spoil=lambda call, value: value * bad if call == 7 else value)
    assert not descend(model, Schedule(50, 0.01))
    assert model.calls == 7


def test_a_loss_that_grows_is_divergence() -> None:
    assert not descend(bowl(), Schedule(3, 50.0, "constant"))


def test_a_small_loss_may_grow_to_order_one() -> None:
    """From a loss of almost 0, that of a lucky start, up to 1 is no divergence."""
    model = bowl()
    with torch.no_grad():
        model.w.copy_(torch.from_numpy(TARGET) + 1e-3)
    assert descend(model, Schedule(1, 0.3, "constant"))
    assert 0.1 < model.seen[-1] < 1.0


def test_growth_is_judged_without_chance() -> None:
    """A loss that ends a hundred times larger by chance alone is none that grew."""
    model = bowl(spoil=lambda call, value: 100.0 * value if call > 3 else value)
    assert descend(model, Schedule(6, 1e-4))


def test_divergence_is_retried_from_the_same_start_with_a_tenth_of_the_step() -> None:
    starts: list[float] = []

    def make(generator: torch.Generator) -> Bowl:
        starts.append(torch.rand(1, generator=generator).item())
        return bowl()

    schedule = Schedule(3, 500.0, "constant")
    model = train(make, schedule, seed=3, family="a bowl")
    assert len(starts) == 3
    assert len(set(starts)) == 1
    np.testing.assert_allclose(model.w.detach().numpy(), adam(schedule, 0.01), rtol=1e-10)


def test_divergence_that_stays_is_an_error_that_names_the_family() -> None:
    made: list[Bowl] = []

    def make(generator: torch.Generator) -> Bowl:
        made.append(bowl(spoil=lambda call, value: value * math.nan))
        return made[-1]

    with pytest.raises(TrainingError, match=r"a bowl must stay finite.* from 0.5 down to 0.0005"):
        train(make, Schedule(3, 0.5), seed=0, family="a bowl")
    assert len(made) == ATTEMPTS


def test_training_leaves_threads_and_global_randomness_alone() -> None:
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    train(lambda generator: bowl(), Schedule(3, 0.01), seed=0, family="a bowl")
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"epochs": 0}, "epochs"),
        ({"epochs": True}, "epochs"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": math.inf}, "learning_rate"),
        ({"decay": "step"}, "decay"),
        ({"weight_penalty": -1e-9}, "weight penalty"),
    ],
)
def test_schedules_out_of_range_are_refused(options: dict[str, object], match: str) -> None:
    with pytest.raises(InputError, match=match):
        Schedule(**{"epochs": 10, "learning_rate": 0.01, **options})
