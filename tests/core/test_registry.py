"""Strategies are found by name, with options, and every mistake is answered in a sentence."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nnbo_mip as nm
from nnbo_mip.core.errors import InputError, MissingExtraError
from nnbo_mip.core.registry import Registry

GROUP = "nnbo_mip.test_shapes"


class Shape:
    """What the registry of these tests makes."""


@dataclass(frozen=True)
class Circle(Shape):
    radius: float = 1.0
    colors: tuple[str, ...] = ()
    label: str = "plain"


@dataclass(frozen=True)
class Box(Shape):
    sides: tuple[float, float]


@dataclass(frozen=True)
class Elsewhere(Shape):
    size: int = 1


unit = functools.partial(Circle, radius=1.0)


def free(**options: Any) -> Shape:
    return Circle(**options)


@pytest.fixture
def shapes() -> Registry[Shape]:
    here = __name__
    homes = {"circle": f"{here}:Circle", "box": f"{here}:Box", "circle:unit": f"{here}:unit"}
    return Registry("shape", Shape, homes, GROUP)


# -- creating -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        "circle:radius=2.5,colors=('red', 'blue'),label=odd",
        " circle : radius = 2.5 , colors = ('red', 'blue') , label = 'odd' ",
        {"name": "circle", "radius": 2.5, "colors": ("red", "blue"), "label": "odd"},
        Circle(2.5, ("red", "blue"), "odd"),
    ],
)
def test_a_string_a_dict_and_an_object_say_the_same(shapes: Registry[Shape], spec: object) -> None:
    assert shapes.create(spec) == Circle(2.5, ("red", "blue"), "odd")


def test_options_may_stand_beside_the_name(shapes: Registry[Shape]) -> None:
    assert shapes.create("circle", radius=3.0) == Circle(3.0)
    assert shapes.create("circle:label=odd", radius=3.0) == Circle(3.0, label="odd")
    assert shapes.create({"name": "circle", "label": "odd"}, radius=3.0) == Circle(3.0, (), "odd")
    assert shapes.create("circle:") == shapes.create("circle") == Circle()


def test_an_object_is_handed_through_as_it_is(shapes: Registry[Shape]) -> None:
    mine = Elsewhere(4)
    assert shapes.create(mine) is mine
    with pytest.raises(InputError, match="a Elsewhere that has its own; got size"):
        shapes.create(mine, size=5)


def test_a_dict_is_not_changed(shapes: Registry[Shape]) -> None:
    spec = {"name": "circle", "radius": 2.0}
    shapes.create(spec)
    assert spec == {"name": "circle", "radius": 2.0}


def test_a_preset_may_have_a_colon_in_its_name(shapes: Registry[Shape]) -> None:
    assert shapes.create("circle:unit") == Circle()
    assert shapes.create({"name": "circle:unit", "label": "odd"}) == Circle(label="odd")
    assert shapes.available() == ("box", "circle", "circle:unit")


options = st.dictionaries(
    st.from_regex(r"[a-z][a-z_0-9]{0,8}", fullmatch=True),
    st.one_of(
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
        st.none(),
        st.tuples(st.integers(), st.floats(allow_nan=False, allow_infinity=False)),
        st.lists(st.tuples(st.integers(), st.booleans())),
        st.from_regex(r"[a-z]{1,6}", fullmatch=True),
    ),
    max_size=4,
)


@given(options=options)
def test_whatever_is_written_is_read_back(options: dict[str, Any]) -> None:
    got: dict[str, Any] = {}

    def record(**given: Any) -> Shape:
        got.update(given)
        return Shape()

    registry = Registry("shape", Shape, {}, GROUP)
    registry.register("any")(record)
    registry.create("any:" + ",".join(f"{name}={value!r}" for name, value in options.items()))
    assert got == options


# -- mistakes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "beside", "match"),
    [
        ("circel", {}, r"must be one of box, circle, circle:unit; got 'circel'; .*'circle'\?"),
        ("CIRCLE", {}, "did you mean 'circle'"),
        ("hexagon", {}, "got 'hexagon'; choose one of them"),
        ("", {}, "got ''"),
        (":radius=1", {}, "got ''"),
        ("circle", {"radios": 2.0}, r"are radius, colors, label; got 'radios'; .* 'radius'\?"),
        ("circle:zzz=2", {}, "got 'zzz'; drop it"),
        ("circle:radius", {}, "must read option=value.*'radius'"),
        ("circle:radius=1,=3", {}, "must read option=value.*'=3'"),
        ("circle:2=3", {}, "must read option=value.*'2=3'"),
        ("circle:radius=1,radius=2", {}, "'radius' twice"),
        ("circle:radius=1", {"radius": 2.0}, "given once; got radius"),
        ("box", {}, "'box' needs the options sides; got none"),
        (3, {}, "must be a name.*got 3"),
        (None, {}, "must be a name.*got None"),
        (Circle, {}, "must be a name"),
        ({"radius": 1.0}, {}, "a dict with the key 'name'"),
        ({"name": 7}, {}, "a dict with the key 'name'"),
        ({"name": "circle", 5: 1.0}, {}, "a dict with the key 'name'"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(
    shapes: Registry[Shape], spec: object, beside: dict[str, Any], match: str
) -> None:
    with pytest.raises(InputError, match=match):
        shapes.create(spec, **beside)


def test_a_factory_that_makes_something_else_is_named(shapes: Registry[Shape]) -> None:
    @shapes.register("wrong")
    def wrong() -> str:
        return "a string"

    with pytest.raises(InputError, match=r"'wrong' must make a Shape; got str; mend .*wrong"):
        shapes.create("wrong")


def test_a_factory_of_any_options_is_not_asked_for_them(shapes: Registry[Shape]) -> None:
    shapes.register("free")(free)
    assert shapes.create("free:radius=2") == Circle(2)


# -- registering ----------------------------------------------------------------------


def test_what_is_registered_is_known_until_it_is_unregistered(shapes: Registry[Shape]) -> None:
    assert shapes.register("far")(Elsewhere) is Elsewhere
    assert "far" in shapes.available()
    assert shapes.factory("far") is Elsewhere
    assert shapes.create("far:size=3") == Elsewhere(3)
    shapes.unregister("far")
    assert "far" not in shapes.available()
    with pytest.raises(InputError, match="got 'far'"):
        shapes.create("far")


def test_a_name_that_is_taken_names_both_owners(shapes: Registry[Shape]) -> None:
    shapes.register("far")(Elsewhere)
    shapes.register("far")(Elsewhere)  # a notebook's cell that runs twice
    ours = f"{__name__}:Elsewhere"
    with pytest.raises(InputError, match=rf"'far' belongs to {ours}, so {__name__}:Box cannot"):
        shapes.register("far")(Box)
    with pytest.raises(InputError, match=rf"'circle' belongs to {__name__}:Circle, so {ours}"):
        shapes.register("circle")(Elsewhere)
    shapes.create("circle")
    with pytest.raises(InputError, match=rf"'circle' belongs to {__name__}:Circle, so {ours}"):
        shapes.register("circle")(Elsewhere)
    assert shapes.create("far") == Elsewhere()


def test_a_partial_can_be_registered(shapes: Registry[Shape]) -> None:
    preset = functools.partial(Elsewhere, size=9)
    shapes.register("nine")(preset)
    shapes.register("nine")(preset)
    assert shapes.create("nine") == Elsewhere(9)
    with pytest.raises(InputError, match=r"Elsewhere, so .*Box cannot"):
        shapes.register("nine")(Box)


@pytest.mark.parametrize("name", ["circle", "nowhere"])
def test_only_what_was_registered_by_hand_is_unregistered(
    shapes: Registry[Shape], name: str
) -> None:
    with pytest.raises(InputError, match="those are none"):
        shapes.unregister(name)
    shapes.register("far")(Elsewhere)
    if name == "circle":
        shapes.create(name)
    with pytest.raises(InputError, match="those are far"):
        shapes.unregister(name)


# -- entry points ---------------------------------------------------------------------


class Distributions:
    """Packages that exist only as files in a folder on ``sys.path``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, package: str, points: str, source: str = "") -> None:
        info = self.folder / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")
        (self.folder / f"{package}.py").write_text(source)
        importlib.invalidate_caches()


@pytest.fixture
def distributions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Distributions]:
    known = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield Distributions(tmp_path)
    for name in set(sys.modules) - known:
        if name.startswith("shapes_of_"):
            del sys.modules[name]


SOURCE = f"""
import sys
from dataclasses import dataclass
Shape = sys.modules[{__name__!r}].Shape
@dataclass(frozen=True)
class Star(Shape):
    points: int = 5
"""


def test_other_packages_offer_theirs(shapes: Registry[Shape], distributions: Distributions) -> None:
    assert "star" not in shapes.available()
    distributions.add("shapes_of_anna", "star = shapes_of_anna:Star", SOURCE)
    assert "shapes_of_anna" not in sys.modules
    assert "star" in shapes.available()
    assert "shapes_of_anna" not in sys.modules, "listing must not import"
    made: Any = shapes.create("star:points=7")
    assert (type(made).__name__, made.points) == ("Star", 7)
    with pytest.raises(InputError, match="did you mean 'star'"):
        shapes.create("stra")
    with pytest.raises(InputError, match=r"belongs to shapes_of_anna:Star, so .*Box cannot"):
        shapes.register("star")(Box)
    with pytest.raises(InputError, match="registered by hand"):
        shapes.unregister("star")


def test_a_plug_in_never_takes_the_packages_own_name(
    shapes: Registry[Shape], distributions: Distributions
) -> None:
    distributions.add("shapes_of_anna", "circle = shapes_of_anna:Star", SOURCE)
    assert shapes.create("circle") == Circle()
    assert shapes.available() == ("box", "circle", "circle:unit")


def test_two_plug_ins_of_one_name_are_both_named(
    shapes: Registry[Shape], distributions: Distributions
) -> None:
    distributions.add("shapes_of_anna", "star = shapes_of_anna:Star", SOURCE)
    distributions.add("shapes_of_bert", "star = shapes_of_bert:Star", SOURCE)
    with pytest.raises(InputError, match="one package") as caught:
        shapes.create("star")
    assert "shapes_of_anna:Star" in str(caught.value)
    assert "shapes_of_bert:Star" in str(caught.value)
    assert shapes.create("circle") == Circle()


@pytest.mark.parametrize(
    ("source", "reason"),
    [("import no_such_package", "no_such_package"), ("", "has no attribute 'Star'")],
)
def test_a_plug_in_that_cannot_be_imported_says_why(
    shapes: Registry[Shape], distributions: Distributions, source: str, reason: str
) -> None:
    distributions.add("shapes_of_anna", "star = shapes_of_anna:Star", source)
    with pytest.raises(MissingExtraError, match=rf"'star' of shapes_of_anna:Star .*{reason}"):
        shapes.create("star")


# -- the package's own ----------------------------------------------------------------


@pytest.mark.parametrize("name", nm.surrogates.available())
def test_every_surrogate_can_be_made_by_its_name(name: str) -> None:
    made = nm.surrogates.create(name, seed=3)
    assert made.seed == 3
    assert nm.surrogates.create(made) is made
    with pytest.raises(InputError, match="got 'sede'"):
        nm.surrogates.create(name, sede=3)


def test_a_preset_takes_options_in_its_text() -> None:
    import nnbo_mip as nm

    made = nm.maximizers.create("lbfgs:classic,starts=5")
    assert made == nm.maximizers.create({"name": "lbfgs:classic", "starts": 5})
    assert nm.maximizers.create("lbfgs:starts=5") != made


def test_options_of_an_option_are_written_in_brackets() -> None:
    import nnbo_mip as nm

    with pytest.raises(InputError, match=r"write xi=decay\(start=0.1, …\)"):
        nm.acquisitions.create("pi:xi=decay:start=0.1,rate=0.5")


def test_options_within_options_stand_in_brackets() -> None:
    made = nm.maximizers.create("epsilon_random:share=0.2,inner=lbfgs(starts=3,raw_samples=20)")
    assert made.inner == nm.maximizers.create("lbfgs:starts=3,raw_samples=20")
    assert nm.maximizers.create("random(evaluations=7)").evaluations == 7
    assert nm.maximizers.create("lbfgs:classic(starts=3)").starts == 3
    with pytest.raises(InputError, match=r"write inner=lbfgs\(starts=3, …\)"):
        nm.maximizers.create("epsilon_random:inner=lbfgs:starts=3,raw_samples=20")


def test_a_misspelt_preset_is_told_the_nearest_one() -> None:
    with pytest.raises(InputError, match="did you mean 'lbfgs:classic'"):
        nm.maximizers.create("lbfgs:clasic")
    for odd in ("grid:7", "grid)", "(grid"):
        with pytest.raises(InputError):
            nm.maximizers.create(odd)


def test_none_stands_for_what_the_registry_says() -> None:
    homes = {"circle": f"{__name__}:Circle"}
    assert Registry("shape", Shape, homes, GROUP, of_none="circle").create(None) == Circle()
    with pytest.raises(InputError, match=r"a shape must be a name.*got None"):
        Registry("shape", Shape, homes, GROUP).create(None)


@pytest.mark.parametrize("deep", ["-" * 100_000 + "1", "(" * 100_000, "9" * 5000])
def test_literals_that_no_parser_takes_are_text(deep: str) -> None:
    with pytest.raises(nm.InputError, match="alpha must be a number"):
        nm.surrogates.create(f"gp:alpha={deep}")


# -- every way to register -------------------------------------------------------------


@dataclass(frozen=True)
class Named(Shape):
    name = "named"
    size: int = 2


def test_a_name_and_what_it_stands_for(shapes: Registry[Shape]) -> None:
    assert shapes.register("other", Elsewhere) is Elsewhere
    assert shapes.create("other:size=3") == Elsewhere(3)


def test_a_class_with_a_name(shapes: Registry[Shape]) -> None:
    assert shapes.register(Named) is Named
    assert shapes.create("named:size=3") == Named(3)


def test_an_object_stands_for_itself(shapes: Registry[Shape]) -> None:
    mine = Elsewhere(5)
    shapes.register("mine", mine)
    assert shapes.create("mine") is mine
    with pytest.raises(InputError, match=r"options of 'mine'"):
        shapes.create("mine:size=3")


def test_what_cannot_be_registered_is_told_how(shapes: Registry[Shape]) -> None:
    with pytest.raises(InputError, match=r'write register\("de", DE\)'):
        shapes.register(Elsewhere)
    with pytest.raises(InputError, match=r'write register\("de", DE\)'):
        shapes.register(Named, "named")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="must be a class, a function that makes a shape"):
        shapes.register("three", 3)  # type: ignore[type-var]
    assert shapes.available() == ("box", "circle", "circle:unit")
