"""Functions with corners: absolute value, sign, floor, the smaller and the larger of two."""

import math

import numpy as np

from poinsot.scalars.dispatch import scalar_function
from poinsot.scalars.plain import Dual
from poinsot.scalars.primitives import down, magnitude, select, value_of


def _dual_absolute(x):
    return select(value_of(x) < 0.0, -x, x)


@scalar_function(_dual_absolute, abs, math.fabs, np.absolute, np.fabs, inline=True)
def absolute(x):
    """The absolute value; its slope at 0 is taken from the right."""
    return magnitude(x)


def _dual_sign(x):
    return Dual(sign(value_of(x)), 0.0)


@scalar_function(_dual_sign, np.sign, inline=True)
def sign(x):
    """-1, 0 or 1."""
    return select(x > 0.0, 1.0, select(x < 0.0, -1.0, x))


def _dual_floor(x):
    return Dual(floor(value_of(x)), 0.0)


@scalar_function(_dual_floor, np.floor, inline=True)
def floor(x):
    """The largest whole number up to x, as a scalar of the same type."""
    return down(x)


def _minimum(a, b):
    return select(b < a, b, a)


def _maximum(a, b):
    return select(b > a, b, a)


minimum = scalar_function(_minimum, min, np.minimum, inline=True)(_minimum)
maximum = scalar_function(_maximum, max, np.maximum, inline=True)(_maximum)
