"""Builds the site: the pages of docs and of the root, and the reference out of docstrings.

    python -m docs.site build/site

The pages are written to be read as files, where a link leads from file to file. Here they are
copied to a folder in which they lie as on the site, with their links rewritten, and Sphinx builds
that folder. A warning ends the build: of a link that leads nowhere, too. Needs the extra `docs`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
"""An image or not, the text, the target."""
FENCE = re.compile(r"^(```.*?^```[^\S\n]*$)", flags=re.DOTALL | re.MULTILINE)


def pages() -> dict[Path, Path]:
    """Return where each page of the project lies on the site, relative to root and site."""
    found = {Path(name): Path(name.lower()) for name in root_pages()}
    found[Path("docs/site/index.md")] = Path("index.md")
    for room in ("guide", "theory", "dev"):
        for page in sorted((DOCS / room).glob("*.md")):
            found[page.relative_to(ROOT)] = page.relative_to(DOCS)
    return found


def root_pages() -> list[str]:
    """Return the names of the pages in the root."""
    return sorted(page.name for page in ROOT.glob("*.md"))


def relinked(text: str, page: Path, places: Mapping[Path, Path]) -> str:
    """Return a page's text with links that lead from place to place on the site.

    Parameters
    ----------
    text : str
    page : Path
        Of the text, relative to the root.
    places : mapping of Path to Path
        As `pages` returns it. Links to other files keep their text only, as the site has
        pages and pictures and no source.
    """
    here = places[page].parent

    def link(found: re.Match[str]) -> str:
        mark, shown, target = found.groups()
        if "://" in target or target.startswith(("#", "mailto:")):
            return found.group()
        name, _, anchor = target.partition("#")
        path = Path(os.path.normpath(page.parent / name))
        place = places.get(path)
        if place is None and path.is_relative_to("docs/plots"):
            place = path.relative_to("docs")
        if place is None:
            return str(shown)
        there = os.path.relpath(place, here)
        return f"{mark}[{shown}]({there}{'#' + anchor if anchor else ''})"

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def catalogue(registry: str, title: str) -> str:
    """Return a page of the reference: every strategy of a registry, by its name.

    Parameters
    ----------
    registry : str
        Its module, and its name there: ``"package.module:name"``.
    title : str
    """
    module, _, attribute = registry.partition(":")
    known = getattr(import_module(module), attribute)
    parts = [f"# {title}"]
    for name in known.available():
        made_by = known.factory(name)
        parts.append(f"## {name}")
        if isinstance(made_by, partial):
            given = ", ".join(f"{key}={value!r}" for key, value in made_by.keywords.items())
            parts += [f"With `{given}`:"] if given else []
            made_by = made_by.func
        path = f"{made_by.__module__}.{made_by.__qualname__}"
        if "<locals>" in path:  # a preset: options as another name has them, other defaults
            parts.append(str(made_by.__doc__))
        else:
            kind = "class" if isinstance(made_by, type) else "function"
            parts.append(f"```{{eval-rst}}\n.. auto{kind}:: {path}\n   :noindex:\n```")
    return "\n\n".join([*parts, ""])


CATALOGUES = {
    "surrogates": ("nnbo_mip.surrogates.base.families:registry", "Surrogates by name"),
    "acquisitions": ("nnbo_mip.acquisitions.base.catalogue:registry", "Acquisitions by name"),
    "maximizers": ("nnbo_mip.maximizers.base.catalogue:registry", "Maximizers by name"),
    "rules": ("nnbo_mip.loop.stopping.catalogue:registry", "Stop rules by name"),
    "problems": ("nnbo_mip.problems.catalogue:registry", "Problems by name"),
}
"""Registries whose strategies have a page of the reference, by the name of the page."""


def assemble(folder: Path) -> None:
    """Write what Sphinx builds the site from."""
    places = pages()
    shutil.copytree(DOCS / "site", folder, dirs_exist_ok=True, ignore=_not_for_sphinx)
    for page, place in places.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / page).read_text(encoding="utf-8")
        target.write_text(relinked(text, page, places), encoding="utf-8")
    shutil.copytree(DOCS / "plots", folder / "plots", ignore=shutil.ignore_patterns("*.json"))
    for name, (room, title) in CATALOGUES.items():
        target = folder / "api" / "names" / f"{name}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(catalogue(room, title), encoding="utf-8")


def _not_for_sphinx(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name in ("__main__.py", "__pycache__")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the site into a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder of the site")
    out = parser.parse_args(arguments).out
    try:
        from sphinx.cmd.build import main as sphinx
    except ModuleNotFoundError as error:
        print(f"the site needs {error.name}: pip install -e '.[docs]'", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        assemble(Path(folder))
        return sphinx(["-W", "--keep-going", "-q", "-b", "html", folder, str(out)])


if __name__ == "__main__":
    sys.exit(main())
