"""Smooth functions of physical quantities: a well, a circuit, a piston, a wing, an arm, beams.

Inputs are in the units of the publications. All but the arm have their extremes where every input
is at one of its ends, the sweep of the wing in the middle of its range.

References
----------
Harper and Gupta (1983), the borehole [HarperGupta1983].
Ben-Ari and Steinberg (2007), the circuit and the piston [BenAriSteinberg2007].
Forrester et al. (2008), the weight of a wing [Forrester2008].
An and Owen (2001), the robot arm [AnOwen2001].
Wu et al. (2001), the cantilever [Wu2001].
Kuschel and Rackwitz (1997), the short column [KuschelRackwitz1997].
Iooss and Lemaître (2015), the flood [IoossLemaitre2015].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nnbo_mip.core.arrays import BoolArray, FloatArray
from nnbo_mip.problems.problem import Function, Problem
from nnbo_mip.space.space import Space

Ends = tuple[float, float]

BEAM_LENGTH = 100.0
"""Of the cantilever, in inches."""


def borehole() -> Problem:
    """Flow of water through a borehole between two aquifers, in m^3 a year.

    ``2 pi T_u (H_u - H_l) / (ln(r / r_w) (1 + 2 L T_u / (ln(r / r_w) r_w^2 K_w) + T_u / T_l))``
    of the radii of the well and of its influence, transmissivity and head of the upper aquifer and
    of the lower one, length and conductivity: (r_w, r, T_u, H_u, T_l, H_l, L, K_w).
    """
    ends = [(0.05, 0.15), (100.0, 50_000.0), (63_070.0, 115_600.0), (990.0, 1110.0)]
    ends += [(63.1, 116.0), (700.0, 820.0), (1120.0, 1680.0), (9855.0, 12_045.0)]
    return _of_ends("borehole", ends, _borehole, "-+---++-")


def otl_circuit() -> Problem:
    """Midpoint voltage of a push-pull circuit without output transformer.

    With ``V = 12 R_b2 / (R_b1 + R_b2)`` and ``s = beta (R_c2 + 9)``,
    ``((V + 0.74) s + 11.35 R_f + 0.74 R_f s / R_c1) / (s + R_f)`` of five resistances in kilo-ohm
    and the gain: (R_b1, R_b2, R_f, R_c1, R_c2, beta).
    """
    ends = [(50.0, 150.0), (25.0, 70.0), (0.5, 3.0), (1.2, 2.5), (0.25, 1.2), (50.0, 300.0)]
    return _of_ends("otl_circuit", ends, _otl_circuit, "+--+++")


def piston() -> Problem:
    """Seconds that a piston in a cylinder takes for one cycle.

    With ``A = P_0 S + 19.62 M - k V_0 / S`` and
    ``V = S / (2 k) (sqrt(A^2 + 4 k P_0 V_0 T_a / T_0) - A)``,
    ``2 pi sqrt(M / (k + S^2 P_0 V_0 T_a / (T_0 V^2)))`` of weight, surface, gas volume, spring
    coefficient, pressure, ambient and filling temperature: (M, S, V_0, k, P_0, T_a, T_0).
    """
    ends = [(30.0, 60.0), (0.005, 0.02), (0.002, 0.01), (1000.0, 5000.0), (90_000.0, 110_000.0)]
    ends += [(290.0, 296.0), (340.0, 360.0)]
    return _of_ends("piston", ends, _piston, "-+-++-+", "+-+---+")


def wing_weight() -> Problem:
    """Weight of the wing of a light aircraft, in pounds.

    ``0.036 S^0.758 W_f^0.0035 (A / cos^2 L)^0.6 q^0.006 l^0.04 (100 t / cos L)^-0.3
    (N W_d)^0.49 + S W_p`` of area, weight of the fuel, aspect ratio, sweep in degrees, dynamic
    pressure, taper, relative thickness, load factor, gross weight and weight of the paint:
    (S, W_f, A, L, q, l, t, N, W_d, W_p).
    """
    ends = [(150.0, 200.0), (220.0, 300.0), (6.0, 10.0), (-10.0, 10.0), (16.0, 45.0), (0.5, 1.0)]
    ends += [(0.08, 0.18), (2.5, 6.0), (1700.0, 2500.0), (0.025, 0.08)]
    return _of_ends("wing_weight", ends, _wing_weight, "---0--+---")


def robot_arm() -> Problem:
    """Distance of the end of an arm of four segments from its shoulder.

    ``|sum_i l_i exp(i sum_{j<=i} a_j)|`` of four angles and four lengths: (a_1 … a_4, l_1 … l_4).
    It is 0 where all lengths are, and elsewhere too.
    """
    ends = [(0.0, 2.0 * np.pi)] * 4 + [(0.0, 1.0)] * 4
    return _of_ends("robot_arm", ends, _robot_arm, "--------", "----++++")


def cantilever() -> Problem:
    """Displacement of the tip of a beam under two loads, in inches.

    ``4 l^3 / (E w t) sqrt((Y / t^2)^2 + (X / w^2)^2)`` with l = 100, of Young's modulus, the
    horizontal and the vertical load, width and thickness: (E, X, Y, w, t). Modulus and loads are
    within three standard deviations of the publication's distributions.
    """
    ends = [(2.465e7, 3.335e7), (200.0, 800.0), (700.0, 1300.0), (1.0, 4.0), (1.0, 4.0)]
    return _of_ends("cantilever", ends, _cantilever, "+--++")


def short_column() -> Problem:
    """Reserve of a short column under a moment and an axial force.

    ``1 - 4 M / (b h^2 Y) - P^2 / (b h Y)^2`` of yield stress, moment, force, width and depth:
    (Y, M, P, b, h). The publication has b = 5 and h = 15.
    """
    ends = [(3.5, 6.5), (1200.0, 2800.0), (300.0, 700.0), (5.0, 15.0), (15.0, 25.0)]
    return _of_ends("short_column", ends, _short_column, "-++--")


def flood() -> Problem:
    """Height of a river above its dyke, in metres.

    ``Z_v + (Q / (B K sqrt((Z_m - Z_v) / L)))^0.6 - H_d - C_b`` of flow, Strickler's coefficient,
    level of the river downstream and upstream, height of the dyke, level of the bank, length and
    width of the river: (Q, K, Z_v, Z_m, H_d, C_b, L, B).
    """
    ends = [(500.0, 3000.0), (15.0, 50.0), (49.0, 51.0), (54.0, 56.0), (7.0, 9.0), (55.0, 56.0)]
    ends += [(4990.0, 5010.0), (295.0, 305.0)]
    return _of_ends("flood", ends, _flood, "-+-+++-+")


def _of_ends(
    name: str, ends: Sequence[Ends], function: Function, least: str, largest: str = ""
) -> Problem:
    """Return a problem with its extremes at ends of ranges.

    Parameters
    ----------
    name : str
    ends : sequence of (float, float)
    function : callable
    least, largest : str
        For each input ``-`` or ``+``, the end at which the extreme is, or ``0`` for the middle; the
        largest value is at the other ends unless said otherwise.
    """
    lower, upper = np.array(ends).T
    other = largest or least.translate(str.maketrans("-+0", "+-+"))
    best, worst = (
        np.select([_is(marks, "-"), _is(marks, "+")], [lower, upper], 0.5 * (lower + upper))
        for marks in (least, other)
    )
    values = np.asarray(function(np.array([best, worst])), dtype=np.float64)
    return Problem(
        name,
        Space.box(lower, upper),
        function,
        optimum=float(values[0]),
        optimizers=best[None],
        worst=float(values[1]),
    )


def _is(marks: str, mark: str) -> BoolArray:
    return np.array([one == mark for one in marks])


def _borehole(X: FloatArray) -> FloatArray:
    well, reach, upper, head, lower, below, length, conductivity = X.T
    spread = np.log(reach / well)
    leak = 2.0 * length * upper / (spread * well**2 * conductivity)
    made: FloatArray = (
        2.0 * np.pi * upper * (head - below) / (spread * (1.0 + leak + upper / lower))
    )
    return made


def _otl_circuit(X: FloatArray) -> FloatArray:
    first, second, feedback, collector, other, gain = X.T
    base = 12.0 * second / (first + second)
    s = gain * (other + 9.0)
    through = (base + 0.74) * s + 11.35 * feedback + 0.74 * feedback * s / collector
    made: FloatArray = through / (s + feedback)
    return made


def _piston(X: FloatArray) -> FloatArray:
    weight, surface, gas, spring, pressure, ambient, filling = X.T
    heat = pressure * gas * ambient / filling
    force = pressure * surface + 19.62 * weight - spring * gas / surface
    volume = surface / (2.0 * spring) * (np.sqrt(force**2 + 4.0 * spring * heat) - force)
    made: FloatArray = 2.0 * np.pi * np.sqrt(weight / (spring + surface**2 * heat / volume**2))
    return made


def _wing_weight(X: FloatArray) -> FloatArray:
    area, fuel, aspect, sweep, pressure, taper, thickness, load, gross, paint = X.T
    cosine = np.cos(np.radians(sweep))
    shape = (aspect / cosine**2) ** 0.6 * taper**0.04 * (100.0 * thickness / cosine) ** -0.3
    wing = area**0.758 * fuel**0.0035 * pressure**0.006 * (load * gross) ** 0.49
    made: FloatArray = 0.036 * shape * wing + area * paint
    return made


def _robot_arm(X: FloatArray) -> FloatArray:
    angles, lengths = np.cumsum(X[:, :4], axis=1), X[:, 4:]
    along, across = lengths * np.cos(angles), lengths * np.sin(angles)
    made: FloatArray = np.hypot(along.sum(axis=1), across.sum(axis=1))
    return made


def _cantilever(X: FloatArray) -> FloatArray:
    modulus, horizontal, vertical, width, thickness = X.T
    bent = np.hypot(vertical / thickness**2, horizontal / width**2)
    made: FloatArray = 4.0 * BEAM_LENGTH**3 / (modulus * width * thickness) * bent
    return made


def _short_column(X: FloatArray) -> FloatArray:
    stress, moment, force, width, depth = X.T
    bending = 4.0 * moment / (width * depth**2 * stress)
    made: FloatArray = 1.0 - bending - (force / (width * depth * stress)) ** 2
    return made


def _flood(X: FloatArray) -> FloatArray:
    flow, strickler, downstream, upstream, dyke, bank, length, width = X.T
    slope = (upstream - downstream) / length
    depth = (flow / (width * strickler * np.sqrt(slope))) ** 0.6
    made: FloatArray = downstream + depth - dyke - bank
    return made
