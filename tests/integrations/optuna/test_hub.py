"""The packages for OptunaHub: their layout, and what loading them gives."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

optuna = pytest.importorskip("optuna")

from nnbo_mip.integrations.optuna import CertifiedSampler, CertifiedTerminator  # noqa: E402

ROOT = Path(__file__).parents[3]
REGISTRY = ROOT / "integrations" / "optunahub" / "package"
PACKAGES = {
    "samplers/certified_bo": CertifiedSampler,
    "callbacks/certified_terminator": CertifiedTerminator,
}
KEYS = {"author", "title", "description", "tags", "optuna_versions", "license"}


def test_every_folder_is_known() -> None:
    found = {str(path.parent.relative_to(REGISTRY)) for path in REGISTRY.rglob("__init__.py")}
    assert found == set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_front_matter_is_whole(package: str) -> None:
    text = (REGISTRY / package / "README.md").read_text(encoding="utf-8")
    front = yaml.safe_load(text.split("---")[1])
    assert set(front) == KEYS
    assert front["license"] == "MIT License"
    assert package.split("/")[0].rstrip("s") in front["tags"]
    assert not re.search(r"<\w+>", text)  # the hub takes no HTML
    licence = (REGISTRY / package / "LICENSE").read_text(encoding="utf-8")
    assert licence == (ROOT / "LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize("package", PACKAGES)
def test_the_signature_on_the_page_is_the_one_of_the_class(package: str) -> None:
    text = (REGISTRY / package / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^- `(.*)`$", text, flags=re.MULTILINE)
    code: Any = PACKAGES[package].__init__.__code__
    named = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    listed = re.findall(r"(\w+)(?:=[^,)]*)?[,)]", shown.partition("(")[2])
    assert listed == named[1:]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_folder_is_a_module_that_gives_the_class(package: str) -> None:
    spec = importlib.util.spec_from_file_location("hub", REGISTRY / package / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert [getattr(module, name) for name in module.__all__] == [PACKAGES[package]]


@pytest.mark.parametrize("package", PACKAGES)
def test_optunahub_loads_it(package: str) -> None:
    hub = pytest.importorskip("optunahub")
    module = hub.load_local_module(package, registry_root=str(REGISTRY))
    assert [getattr(module, name) for name in module.__all__] == [PACKAGES[package]]
