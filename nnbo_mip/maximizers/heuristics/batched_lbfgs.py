r"""L-BFGS within boxes from many starts at once: one evaluation serves all of them.

Each start ascends f over ``lower <= x <= upper`` on its own. In units of the sides, with the
projection P onto the box, one iteration is

    free      coordinates that the gradient g does not press against an end
    p         H g on the free coordinates, H the L-BFGS matrix of the last steps there
    z(t)      P(z + t p),   t halved from 1 until f(z(t)) >= f(z) + 1e-4 g . (z(t) - z)

and a start is done when the projected gradient vanishes, when a step gains next to nothing, or
when no step along the gradient gains at all, as on a ridge where linear pieces meet.

References
----------
Liu and Nocedal (1989), L-BFGS [LiuNocedal1989].
Byrd et al. (1995), bounds [Byrd1995].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from nnbo_mip.core.arrays import FloatArray

MEMORY = 10
SUFFICIENT = 1e-4
HALVINGS = 20
FIRST_STEP = 0.1
"""Length of the first step, in sides."""

SMALLEST_GAIN = 2.2e-9
"""Relative gain of a step below which a start is done, as SciPy's L-BFGS-B has it."""

SMALLEST_CURVATURE = 2.2e-16

Function = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
Mask = npt.NDArray[np.bool_]


def ascend(
    function: Function,
    starts: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    iterations: int = 200,
    tolerance: float = 1e-9,
) -> tuple[FloatArray, FloatArray, int]:
    """Ascend from all starts at once.

    Parameters
    ----------
    function : callable
        Values (n,) and gradients (n, d) of points (n, d).
    starts : (k, d) array
        Points of the box.
    lower, upper : (d,) or (k, d) arrays
        Ends, the same or those of each start; a coordinate with equal ends stays as it is.
    iterations : int
        Steps of each start at most.
    tolerance : float
        A start is done when no component of its projected gradient, times the side, is larger.

    Returns
    -------
    points, values : (k, d), (k,) arrays
        Where the starts ended.
    iterations : int
        Steps of all starts together.
    """
    low, high = np.broadcast_to(lower, starts.shape), np.broadcast_to(upper, starts.shape)
    state = _State(function, starts, low, high)
    steps = 0
    for _ in range(iterations):
        state.finish(state.projected_gradient().max(axis=1, initial=0.0) <= tolerance)
        if not state.active.any():
            break
        steps += int(state.active.sum())
        state.step()
    return state.points(), state.values, steps


class _State:
    """Where all starts are, in units of the sides, and what they remember."""

    def __init__(
        self, function: Function, starts: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> None:
        self._function = function
        self._starts, self._lower, self._upper = starts, lower, upper
        self._width = upper - lower
        side = np.where(self._width > 0.0, self._width, 1.0)
        self.z = np.clip((starts - lower) / side, 0.0, 1.0)
        self.values, self.gradients = self._evaluate(self.z, np.arange(len(starts)))
        self.active = np.ones(len(starts), dtype=bool)
        self._s = np.zeros((MEMORY, *starts.shape))
        self._y = np.zeros((MEMORY, *starts.shape))
        self._length = np.zeros(len(starts), dtype=np.int64)

    def points(self) -> FloatArray:
        """Return where all starts are."""
        return self._place(self.z, np.arange(len(self.z)))

    def finish(self, done: Mask) -> None:
        """Leave starts where they are."""
        self.active &= ~done

    def projected_gradient(self) -> FloatArray:
        """Return the sizes (k, d) of the gradient's free components."""
        return np.where(self._blocked(np.arange(len(self.z))), 0.0, np.abs(self.gradients))

    def step(self) -> None:
        """Move each active start once, or find that it cannot be moved."""
        rows = np.flatnonzero(self.active)
        free = ~self._blocked(rows)
        gradient = np.where(free, self.gradients[rows], 0.0)
        direction = self._direction(rows, gradient, free)
        moved, values, gradients, success = self._line_search(rows, direction)
        gain = values - self.values[rows]
        self._remember(rows, success, moved, gradients)
        # Without a gain along the gradient itself nothing more can be done here.
        stuck = ~success & (self._length[rows] == 0)
        self._length[rows[~success]] = 0
        size = np.maximum(np.maximum(np.abs(values), np.abs(self.values[rows])), 1.0)
        small = success & (gain <= SMALLEST_GAIN * size)
        self.z[rows], self.values[rows], self.gradients[rows] = moved, values, gradients
        self.active[rows[stuck | small]] = False

    def _place(self, z: FloatArray, rows: npt.NDArray[np.int64]) -> FloatArray:
        lower, upper, width = self._lower[rows], self._upper[rows], self._width[rows]
        return np.where(width > 0.0, np.clip(lower + width * z, lower, upper), self._starts[rows])

    def _evaluate(
        self, z: FloatArray, rows: npt.NDArray[np.int64]
    ) -> tuple[FloatArray, FloatArray]:
        values, gradients = self._function(self._place(z, rows))
        return values, gradients * self._width[rows]

    def _blocked(self, rows: npt.NDArray[np.int64]) -> Mask:
        z, gradient = self.z[rows], self.gradients[rows]
        at_end = ((z <= 0.0) & (gradient < 0.0)) | ((z >= 1.0) & (gradient > 0.0))
        return np.asarray(at_end | (self._width[rows] == 0.0))

    def _direction(
        self, rows: npt.NDArray[np.int64], gradient: FloatArray, free: Mask
    ) -> FloatArray:
        """Return H g (n, d) by the two-loop recursion, restricted to the free coordinates."""
        s, y = self._s[:, rows] * free, self._y[:, rows] * free
        curvature = np.einsum("mnd,mnd->mn", s, y)
        known = np.arange(MEMORY)[:, None] < self._length[rows]
        usable = known & (curvature > SMALLEST_CURVATURE * np.einsum("mnd,mnd->mn", y, y))
        inverse = np.where(usable, 1.0 / np.where(usable, curvature, 1.0), 0.0)
        direction = gradient.copy()
        weights = np.zeros(curvature.shape)
        for k in range(MEMORY):  # the newest pair is the first
            weights[k] = inverse[k] * np.einsum("nd,nd->n", s[k], direction)
            direction -= weights[k][:, None] * y[k]
        size = np.abs(gradient).max(axis=1)
        scale = FIRST_STEP / np.where(size > 0.0, size, 1.0)
        for k in reversed(range(MEMORY)):
            ratio = curvature[k] / np.maximum(np.einsum("nd,nd->n", y[k], y[k]), 1e-300)
            scale = np.where(usable[k], ratio, scale)
        direction *= scale[:, None]
        for k in reversed(range(MEMORY)):
            back = inverse[k] * np.einsum("nd,nd->n", y[k], direction)
            direction += (weights[k] - back)[:, None] * s[k]
        rising = np.einsum("nd,nd->n", direction, gradient) > 0.0
        plain = gradient * (FIRST_STEP / np.where(size > 0.0, size, 1.0))[:, None]
        self._length[rows[~rising]] = 0
        return np.where(rising[:, None], direction, plain)

    def _line_search(
        self, rows: npt.NDArray[np.int64], direction: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, Mask]:
        """Return new places (n, d), values, gradients, and which of them are accepted."""
        z, values, gradients = self.z[rows], self.values[rows], self.gradients[rows]
        moved, new_values, new_gradients = z.copy(), values.copy(), gradients.copy()
        success = np.zeros(len(rows), dtype=bool)
        length = 1.0
        for _ in range(HALVINGS):
            waiting = np.flatnonzero(~success)
            trial = np.clip(z[waiting] + length * direction[waiting], 0.0, 1.0)
            found, slopes = self._evaluate(trial, rows[waiting])
            promised = np.einsum("nd,nd->n", gradients[waiting], trial - z[waiting])
            gain = found - values[waiting]
            good = (gain >= SUFFICIENT * promised) & (gain > 0.0)
            accepted = waiting[good]
            moved[accepted], new_values[accepted] = trial[good], found[good]
            new_gradients[accepted] = slopes[good]
            success[accepted] = True
            if success.all():
                break
            length *= 0.5
        return moved, new_values, new_gradients, success

    def _remember(
        self,
        rows: npt.NDArray[np.int64],
        success: Mask,
        moved: FloatArray,
        gradients: FloatArray,
    ) -> None:
        """Put the accepted steps first in the memories of their starts."""
        accepted = rows[success]
        self._s[1:, accepted] = self._s[:-1, accepted]
        self._y[1:, accepted] = self._y[:-1, accepted]
        self._s[0, accepted] = moved[success] - self.z[accepted]
        self._y[0, accepted] = self.gradients[accepted] - gradients[success]
        self._length[accepted] = np.minimum(self._length[accepted] + 1, MEMORY)
