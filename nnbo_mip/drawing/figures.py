"""Figures: what is checked before the work that they show, and how they become files."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from nnbo_mip.core.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 150
DOTS_ON_SCREEN = 90


def check_can_draw(path: Path) -> None:
    """Refuse a picture that could not be drawn when the work is done."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"a picture ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}; got {str(path)!r}; "
            "name it so."
        )
    check_matplotlib()


def check_matplotlib() -> None:
    """Refuse where there is nothing to draw with."""
    try:
        import_module("matplotlib")
    except ImportError as error:
        raise MissingExtraError(
            f"a picture is drawn by matplotlib; it could not be imported ({error}); run "
            'pip install "nnbo_mip[plots]".'
        ) from error


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure that a notebook shows and `save` writes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    """

    figure: Figure

    def save(self, path: str | Path) -> None:
        """Write it as .png, .svg or .pdf."""
        check_can_draw(Path(path))
        save(self.figure, Path(path))

    def _repr_png_(self) -> bytes:
        """Return what a notebook shows."""
        content = BytesIO()
        self.figure.savefig(content, format="png", dpi=DOTS_ON_SCREEN)
        return content.getvalue()


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, of a size in inches, that no window shows."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format that the path's ending names."""
    figure.savefig(path, dpi=DOTS_PER_INCH)
