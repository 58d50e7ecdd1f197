"""What a user may hand to `certify` and `check`, turned into what they compute with."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable, Mapping
from pathlib import Path

from nnbo_mip.errors import InputError
from nnbo_mip.exact.certificate import Direction, Output
from nnbo_mip.network.graph import Network

MAX_SEED = 2**63 - 1


def as_network(given: object, *, verify: bool = True) -> Network:
    """Return a network, read from a file where a path is given; `verify` is for ONNX models."""
    if isinstance(given, Network):
        return given
    if isinstance(given, str | Path):
        return _network_from_file(Path(given), verify)
    kind = type(given)
    doors = {"torch": "from_torch", "sklearn": "from_sklearn", "onnx": "from_onnx"}
    library = next((b.__module__.split(".")[0] for b in kind.__mro__ if b is not object), "")
    roots = {base.__module__.split(".")[0] for base in kind.__mro__}
    door = next((doors[root] for root in doors if root in roots), None)
    remedy = f"pass Network.{door}(…)" if door else "make one with Network.from_layers"
    raise InputError(
        f"network must be a Network or the path of a file that holds one; got a {kind.__name__}"
        f"{f' of {library}' if door else ''}; {remedy}."
    )


def _network_from_file(path: Path, verify: bool) -> Network:
    if not path.is_file():
        got = f"the folder {str(path)!r}" if path.is_dir() else repr(str(path))
        raise InputError(f"the network must be a file that exists; got {got}; check the path.")
    ending = path.suffix.lower()
    if ending == ".onnx":
        return Network.from_onnx(path, verify=verify)
    if ending in (".npz", ".json"):
        return Network.load(path)
    raise InputError(
        f"a network file ends in .onnx, .npz or .json; got {str(path)!r}; export the model to "
        "ONNX, or import it in Python and call Network.save."
    )


def as_real(value: object, name: str) -> float:
    """Return a real number as a float; NaN, text and booleans are refused."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = float(value)
        if not math.isnan(number):
            return number
    raise InputError(f"{name} must be a number; got {value!r}; give one.")


def as_time_limit(value: object, name: str = "time_limit") -> float:
    """Return wall seconds > 0; infinity means no limit."""
    seconds = as_real(value, name)
    if seconds <= 0.0:
        raise InputError(
            f"{name} must be > 0 seconds; got {value!r}; give more, or inf for no limit."
        )
    return seconds


def as_gap(value: object, name: str = "gap") -> float:
    """Return a finite gap >= 0."""
    gap = as_real(value, name)
    if not 0.0 <= gap < math.inf:
        raise InputError(
            f"{name} must be >= 0 and finite; got {value!r}; 1e-4 is the default, 0 asks for all."
        )
    return gap


def as_seed(value: object, name: str = "seed") -> int:
    """Return a whole number >= 0."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        seed = int(value)
        if 0 <= seed <= MAX_SEED:
            return seed
    raise InputError(f"{name} must be a whole number from 0 to 2**63 - 1; got {value!r}; give one.")


def as_choice(given: object, name: str, known: Iterable[str]) -> str:
    """Return one of the known names; the error has all of them and the nearest one."""
    names = list(known)
    if isinstance(given, str) and given in names:
        return given
    nearest = difflib.get_close_matches(str(given).lower(), names, n=1, cutoff=0.5)
    hint = f"did you mean {nearest[0]!r}?" if nearest else "choose one of them."
    raise InputError(f"{name} must be one of {', '.join(names)}; got {given!r}; {hint}")


def as_direction(given: object) -> Direction:
    """Return ``"maximize"`` or ``"minimize"``."""
    name = as_choice(given, "direction", ("maximize", "minimize"))
    return "maximize" if name == "maximize" else "minimize"


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
            return as_choice(given, "output", network.output_names)
        return network.output_names[network.output_index(None if given is None else int(given))]
    weights = {
        as_choice(name, "an output", network.output_names): as_real(weight, f"weight of {name!r}")
        for name, weight in given.items()
    }
    if not weights or not all(map(math.isfinite, weights.values())):
        raise InputError(
            f"the weights of outputs must be finite, at least one; got {dict(given)!r}; "
            "pass something like {'mean': 1.0, 'std': 0.5}."
        )
    return weights
