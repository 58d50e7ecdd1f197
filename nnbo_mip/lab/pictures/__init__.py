"""Pictures of results: what they show as data, drawn by matplotlib or by the report's page.

>>> from nnbo_mip.drawing.drawn import draw
>>> from nnbo_mip.drawing.picture import Axis, Line, Picture, Series
>>> line = Series("y = x", (Line([0.0, 1.0], [0.0, 1.0]),), color=0)
>>> picture = Picture("A line", Axis("x"), Axis("y"), (line,))
>>> draw(picture, "line.png")  # doctest: +SKIP
"""
