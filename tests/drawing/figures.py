"""Figures as they are drawn, caught before they become files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nnbo_mip.drawing import comparison as module
from nnbo_mip.drawing.landscape import Landscape
from nnbo_mip.maximizers.comparison import Comparison


def panels(
    monkeypatch: pytest.MonkeyPatch, comparison: Comparison, landscape: Landscape | None = None
) -> dict[str, Any]:
    """Return the axes of the drawn panels by what is drawn in them, and the figure."""
    caught: list[Any] = []
    monkeypatch.setattr(module, "save", lambda figure, path: caught.append(figure))
    comparison.draw(Path("unused.png"), landscape=landscape, title="a title")
    (figure,) = caught
    drawn = {axes.get_label(): axes for axes in figure.axes}
    found = {name: drawn[letter] for letter, name in module.PANELS.items() if letter in drawn}
    return found | {"figure": figure}


def marked(axes: Any, color: str) -> list[Any]:
    """Return the lines of a colour."""
    return [line for line in axes.get_lines() if line.get_color() == color]
