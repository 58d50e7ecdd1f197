"""`certified_strategy`: a generation strategy for Ax's client."""

from __future__ import annotations

from typing import Any

from ax.adapter.registry import Generators
from ax.generation_strategy.generation_node import GenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy
from ax.generation_strategy.generator_spec import GeneratorSpec
from ax.generation_strategy.transition_criterion import MinTrials
from botorch.acquisition.analytic import LogExpectedImprovement

from nnbo_mip.core.checks import check_count
from nnbo_mip.integrations.ax.acquisition import CertifiedAcquisition


def certified_strategy(
    n_initial: int = 5, botorch_acqf_class: Any = LogExpectedImprovement, **optimizer_options: Any
) -> GenerationStrategy:
    """Return a strategy: Sobol points, then an acquisition's maximum with a proof.

    Parameters
    ----------
    n_initial : int
        Sobol points.
    botorch_acqf_class : type
        An analytic acquisition function of BoTorch.
    **optimizer_options
        ``gap``, ``time_limit``, ``maximizer``, ``seed``, as in `certify_acqf`.
    """
    start = GenerationNode(
        name="Sobol",
        generator_specs=[GeneratorSpec(Generators.SOBOL)],
        transition_criteria=[
            MinTrials(threshold=check_count("n_initial", n_initial), transition_to="Certified")
        ],
    )
    proven = GenerationNode(
        name="Certified",
        generator_specs=[
            GeneratorSpec(
                Generators.BOTORCH_MODULAR,
                generator_kwargs={
                    "acquisition_class": CertifiedAcquisition,
                    "botorch_acqf_class": botorch_acqf_class,
                },
                generator_gen_kwargs={"model_gen_options": {"optimizer_kwargs": optimizer_options}},
            )
        ],
    )
    return GenerationStrategy(name="Sobol, then certified", nodes=[start, proven])
