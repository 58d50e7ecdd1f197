"""Several rules: the first one that says stop decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from nnbo_mip.core.errors import InputError
from nnbo_mip.loop.stopping.rule import Standing, StopRule, Verdict


@dataclass(frozen=True)
class AnyOf(StopRule):
    """Stop where one of several rules says so; those that count are asked first.

    Parameters
    ----------
    rules : sequence of str, dict or StopRule
        Two at least.
    """

    name: ClassVar[str] = "any"

    rules: Sequence[StopRule]

    def __post_init__(self) -> None:
        """Make the rules."""
        from nnbo_mip.loop.stopping.catalogue import registry

        given: object = self.rules
        if isinstance(given, str) or not isinstance(given, Sequence) or not given:
            raise InputError(
                f"the rules of 'any' must be a list of stop rules; got {self.rules!r:.60}; write "
                '["target:value=0", "budget:evaluations=50"], or "target:…|budget:…".'
            )
        made = [part for rule in self.rules for part in registry.create(rule).parts]
        object.__setattr__(self, "rules", tuple(made))

    @property
    def parts(self) -> tuple[StopRule, ...]:
        """The rules."""
        return tuple(self.rules)

    def verdict(self, run: Standing) -> Verdict:
        """Return the first verdict to stop, else that of the last rule."""
        verdict = None
        for rule in sorted(self.parts, key=lambda rule: rule.certified):
            verdict = rule.verdict(run)
            if verdict:
                return verdict
        assert verdict is not None  # there is a rule
        return verdict
