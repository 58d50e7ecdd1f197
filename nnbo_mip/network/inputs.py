"""What a user may hand over as a network, and as one of its outputs."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from pathlib import Path

from nnbo_mip.core.checks import as_real, check_choice
from nnbo_mip.core.errors import InputError
from nnbo_mip.core.terms import Output
from nnbo_mip.network.graph.graph import Network


def as_network(given: object, *, verify: bool = True) -> Network:
    """Return a network: that of a file, or of a model of torch or scikit-learn.

    Parameters
    ----------
    given : Network, path, torch.nn.Module or scikit-learn estimator
    verify : bool
        Whether what is imported is compared with its model.
    """
    if isinstance(given, Network):
        return given
    if isinstance(given, str | Path):
        return _network_from_file(Path(given), verify)
    kind = type(given)
    roots = {base.__module__.split(".")[0] for base in kind.__mro__}
    doors: dict[str, Callable[..., Network]] = {
        "torch": Network.from_torch,
        "sklearn": Network.from_sklearn,
        "onnx": Network.from_onnx,
    }
    door = next((doors[root] for root in doors if root in roots), None)
    if door is not None:
        return door(given, verify=verify)
    raise InputError(
        "network must be a Network, the path of a file that holds one, or a model of torch or "
        f"scikit-learn; got a {kind.__name__}; make one with Network.from_layers."
    )


def _network_from_file(path: Path, verify: bool) -> Network:
    if not path.is_file():
        got = f"the folder {str(path)!r}" if path.is_dir() else repr(str(path))
        raise InputError(f"the network must be a file that exists; got {got}; check the path.")
    ending = path.suffix.lower()
    if ending == ".onnx" or path.name.lower().endswith(".onnx.gz"):
        return Network.from_onnx(path, verify=verify)
    if ending in (".npz", ".json"):
        return Network.load(path)
    raise InputError(
        f"a network file ends in .onnx, .onnx.gz, .npz or .json; got {str(path)!r}; export the "
        "model to ONNX, or import it in Python and call Network.save."
    )


def as_output(network: Network, given: object) -> Output:
    """Return an output by name, or finite weights of named outputs."""
    if given is None and network.n_outputs == 1:
        return None
    if not isinstance(given, Mapping):
        is_flag = isinstance(given, bool)
        if is_flag or (given is not None and not isinstance(given, str | numbers.Integral)):
            raise InputError(
                f"output must be a name, an index or a mapping of names to weights; got {given!r}; "
                f"the names are {', '.join(network.output_names)}."
            )
        if isinstance(given, str):
            return check_choice("output", given, network.output_names)
        return network.output_names[network.output_index(None if given is None else int(given))]
    weights: dict[str, float] = {}
    for name, weight in given.items():
        is_index = isinstance(name, numbers.Integral) and not isinstance(name, bool)
        known = network.output_names[network.output_index(int(name))] if is_index else name
        check_choice("an output", known, network.output_names)
        if known in weights:
            raise InputError(
                f"an output must have one weight; got {known!r} twice, by name and by index; drop "
                "one."
            )
        weights[known] = as_real(weight, f"weight of {name!r}")
    if not weights or not all(map(math.isfinite, weights.values())):
        raise InputError(
            f"the weights of outputs must be finite, at least one; got {dict(given)!r}; "
            "pass something like {'mean': 1.0, 'std': 0.5}."
        )
    return weights
