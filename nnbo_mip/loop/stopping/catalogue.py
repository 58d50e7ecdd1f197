"""The registry of stop rules."""

from __future__ import annotations

from nnbo_mip.core.registry import Registry
from nnbo_mip.loop.stopping.rule import NO_STOP, StopRule

_ROOM = "nnbo_mip.loop.stopping"

registry: Registry[StopRule] = Registry(
    "stop rule",
    StopRule,
    {
        "none": f"{_ROOM}.rule:NoStop",
        "any": f"{_ROOM}.any_of:AnyOf",
        "regret": f"{_ROOM}.certified:Regret",
        "ei": f"{_ROOM}.certified:LittleImprovement",
        "target": f"{_ROOM}.counted:Target",
        "budget": f"{_ROOM}.counted:Budget",
        "patience": f"{_ROOM}.counted:Patience",
        "time": f"{_ROOM}.counted:Time",
    },
    group="nnbo_mip.stopping",
)
"""Filled by this room, by entry points, and by `register`."""


def stop_of(given: object) -> StopRule:
    """Return a stop rule that was named, described or given.

    Parameters
    ----------
    given : None, str, mapping, StopRule, or a sequence of such
        None is none; several rules, in a sequence or as ``"a|b"``, stop where one of them does.
    """
    if given is None:
        return NO_STOP
    if isinstance(given, str) and "|" in given:
        given = [part.strip() for part in given.split("|")]
    if isinstance(given, list | tuple):
        return registry.create({"name": "any", "rules": given})
    return registry.create(given)
