"""`Settings`: what a run is, apart from what happens in it."""

from __future__ import annotations

import platform
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from datetime import UTC, datetime
from enum import IntEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from nnbo_mip.acquisitions.base.abstract import Acquisition, seed_of
from nnbo_mip.acquisitions.base.catalogue import registry as acquisitions
from nnbo_mip.core.checks import (
    as_direction,
    as_gap,
    as_seed,
    as_time_limit,
    check_count,
)
from nnbo_mip.core.errors import InputError, UnsupportedError
from nnbo_mip.core.rebuilt import Rebuilt
from nnbo_mip.core.terms import Direction
from nnbo_mip.core.version import PACKAGES, installed
from nnbo_mip.loop.designs.designs import Design, design_of
from nnbo_mip.loop.designs.given import Given
from nnbo_mip.loop.embeddings.embeddings import Embedding, NoEmbedding, embedding_of
from nnbo_mip.loop.policies.batches import Batch, batch_of
from nnbo_mip.loop.policies.escape import Escape, escape_of
from nnbo_mip.loop.policies.restart import Restart, restart_of
from nnbo_mip.loop.policies.width_scaling import Scaling, scaling_of
from nnbo_mip.loop.record.serialization import described, limit_out
from nnbo_mip.loop.regions.regions import Region, region_of
from nnbo_mip.loop.settings.defaults import (
    AUTO,
    acquisition_for,
    maximizer_for,
    region_for,
    surrogate_for,
    warp_for,
)
from nnbo_mip.loop.settings.discrete import is_discrete
from nnbo_mip.loop.stopping.catalogue import stop_of
from nnbo_mip.loop.stopping.rule import NO_STOP, NoStop, StopRule
from nnbo_mip.loop.warps.warping import Warp, warp_of
from nnbo_mip.maximizers.base.abstract import Maximizer
from nnbo_mip.maximizers.base.catalogue import registry as maximizers
from nnbo_mip.maximizers.proposing import check_chooses
from nnbo_mip.space.embedded.embedded_space import EmbeddedSpace, SearchSpace
from nnbo_mip.space.same_point import resolution
from nnbo_mip.space.space import Space
from nnbo_mip.surrogates.base.abstract import Capability, Surrogate
from nnbo_mip.surrogates.base.families import registry as surrogates

DOORS: Mapping[str, Callable[[Any], object]] = MappingProxyType(
    {
        "surrogate": surrogates.create,
        "acquisition": acquisitions.create,
        "maximizer": maximizers.create,
        "initial": design_of,
        "scaling": scaling_of,
        "escape": escape_of,
        "restart": restart_of,
        "batch": batch_of,
        "region": region_of,
        "embedding": embedding_of,
        "warp": warp_of,
        "stop": stop_of,
    }
)
"""What makes an option object of a name, a description or an object."""


CHANGEABLE = ("maximizer", "gap", "time_limit", "stop")
"""What may be others when a run goes on: how points are looked for, and when that ends."""

OPENED_WITH = (*DOORS, *(name for name in CHANGEABLE if name not in DOORS))
"""Options that may be passed when a run is opened."""


class Purpose(IntEnum):
    """What a seed is for; the numbers are part of the journal's format."""

    DESIGN = 0
    EXTRA = 1
    FIT = 2
    BELIEVE = 3
    SCALE = 4
    ACQUISITION = 5
    MAXIMIZE = 6
    EMBED = 7
    REGION = 8
    NOISE = 9
    STOP = 10


def seed_for(run: int, step: int, purpose: Purpose) -> int:
    """Return a seed of 32 bits, independent for each run, step and purpose.

    Every random number of a run comes from these. There is no generator that moves on, so there is
    no state to be saved but the number of the step.
    """
    return seed_of(run, step, purpose)


@dataclass(frozen=True, eq=False)
class Settings(Rebuilt):
    """Checked settings; see `nnbo_mip.loop.optimizer.BayesianOptimizer`.

    Parameters
    ----------
    embedded : EmbeddedSpace or None
        The space as models see it, where they see it through an embedding.
    descriptions : mapping of str to JSON
        Of the option objects; None where one has no description and has to be passed again.
    """

    space: Space
    surrogate: Surrogate
    acquisition: Acquisition
    maximizer: Maximizer
    initial: Design
    scaling: Scaling
    escape: Escape
    restart: Restart
    batch: Batch
    region: Region
    embedding: Embedding
    warp: Warp
    stop: StopRule
    direction: Direction
    gap: float
    time_limit: float | str
    most_fitted: int
    steps: int | None
    seed: int
    embedded: EmbeddedSpace | None
    descriptions: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "descriptions", MappingProxyType(dict(self.descriptions)))

    @classmethod
    def planned(
        cls,
        space: object,
        surrogate: object = None,
        acquisition: object = None,
        maximizer: object = "auto",
        direction: object = "minimize",
        initial: object = None,
        scaling: object = None,
        escape: object = "exclude:first=1e-4,last=1e-4",
        restart: object = None,
        batch: object = "believer",
        region: object = "auto",
        embedding: object = None,
        warp: object = "auto",
        stop: object = None,
        *,
        gap: object = 1e-4,
        time_limit: object = 10.0,
        most_fitted: object = 500,
        steps: object = None,
        seed: object = 0,
    ) -> Self:
        """Check what a user gave, and choose what was left open, as `BayesianOptimizer` does.

        Nothing is fitted. Whether the maximizer can serve the model is known after
        `nnbo_mip.loop.step.rehearsal.rehearse`.
        """
        made_space = as_space(space)
        made_seed = secrets.randbits(31) if seed is None else as_seed(seed)
        embedded = embedded_space(made_space, embedding, made_seed)
        model = (embedded or made_space).model()
        dimension, discrete = model.n_parameters, is_discrete(model)
        made_surrogate = surrogates.create(surrogate_for(surrogate, dimension, discrete))
        given = {
            "surrogate": made_surrogate,
            "acquisition": acquisition_for(acquisition, made_surrogate),
            "maximizer": maximizer_for(maximizer, dimension),
            "initial": initial,
            "scaling": scaling,
            "escape": escape,
            "restart": restart,
            "batch": batch,
            "region": region_for(region, made_surrogate, dimension, discrete),
            "embedding": embedding,
            "warp": warp_for(warp, made_surrogate, dimension),
            "stop": stop,
        }
        doors = {name: door for name, door in DOORS.items() if name != "stop" or stop is not None}
        made: dict[str, Any] = {name: door(given[name]) for name, door in doors.items()}
        descriptions = {name: described(made[name], given[name], doors[name]) for name in doors}
        if stop is None:
            made["stop"], descriptions["stop"] = NO_STOP, {"name": NO_STOP.name}
        settings = cls(
            space=made_space,
            **made,
            direction=as_direction(direction),
            gap=as_gap(gap),
            time_limit=AUTO if time_limit == AUTO else as_time_limit(time_limit),
            most_fitted=check_count("most_fitted", most_fitted, least=2),
            steps=None if steps is None else check_count("steps", steps),
            seed=made_seed,
            embedded=embedded,
            descriptions=descriptions,
        )
        settings._check_combination()
        return settings

    @property
    def search(self) -> SearchSpace:
        """Where models learn and points are looked for."""
        return self.space if self.embedded is None else self.embedded

    @cached_property
    def resolution(self) -> float:
        """How far apart the user's numbers may be, in model coordinates."""
        return resolution(self.space)

    @cached_property
    def learner(self) -> Surrogate:
        """The surrogate, told which coordinates of models are the levels of one category."""
        return self.surrogate.with_categories(self.search.model().one_hot)

    @property
    def sign(self) -> float:
        """By which values are multiplied, so that larger is better."""
        return 1.0 if self.direction == "maximize" else -1.0

    @property
    def speaks_of_y(self) -> bool:
        """Whether an option has a size in units of y, so that models have to see these units."""
        acquisition = self.acquisition
        spans = [getattr(acquisition, name, None) for name in acquisition.spans_of_y]
        spans.append(getattr(self.scaling, "unit", None))
        return any(span not in (None, 0.0) for span in spans)

    def to_dict(self) -> dict[str, Any]:
        """Return what the journal keeps, JSON-able."""
        return {
            "space": self.space.to_dict(),
            "options": dict(self.descriptions),
            "objects": {
                name: repr(getattr(self, name))
                for name, description in self.descriptions.items()
                if description is None
            },
            "direction": self.direction,
            "gap": self.gap,
            "time_limit": limit_out(self.time_limit),
            "most_fitted": self.most_fitted,
            "steps": self.steps,
            "seed": self.seed,
        }

    def provenance(self) -> dict[str, Any]:
        """Return what a journal says of a run as a whole, JSON-able: when it began, with what."""
        return {
            "settings": self.to_dict(),
            "created": datetime.now(UTC).isoformat(),
            "versions": {
                "python": platform.python_version(),
                **{package: installed(package) for package in PACKAGES},
            },
        }

    def _check_combination(self) -> None:
        """Refuse at the start what would be refused at the first step with a model."""
        for name in ("surrogate", "acquisition"):
            if not is_dataclass(getattr(self, name)):
                raise InputError(
                    f"a {name} must be a dataclass, so that each step can have a seed of its own; "
                    f"got a {type(getattr(self, name)).__name__}; make it one."
                )
        if isinstance(self.initial, Given):
            self.initial.points(self.search)  # says which of them is not admissible
        self._check_acquisition(self.acquisition, "acquisition")
        if not self.batch.keeps_acquisition:
            self._check_acquisition(self.batch.acquisition(self.acquisition, 1), "batch")
        for rule in () if isinstance(self.stop, NoStop) else self.stop.parts:
            if rule.certified:
                self._check_acquisition(acquisitions.create(rule.acquisition), "stop rule")
        for name in ("scaling", "escape"):
            rule = getattr(self, name)
            if rule.scales and not self.surrogate.scalable:
                raise UnsupportedError(
                    f"the {name} {rule.name!r} multiplies the uncertainty, which these options of "
                    f"{self.surrogate.name} do not allow; choose another {name}, or another "
                    "surrogate."
                )
        if self.acquisition.proposes:
            check_chooses(self.acquisition.name, self.maximizer.name)
        self._check_maximizer()

    def _check_acquisition(self, acquisition: Acquisition, remedy: str) -> None:
        """Refuse one that the surrogate cannot serve; `remedy` is what to choose instead."""
        missing = acquisition.needs - self.surrogate.capabilities
        if missing:
            name = acquisition.name
            if remedy == "stop rule":
                name = f"the stop rule takes a bound of {name}, which"
            raise UnsupportedError(
                f"{name} needs a belief that offers {', '.join(sorted(missing))}; that of "
                f"{self.surrogate.name} offers "
                f"{', '.join(sorted(self.surrogate.capabilities))}; choose another surrogate or "
                f"{remedy}."
            )

    def _check_maximizer(self) -> None:
        domain, able = self.search.model(), self.maximizer.abilities
        refused = ""
        if domain.dimension > able.most_inputs:
            refused = f"takes up to {able.most_inputs:g} inputs, got {domain.dimension}"
        elif not able.integers and any(grid is not None for grid in domain.grids):
            refused = "knows no integers or categories"
        elif not able.constraints and domain.b.size:
            refused = "knows no linear constraints"
        elif not able.exclusions and self.escape.name == "exclude":
            refused = "cannot keep its distance from points, as escape='exclude' asks"
        elif able.needs_network and not self._compiles():
            refused = (
                f"needs networks of ReLUs, which these options of {self.surrogate.name} do not give"
            )
        if refused:
            raise UnsupportedError(
                f"the maximizer {self.maximizer.name!r} {refused}; take 'auto', 'lbfgs' or "
                "'random'."
            )

    def _compiles(self) -> bool:
        """Whether the beliefs are networks, or trees where the maximizer takes these."""
        offered = self.surrogate.capabilities
        trees = self.maximizer.abilities.trees and Capability.TREES in offered
        return Capability.NETWORK in offered or trees


def embedded_space(space: Space, embedding: object, seed: int) -> EmbeddedSpace | None:
    """Return the space as models see it through an embedding; None for the space itself."""
    made = embedding_of(embedding)
    if isinstance(made, NoEmbedding):
        return None
    return made.embedded(space, seed_for(seed, 0, Purpose.EMBED))


def as_space(given: object) -> Space:
    """Return the space that a user described."""
    space = Space.coerce(given)
    if not isinstance(space, Space):
        raise InputError(
            "a run needs a Space, with the user's units; got a Domain; pass the Space that it came "
            "from, or Space.box."
        )
    if not bool(np.all(space.model().tighten(space.model().lower, space.model().upper)[2])):
        raise InputError(
            "a space must have an admissible point; the constraints leave none; relax one."
        )
    return space
