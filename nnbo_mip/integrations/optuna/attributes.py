"""What is kept with a trial: what was proven of it, and what other processes have to know of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial

from nnbo_mip.loop.record.serialization import number_out
from nnbo_mip.loop.record.state import Stage
from nnbo_mip.loop.record.suggestion import Suggestion

PREFIX = "nnbo"

PARAMS, STAGE, STATUS = (f"{PREFIX}:{name}" for name in ("params", "stage", "status"))

LONGEST = 2045
"""Characters of an attribute; a relational storage takes no more."""


def keep(
    study: Study,
    trial: FrozenTrial,
    params: Mapping[str, Any],
    suggestion: Suggestion,
    stage: Mapping[str, Any],
    note: str,
) -> None:
    """Write what was proven as user attributes, which a dashboard shows, the rest as system ones.

    Parameters
    ----------
    study, trial
        Of Optuna.
    params : mapping
        What was chosen, by the indices of choices.
    suggestion : Suggestion
    stage : mapping
        `Stage.to_dict`.
    note : str
        What there is to say beside the suggestion's message.
    """
    storage, number = study._storage, trial._trial_id
    for name, text in in_pieces(PARAMS, json.dumps(params)).items():
        storage.set_trial_system_attr(number, name, text)
    for name, text in in_pieces(STAGE, json.dumps(stage)).items():
        storage.set_trial_system_attr(number, name, text)
    shown: dict[str, Any] = {"status": suggestion.status}
    if not suggestion.is_initial:
        shown |= {
            "score": suggestion.head,
            "value": number_out(suggestion.value),
            "bound": number_out(suggestion.bound),
            "gap": number_out(suggestion.gap),
            "kind": suggestion.kind,
            "about": _about(suggestion),
        }
    said = " ".join(part for part in (suggestion.message, note) if part)
    if said:
        shown["message"] = said[:LONGEST]
    for key, value in shown.items():
        storage.set_trial_user_attr(number, f"{PREFIX}:{key}", value)


def _about(suggestion: Suggestion) -> str:
    """Return over what the bound is proven."""
    region = suggestion.region
    if region is None:
        return "the space"
    return f"a region whose sides are {region.length:.3g} of all"


def in_pieces(name: str, text: str) -> dict[str, str]:
    """Return a text as the attributes ``name:0``, ``name:1`` and so on."""
    starts = range(0, max(len(text), 1), LONGEST)
    return {f"{name}:{k}": text[start : start + LONGEST] for k, start in enumerate(starts)}


def whole(attributes: Mapping[str, Any], name: str) -> Any:
    """Return what `in_pieces` cut, read as JSON; None where there is none."""
    pieces: list[str] = []
    while (key := f"{name}:{len(pieces)}") in attributes:
        pieces.append(attributes[key])
    return json.loads("".join(pieces)) if pieces else None


def stage_of(trial: FrozenTrial) -> Stage | None:
    """Return the stage in which a trial was chosen; None where another sampler chose it."""
    stored = whole(trial.system_attrs, STAGE)
    return None if stored is None else Stage.from_dict(stored)
