"""Figures: what is checked before the work that they show, and how they become files."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from nnbo_mip.core.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 150


def check_can_draw(path: Path) -> None:
    """Refuse a picture that could not be drawn when the work is done."""
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"a picture ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}; got {str(path)!r}; "
            "name it so."
        )
    try:
        import_module("matplotlib")
    except ImportError as error:
        raise MissingExtraError(
            f"a picture is drawn by matplotlib; it could not be imported ({error}); run "
            'pip install "nnbo_mip[plots]".'
        ) from error


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, of a size in inches, that no window shows."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a figure in the format that the path's ending names."""
    figure.savefig(path, dpi=DOTS_PER_INCH)
