"""Pictures, drawn by matplotlib (extra `plots`), which is imported when a picture is drawn.

>>> import nnbo_mip as nm
>>> from nnbo_mip.drawing import draw_comparison
>>> X, y = [[-1.0], [0.0], [1.0]], [0.0, 1.0, 0.5]
>>> belief = nm.surrogates.create("brvfl", n_hidden=20, seed=0).fit(X, y)
>>> table = nm.compare(belief, "ucb", nm.Space.box([-1.0], [1.0]).model(), ["bab", "grid"], y=y)
>>> draw_comparison(table, "comparison.png")  # doctest: +SKIP
"""

from __future__ import annotations

from nnbo_mip.drawing.comparison import draw_comparison
from nnbo_mip.drawing.landscape import Landscape

__all__ = ["Landscape", "draw_comparison"]
