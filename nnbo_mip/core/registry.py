"""Names for strategies: one small registry serves surrogates, acquisitions, maximizers, problems.

A strategy is a frozen dataclass of options. It can be named by a string (``"nomu"``), a
string with options (``"grid:points=200"``), a dict (``{"name": "grid", "points": 200}``),
or given as an object, which always works: the registry is never the only door.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, overload

from nnbo_mip.core.checks import check_known, nearest
from nnbo_mip.core.errors import InputError, MissingExtraError

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Registry(Generic[T]):
    """A mapping of names to the factories of one kind of strategy.

    Parameters
    ----------
    kind : str
        What is registered, in the singular; error messages use it.
    base : type
        What a factory makes; an object of this type passes through `create`.
    homes : mapping of str to str
        Names of the package's own strategies and the ``module:attribute`` that makes each;
        imported when first asked for.
    group : str
        Entry-point group in which other packages offer theirs.
    experimental : collection of str
        Those of `homes` that are research: they may change or go, and lists mark them.
    of_none : str, optional
        What None stands for, where it stands for one.
    """

    def __init__(
        self,
        kind: str,
        base: type[T],
        homes: Mapping[str, str],
        group: str,
        experimental: Collection[str] = (),
        of_none: str | None = None,
    ) -> None:
        self._kind = kind
        self._base = base
        self._homes = dict(homes)
        self._group = group
        self._experimental = frozenset(experimental)
        self._of_none = of_none
        self._registered: dict[str, Callable[..., T]] = {}
        self._imported: dict[str, Callable[..., T]] = {}
        self._signatures: dict[str, tuple[Callable[..., T], Mapping[str, inspect.Parameter]]] = {}

    def available(self) -> tuple[str, ...]:
        """Return every known name, sorted."""
        return tuple(sorted({*self._homes, *self._registered, *self._plugins()}))

    def is_experimental(self, name: str) -> bool:
        """Return whether a name stands for a method of research, which may change or go."""
        return name in self._experimental and name not in self._registered

    @overload
    def register(self, name: str) -> Callable[[F], F]: ...

    @overload
    def register(self, name: str, made_by: F) -> F: ...

    @overload
    def register(self, name: F) -> F: ...

    def register(self, name: Any, made_by: Any = None) -> Any:
        """Make a class, a function or an object known by a name.

        ``register("de", DE)`` does it, and ``@register("de")`` above the class; ``register(DE)``
        and ``@register`` take the name that the class has, ``DE.name``. What is made by calling
        it, or the object itself, then stands behind the name.

        Parameters
        ----------
        name : str, or a class with a `name`
        made_by : callable or object, optional
            Left out, a decorator is returned.
        """
        if not isinstance(name, str):
            own = getattr(name, "name", None)
            if made_by is not None or not isinstance(own, str) or not own:
                raise InputError(
                    f"register takes a name and what it stands for; got {name!r:.60}; write "
                    'register("de", DE), or @register("de") above the class DE.'
                )
            return self.register(own, name)
        if made_by is not None:
            self.register(name)(_factory_of(made_by, self._base))
            return made_by

        def decorate(factory: F) -> F:
            if not callable(factory):
                raise InputError(
                    f"what is registered as {name!r} must be a class, a function that makes "
                    f"{self._a_kind}, or one itself; got {factory!r:.60}; pass one of these."
                )
            taken, made = self._owner(name), _qualified(factory)
            if taken not in (None, made):
                raise InputError(
                    f"the name of {self._a_kind} must be free; {name!r} belongs to {taken}, "
                    f"so {made} cannot take it; choose another or unregister it."
                )
            self._registered[name] = factory
            return factory

        return decorate

    def unregister(self, name: str) -> None:
        """Forget a name that `register` made known."""
        if name not in self._registered:
            raise InputError(
                f"only {self._a_kind} registered by hand can be unregistered; got {name!r}; "
                f"those are {', '.join(sorted(self._registered)) or 'none'}."
            )
        del self._registered[name]

    def factory(self, name: str) -> Callable[..., T]:
        """Return what makes the strategy of this name.

        What was registered by hand comes first, then the package's own, then plug-ins.
        """
        if name in self._registered:
            return self._registered[name]
        if name not in self._imported:
            self._imported[name] = self._import(name)
        return self._imported[name]

    def create(self, spec: object, **options: Any) -> T:
        """Make a strategy.

        Parameters
        ----------
        spec : str, mapping or object
            ``"name"``, ``"name:option=value,…"``, within another one's options
            ``"name(option=value,…)"``, ``{"name": …, option: value}`` or an object.
        **options
            Options beside those in `spec`.
        """
        if isinstance(spec, self._base):
            if options:
                raise InputError(
                    f"options go with a name, not with a {type(spec).__name__} that has its own; "
                    f"got {', '.join(options)}; use dataclasses.replace."
                )
            return spec
        name, own = self.parsed(self._of_none if spec is None else spec)
        repeated = sorted(set(own) & set(options))
        if repeated:
            raise InputError(
                f"an option must be given once; got {', '.join(repeated)} in {spec!r} and beside "
                "it; drop one."
            )
        factory = self.factory(name)
        self._check_options(name, factory, {**own, **options})
        made = factory(**own, **options)
        if not isinstance(made, self._base):
            raise InputError(
                f"the {self._kind} {name!r} must make a {self._base.__name__}; got "
                f"{type(made).__name__}; mend {_qualified(factory)}."
            )
        return made

    def parsed(self, spec: object) -> tuple[str, dict[str, Any]]:
        """Return the name and the options that a text or a mapping gives."""
        if isinstance(spec, Mapping):
            own = dict(spec)
            name = own.pop("name", None)
            if isinstance(name, str) and all(isinstance(key, str) for key in own):
                return name, own
        elif isinstance(spec, str):
            name, listed = self._split(spec)
            if listed and "=" not in listed:
                presets = [known for known in self.available() if known.startswith(f"{name}:")]
                meant = [preset for preset in presets if nearest(listed, [preset[len(name) + 1 :]])]
                if meant:
                    raise self._unknown(spec, nearest(spec, meant))
            return name.strip(), _parse_options(listed, spec)
        raise InputError(
            f"{self._a_kind} must be a name, 'name:option=value', a dict with the key 'name', or "
            f"a {self._base.__name__}; got {spec!r:.80}; use one of these."
        )

    def _split(self, spec: str) -> tuple[str, str]:
        """Return a name and what is said of its options; "lbfgs:classic" is a name, too."""
        bracket = spec.find("(")
        if bracket > 0 and spec.endswith(")") and "=" not in spec[:bracket]:
            return spec[:bracket], spec[bracket + 1 : -1]
        if ":" not in spec:
            return spec, ""
        for name in self.available():
            if ":" in name and (spec == name or spec.startswith((f"{name},", f"{name}:"))):
                return name, spec[len(name) + 1 :]
        name, _, listed = spec.partition(":")
        return name, listed

    def _check_options(self, name: str, factory: Callable[..., T], options: dict[str, Any]) -> None:
        parameters = self._parameters_of(name, factory)
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            return
        for option in options:
            check_known(f"the options of {name!r}", option, parameters, _advice(options))
        positional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY)
        missing = [
            p.name
            for p in parameters.values()
            if p.default is p.empty and p.kind not in positional and p.name not in options
        ]
        if missing:
            raise InputError(
                f"{name!r} needs the options {', '.join(missing)}; got "
                f"{'only ' + ', '.join(options) if options else 'none'}; add them."
            )

    def _parameters_of(
        self, name: str, factory: Callable[..., T]
    ) -> Mapping[str, inspect.Parameter]:
        """Return the parameters of a factory, read once."""
        known = self._signatures.get(name)
        if known is None or known[0] is not factory:
            known = self._signatures[name] = factory, inspect.signature(factory).parameters
        return known[1]

    @property
    def _a_kind(self) -> str:
        return f"{'an' if self._kind[0] in 'aeiou' else 'a'} {self._kind}"

    def _owner(self, name: str) -> str | None:
        """Return the qualified name of what is known as `name`."""
        if name in self._registered:
            return _qualified(self._registered[name])
        if name in self._homes:
            return self._homes[name]
        return ", ".join(point.value for point in self._plugins().get(name, [])) or None

    def _plugins(self) -> dict[str, list[EntryPoint]]:
        return _offered(self._group, _installations())

    def _unknown(self, given: str, advice: str) -> InputError:
        known = ", ".join(self.available())
        return InputError(f"{self._a_kind} must be one of {known}; got {given!r}; {advice}")

    def _import(self, name: str) -> Callable[..., T]:
        if name in self._homes:
            module, _, attribute = self._homes[name].partition(":")
            own: Callable[..., T] = getattr(import_module(module), attribute)
            return own
        points = self._plugins().get(name, [])
        if not points:
            advice = nearest(name.lower(), self.available()) or "choose one of them."
            raise self._unknown(name, advice)
        if len(points) > 1:
            offers = " and ".join(point.value for point in points)
            raise InputError(
                f"the name of {self._a_kind} must belong to one package; {name!r} is offered by "
                f"{offers}; uninstall one, or import the one you want and pass an object."
            )
        try:
            plugin: Callable[..., T] = points[0].load()
        except (ImportError, AttributeError) as error:
            raise MissingExtraError(
                f"the {self._kind} {name!r} of {points[0].value} could not be imported ({error}); "
                "install what it needs."
            ) from error
        return plugin


@functools.lru_cache(maxsize=32)
def _offered(group: str, _state: object) -> dict[str, list[EntryPoint]]:
    """Return the entry points of a group by their names; reading them takes milliseconds."""
    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=group):
        if point.value not in [other.value for other in found.get(point.name, [])]:
            found.setdefault(point.name, []).append(point)
    return found


def _installations() -> tuple[tuple[str, int], ...]:
    """Return what changes when a package is installed or removed."""
    return tuple((folder, _changed(folder or os.curdir)) for folder in sys.path)


def _changed(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _advice(options: Mapping[str, Any]) -> str:
    """Say what to do about an option that there is not, which may be meant as another one's."""
    for key, value in options.items():
        if isinstance(value, str) and ":" in value:
            inner = value.replace(":", "(", 1)
            return f"write {key}={inner}, …) if it is an option of that one, else drop it."
    return "drop it."


def _parse_options(listed: str, spec: str) -> dict[str, Any]:
    """Parse ``a=1,b=(2, 3),c=text``: Python literals, else text."""
    options: dict[str, Any] = {}
    for part in split_at_commas(listed):
        key, equals, value = part.partition("=")
        if not equals or not key.strip().isidentifier():
            raise InputError(
                f"options must read option=value, separated by commas; got {part.strip()!r} in "
                f"{spec!r}; write them so."
            )
        if key.strip() in options:
            raise InputError(
                f"an option must be given once; got {key.strip()!r} twice in {spec!r}."
            )
        try:
            options[key.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):  # too deep for the parser
            options[key.strip()] = value.strip()
    return options


def split_at_commas(listed: str) -> list[str]:
    """Split a text at commas that stand outside brackets; drop what is blank."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(listed):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(listed[start:place])
            start = place + 1
    parts.append(listed[start:])
    return [part for part in parts if part.strip()]


def _factory_of(made_by: Any, base: type) -> Any:
    """Return what makes an object: the object's own maker where it is one already."""
    if not isinstance(made_by, base):
        return made_by
    return functools.partial(_itself, made_by)


def _itself(made: Any) -> Any:
    return made


def _qualified(factory: Any) -> str:
    named = getattr(factory, "func", factory)  # a partial has no name of its own
    return f"{named.__module__}:{named.__qualname__}"
