"""The settings of a run that goes on: what its journal says, and what was passed again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nnbo_mip.core.checks import as_seed
from nnbo_mip.core.errors import FileFormatError, InputError
from nnbo_mip.loop.record.serialization import described, describes, limit_in
from nnbo_mip.loop.settings.defaults import AUTO, surrogate_for
from nnbo_mip.loop.settings.settings import CHANGEABLE, DOORS, Settings, embedded_space
from nnbo_mip.space.space import Space


def settings_of(stored: Mapping[str, Any], given: Mapping[str, object]) -> Settings:
    """Make the settings that `Settings.to_dict` described.

    Parameters
    ----------
    stored : mapping
    given : mapping of str to object
        Option objects that have no description, others of `CHANGEABLE`, and, if the user likes,
        the rest, which must then be that of the run.
    """
    try:
        options = {name: stored["options"][name] for name in DOORS}
        rest = {name: stored[name] for name in ("direction", "gap", "most_fitted", "steps", "seed")}
        time_limit, space = limit_in(stored["time_limit"]), stored["space"]
        objects, rest["seed"] = stored["objects"], as_seed(rest["seed"])
    except (KeyError, TypeError, OverflowError) as error:
        raise FileFormatError(
            f"the settings of a journal must be whole; {error} is missing."
        ) from error
    made_space = Space.from_dict(space)

    def again(name: str, passed: object) -> Any:
        return _again(name, options[name], objects.get(name), passed, DOORS[name])

    embedding = again("embedding", given.get("embedding"))
    embedded = embedded_space(made_space, embedding, rest["seed"])
    dimension = (embedded or made_space).model().n_parameters
    for name in DOORS:
        passed = given.get(name)
        if name in ("region", "warp") and isinstance(passed, str) and passed == AUTO:
            passed = None
        if name == "surrogate" and passed is not None:
            passed = surrogate_for(passed, dimension)
        is_new = name in CHANGEABLE and passed is not None
        options[name] = passed if is_new else again(name, passed)
    rest["time_limit"] = time_limit
    rest |= {name: given[name] for name in CHANGEABLE if name in rest and name in given}
    return Settings.planned(made_space, **options, **rest)


def _again(
    name: str,
    description: Any,
    shown: str | None,
    given: object,
    door: Callable[[Any], object],
) -> Any:
    """Return what an option of a stored run is made of."""
    if description is None:
        if given is None:
            raise InputError(
                f"the {name} of this run was an object that the journal cannot hold, {shown:.80}; "
                f"pass it again: open(path, {name}=…)."
            )
        if isinstance(shown, str) and " at 0x" not in shown and repr(door(given)) != shown:
            raise InputError(
                f"the {name} of this run was {shown:.120}; got {door(given)!r:.120}; pass the same."
            )
        return given
    if given is None:
        return description
    made = door(given)
    if describes(description, made) or described(made, given, door) == description:
        return given
    if door(description) == made:  # of a release that had fewer options
        return given
    raise InputError(
        f"the {name} of this run is {description}; got {given!r:.80}; leave it out, or start a "
        "new run with these observations."
    )
