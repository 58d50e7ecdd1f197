"""What objects of somebody else say of themselves, whatever their methods do."""

from __future__ import annotations


def shown(value: object, letters: int = 60) -> str:
    """Return the beginning of an object's repr, or that it has none."""
    try:
        return repr(value)[:letters]
    except Exception:  # its methods may raise anything
        return f"an object of type {type(value).__name__} that cannot be printed"


def as_reason(given: object) -> str:
    """Return why something failed as text: of an exception its name and its first line."""
    try:
        said = "" if given is None else str(given)
        said = said.encode(errors="backslashreplace").decode()  # what a terminal can print
    except Exception:  # its methods may raise anything
        said = "" if isinstance(given, BaseException) else shown(given)
    if not isinstance(given, BaseException):
        return said
    name, line = type(given).__name__, said.partition("\n")[0]
    return f"{name}: {line}" if line else name
