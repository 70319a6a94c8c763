"""The same functions in 60 digits, and the distance from them in units of the double precision 2^-52."""

import mpmath as mp
import numpy as np

EPSILON = 2.0**-52
mp.mp.dps = 60


def hat(u):
    return mp.matrix([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])


def vector(u):
    return mp.matrix([mp.mpf(float(x)) for x in u])


def length(u):
    return mp.sqrt(sum(x * x for x in u))


@mp.workdps(200)  # the closed forms cancel four times the digits of the smallest angle
def coefficients(x):
    """All functions of the module `coefficients`, by name, for x > 0."""
    x = mp.mpf(x)
    angle = mp.sqrt(x)
    c, s = mp.cos(angle / 2), mp.sin(angle / 2) / angle
    second = 2 * s * s
    third = (1 - 2 * s * c) / x
    inverse = (1 - c / (2 * s)) / x
    return {
        "half_sinc": (c, s),
        "tangent": (second, third),
        "tangent_slopes": ((s * c - second) / x, (second - 3 * third) / (2 * x)),
        "inverse_tangent": (inverse,),
        "inverse_tangent_slope": ((1 / (8 * s * s) + c / (4 * s) - 1) / x**2,),
    }


def exp(u):
    u, angle = vector(u), length(vector(u))
    if angle == 0:
        return mp.eye(3)
    K = hat(u)
    return mp.eye(3) + mp.sin(angle) / angle * K + (1 - mp.cos(angle)) / angle**2 * K * K


def quaternion_exp(u):
    u, angle = vector(u), length(vector(u))
    s = mp.sin(angle / 2) / angle if angle else mp.mpf(1) / 2
    return mp.matrix([mp.cos(angle / 2), *(s * x for x in u)])


def ad(u):
    """The matrix of the bracket with u, of three or six numbers."""
    if len(u) == 3:
        return hat(vector(u))
    A = mp.zeros(6)
    A[0:3, 0:3] = A[3:6, 3:6] = hat(vector(u[:3]))
    A[3:6, 0:3] = hat(vector(u[3:]))
    return A


def dexp(u, w):
    """Σ ad_u^k w / (k + 1)!, the definition."""
    A, term = ad(u), vector(w)
    total, k = term, 1
    while length(term) > mp.mpf(10) ** -50 * length(total):
        term = A * term / (k + 1)
        total, k = total + term, k + 1
        if k > 200:
            break
    return total


def rounded(x) -> tuple:
    return tuple(float(y) for y in x)


def error(got, exact) -> float:
    """The length of the error over the length of the exact result, in units of EPSILON."""
    got, exact = [mp.mpf(float(x)) for x in np.ravel(got)], list(exact)
    size = length(exact)
    distance = length([x - y for x, y in zip(got, exact, strict=True)])
    return float(distance / size / EPSILON) if size else float(distance / EPSILON)
