"""Circular functions and their inverses: branch-free polynomials for float64 and Pack, the chain rule for Dual.

Coefficients are minimax fits (Remez exchange in 50 digits) to the functions named beside them on the reduced interval,
rounded to double; the error of each fit is given, and the tests measure the whole against mpmath.
"""

import math

import numpy as np

from poinsot.scalars.comparisons import absolute, maximum
from poinsot.scalars.dispatch import scalar_function
from poinsot.scalars.plain import Dual
from poinsot.scalars.powers import sqrt
from poinsot.scalars.primitives import (
    ROUND,
    magnitude,
    partials_of,
    select,
    sine_after_quarter_turns,
    value_of,
    with_sign,
)

# pi/2 in three parts of 26 bits, whose products with a whole number up to 2**27 are exact, and a rest; then 2/pi.
_HALF_PI = (1.5707963109016418, 1.5893254712295857e-08, 6.123233932053594e-17, 6.36831716351095e-25)
_PER_HALF_PI = 0.6366197723675814
_LARGEST_ANGLE = 1e14

# (sin r / r - 1) / r^2 in powers of r^2 for |r| <= pi/4: 2**-58 of sin r.
_SINE = (
    -0.16666666666666632,
    0.008333333333322415,
    -0.0001984126982980798,
    2.755731369193797e-06,
    -2.50507581154143e-08,
    1.589679558153309e-10,
)
# (cos r - 1 + r^2/2) / r^4 in powers of r^2 for |r| <= pi/4: 2**-64 of cos r.
_COSINE = (
    0.0416666666666666,
    -0.0013888888888874125,
    2.4801587289482035e-05,
    -2.755731435227744e-07,
    2.087572326445019e-09,
    -1.135964730192163e-11,
)
# (atan u / u - 1) / u^2 in powers of u^2 for |u| <= tan(pi/8): 2**-59.
_ARCTANGENT = (
    -0.333333333333332,
    0.19999999999953993,
    -0.14285714280239203,
    0.11111110785655273,
    -0.09090897822101057,
    0.0769206137392759,
    -0.06663117306577333,
    0.05847985937360119,
    -0.050397394779992236,
    0.03807556722390203,
    -0.017919201872491155,
)


def _dual_sin_cos(x):
    s, c = sin_cos(value_of(x))
    dx = partials_of(x)
    return Dual(s, dx * c), Dual(c, dx * -s)


@scalar_function(_dual_sin_cos, inline=True)
def sin_cos(x):
    """Sine and cosine of the angle x: cheaper than one after the other.

    x = q pi/2 + r with whole q and |r| <= pi/4. The reduction is exact up to |x| = 2e8; beyond, the result belongs to
    an angle within a few ulp of x, and above 1e14, where neighbouring numbers are 1/64 apart, it is NaN.
    """
    quarters = x * _PER_HALF_PI + ROUND
    q = quarters - ROUND
    near = x - q * _HALF_PI[0]
    step = q * _HALF_PI[1]
    nearer = near - step
    rest = ((near - nearer) - step) - q * _HALF_PI[2]
    r = select(magnitude(x) <= _LARGEST_ANGLE, nearer + rest, math.nan)
    rest = ((nearer - r) + rest) - q * _HALF_PI[3]
    z = r * r
    half = 0.5 * z
    S, C = _SINE, _COSINE
    sine = z * (S[0] + z * (S[1] + z * (S[2] + z * (S[3] + z * (S[4] + z * S[5])))))
    sine = r + (r * sine + rest * (1.0 - half))
    cosine = z * z * (C[0] + z * (C[1] + z * (C[2] + z * (C[3] + z * (C[4] + z * C[5])))))
    cosine = 1.0 - (half - (cosine - r * rest))
    return (
        sine_after_quarter_turns(quarters, sine, cosine),
        sine_after_quarter_turns(quarters + 1.0, sine, cosine),
    )


def _sin(x):
    return sin_cos(x)[0]


def _cos(x):
    return sin_cos(x)[1]


@scalar_function(_sin, math.sin, np.sin, inline=True)
def sin(x):
    """The sine of the angle x; see `sin_cos`."""
    return sin_cos(x)[0]


@scalar_function(_cos, math.cos, np.cos, inline=True)
def cos(x):
    """The cosine of the angle x; see `sin_cos`."""
    return sin_cos(x)[1]


def _dual_tan(x):
    t = tan(value_of(x))
    return Dual(t, partials_of(x) * (1.0 + t * t))


@scalar_function(_dual_tan, math.tan, np.tan)
def tan(x):
    """The tangent of the angle x; see `sin_cos`."""
    s, c = sin_cos(x)
    return s / c


def _dual_atan2(y, x):
    a, b = value_of(y), value_of(x)
    size = maximum(absolute(a), absolute(b))  # a^2 + b^2 alone may overflow
    sine, cosine = a / size, b / size
    scale = 1.0 / (size * (sine * sine + cosine * cosine))
    return Dual(atan2(a, b), partials_of(y) * (cosine * scale) - partials_of(x) * (sine * scale))


@scalar_function(_dual_atan2, math.atan2, np.arctan2)
def atan2(y, x):
    """The angle of the point (x, y), from -pi to pi; zeros keep the meaning of their signs."""
    a, b = magnitude(y), magnitude(x)
    steep = a > b
    small, large = select(steep, b, a), select(steep, a, b)
    wide = small > 0.41421356237309503 * large  # beyond pi/8: use atan t = pi/4 + atan((t - 1) / (t + 1))
    above, below = select(wide, small - large, small), select(wide, small + large, large)
    u = above / select(below == 0.0, 1.0, below)
    z = u * u
    A = _ARCTANGENT
    tail = z * (A[5] + z * (A[6] + z * (A[7] + z * (A[8] + z * (A[9] + z * A[10])))))
    tail = u * (z * (A[0] + z * (A[1] + z * (A[2] + z * (A[3] + z * (A[4] + tail))))))
    # The angle is start + side (u + tail), where start is a multiple of pi/4 in two parts and side is 1 or -1.
    backward = with_sign(1.0, x) < 0.0
    eighths = select(wide, 1.0, 0.0)
    eighths = select(steep, 2.0 - eighths, eighths)
    eighths = select(backward, 4.0 - eighths, eighths)
    side = select(steep, -1.0, 1.0) * select(backward, -1.0, 1.0)
    angle = eighths * 0.7853981633974483 + (side * u + (side * tail + eighths * 3.061616997868383e-17))
    return with_sign(angle, y)


def _dual_atan(x):
    v = value_of(x)
    return Dual(atan(v), partials_of(x) * (1.0 / (1.0 + v * v)))


@scalar_function(_dual_atan, math.atan, np.arctan)
def atan(x):
    """The angle from -pi/2 to pi/2 whose tangent is x."""
    return atan2(x, 1.0)


def _dual_asin(x):
    v = value_of(x)
    return Dual(asin(v), partials_of(x) * (1.0 / sqrt((1.0 - v) * (1.0 + v))))


@scalar_function(_dual_asin, math.asin, np.arcsin)
def asin(x):
    """The angle from -pi/2 to pi/2 whose sine is x; NaN if |x| > 1."""
    return atan2(x, sqrt((1.0 - x) * (1.0 + x)))


def _dual_acos(x):
    v = value_of(x)
    return Dual(acos(v), partials_of(x) * (-1.0 / sqrt((1.0 - v) * (1.0 + v))))


@scalar_function(_dual_acos, math.acos, np.arccos)
def acos(x):
    """The angle from 0 to pi whose cosine is x; NaN if |x| > 1."""
    return atan2(sqrt((1.0 - x) * (1.0 + x)), x)
