"""The elementary functions against mpmath, in units in the last place, and their derivatives against closed forms."""

import math

import mpmath
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from three_scalars import on_duals, on_floats, on_packs

from poinsot import scalars

mpmath.mp.dps = 40
ROWS = 16
bounded = settings(max_examples=25, derandomize=True, deadline=None)


def between(low, high):
    return st.floats(low, high, allow_subnormal=False)


def of_magnitude(low, high):
    """Both signs, exponents evenly spread."""
    size = st.floats(low, high).map(lambda exponent: 10.0**exponent)
    return st.builds(lambda size, sign: sign * size, size, st.sampled_from((-1.0, 1.0)))


near_zero = st.one_of(st.just(0.0), of_magnitude(-12, -3))
angles = st.one_of(near_zero, between(-10, 10), of_magnitude(1, 8))
quadrants = st.builds(lambda k, offset: k * (math.pi / 2) + offset, st.integers(-(10**7), 10**7), of_magnitude(-12, -1))
positive = of_magnitude(-300, 300).map(abs)

CASES = [  # function, exact, one strategy for each argument, greatest error in ulp
    (scalars.sin, mpmath.sin, [angles], 1),
    (scalars.cos, mpmath.cos, [angles], 1),
    (scalars.sin, mpmath.sin, [quadrants], 1),
    (scalars.cos, mpmath.cos, [quadrants], 1),
    (scalars.tan, mpmath.tan, [angles], 2.5),
    (scalars.atan2, mpmath.atan2, [of_magnitude(-3, 3), of_magnitude(-3, 3)], 2),
    (scalars.atan2, mpmath.atan2, [of_magnitude(-150, 150), of_magnitude(-150, 150)], 2),
    (scalars.atan, mpmath.atan, [of_magnitude(-12, 12)], 2),
    (scalars.asin, mpmath.asin, [st.one_of(near_zero, between(-1, 1))], 2.5),
    (scalars.acos, mpmath.acos, [st.one_of(near_zero, between(-1, 1), near_zero.map(lambda x: 1 - abs(x)))], 2.5),
    (scalars.exp, mpmath.exp, [between(-700, 709)], 1),
    (scalars.expm1, mpmath.expm1, [st.one_of(near_zero, between(-40, 40))], 2),
    (scalars.sinh, mpmath.sinh, [st.one_of(near_zero, between(-700, 700))], 3),
    (scalars.cosh, mpmath.cosh, [st.one_of(near_zero, between(-700, 700))], 2),
    (scalars.tanh, mpmath.tanh, [st.one_of(near_zero, between(-30, 30))], 3),
    (scalars.log, mpmath.log, [st.one_of(positive, between(0.5, 2))], 1),
    (scalars.sqrt, mpmath.sqrt, [positive], 0.5),
    (scalars.power, mpmath.power, [of_magnitude(-10, 10).map(abs), between(-25, 25)], 2),
    (scalars.power, mpmath.power, [between(0.5, 2), between(-900, 900)], 3),
    (scalars.power, mpmath.power, [of_magnitude(-3, 3), st.integers(-20, 20).map(float)], 2),
]
NAMES = [f"{case[0].__name__}-{place}" for place, case in enumerate(CASES)]


def errors_in_ulp(results, exact):
    return [
        float(abs(mpmath.mpf(float(result)) - value) / mpmath.mpf(float(np.spacing(abs(float(value))))))
        for result, value in zip(results, exact, strict=True)
    ]


@pytest.mark.parametrize(("function", "exact", "arguments", "bound"), CASES, ids=NAMES)
def test_accuracy(function, exact, arguments, bound):
    rows = st.lists(st.tuples(*arguments), min_size=ROWS, max_size=ROWS)

    @bounded
    @given(rows)
    def check(rows):
        columns = np.transpose(rows)
        truth = [exact(*map(mpmath.mpf, row)) for row in columns.T.tolist()]
        results = on_floats(function, *columns)
        assert max(errors_in_ulp(results, truth)) <= bound
        lanes = on_packs(function, *columns)
        assert (lanes == lanes[0]).all()
        assert max(errors_in_ulp(lanes[0], truth)) <= bound + 0.5
        assert (on_duals(function, *columns)[0] == results).all()

    check()


DERIVATIVES = [  # function, a strategy and the derivative for each argument
    (scalars.sin, [(angles, mpmath.cos)]),
    (scalars.cos, [(angles, lambda x: -mpmath.sin(x))]),
    (scalars.tan, [(between(-1.5, 1.5), lambda x: 1 + mpmath.tan(x) ** 2)]),
    (
        scalars.atan2,
        [
            (of_magnitude(-100, 100), lambda y, x: x / (x * x + y * y)),
            (of_magnitude(-100, 100), lambda y, x: -y / (x * x + y * y)),
        ],
    ),
    (scalars.atan, [(of_magnitude(-5, 5), lambda x: 1 / (1 + x * x))]),
    (scalars.asin, [(between(-1, 1).filter(lambda x: abs(x) < 1), lambda x: 1 / mpmath.sqrt(1 - x * x))]),
    (scalars.acos, [(between(-1, 1).filter(lambda x: abs(x) < 1), lambda x: -1 / mpmath.sqrt(1 - x * x))]),
    (scalars.exp, [(between(-600, 600), mpmath.exp)]),
    (scalars.expm1, [(between(-30, 30), mpmath.exp)]),
    (scalars.sinh, [(between(-30, 30), mpmath.cosh)]),
    (scalars.cosh, [(between(-30, 30), mpmath.sinh)]),
    (scalars.tanh, [(between(-3, 3), lambda x: 1 / mpmath.cosh(x) ** 2)]),
    (scalars.log, [(positive, lambda x: 1 / x)]),
    (scalars.sqrt, [(positive, lambda x: 1 / (2 * mpmath.sqrt(x)))]),
    (
        scalars.power,
        [
            (of_magnitude(-3, 3).map(abs), lambda x, y: y * mpmath.power(x, y - 1)),
            (between(-10, 10), lambda x, y: mpmath.power(x, y) * mpmath.log(x)),
        ],
    ),
]


@pytest.mark.parametrize(("function", "cases"), DERIVATIVES, ids=lambda case: getattr(case, "__name__", ""))
def test_derivatives(function, cases):
    rows = st.lists(st.tuples(*(strategy for strategy, _ in cases)), min_size=ROWS, max_size=ROWS)

    @bounded
    @given(rows)
    def check(rows):
        columns = np.transpose(rows)
        slopes = on_duals(function, *columns)[1]
        for place, (_, derivative) in enumerate(cases):
            truth = np.array([float(derivative(*map(mpmath.mpf, row))) for row in columns.T.tolist()])
            assert slopes[:, place] == pytest.approx(truth, rel=2e-15, abs=1e-305)

    check()


@pytest.mark.parametrize("distance", [1e9, 1e12, 0.99e14])
def test_far_angles_belong_to_a_neighbour(distance):
    x = distance * np.linspace(0.5, 1.0, 7)
    exact = np.array([float(mpmath.sin(mpmath.mpf(v))) for v in x.tolist()])
    assert (np.abs(on_floats(scalars.sin, x) - exact) <= 3 * np.spacing(x)).all()


inf, nan = math.inf, math.nan
SPECIAL = [
    (scalars.sin, (0.0,), 0.0),
    (scalars.cos, (0.0,), 1.0),
    (scalars.sin, (inf,), nan),
    (scalars.cos, (-1.1e14,), nan),
    (scalars.sin, (nan,), nan),
    (scalars.atan2, (0.0, 1.0), 0.0),
    (scalars.atan2, (-0.0, 1.0), -0.0),
    (scalars.atan2, (0.0, -1.0), math.pi),
    (scalars.atan2, (-0.0, -1.0), -math.pi),
    (scalars.atan2, (0.0, 0.0), 0.0),
    (scalars.atan2, (1.0, 0.0), math.pi / 2),
    (scalars.atan2, (-1.0, 0.0), -math.pi / 2),
    (scalars.atan2, (1.0, 1.0), math.pi / 4),
    (scalars.atan2, (nan, 1.0), nan),
    (scalars.acos, (1.0,), 0.0),
    (scalars.acos, (-1.0,), math.pi),
    (scalars.asin, (1.0,), math.pi / 2),
    (scalars.asin, (1.5,), nan),
    (scalars.exp, (0.0,), 1.0),
    (scalars.exp, (inf,), inf),
    (scalars.exp, (-inf,), 0.0),
    (scalars.exp, (710.0,), inf),
    (scalars.exp, (-746.0,), 0.0),
    (scalars.exp, (-744.0,), math.exp(-744.0)),
    (scalars.exp, (nan,), nan),
    (scalars.expm1, (inf,), inf),
    (scalars.expm1, (-inf,), -1.0),
    (scalars.tanh, (inf,), 1.0),
    (scalars.tanh, (-inf,), -1.0),
    (scalars.log, (1.0,), 0.0),
    (scalars.log, (0.0,), -inf),
    (scalars.log, (-1.0,), nan),
    (scalars.log, (inf,), inf),
    (scalars.log, (nan,), nan),
    (scalars.log, (5e-324,), math.log(5e-324)),
    (scalars.sqrt, (-1.0,), nan),
    (scalars.power, (0.0, 0.0), 1.0),
    (scalars.power, (0.0, 2.0), 0.0),
    (scalars.power, (0.0, -2.0), inf),
    (scalars.power, (-2.0, 3.0), -8.0),
    (scalars.power, (-2.0, 0.5), nan),
    (scalars.power, (inf, 0.5), inf),
    (scalars.power, (inf, -1.0), 0.0),
    (scalars.power, (2.0, 5000.0), inf),
    (scalars.power, (2.0, -5000.0), 0.0),
    (scalars.power, (nan, 2.0), nan),
    (scalars.sign, (-3.0,), -1.0),
    (scalars.sign, (0.0,), 0.0),
    (scalars.sign, (nan,), nan),
    (scalars.floor, (-1.5,), -2.0),
    (scalars.absolute, (-0.0,), 0.0),
    (scalars.minimum, (2.0, -3.0), -3.0),
    (scalars.maximum, (2.0, -3.0), 2.0),
]


@pytest.mark.parametrize(("function", "arguments", "result"), SPECIAL)
def test_special_values(function, arguments, result):
    columns = [np.full(2, x) for x in arguments]
    expected = np.full(2, result)
    for computed in (on_floats(function, *columns), *on_packs(function, *columns)):
        np.testing.assert_array_equal(computed, expected)
        assert (np.isnan(expected) | (np.signbit(computed) == np.signbit(expected))).all()


@pytest.mark.parametrize(
    ("function", "arguments", "slopes"),
    [
        (scalars.sqrt, (0.0,), [inf]),
        (scalars.power, (0.0, 2.0), [0.0, 0.0]),
        (scalars.power, (0.0, 1.0), [1.0, 0.0]),
        (scalars.power, (-2.0, 2.0), [-4.0, nan]),
        (scalars.power, (3.0, 0.0), [0.0, math.log(3.0)]),
        (scalars.atan2, (0.0, 1e-200), [1e200, 0.0]),
        (scalars.atan2, (1.0, 0.0), [0.0, -1.0]),
        (scalars.absolute, (-2.0,), [-1.0]),
        (scalars.absolute, (0.0,), [1.0]),
        (scalars.sign, (-2.0,), [0.0]),
        (scalars.floor, (-1.5,), [0.0]),
        (scalars.minimum, (2.0, -3.0), [0.0, 1.0]),
        (scalars.maximum, (2.0, -3.0), [1.0, 0.0]),
    ],
)
def test_slopes_at_corners(function, arguments, slopes):
    computed = on_duals(function, *([x] for x in arguments))[1][0]
    np.testing.assert_allclose(computed, slopes, rtol=1e-15)


@numba.njit
def rest(x):
    return scalars.sqrt(x - x)


def test_root_at_rest_has_no_slope():
    assert on_duals(rest, [1.0])[1][0] == 0.0
