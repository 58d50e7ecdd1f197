"""Certificates as JSON: read strictly; `Certificate.to_dict` writes them, exactly.

Finite floats are JSON numbers, whose shortest decimal form restores every float64; the
others are the texts "inf", "-inf" and "nan". A file is refused when it is too large, has
missing, unknown or repeated fields, or a value of the wrong type.

Version 2 differs from version 1 in the fingerprints alone (see `Network.fingerprint_of`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from nnbo_mip.core.errors import FileFormatError
from nnbo_mip.core.files import read_limited
from nnbo_mip.core.terms import Kind, Status

if TYPE_CHECKING:
    from nnbo_mip.exact.certificates.certificate import Certificate

FORMAT = "nnbo_mip.certificate"
VERSION = 2
READABLE = (1, 2)
MAX_BYTES = 64 << 20
MAX_NESTING = 3
"""Largest depth of certificates within certificates."""
MAX_SPACE_NESTING = 16
"""Largest depth of lists and objects in a space; those that are written have 5."""

REMEDY = "use a file that certify saved"

DIRECTIONS = ("maximize", "minimize")
OPTIONAL = ("head", "posterior", "unverified", "threshold")
"""Fields that are written where they hold something."""

KEYS = {"posterior": "readout"}
"""Fields that files know by another name."""

INFINITIES = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def read(path: str | Path) -> bytes:
    """Return the bytes of a certificate file of at most 64 MiB."""
    return read_limited(
        path, MAX_BYTES, "the certificate", "nothing that nnbo_mip writes is that large"
    )


def decode(text: str | bytes, certificate: type[Certificate]) -> dict[str, Any]:
    """Return the arguments that make the certificate that `text` describes."""
    if len(text) > MAX_BYTES:
        raise FileFormatError(
            f"a certificate must have at most {MAX_BYTES} bytes; got {len(text)}; "
            "nothing that nnbo_mip writes is that large."
        )
    try:
        document = json.loads(
            text, object_pairs_hook=_without_repetition, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as error:
        if isinstance(error, FileFormatError):
            raise
        got = "binary data" if isinstance(error, UnicodeDecodeError) else f"other text ({error})"
        raise FileFormatError(f"a certificate must be JSON text; got {got}; {REMEDY}.") from error
    return _decoded(document, certificate, MAX_NESTING)


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise FileFormatError(
            f"a field must occur once in a certificate; got {repeated!r} again; {REMEDY}."
        )
    return result


def _refuse_constant(name: str) -> float:
    raise FileFormatError(
        f'a certificate writes numbers that are not finite as text; got {name}; write "inf".'
    )


def _decoded(document: Any, certificate: type[Certificate], nesting: int) -> dict[str, Any]:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        got = document.get("format", "none") if isinstance(document, dict) else document
        raise FileFormatError(
            f"a certificate must be a JSON object of format {FORMAT!r}; got {_shown(got)}; "
            f"{REMEDY}."
        )
    version = document.get("version")
    if type(version) is not int or version not in READABLE:
        known = " and ".join(map(str, READABLE))
        raise FileFormatError(
            f"certificates of version {known} can be read; got {_shown(version)}; "
            "read it with the release of nnbo_mip that wrote it."
        )
    keys = {entry.name: KEYS.get(entry.name, entry.name) for entry in fields(certificate)}
    missing = {keys[name] for name in set(keys) - set(OPTIONAL)} - set(document)
    unknown = set(document) - set(keys.values()) - {"format"}
    if missing or unknown:
        raise FileFormatError(
            f"a certificate has a fixed set of fields; missing {sorted(missing)}, unknown "
            f"{_shown(sorted(unknown))}; {REMEDY}."
        )
    if nesting == 0:
        raise FileFormatError(
            f"certificates may nest {MAX_NESTING} deep; got more; "
            "nothing that nnbo_mip writes does that."
        )
    subs = _expect(document["sub_certificates"], list, "sub_certificates", "a list")
    given = {name for name in set(keys) & set(DECODERS) if keys[name] in document}
    arguments = {name: DECODERS[name](document[keys[name]], keys[name]) for name in given}
    arguments["sub_certificates"] = tuple(
        certificate(**_decoded(sub, certificate, nesting - 1)) for sub in subs
    )
    return arguments


# -- one decoder a type ---------------------------------------------------------------


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:80] + "…"


def _expect(value: Any, kind: type, name: str, expected: str) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise FileFormatError(
            f"{name} of a certificate must be {expected}; got {_shown(value)}; {REMEDY}."
        )
    return value


def _text(value: Any, name: str) -> str:
    return str(_expect(value, str, name, "text"))


def _digest(value: Any, name: str) -> str:
    text = _text(value, name)
    if len(text) != 64 or set(text) - set("0123456789abcdef"):
        raise FileFormatError(
            f"{name} of a certificate must be 64 hexadecimal digits; got {_shown(text)}; {REMEDY}."
        )
    return text


def _whole(value: Any, name: str) -> int:
    return int(_expect(value, int, name, "a whole number"))


def _number(value: Any, name: str) -> float:
    if isinstance(value, str) and value in INFINITIES:
        return INFINITIES[value]
    return _finite(value, name)


def _finite(value: Any, name: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise FileFormatError(
        f"{name} of a certificate must be a float64 number; got {_shown(value)}; {REMEDY}."
    )


def _optional(decoder: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    return lambda value, name: None if value is None else decoder(value, name)


def _one_of(*known: str) -> Callable[[Any, str], str]:
    def decoder(value: Any, name: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise FileFormatError(
                f"{name} of a certificate must be one of {', '.join(known)}; got "
                f"{_shown(value)}; {REMEDY}."
            )
        return value

    return decoder


def _point(value: Any, name: str) -> tuple[float, ...]:
    return tuple(_finite(entry, name) for entry in _expect(value, list, name, "a list of numbers"))


def _mapping(decoder: Callable[[Any, str], Any]) -> Callable[[Any, str], dict[str, Any]]:
    def decode_all(value: Any, name: str) -> dict[str, Any]:
        entries = _expect(value, dict, name, "a JSON object")
        return {key: decoder(entry, f"{name}[{key!r}]") for key, entry in entries.items()}

    return decode_all


def _space(value: Any, name: str) -> dict[str, Any]:
    """Return a mapping of JSON values; they are looked at closely when the space is made."""
    level = [_expect(value, dict, name, "a JSON object")]
    for _ in range(MAX_SPACE_NESTING):
        level = [
            entry
            for part in level
            for entry in (part.values() if isinstance(part, dict) else part)
            if isinstance(entry, dict | list)
        ]
    if level:
        raise FileFormatError(
            f"{name} of a certificate must nest at most {MAX_SPACE_NESTING} deep; got more; "
            f"{REMEDY}."
        )
    return dict(value)


def _output(value: Any, name: str) -> str | dict[str, float]:
    return value if isinstance(value, str) else _mapping(_finite)(value, name)


def _scalar(value: Any, name: str) -> str | bool | float:
    return value if isinstance(value, str | bool) else _finite(value, name)


def _of_head(value: Any, name: str) -> str | bool | float | list[float]:
    return list(_point(value, name)) if isinstance(value, list) else _scalar(value, name)


def _scalars_in_groups(value: Any, name: str) -> Any:
    return _mapping(_scalar)(value, name) if isinstance(value, dict) else _scalar(value, name)


DECODERS: dict[str, Callable[[Any, str], Any]] = {
    "version": _whole,
    "direction": _one_of(*DIRECTIONS),
    "status": _one_of(*get_args(Status)),
    "kind": _one_of(*get_args(Kind)),
    "value": _number,
    "bound": _number,
    "gap": _number,
    "x": _optional(_point),
    "requested_gap": _finite,
    "row_slack": _finite,
    "output": _optional(_output),
    "engine": _text,
    "solver": _optional(_text),
    "solver_version": _optional(_text),
    "nnbo_mip_version": _text,
    "network_fingerprint": _digest,
    "objective_fingerprint": _digest,
    "space": _space,
    "space_fingerprint": _digest,
    "float32_difference": _optional(_number),
    "seed": _whole,
    "seconds": _finite,
    "counters": _mapping(_whole),
    "head": _mapping(_of_head),
    "posterior": _mapping(_scalars_in_groups),
    "unverified": _text,
    "threshold": _finite,
    "digest": _digest,
}
