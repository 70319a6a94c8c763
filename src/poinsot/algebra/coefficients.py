"""The functions of an angle that are 0/0 at zero, as functions of x = θ²: without branches, accurate at every angle.

Each evaluates a power series and a closed form, each on an argument kept out of the other's range, and selects; so
values and derivatives are right from θ = 0 on, for float64, Pack and Dual alike. The errors stated are relative, in
units of ε = 2.2e-16, for θ in [0, π]; the tests hold them against 60 digits.
"""

from math import factorial

from poinsot._jit import kernel
from poinsot.scalars import atan2, select, sin_cos, sqrt

# Below these the closed forms cancel; above, the series would need more terms than they save.
_SERIES_END, _SLOPE_SERIES_END = 2.0, 5.0

_COS = tuple((-0.25) ** k / factorial(2 * k) for k in range(10))
_SINC = tuple(0.5 * (-0.25) ** k / factorial(2 * k + 1) for k in range(10))
_THIRD = tuple((-1.0) ** k / factorial(2 * k + 3) for k in range(10))
_SECOND_SLOPE = tuple((-1.0) ** k * k / factorial(2 * k + 2) for k in range(2, 12))
_THIRD_SLOPE = tuple((-1.0) ** k * k / factorial(2 * k + 3) for k in range(2, 12))
_ATAN = tuple(2.0 * (-1.0) ** k / (2 * k + 1) for k in range(10))

# (1 - θ/2 cot θ/2) / θ² = Σ 2 / (4π²n² - x), n = 1, 2, …: the two poles next to zero stay as they are, and the sum of
# the others is a series in x, given here, that converges fast for all θ up to π and a little beyond.
_POLES_END = 10.0
_POLE_1, _POLE_2 = 39.478417604357434475, 157.9136704174297379
_OTHER_POLES = (
    0.020007593556872226181, 2.543812068862562158e-5, 5.5845683904944151311e-8, 1.4088241574761046862e-10,
    3.7567162002157978115e-13, 1.0280125375360461078e-15, 2.8500221292137912383e-18, 7.9555754107198449836e-21,
    2.2289326645537011567e-23, 6.2574711508057722392e-26,
)  # fmt: skip


@kernel
def _polynomial(p, x):
    """Σ p[k] xᵏ for the ten coefficients that all series here have."""
    y = (((p[9] * x + p[8]) * x + p[7]) * x + p[6]) * x + p[5]
    return ((((y * x + p[4]) * x + p[3]) * x + p[2]) * x + p[1]) * x + p[0]


@kernel
def _slope(p, x):
    """Σ k p[k] xᵏ⁻¹, the derivative of that polynomial."""
    y = (((9.0 * p[9] * x + 8.0 * p[8]) * x + 7.0 * p[7]) * x + 6.0 * p[6]) * x + 5.0 * p[5]
    return (((y * x + 4.0 * p[4]) * x + 3.0 * p[3]) * x + 2.0 * p[2]) * x + p[1]


@kernel
def _closed_half_sinc(x):
    angle = sqrt(x)
    s, c = sin_cos(0.5 * angle)
    return c, s / angle


@kernel
def half_sinc(x):
    """cos θ/2 and (sin θ/2) / θ; within 4 ε (the cosine: 4 ε of 1)."""
    small = x < _SERIES_END
    y = select(small, x, 0.0)
    c, s = _closed_half_sinc(select(small, _SERIES_END, x))
    return select(small, _polynomial(_COS, y), c), select(small, _polynomial(_SINC, y), s)


@kernel
def half_angle(w, x):
    """2 atan2(s, w) / s with s² = x, for w >= 0: from a quaternion's vector part to the rotation vector; 8 ε."""
    small = 64.0 * x < w * w
    r = 1.0 / select(small, w, 1.0)
    s = sqrt(select(small, 1.0, x))
    y = select(small, x, 0.0) * r * r
    return select(small, r * _polynomial(_ATAN, y), 2.0 * atan2(s, w) / s)


@kernel
def tangent(x):
    """(1 - cos θ) / θ² and (θ - sin θ) / θ³, the coefficients of `dexp`; within 6 ε."""
    small = x < _SERIES_END
    closed = select(small, _SERIES_END, x)
    c, s = half_sinc(x)
    third = _polynomial(_THIRD, select(small, x, 0.0))
    return 2.0 * s * s, select(small, third, (1.0 - 2.0 * s * c) / closed)


@kernel
def tangent_slopes(x):
    """The derivatives of the two of `tangent` with respect to x; within 15 ε."""
    small = x < _SLOPE_SERIES_END
    y, closed = select(small, x, 0.0), select(small, _SLOPE_SERIES_END, x)
    c, s = _closed_half_sinc(closed)
    second, third = 2.0 * s * s, (1.0 - 2.0 * s * c) / closed
    return (
        select(small, y * _polynomial(_SECOND_SLOPE, y) - 1 / 24, s * (c - 2.0 * s) / closed),
        select(small, y * _polynomial(_THIRD_SLOPE, y) - 1 / 120, 0.5 * (second - 3.0 * third) / closed),
    )


@kernel
def inverse_tangent(x):
    """(1 - θ/2 cot θ/2) / θ², the coefficient of `dexp_inv`; within 4 ε. Infinite at θ = 2π: dexp is singular."""
    small = x < _POLES_END
    y, closed = select(small, x, 0.0), select(small, _POLES_END, x)
    c, s = _closed_half_sinc(closed)
    poles = 2.0 / (_POLE_1 - y) + 2.0 / (_POLE_2 - y) + _polynomial(_OTHER_POLES, y)
    return select(small, poles, (1.0 - 0.5 * c / s) / closed)


@kernel
def inverse_tangent_slope(x):
    """The derivative of `inverse_tangent` with respect to x; within 10 ε."""
    small = x < _POLES_END
    y, closed = select(small, x, 0.0), select(small, _POLES_END, x)
    c, s = _closed_half_sinc(closed)
    r1, r2 = 1.0 / (_POLE_1 - y), 1.0 / (_POLE_2 - y)
    poles = 2.0 * r1 * r1 + 2.0 * r2 * r2 + _slope(_OTHER_POLES, y)
    return select(small, poles, (0.125 / (s * s) + 0.25 * c / s - 1.0) / (closed * closed))
