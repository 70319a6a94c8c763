"""Roots, powers, exponentials and logarithms: branch-free for float64 and Pack, the chain rule for Dual.

Coefficients are minimax fits (Remez exchange in 50 digits) to the functions named beside them on the reduced interval,
rounded to double; the error of each fit is given, and the tests measure the whole against mpmath.
"""

import math
import operator

import numpy as np

from poinsot._jit import kernel
from poinsot.scalars.dispatch import scalar_function
from poinsot.scalars.plain import Dual
from poinsot.scalars.primitives import (
    ROUND,
    down,
    exponent_of,
    leading,
    magnitude,
    mantissa_of,
    partials_of,
    root,
    select,
    value_of,
    whole_power_of_two,
    with_sign,
)

_LN_2 = (0.6931471803691238, 1.9082149292705877e-10)  # the first part has 32 bits: exact times a whole number to 2**20
_PER_LN_2 = 1.4426950408889634

# (e^r - 1 - r) / r^2 in powers of r for |r| <= ln(2)/2: 2**-64.
_EXPONENTIAL = (
    0.5,
    0.16666666666666685,
    0.04166666666666673,
    0.00833333333331662,
    0.0013888888888858287,
    0.0001984126989735992,
    2.4801587374011258e-05,
    2.7557233931233612e-06,
    2.755723315110533e-07,
    2.511234791938674e-08,
    2.092700228942927e-09,
)
# (ln((1 + s) / (1 - s)) / s - 2) / s^2 in powers of s^2 for |s| <= tan(pi/8)^2: 2**-66 of the logarithm.
_LOGARITHM = (
    0.6666666666666666,
    0.40000000000006253,
    0.2857142856908466,
    0.2222222264698787,
    0.1818177564983295,
    0.15387091454829163,
    0.13250102217528484,
    0.13251475152026088,
)


def _dual_carried(dx, slope):
    steady = _carried(value_of(dx), partials_of(slope))
    return Dual(_carried(value_of(dx), value_of(slope)), _carried(partials_of(dx), value_of(slope)) + steady)


@scalar_function(_dual_carried, inline=True)
def _carried(dx, slope):
    """The change of a result when x changes by dx: none where x rests, however steep the slope."""
    return select(dx == 0.0, 0.0, dx * slope)


def _dual_sqrt(x):
    s = sqrt(value_of(x))
    return Dual(s, _carried(partials_of(x), 0.5 / s))


@scalar_function(_dual_sqrt, math.sqrt, np.sqrt, inline=True)
def sqrt(x):
    """The square root; NaN of a negative number. Its slope at 0 is infinite in the directions that change x."""
    return root(x)


# ------------------------------------------------------------------------------------------ exponentials


@kernel
def _reduced(x):
    """Whole k and small r with x = k ln 2 + r."""
    k = (x * _PER_LN_2 + ROUND) - ROUND
    return k, (x - k * _LN_2[0]) - k * _LN_2[1]


@kernel
def _growth(r):
    """e^r - 1 for |r| <= ln(2)/2."""
    E = _EXPONENTIAL
    high = r * (E[6] + r * (E[7] + r * (E[8] + r * (E[9] + r * E[10]))))
    return r + r * r * (E[0] + r * (E[1] + r * (E[2] + r * (E[3] + r * (E[4] + r * (E[5] + high))))))


@kernel
def _exp_of_sum(x, rest):
    """e^(x + rest) for a rest far smaller than x."""
    x = select(x > 710.0, 710.0, select(x < -746.0, -746.0, x))
    k, r = _reduced(x)
    first = (k * 0.5 + ROUND) - ROUND  # 2**k may be out of range where the result is not
    return (1.0 + _growth(r + rest)) * whole_power_of_two(first) * whole_power_of_two(k - first)


def _dual_exp(x):
    e = exp(value_of(x))
    return Dual(e, partials_of(x) * e)


@scalar_function(_dual_exp, math.exp, np.exp)
def exp(x):
    """e to the power x."""
    return _exp_of_sum(x, 0.0)


def _dual_expm1(x):
    return Dual(expm1(value_of(x)), partials_of(x) * exp(value_of(x)))


@scalar_function(_dual_expm1, math.expm1, np.expm1)
def expm1(x):
    """e to the power x, less 1, accurate near x = 0."""
    k, r = _reduced(select(x > 710.0, 710.0, select(x < -40.0, -40.0, x)))
    first = (k * 0.5 + ROUND) - ROUND
    one, other = whole_power_of_two(first), whole_power_of_two(k - first)
    return (_growth(r) * one + (one - whole_power_of_two(first - k))) * other


def _dual_sinh(x):
    return Dual(sinh(value_of(x)), partials_of(x) * cosh(value_of(x)))


@scalar_function(_dual_sinh, math.sinh, np.sinh)
def sinh(x):
    """The hyperbolic sine."""
    e = expm1(magnitude(x))
    return with_sign(0.5 * (e + e / (1.0 + e)), x)


def _dual_cosh(x):
    return Dual(cosh(value_of(x)), partials_of(x) * sinh(value_of(x)))


@scalar_function(_dual_cosh, math.cosh, np.cosh)
def cosh(x):
    """The hyperbolic cosine."""
    e = exp(magnitude(x))
    return 0.5 * (e + 1.0 / e)


def _dual_tanh(x):
    shrink = 1.0 / cosh(value_of(x))
    return Dual(tanh(value_of(x)), partials_of(x) * (shrink * shrink))


@scalar_function(_dual_tanh, math.tanh, np.tanh)
def tanh(x):
    """The hyperbolic tangent."""
    a = magnitude(x)
    e = expm1(2.0 * select(a > 20.0, 20.0, a))
    return with_sign(e / (e + 2.0), x)


# ------------------------------------------------------------------------------------------ logarithm and powers


@kernel
def _split(x):
    """Whole k and m between 1/sqrt 2 and sqrt 2 with x = 2**k m, for positive and finite x."""
    tiny = x < 2.2250738585072014e-308
    x = select(tiny, x * 18014398509481984.0, x)  # 2**54
    return exponent_of(x) - select(tiny, 54.0, 0.0), mantissa_of(x)


@kernel
def _log_series(z):
    """(ln((1 + s) / (1 - s)) / s - 2) / z for z = s^2, without its first term 2/3."""
    L = _LOGARITHM
    return z * (L[1] + z * (L[2] + z * (L[3] + z * (L[4] + z * (L[5] + z * (L[6] + z * L[7]))))))


def _dual_log(x):
    return Dual(log(value_of(x)), partials_of(x) * (1.0 / value_of(x)))


@scalar_function(_dual_log, math.log, np.log)
def log(x):
    """The natural logarithm: -inf at 0, NaN of a negative number."""
    k, m = _split(x)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    # With L the series: ln m = 2 s + s z L = f - s f + s z L = f - f^2/2 + s (f^2/2 + z L), largest terms first.
    half = 0.5 * f * f
    low = s * (half + z * (_LOGARITHM[0] + _log_series(z))) + k * _LN_2[1]
    result = k * _LN_2[0] - ((half - low) - f)
    return select(x > 0.0, select(x < math.inf, result, x), select(x == 0.0, -math.inf, math.nan))


@kernel
def _whole_exponent(x, n):
    result, square, count = select(True, 1.0, x), x, abs(n)
    while count > 0:
        if count & 1:
            result = result * square
        square = square * square
        count >>= 1
    return 1.0 / result if n < 0 else result


@kernel
def _power_of_positive(x, y):
    """exp(y ln x), with ln x and the product in two parts each, the first of them exact where it must be."""
    k, m = _split(x)
    f, d = m - 1.0, m + 1.0
    s = f / d
    s_high, d_high = leading(s), leading(d)
    d_low = (m - (d - 1.0)) + (d - d_high)
    s_low = ((f - s_high * d_high) - s_high * d_low) / d
    # s^3 (2/3 + series), in two parts as well: what it lacks would be multiplied by y.
    z = s * s
    z_high = leading(z)
    z_low = (s_high * s_high - z_high) + s_low * (2.0 * s_high + s_low)
    cube_high = leading(s_high * z_high)
    cube_low = (s_high * z_high - cube_high) + (s_high * z_low + s_low * z)
    series = _log_series(z)
    factor = leading(_LOGARITHM[0] + series)
    factor_low = (_LOGARITHM[0] - factor) + (series + 3.700743415417188e-17)  # 2/3 less the double next to it
    cubic = cube_high * factor
    low = k * _LN_2[1] + (2.0 * s_low + (cube_high * factor_low + cube_low * (_LOGARITHM[0] + series)))
    whole, twice = k * _LN_2[0], 2.0 * s_high
    linear = whole + twice
    high = linear + cubic
    low = ((linear - high) + cubic) + (((whole - linear) + twice) + low)
    total = high + low
    low = low - (total - high)
    head, y_head = leading(total), leading(y)
    product = leading(y * total)
    rest = (y_head * head - product) + y_head * (total - head) + (y - y_head) * total + y * low
    return _exp_of_sum(product, select(magnitude(product) < 800.0, rest, 0.0))


def _dual_power(x, y):
    a, b = value_of(x), value_of(y)
    p = power(a, b)
    by_base = _carried(partials_of(x), _carried(b, power(a, b - 1.0)))
    return Dual(p, by_base + _carried(partials_of(y), _carried(p, log(a))))


@scalar_function(_dual_power, operator.pow, operator.ipow, math.pow, np.power, whole=_whole_exponent)
def power(x, y):
    """x to the power y.

    An integer y multiplies; a finite real y needs x >= 0, or a whole y, and gives NaN otherwise.
    """
    a = magnitude(x)
    p = _power_of_positive(select((a > 0.0) & (a < math.inf), a, 1.0), y)
    at_zero = select(y > 0.0, 0.0, select(y < 0.0, math.inf, 1.0))
    at_infinity = select(y > 0.0, math.inf, select(y < 0.0, 0.0, 1.0))
    p = select(a == 0.0, at_zero, select(a == math.inf, at_infinity, p))
    odd = down(0.5 * y) * 2.0 != y
    of_negative = select(down(y) == y, select(odd, -p, p), math.nan)
    return select(x < 0.0, of_negative, select(x == x, p, x))
