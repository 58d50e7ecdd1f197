r"""On which line of a TOML text a key stands; `tomllib` does not say.

>>> from nnbo_mip.lab.plan.toml_lines import TomlLines
>>> lines = TomlLines('name = "a"\n[[methods]]\nescape = "none"\n[[methods]]\ngap = 0.1\n')
>>> lines.line(("methods", 1, "gap")), lines.line(("methods", 0)), lines.line(("steps",))
(5, 2, None)
"""

from __future__ import annotations

import re

Path = tuple[str | int, ...]
"""Keys, and places in lists, counted from 0."""

_BARE = r"(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')"
_DOTTED = rf"({_BARE}(?:\s*\.\s*{_BARE})*)"
_HEADER = re.compile(rf"\s*(\[\[?)\s*{_DOTTED}\s*\]\]?")
_KEY = re.compile(rf"\s*{_DOTTED}\s*=")
_QUOTES = ('"""', "'''")


class TomlLines:
    """Finds keys in a text that was parsed without error.

    Parameters
    ----------
    text : str
    """

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._places: dict[Path, int] = {}
        self._counts: dict[Path, int] = {}
        table: Path = ()
        closing = ""
        for number, line in enumerate(self._lines, 1):
            if closing:  # within a text of several lines nothing is a key
                closing = "" if closing in line else closing
                continue
            header, key = _HEADER.match(line), _KEY.match(line)
            if header:
                table = self._table(_parts(header[2]), is_list=header[1] == "[[")
                self._places.setdefault(table, number)
            elif key:
                self._places.setdefault((*table, *_parts(key[1])), number)
            closing = next((mark for mark in _QUOTES if line.count(mark) % 2), "")

    def line(self, path: Path, value: object = None) -> int | None:
        """Return the line of a key, or of what holds it; None where neither is found.

        Parameters
        ----------
        path : tuple
        value : object
            If it is a text that the key's list holds, its own line is returned.
        """
        for length in range(len(path), 0, -1):
            number = self._places.get(path[:length])
            if number is not None:
                return self._line_of(value, number) if isinstance(value, str) else number
        return None

    def _line_of(self, value: str, first: int) -> int:
        rest = enumerate(self._lines[first - 1 :], first)
        return next((number for number, line in rest if value in line), first)

    def _table(self, parts: Path, is_list: bool) -> Path:
        """Return the path of a header, with places where it continues a list of tables."""
        path: Path = ()
        for part in parts[:-1]:
            path = (*path, part)
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
        path = (*path, parts[-1])
        if is_list:
            self._counts[path] = self._counts.get(path, 0) + 1
            path = (*path, self._counts[path] - 1)
        return path


def _parts(dotted: str) -> Path:
    return tuple(part.strip("\"'") for part in re.findall(_BARE, dotted))
