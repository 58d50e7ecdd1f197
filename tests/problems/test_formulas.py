"""Every function against its formula as it is printed, one point at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, e, exp, log, pi, prod, sin, sqrt

import pytest

from tests.problems.catalogue import PLAIN, create

Point = Sequence[float]


def forrester(x: Point) -> float:
    return (6 * x[0] - 2) ** 2 * sin(12 * x[0] - 4)


def sinone(x: Point) -> float:
    return 0.5 * sin(13 * x[0]) * sin(27 * x[0]) + 0.5


def sintwo(x: Point) -> float:
    return sinone(x[:1]) * sinone(x[1:])


def sine_cosine(x: Point) -> float:
    return sin(7 * x[0]) + cos(17 * x[0])


def sine_parabola(x: Point) -> float:
    return sin(3 * x[0]) + x[0] ** 2 - 0.7 * x[0]


def branin(x: Point) -> float:
    well = (x[1] - 5.1 / (4 * pi**2) * x[0] ** 2 + 5 * x[0] / pi - 6) ** 2
    return well + 10 * (1 - 1 / (8 * pi)) * cos(x[0]) + 10


def camelback(x: Point) -> float:
    a, b = x
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (-4 + 4 * b**2) * b**2


def three_hump_camel(x: Point) -> float:
    a, b = x
    return 2 * a**2 - 1.05 * a**4 + a**6 / 6 + a * b + b**2


def powell(x: Point) -> float:
    total = 0.0
    for k in range(0, len(x), 4):
        a, b, c, f = x[k : k + 4]
        total += (a + 10 * b) ** 2 + 5 * (c - f) ** 2 + (b - 2 * c) ** 4 + 10 * (a - f) ** 4
    return total


def goldstein_price(x: Point) -> float:
    a, b = x
    one = 1 + (a + b + 1) ** 2 * (19 - 14 * a + 3 * a**2 - 14 * b + 6 * a * b + 3 * b**2)
    inner = 18 - 32 * a + 12 * a**2 + 48 * b - 36 * a * b + 27 * b**2
    return one * (30 + (2 * a - 3 * b) ** 2 * inner)


def bohachevsky(x: Point) -> float:
    a, b = x
    return 0.7 + a**2 + 2 * b**2 - 0.3 * cos(3 * pi * a) - 0.4 * cos(4 * pi * b)


def mccormick(x: Point) -> float:
    a, b = x
    return sin(a + b) + (a - b) ** 2 - 1.5 * a + 2.5 * b + 1


def levy(x: Point) -> float:
    w = [1 + (t - 1) / 4 for t in x]
    inner = sum((t - 1) ** 2 * (1 + 10 * sin(pi * t + 1) ** 2) for t in w[:-1])
    return sin(pi * w[0]) ** 2 + inner + (w[-1] - 1) ** 2 * (1 + sin(2 * pi * w[-1]) ** 2)


def rosenbrock(x: Point) -> float:
    return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (x[i] - 1) ** 2 for i in range(len(x) - 1))


def perm(x: Point) -> float:
    places = range(1, len(x) + 1)
    return sum(sum((j**i + 0.5) * ((x[j - 1] / j) ** i - 1) for j in places) ** 2 for i in places)


def g_function(x: Point) -> float:
    a = [(i - 2) / 2 for i in range(1, len(x) + 1)]
    return prod((abs(4 * t - 2) + b) / (1 + b) for t, b in zip(x, a, strict=True))


def ackley(x: Point) -> float:
    radius = sqrt(sum(t**2 for t in x) / len(x))
    waves = sum(cos(2 * pi * t) for t in x) / len(x)
    return -20 * exp(-0.2 * radius) - exp(waves) + 20 + e


def griewank(x: Point) -> float:
    waves = prod(cos(t / sqrt(i)) for i, t in enumerate(x, start=1))
    return 1 + sum(t**2 for t in x) / 4000 - waves


def michalewicz(x: Point) -> float:
    return -sum(sin(t) * sin(i * t**2 / pi) ** 20 for i, t in enumerate(x, start=1))


def styblinski_tang(x: Point) -> float:
    return sum(t**4 - 16 * t**2 + 5 * t for t in x) / 2


ROWS_3 = [(3, 10, 30), (0.1, 10, 35), (3, 10, 30), (0.1, 10, 35)]
PLACES_3 = [(3689, 1170, 2673), (4699, 4387, 7470), (1091, 8732, 5547), (381, 5743, 8828)]
ROWS_6 = [
    (10, 3, 17, 3.5, 1.7, 8),
    (0.05, 10, 17, 0.1, 8, 14),
    (3, 3.5, 1.7, 10, 17, 8),
    (17, 8, 0.05, 10, 0.1, 14),
]
PLACES_6 = [
    (1312, 1696, 5569, 124, 8283, 5886),
    (2329, 4135, 8307, 3736, 1004, 9991),
    (2348, 1451, 3522, 2883, 3047, 6650),
    (4047, 8828, 8732, 5743, 1091, 381),
]


def hartmann3(x: Point) -> float:
    return hartmann(x, ROWS_3, PLACES_3)


def hartmann6(x: Point) -> float:
    return hartmann(x, ROWS_6, PLACES_6)


def hartmann(x: Point, rows: Sequence[Point], places: Sequence[Point]) -> float:
    return -sum(
        height * exp(-sum(a * (t - p / 10_000) ** 2 for a, t, p in zip(row, x, place, strict=True)))
        for height, row, place in zip((1, 1.2, 3, 3.2), rows, places, strict=True)
    )


def regression1(x: Point) -> float:
    t = x[0]
    return t * sin(t / 50 * pi) + 150 + t / 10 + sin(t)


def regression2(x: Point) -> float:
    ends = [-100, -83, -71, -60, -49, -31, -9, 3, 14, 26, 37, 60, 83, 100]
    levels = [181, 162, 144, 69, 106, 88, 200, 125, 144, 162, 181, 88, 181]
    inside = [u for k, u in enumerate(levels) if ends[k] <= x[0] < ends[k + 1]]
    return inside[0] + sin(x[0])


def regression3(x: Point) -> float:
    g = 2 if x[0] > 0 else 0
    return min(50 * g + 100 + 10 * sin(x[0] / 2) + flip * (30 - 90 * g) for flip in (0, 1))


def waves(t: float) -> float:
    return max(10, abs(t) / 2) * sin(t / 2 * min(3, max(0, (1 + t / 100) ** 2)))


def borehole(x: Point) -> float:
    """Resistances in a row: both aquifers, and the hole between them."""
    well, reach, upper, head, lower, below, length, conductivity = x
    spread = log(reach / well)
    hole = 2 * length / (well * well * conductivity)
    return 2 * pi * (head - below) / (spread / upper + spread / lower + hole)


def otl_circuit(x: Point) -> float:
    """As the publication prints it, term by term."""
    b1, b2, f, c1, c2, beta = x
    base = 12 * b2 / (b1 + b2)
    first = (base + 0.74) * beta * (c2 + 9) / (beta * (c2 + 9) + f)
    second = 11.35 * f / (beta * (c2 + 9) + f)
    third = 0.74 * f * beta * (c2 + 9) / ((beta * (c2 + 9) + f) * c1)
    return first + second + third


def piston(x: Point) -> float:
    """The gas volume is the positive root of k V^2 + A S V = S^2 P0 V0 Ta / T0."""
    weight, surface, gas, spring, pressure, ambient, filling = x
    heat = pressure * gas * ambient / filling
    force = pressure * surface + 19.62 * weight - spring * gas / surface
    half = force * surface / (2 * spring)
    volume = surface**2 * heat / spring / (half + sqrt(half**2 + surface**2 * heat / spring))
    return 2 * pi * sqrt(weight / (spring + (surface / volume) ** 2 * heat))


def wing_weight(x: Point) -> float:
    area, fuel, aspect, sweep, pressure, taper, thickness, load, gross, paint = x
    logs = log(0.036) + 0.758 * log(area) + 0.0035 * log(fuel) + 0.6 * log(aspect)
    logs += 0.006 * log(pressure) + 0.04 * log(taper) - 0.3 * log(100 * thickness)
    logs += 0.49 * log(load * gross) - 0.9 * log(cos(sweep * pi / 180))
    return exp(logs) + area * paint


def robot_arm(x: Point) -> float:
    end, angle = 0j, 0.0
    for turn, length in zip(x[:4], x[4:], strict=True):
        angle += turn
        end += length * e ** (1j * angle)
    return abs(end)


def cantilever(x: Point) -> float:
    """F l^3 / (3 E I) of both loads, with I = w t^3 / 12 and t w^3 / 12."""
    modulus, horizontal, vertical, width, thickness = x
    down = vertical * 100**3 / (3 * modulus * width * thickness**3 / 12)
    aside = horizontal * 100**3 / (3 * modulus * thickness * width**3 / 12)
    return sqrt(down**2 + aside**2)


def short_column(x: Point) -> float:
    """One minus the moment and the squared force, in those that make a section plastic."""
    stress, moment, force, width, depth = x
    return 1 - moment / (width * depth**2 / 4 * stress) - (force / (width * depth * stress)) ** 2


def flood(x: Point) -> float:
    """Manning's law for a wide river: Q = K B H^(5/3) sqrt(slope)."""
    flow, strickler, downstream, upstream, dyke, bank, length, width = x
    slope = (upstream - downstream) / length
    height = (flow / (strickler * width * sqrt(slope))) ** (3 / 5)
    return height + downstream - (dyke + bank)


FORMULAS: dict[str, Callable[[Point], float]] = {
    "borehole": borehole,
    "cantilever": cantilever,
    "flood": flood,
    "otl_circuit": otl_circuit,
    "piston": piston,
    "robot_arm": robot_arm,
    "short_column": short_column,
    "wing_weight": wing_weight,
    "ackley": ackley,
    "bohachevsky": bohachevsky,
    "branin": branin,
    "camelback": camelback,
    "forrester": forrester,
    "g_function": g_function,
    "goldstein_price": goldstein_price,
    "griewank": griewank,
    "hartmann3": hartmann3,
    "hartmann6": hartmann6,
    "levy": levy,
    "mccormick": mccormick,
    "michalewicz": michalewicz,
    "perm": perm,
    "powell": powell,
    "rosenbrock": rosenbrock,
    "sine_cosine": sine_cosine,
    "sine_parabola": sine_parabola,
    "sinone": sinone,
    "sintwo": sintwo,
    "styblinski_tang": styblinski_tang,
    "three_hump_camel": three_hump_camel,
    "test1": regression1,
    "test2": regression2,
    "test3": regression3,
    "test3b": lambda x: regression3(x) + 0.1 * abs(x[0] - 19 * pi),
    "test4": lambda x: 200 - x[0] ** 2 / 200 + waves(x[0]),
    "test4b": lambda x: 200 - 50 * exp(-(((x[0] - 55) / 30) ** 2)) + waves(x[0]),
}

SCALABLE = (
    "ackley",
    "g_function",
    "griewank",
    "levy",
    "michalewicz",
    "perm",
    "rosenbrock",
    "styblinski_tang",
)


def test_every_function_has_its_formula_here() -> None:
    assert set(FORMULAS) == set(PLAIN)


@pytest.mark.parametrize(
    ("spec", "name"),
    [(name, name) for name in PLAIN] + [(f"{name}:dimension=4", name) for name in SCALABLE],
)
def test_values_are_those_of_the_printed_formula(spec, name) -> None:
    problem = create(spec)
    X = problem.space.sample(200, seed=9)
    expected = [FORMULAS[name](x.tolist()) for x in X]
    assert problem.truth(X) == pytest.approx(expected, rel=1e-10, abs=1e-11)
