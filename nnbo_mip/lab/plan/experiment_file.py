r"""The file of an experiment, read key by key: every error says where, what, and what to do.

>>> from nnbo_mip.lab.plan.experiment_file import Section
>>> section = Section.of_text('steps = 4\nproblem = ["branin"]\n', "first.toml")
>>> section.count("steps")
4
>>> section.check_keys(["steps", "problems"])  # doctest: +ELLIPSIS
Traceback (most recent call last):
nnbo_mip.core.errors.InputError: first.toml, line 2: the keys here are steps, problems; got ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from nnbo_mip.core.checks import MAX_SEED, check_count, check_flag, nearest
from nnbo_mip.core.errors import FileFormatError, InputError, NnboError
from nnbo_mip.core.toml import parsed_toml
from nnbo_mip.lab.plan.toml_lines import Path, TomlLines


class Section:
    """A table of the file.

    Parameters
    ----------
    content : mapping
    file : str
        How errors call it.
    lines : TomlLines
    path : tuple
        Where the table stands.
    """

    def __init__(
        self, content: Mapping[str, Any], file: str, lines: TomlLines, path: Path = ()
    ) -> None:
        self.content = content
        self._file = file
        self._lines = lines
        self._path = path

    @classmethod
    def of_text(cls, text: str, file: str) -> Self:
        """Parse the text of a whole file."""
        try:
            content = parsed_toml(text)
        except ValueError as error:
            raise FileFormatError(
                f"{file} must be valid TOML; it is not: {error}; mend that line."
            ) from error
        return cls(content, file, TomlLines(text))

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def get(self, key: str, default: Any = None) -> Any:
        """Return what stands at a key."""
        return self.content.get(key, default)

    def within(self, content: Mapping[str, Any], *path: str | int) -> Section:
        """Return what stands at a place below this one."""
        return Section(content, self._file, self._lines, (*self._path, *path))

    # -- errors -------------------------------------------------------------------------

    def where(self, *path: str | int, value: object = None) -> str:
        """Return the place of a key as an error begins: file, line, key."""
        line = self._lines.line((*self._path, *path), value)
        place = self._file if line is None else f"{self._file}, line {line}"
        named = ""
        for part in (*self._path, *path):
            named += f"[{part + 1}]" if isinstance(part, int) else f"{'.' if named else ''}{part}"
        return f"{place}, {named}" if named else place

    @contextmanager
    def located(self, *path: str | int, value: object = None, also: str = "") -> Iterator[None]:
        """Begin what goes wrong within with the place of a key."""
        try:
            yield
        except NnboError as error:
            if str(error).startswith(f"{self._file}, "):
                raise  # it names a nearer place
            place = self.where(*path, value=value)
            raise type(error)(f"{place}{', ' + also if also else ''}: {error}") from error

    def refuse(self, key: str, wanted: str, advice: str) -> InputError:
        """Return the error of a key whose value is not what it must be."""
        got = f"{self.content[key]!r:.80}" if key in self.content else "nothing"
        return InputError(f"{self.where(key)}: it must be {wanted}; got {got}; {advice}")

    def check_keys(self, known: Sequence[str]) -> None:
        """Refuse a key that is not known."""
        for key in self.content:
            if key not in known:
                line = self._lines.line((*self._path, key))
                place = self.where() if line is None else f"{self._file}, line {line}"
                advice = nearest(key, known) or "drop it."
                raise InputError(
                    f"{place}: the keys here are {', '.join(known)}; got {key!r}; {advice}"
                )

    # -- values -------------------------------------------------------------------------

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text that is not blank; without a default it must be there."""
        value = self.content.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.refuse(key, "a text", f'write {key} = "…".')
        return value

    def count(
        self, key: str, default: int | None = None, least: int = 1, most: int = MAX_SEED
    ) -> int:
        """Return a whole number; without a default it must be there."""
        if key not in self.content and default is None:
            raise self.refuse(key, f"a whole number from {least}", f"write {key} = 20, say.")
        with self.located(key):
            return check_count(key, self.content.get(key, default), least, most)

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        with self.located(key):
            return check_flag(key, self.content.get(key, default))

    def listed(self, key: str) -> list[Any]:
        """Return a list; what is no list is one entry, and nothing is none."""
        value = self.content.get(key, [])
        return list(value) if isinstance(value, list) else [value]

    def texts(self, key: str, default: Sequence[str] = ()) -> tuple[str, ...]:
        """Return a list of texts, each given once."""
        values = self.listed(key) if key in self.content else list(default)
        if not all(isinstance(value, str) for value in values):
            raise self.refuse(key, "a list of texts", f'write {key} = ["…"].')
        if len(set(values)) != len(values):
            raise self.refuse(key, "a list without repetitions", "drop what is there twice.")
        return tuple(values)

    def sections(self, key: str) -> list[Section]:
        """Return the tables at a key: of a list, or a single one."""
        value = self.content.get(key, [])
        if isinstance(value, Mapping):
            return [Section(value, self._file, self._lines, (*self._path, key))]
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            raise self.refuse(key, "a table, or several", f"begin each with [[{key}]].")
        return [
            Section(one, self._file, self._lines, (*self._path, key, place))
            for place, one in enumerate(value)
        ]
