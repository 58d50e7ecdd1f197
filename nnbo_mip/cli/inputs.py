"""What the command line says in text: numbers, ends of a box, outputs.

Errors name the flag, and advise flags.
"""

from __future__ import annotations

import math
from pathlib import Path

from nnbo_mip.cli.space_file import read_space
from nnbo_mip.core.budget import as_memory_limit
from nnbo_mip.core.checks import (
    as_gap,
    as_seed,
    as_time_limit,
    check_choice,
)
from nnbo_mip.core.errors import InputError
from nnbo_mip.network.graph.graph import Network
from nnbo_mip.space.domain import Domain
from nnbo_mip.space.space import Space


def parse_time_limit(text: str) -> float:
    """Return the seconds of --time-limit."""
    return as_time_limit(_real(text, "--time-limit"), "--time-limit")


def parse_memory_limit(text: str) -> float:
    """Return the GiB of --memory-limit."""
    return as_memory_limit(_real(text, "--memory-limit"), "--memory-limit")


def parse_gap(text: str) -> float:
    """Return the number of --gap."""
    return as_gap(_real(text, "--gap"), "--gap")


def parse_threshold(text: str | None) -> float | None:
    """Return the number of --threshold."""
    return None if text is None else _real(text, "--threshold")


def parse_seed(text: str) -> int:
    """Return the whole number of --seed."""
    try:
        seed = int(text)
    except ValueError as error:
        raise InputError(f"--seed must be a whole number; got {text!r}; write --seed 7.") from error
    return as_seed(seed, "--seed")


def parse_count(text: str, option: str, least: int = 1) -> int:
    """Return a whole number of at least `least`."""
    try:
        count = int(text)
    except ValueError:
        count = least - 1
    if count < least:
        raise InputError(
            f"{option} must be a whole number from {least}; got {text!r}; write {option} 20, say."
        )
    return count


def _real(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(
            f"{option} must be a number; got {text!r}; write something like 0.5 or 1e-3."
        ) from error


def parse_space(
    network: Network, lower: str | None, upper: str | None, path: Path | None
) -> Space | Domain:
    """Return the space that --lower and --upper, or --space, describe."""
    if path is not None:
        if lower is not None or upper is not None:
            raise InputError(
                "the space is given by --space or by --lower and --upper; got both; drop one."
            )
        return read_space(path)
    if lower is None or upper is None:
        got = {(True, False): "only --lower", (False, True): "only --upper"}
        raise InputError(
            "the space needs --lower and --upper, or --space; got "
            f"{got.get((lower is not None, upper is not None), 'none of them')}; give both ends "
            "of every input."
        )
    low = _ends(lower, "--lower", network.n_inputs)
    return Space.box(low, _ends(upper, "--upper", network.n_inputs))


def _ends(text: str, option: str, count: int) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(
            f"{option} must be a number or a comma list of numbers; got {text!r}; "
            f"write {option} -1 or {option} -1,0.5,2 without blanks."
        ) from error
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise InputError(
            f"{option} must have one number for all inputs or one for each, of which the network "
            f"has {count}; got {len(values)}; give {count}."
        )
    return values


def parse_output(network: Network, given: list[str] | None) -> str | dict[str, float] | None:
    """Return a name, or the weights of NAME=WEIGHT entries; None for the only output."""
    names = network.output_names
    if not given:
        if len(names) > 1:
            raise InputError(
                f"--output must name one of the network's outputs, {', '.join(names)}; got none; "
                f"write --output {names[0]}."
            )
        return None
    if len(given) == 1 and (given[0] in names or "=" not in given[0]):
        return check_choice("--output", given[0], names)
    weights: dict[str, float] = {}
    for entry in given:
        name, separator, weight = entry.rpartition("=")
        if not separator or name in weights:
            raise InputError(
                f"several outputs are given as NAME=WEIGHT, each once; got {entry!r}; "
                "write --output mean=1 --output std=0.5."
            )
        number = _real(weight, f"the weight of --output {name}")
        if not math.isfinite(number):
            raise InputError(
                f"the weight of an output must be finite; got {entry!r}; write --output {name}=0.5."
            )
        weights[check_choice("--output", name, names)] = number
    return weights
