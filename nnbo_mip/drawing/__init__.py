"""Pictures from arrays, drawn by matplotlib (extra `plots`), imported when a picture is drawn.

Results draw themselves by it:

>>> import nnbo_mip as nm
>>> X, y = [[-1.0], [0.0], [1.0]], [0.0, 1.0, 0.5]
>>> belief = nm.surrogates.create("brvfl", n_hidden=20, seed=0).fit(X, y)
>>> table = nm.compare(belief, "ucb", nm.Space.box([-1.0], [1.0]).model(), ["bab", "grid"], y=y)
>>> table.draw("comparison.png")  # doctest: +SKIP
"""
