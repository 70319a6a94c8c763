"""The three scalars: arithmetic, masks, views, the names that users write. Runs compiled and in plain Python."""

import math
import os
import subprocess
import sys
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import mpmath
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.errors import TypingError
from three_scalars import on_duals, on_floats, on_packs

from poinsot._jit import DISABLED, kernel
from poinsot.scalars import (
    WIDTH,
    Dual,
    Duals,
    Pack,
    Packs,
    absolute,
    atan2,
    borrow,
    cos,
    curvature,
    exp,
    floats,
    log,
    maximum,
    part,
    partials_of,
    point,
    power,
    select,
    sin,
    slope,
    sqrt,
    tan,
    value_of,
    widen,
)

VIEWS = [floats, Packs, Duals]


def data_of(view):
    """The numbers behind a view, with one more axis."""
    return view[..., None] if isinstance(view, np.ndarray) else view.data


@numba.njit(error_model="numpy")
def rational(x, y):
    z = 2 * x - y / 3
    z += x * y
    z *= 0.5
    z -= -y + 1
    z /= 4.0 + y * y
    return (1 - z) / (1.0 + x * x) + z * 3 - 7.5


numbers = st.floats(-1e3, 1e3, allow_subnormal=False)


@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=8, max_size=8))
def test_arithmetic_is_that_of_numpy(rows):
    x, y = np.transpose(rows)
    z = (0.5 * (2 * x - y / 3 + x * y) - (-y + 1)) / (4 + y * y)
    expected = (1 - z) / (1 + x * x) + z * 3 - 7.5
    dz = np.stack([(1 + 0.5 * y), (-1 / 6 + 0.5 * x + 1)]) / (4 + y * y)
    dz[1] -= z * 2 * y / (4 + y * y)
    slope = dz * (3 - 1 / (1 + x * x))
    slope[0] -= (1 - z) * 2 * x / (1 + x * x) ** 2
    results = on_floats(rational, x, y)
    np.testing.assert_array_equal(results, expected)
    np.testing.assert_allclose(on_packs(rational, x, y), np.tile(expected, (WIDTH, 1)), rtol=1e-13, atol=1e-12)
    values, slopes = on_duals(rational, x, y)
    np.testing.assert_array_equal(values, results)
    np.testing.assert_allclose(slopes, slope.T, rtol=1e-12, atol=1e-12 * np.abs(slope).max())


@numba.njit
def chosen(x, y):
    mask = (((x < y) & (x != 0.0)) | (y >= 5) | (x == 7.0)) & ~(x > 8)
    return select(mask, x, 1) + select(y <= x, 2.0 * y, -0.5)


def test_masks_and_select():
    x = np.array([0.0, 1.0, 2.0, 7.0, 9.0, -3.0, math.nan])
    y = np.array([1.0, 2.0, 1.0, 0.0, 10.0, 6.0, 1.0])
    with np.errstate(invalid="ignore"):
        mask = (((x < y) & (x != 0)) | (y >= 5) | (x == 7)) & ~(x > 8)
        expected = np.where(mask, x, 1) + np.where(y <= x, 2 * y, -0.5)
    np.testing.assert_array_equal(on_floats(chosen, x, y), expected)
    np.testing.assert_array_equal(on_packs(chosen, x, y), np.tile(expected, (WIDTH, 1)))
    values, slopes = on_duals(chosen, x, y)
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(slopes, np.stack([np.where(mask, 1.0, 0.0), np.where(y <= x, 2.0, 0.0)], axis=1))


@numba.njit
def accumulated(given, out):
    total, largest = 0.0, (-1.0, 0.0)
    for i in range(given.shape[0]):
        total += given[i, 1]
        largest = (maximum(largest[0], given[i, 1]), largest[1])
    out[0, 0] = total
    out[0, 1] = largest[0]
    out[0, 2] = 5
    out[0, 3] = given.shape[0] * 10 + given.shape[1]
    out[0, 3] += given[0, 1]


@pytest.mark.parametrize("view", VIEWS)
def test_views_and_real_numbers_in_one_variable(view):
    arguments, out = view(3, 2), view(1, 4)
    assert arguments.shape == (3, 2)
    data_of(arguments)[:, 1] = np.array([1.0, 4.0, 2.0])[:, None]
    accumulated(arguments, out)
    expected = np.tile([[7.0], [4.0], [5.0], [33.0]], data_of(out).shape[2])
    if view is Duals:  # all three arguments have unit slopes along all directions, scaled as their values
        expected[2, 1:], expected[3, 1:] = 0.0, 1.0
    np.testing.assert_array_equal(data_of(out)[0], expected)


@numba.njit
def rebuilt(x):
    return Dual(value_of(x) * 2.0, partials_of(x) * 3.0)


@numba.njit
def widened(x):
    return Pack(x) + Pack(1.0)


def test_parts_and_constructors():
    values, slopes = on_duals(rebuilt, [1.5])
    assert (values[0], slopes[0, 0]) == (3.0, 3.0)
    assert (on_packs(widened, [2.0]) == 3.0).all()
    assert on_floats(numba.njit(lambda x: value_of(x) + partials_of(x)), [2.0])[0] == 2.0


@numba.njit
def whole_powers(x):
    return x**2 + x**-3 + power(x, 0) + power(x, 5)


def test_whole_powers():
    x = np.array([0.5, -2.0, 3.0])
    expected = x**2 + x**-3.0 + 1 + x**5
    np.testing.assert_allclose(on_floats(whole_powers, x), expected, rtol=1e-15)
    np.testing.assert_allclose(on_packs(whole_powers, x), np.tile(expected, (WIDTH, 1)), rtol=1e-15)
    np.testing.assert_allclose(on_duals(whole_powers, x)[1][:, 0], 2 * x - 3 * x**-4.0 + 5 * x**4, rtol=4e-15)
    assert on_duals(numba.njit(lambda x: x**2), [0.0])[1][0, 0] == 0.0


def in_numpy(x, y):
    return (
        np.sin(x) + np.cos(x) * np.tan(x) + np.arctan2(y, x) + np.exp(x) - np.log(y) + np.sqrt(y) + np.power(y, 1.5)
    ) * np.absolute(np.maximum(x, y))


def in_math(x, y):
    return (
        math.sin(x)
        + math.cos(x) * math.tan(x)
        + math.atan2(y, x)
        + math.exp(x)
        - math.log(y)
        + math.sqrt(y)
        + math.pow(y, 1.5)
    ) * math.fabs(max(x, y))


def in_ours(x, y):
    return (sin(x) + cos(x) * tan(x) + atan2(y, x) + exp(x) - log(y) + sqrt(y) + power(y, 1.5)) * absolute(
        maximum(x, y)
    )


@pytest.mark.parametrize(
    "written",
    [
        in_numpy,
        pytest.param(
            in_math, marks=pytest.mark.skipif(DISABLED, reason="math's own functions take one number without Numba")
        ),
    ],
)
def test_names_that_users_write(written):
    written, ours = numba.njit(written, error_model="numpy"), numba.njit(in_ours, error_model="numpy")
    x, y = np.array([-1.5, 0.3, 2.0]), np.array([0.7, 1.1, 3.0])
    np.testing.assert_allclose(on_floats(written, x, y), on_floats(ours, x, y), rtol=1e-15)
    np.testing.assert_array_equal(on_packs(written, x, y), on_packs(ours, x, y))
    for theirs, mine in zip(on_duals(written, x, y), on_duals(ours, x, y), strict=True):
        np.testing.assert_array_equal(theirs, mine)


@numba.njit
def ordinary(x):
    return np.sin(x) + np.arctan2(x, x) + np.maximum(x, 1.0)


@pytest.mark.parametrize("x", [2.0, np.array([2.0, 3.0]), np.array([[2.0]], dtype=np.float32)])
def test_numpy_keeps_its_own_meaning(x):
    np.testing.assert_allclose(ordinary(x), np.sin(x) + np.arctan2(x, x) + np.maximum(x, 1.0), rtol=1e-6)


@numba.njit
def branching(x):
    return 1.0 if x > 0.0 else -1.0


def test_a_branch_on_a_pack_is_refused():
    with pytest.raises((TypingError, TypeError)):
        on_packs(branching, [1.0])
    assert on_duals(branching, [1.0])[0][0] == 1.0


def rational_in_time(t):
    turned = -t + 2 - t / 3 + 5 / (3 + t) - (1 - t) / (1.0 + t * t)
    turned += 2 * t
    turned -= 0.5
    turned *= t
    turned /= 4
    return +turned


def powers_in_time(t):
    return (1.0 + t) ** 2.5 - t**3 + t**-2 + (1.0 + t) ** t + 2.0**t + math.pow(t, 1.0) + math.sqrt(1.0 + t * t)


def circular_in_time(t):
    angle = math.atan2(math.sin(t), 1.5 + math.cos(t)) + math.atan(t) + math.tan(t / 3.0)
    return angle + math.asin(t / 9.0) * math.acos(t / 9.0)


def exponential_in_time(t):
    return math.exp(-t) + math.log(1.0 + t) + math.expm1(t / 2.0) + math.sinh(t) / math.cosh(t) + math.tanh(t / 2.0)


@numba.njit
def swing_in_time(t, rate=50.0):
    return math.sin(rate * t) * CALM


CALM = 0.5


def nested_in_time(t):
    def inner(x):
        return swing_in_time(x) + x * t

    return inner(2.0 * t)


def branches_in_time(t):
    if t < 0.5:
        return 0
    total = 1.0
    for k in range(1, 4):
        total += k * abs(t - 1.0) ** k + max(t, 2.0) - min(t * t, t) * np.sign(1.0 - t) + np.floor(t)
    return total


def in_many_digits(function):
    """The same function on numbers of mpmath."""
    names = {name: getattr(mpmath, name) for name in dir(math) if hasattr(mpmath, name)}
    scope = {**globals(), "math": SimpleNamespace(**names, pow=mpmath.power), "np": mpmath}
    function, swing = (getattr(each, "py_func", each) for each in (function, swing_in_time))
    scope["swing_in_time"] = FunctionType(swing.__code__, scope, "swing_in_time", swing.__defaults__)
    return FunctionType(function.__code__, scope, function.__name__, function.__defaults__)


@pytest.mark.parametrize("t", [0.3, 1.7, 2.6])
@pytest.mark.parametrize(
    "function",
    [
        rational_in_time,
        powers_in_time,
        circular_in_time,
        exponential_in_time,
        swing_in_time,
        nested_in_time,
        branches_in_time,
    ],
)
def test_first_and_second_derivatives_of_a_function_of_one_number(function, t):
    compiled = kernel(getattr(function, "py_func", function))
    with mpmath.workdps(60):
        wanted = [float(mpmath.diff(in_many_digits(function), mpmath.mpf(t), order)) for order in (1, 2, 3)]
    found = [kernel(derive(compiled))(t) for derive in (slope, curvature)]
    for n in range(2):  # the last term is what rounding t itself may change
        assert abs(found[n] - wanted[n]) <= 1e-15 * (abs(wanted[n]) + abs(t * wanted[n + 1]))


def test_derivatives_where_a_guard_against_infinity_acts():
    cases = [
        (lambda t: np.sqrt(t * t + 1.0), 0.0, 0.0, 1.0),
        (lambda t: t**2.0, 0.0, 0.0, 2.0),
        (lambda t: (1.0 + t) ** t, 0.0, 0.0, 2.0),
        (lambda t: t ** (2.0 + t), 0.0, 0.0, 2.0),
        (lambda t: abs(t) + 0.0 * t, 0.0, 1.0, 0.0),
        (lambda t: 3, 1.0, 0.0, 0.0),
        (lambda t: np.sqrt(t), 0.0, math.inf, -math.inf),
    ]
    for function, t, first, second in cases:
        function = kernel(function)
        assert kernel(slope(function))(t) == first
        assert kernel(curvature(function))(t) == second


@kernel
def cubed(x):
    return x * x * x


def test_kernels_take_all_three():
    assert on_floats(cubed, [2.0])[0] == 8.0
    assert (on_packs(cubed, [2.0]) == 8.0).all()
    assert on_duals(cubed, [2.0])[1][0, 0] == 12.0


@pytest.mark.skipif(DISABLED, reason="this is the plain run")
@pytest.mark.parametrize("tests", ["test_scalars.py", "test_scalars_accuracy.py", "test_jit.py"])
def test_the_same_in_plain_python(tests):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        str(Path(__file__).with_name(tests)),
    ]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-3000:]


class Inner(NamedTuple):
    whole: Any
    numbers: Any


class Outer(NamedTuple):
    first: Any
    count: Any
    inner: Any
    out: Any


@kernel
def weigh(tables):
    """out = count * first * numbers[row whole], by the names of parts."""
    for i in range(tables.out.shape[0]):
        tables.out[i, 0] = tables.count * tables.first[i, 0] * tables.inner.numbers[tables.inner.whole[i, 0], 0]


@pytest.mark.parametrize("view", VIEWS)
def test_tables_are_read_and_written_through_a_pointer(view):
    first, out = view(3, 1), view(3, 1)
    data_of(first)[:] = np.arange(1.0, 4.0)[:, None, None]
    rows, numbers = np.array([[2], [0], [1]]), np.array([[0.5], [0.25], [4.0]])
    tables = point(Outer(first, 3, point(Inner(rows, numbers)), out))
    weigh(tables)
    numbers[2] = -4.0  # a pointer is to the memory, not to what stood there
    before = data_of(out)[:, 0, 0].copy()
    weigh(tables)
    np.testing.assert_array_equal(before, [12.0, 3.0, 2.25])
    np.testing.assert_array_equal(data_of(out)[:, 0, 0], [-12.0, 3.0, 2.25])
    assert tables.count == 3


@pytest.mark.skipif(DISABLED, reason="in plain Python tables are handed over as they are")
def test_a_pointer_is_to_views_and_integers_only():
    with pytest.raises(TypeError):
        point(Inner(1.5, np.zeros((1, 1))))
    with pytest.raises(TypeError):
        point(Inner((1, 2), np.zeros((1, 1))))


@kernel
def double_some_rows(view, first, rows, shapes):
    """Double so many rows, and tell the shapes of the part and of the wide part."""
    some = part(borrow(view), first, rows)
    wide = widen(some)
    for i in range(wide.shape[0]):
        for c in range(wide.shape[1]):
            wide[i, c] = wide[i, c] * 2.0
    shapes[0, 0], shapes[0, 1] = some.shape
    shapes[1, 0], shapes[1, 1] = wide.shape


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("first", "rows"), [(0, 4), (1, 2), (3, 1), (0, 0), (4, 0)])
def test_a_part_of_a_view_and_its_rows_widened_are_the_same_memory(view, first, rows):
    given, shapes = view(4, 2 * WIDTH), np.zeros((2, 2))
    data_of(given)[:] = np.random.default_rng(2).normal(size=data_of(given).shape)
    expected = data_of(given).copy()
    expected[first : first + rows] *= 2.0
    double_some_rows(given, first, rows, shapes)
    np.testing.assert_array_equal(data_of(given), expected)
    assert shapes.tolist() == [[rows, 2 * WIDTH], [rows, 2 if view is floats else 2 * WIDTH]]


@kernel
def put_wide_rows(view, out):
    """Each row of out becomes the sum of the rows of a view so far, and its first column the number of columns."""
    view, out = borrow(view), borrow(out)
    narrow, total, last = widen(view), widen(out), out.shape[0]
    for i in range(last):
        for c in range(total.shape[1]):
            total[i, c] = 0.0
            for before in range(i + 1):
                total[i, c] += narrow[before, c]
        out[i, 0] = out[i, 0] * 0.0 + view.shape[1] // narrow.shape[1]


@pytest.mark.parametrize("view", VIEWS)
def test_what_is_written_for_wide_rows_serves_every_view(view):
    given, out = view(3, 2 * WIDTH), view(3, 2 * WIDTH)
    data_of(given)[:] = np.random.default_rng(3).normal(size=data_of(given).shape)
    data_of(out)[:] = np.nan
    expected = np.cumsum(data_of(given), axis=0)
    expected[:, 0] = 0.0
    expected[:, 0, : 1 if view is Duals else None] = WIDTH if view is floats else 1.0
    put_wide_rows(given, out)
    np.testing.assert_allclose(data_of(out), expected, rtol=1e-15)


@kernel
def renumber(table, first, rows):
    some = part(borrow(table), first, rows)
    for i in range(some.shape[0]):
        some[i, 0] = some[i, 0] + 10 * i


def test_a_part_of_a_table_of_whole_numbers():
    table = np.arange(5)[:, None].copy()
    renumber(table, 2, 3)
    assert table[:, 0].tolist() == [0, 1, 2, 13, 24]


def test_a_view_over_doubles_that_are_there():
    for view in (Packs, Duals):
        data = np.arange(2.0 * view.depth).reshape(2, 1, view.depth)
        over = view.over(data)
        assert type(over) is view
        assert over.shape == (2, 1)
        over[1, 0] = over[1, 0] + 1.0
        assert data[1, 0, 0] == view.depth + 1.0
        assert over.data is data
