"""What `certify` takes for a network and for an output, and what it says of the rest."""

from __future__ import annotations

import pytest
import torch

import nnbo_mip as nm

BOX = [(-1.0, 1.0)] * 2


def module(*more: torch.nn.Module) -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(2, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3), *more
    ).eval()


def test_a_bare_module_is_imported() -> None:
    mine = module()
    asked = {"output": 1, "time_limit": 20.0}
    bare, imported = (nm.certify(one, BOX, **asked) for one in (mine, nm.Network.from_torch(mine)))
    assert bare.status == "optimal"
    assert (bare.value, bare.bound) == (imported.value, imported.bound)


def test_weights_go_with_names_or_with_numbers() -> None:
    network = nm.Network.from_torch(module())
    first, second = network.output_names[0], network.output_names[2]
    by_name = nm.certify(network, BOX, output={first: 1.0, second: -2.0})
    by_number = nm.certify(network, BOX, output={0: 1.0, 2: -2.0})
    assert by_number.value == by_name.value
    with pytest.raises(nm.InputError, match="must have one weight"):
        nm.certify(network, BOX, output={0: 1.0, first: 2.0})
    with pytest.raises(nm.InputError):
        nm.certify(network, BOX, output={3: 1.0})


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (torch.nn.Sigmoid(), "leave it off: it is monotone"),
        (torch.nn.LogSigmoid(), "leave it off: it is monotone"),
        (torch.nn.Softmax(dim=1), "leave it off: which class leads"),
    ],
)
def test_a_last_layer_to_leave_off_is_said_in_one_sentence(
    last: torch.nn.Module, said: str
) -> None:
    with pytest.raises(nm.UnsupportedError, match=said) as caught:
        nm.certify(module(last), BOX)
    assert "supported are" not in str(caught.value)
