"""Presets: other defaults, the same options."""

from __future__ import annotations

import inspect

import pytest

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError
from nnbo_mip.surrogates.base.presets import preset
from nnbo_mip.surrogates.ensembles.elm import Elm

tiny = preset(Elm, "A tiny one.", n_members=2, n_hidden=3)


def test_a_preset_changes_defaults_and_nothing_else() -> None:
    assert tiny() == Elm(n_members=2, n_hidden=3)
    assert tiny(n_members=4, seed=1) == Elm(n_members=4, n_hidden=3, seed=1)
    assert tiny.__doc__ == "A tiny one."
    parameters = inspect.signature(tiny).parameters
    assert list(parameters) == list(inspect.signature(Elm).parameters)
    assert parameters["n_members"].default == 2
    assert parameters["spread"].default == "std"


def test_options_of_a_preset_are_checked_by_name() -> None:
    with pytest.raises(InputError, match="did you mean 'chains'"):
        nm.surrogates.create("bnn_hmc:source", chain=3)
    assert nm.surrogates.create("bnn_hmc:source", chains=3).chains == 3
