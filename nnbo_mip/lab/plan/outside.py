"""Methods that are not ours: a function of the user's by ``entry``, a shipped one by ``peer``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from nnbo_mip.core.errors import InputError, MissingExtraError, UnsupportedError
from nnbo_mip.lab.peers.base import Peer
from nnbo_mip.lab.peers.catalogue import registry as peers
from nnbo_mip.lab.peers.entry import function_of
from nnbo_mip.lab.plan.environment import import_all, versions_here
from nnbo_mip.lab.plan.experiment_file import Section
from nnbo_mip.lab.plan.method import Method, text_of
from nnbo_mip.loop.record.plain import described
from nnbo_mip.problems.problem import Problem

ENTRY_KEYS = ("label", "entry", "options", "packages")
PEER_KEYS = ("label", "peer")


@dataclass(frozen=True)
class Entry(Method):
    """A function that takes a `MethodTask` and returns an object to be asked and told."""

    @property
    def packages(self) -> tuple[str, ...]:
        """Those that the file names."""
        return tuple(self.chosen["packages"])

    @property
    def modules(self) -> tuple[str, ...]:
        """That of the function."""
        return (self.chosen["entry"].partition(":")[0],)

    @property
    def variant(self) -> str:
        """The entry and its options."""
        options = ", ".join(f"{key}={text_of(one)}" for key, one in self.chosen["options"].items())
        return f"entry={self.chosen['entry']}{', ' if options else ''}{options}"

    def content(self, problem: Problem, scaled: bool, n_starts: int, steps: int) -> dict[str, Any]:
        """Return the entry and its options."""
        return {"entry": self.chosen["entry"], "options": self.chosen["options"]}


@dataclass(frozen=True)
class OfPeer(Method):
    """A method of `nnbo_mip.lab.peers`."""

    @property
    def peer(self) -> Peer:
        """The peer."""
        return peers.create(self.chosen["peer"])

    @property
    def strategies(self) -> list[object]:
        """The peer, which another package may offer."""
        return [self.peer]

    @property
    def packages(self) -> tuple[str, ...]:
        """Those that the peer names."""
        return self.peer.packages

    def content(self, problem: Problem, scaled: bool, n_starts: int, steps: int) -> dict[str, Any]:
        """Return the peer with all its options; refuse a space that it cannot search."""
        peer = self.peer
        refused = peer.refused(problem.space)
        if refused:
            raise UnsupportedError(
                f"the peer {peer.name!r} must be able to search the space of {problem.name!r}; it "
                f"{refused}; choose another method for this problem."
            )
        return {"peer": described(peer, self.chosen["peer"], peers.create)}


def is_outside(section: Section) -> bool:
    """Whether a table of ``[[methods]]`` is of such a method."""
    return "entry" in section or "peer" in section


def outside_methods(section: Section) -> list[Method]:
    """Return the methods of a table: one, or one for each peer of its list."""
    if "entry" in section:
        section.check_keys(ENTRY_KEYS)
        return [_entry(section)]
    section.check_keys(PEER_KEYS)
    label, values = section.text("label", ""), section.listed("peer")
    if not values:
        raise section.refuse("peer", "a peer, or a list of them", "name one at least.")
    return [_of_peer(section, value, label, len(values) > 1) for value in values]


def _entry(section: Section) -> Entry:
    entry = section.text("entry")
    options = section.get("options", {})
    try:
        json.dumps(options, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise section.refuse(
            "options", "a table of numbers and texts", "write dates as texts."
        ) from error
    if not isinstance(options, dict):
        raise section.refuse("options", "a table", "write options = { size = 5 }, say.")
    packages = section.texts("packages")
    with section.located("packages"):
        for name, version in versions_here(packages).items():
            if version is None:
                raise MissingExtraError(
                    f"the entry {entry!r} needs the package {name}, which is not installed; "
                    "install it."
                )
    chosen = {"entry": entry, "options": options, "packages": packages}
    made = Entry(section.text("label", "") or entry, chosen, section)
    with section.located("entry"):
        module, colon, name = entry.partition(":")
        if not (module and colon and name.isidentifier()):
            raise InputError(f"an entry must read module:function; got {entry!r}; write it so.")
        import_all(made.modules)
        function_of(entry)
    return made


def _of_peer(section: Section, value: Any, label: str, is_listed: bool) -> OfPeer:
    parts = [label] if label else []
    if is_listed or not label:
        parts.append(text_of(value))
    made = OfPeer(", ".join(parts), {"peer": value}, section)
    with section.located("peer", value=value):
        for name, version in versions_here(made.packages).items():
            if version is None:
                raise MissingExtraError(
                    f"the peer {made.peer.name!r} needs the package {name}, which is not "
                    "installed; install nnbo_mip[peers-bo]."
                )
    return made
