"""What is shown of a registry: every name, what it is, and the options with their defaults."""

from __future__ import annotations

import inspect

import pytest

from nnbo_mip.acquisitions.base.catalogue import registry as acquisitions
from nnbo_mip.core.registry import Registry, split_at_commas
from nnbo_mip.core.registry_entries import Entry, Option, entries
from nnbo_mip.maximizers.base.catalogue import registry as maximizers
from nnbo_mip.problems.catalogue import registry as problems
from nnbo_mip.surrogates.base.families import registry as surrogates


class Toy:
    """The toy.

    What the first paragraph leaves out.
    """

    def __init__(self, size: int, name: str = "a") -> None:
        self.size = size


def test_an_entry_has_the_first_paragraph_and_the_options() -> None:
    registry = Registry("toy", Toy, {}, group="nnbo_mip.no_such_group")
    registry.register("toy")(Toy)
    (entry,) = entries(registry)
    assert entry == Entry("toy", "The toy.", (Option("size", ""), Option("name", "'a'")))
    assert [str(option) for option in entry.options] == ["size=…", "name='a'"]


def test_what_cannot_be_had_says_why() -> None:
    class WithPlugin(Registry[Toy]):
        def available(self) -> tuple[str, ...]:
            return ("gone",)

    broken = WithPlugin("toy", Toy, {}, group="nnbo_mip.no_such_group")
    (entry,) = entries(broken)
    assert entry.summary.startswith("Cannot be had: a toy must be one of")


@pytest.mark.parametrize("registry", [acquisitions, maximizers, problems, surrogates])
def test_every_name_of_the_package_has_a_sentence(registry: Registry[object]) -> None:
    found = entries(registry)
    assert [entry.name for entry in found] == list(registry.available())
    for entry in found:
        assert entry.summary.endswith((".", ":")), entry
        assert "`" not in entry.summary
        assert "\n" not in entry.summary


def test_the_defaults_of_a_preset_are_its_own() -> None:
    by_name = {entry.name: entry for entry in entries(maximizers)}
    preset = inspect.signature(maximizers.factory("lbfgs:weak")).parameters
    assert (
        Option("raw_samples", str(preset["raw_samples"].default)) in by_name["lbfgs:weak"].options
    )
    assert by_name["lbfgs:weak"].summary.endswith("with raw_samples=16, starts=2, iterations=10.")
    assert Option("raw_samples", "1024") in by_name["lbfgs"].options


def test_commas_within_brackets_do_not_split() -> None:
    assert split_at_commas("a=(1, 2),b=[3,4], ,c") == ["a=(1, 2)", "b=[3,4]", "c"]
