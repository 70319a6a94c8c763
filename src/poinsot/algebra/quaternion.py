"""Quaternions (w, x, y, z); a unit quaternion q_WB turns components in B into components in W.

`exp` and `log` use the rotation vector: exp(u) turns by the angle |u| about u. `to_matrix` and `rotate` divide by
|q|², so they are exact rotations for a q of any length, and their derivatives stay on the group. `exp`, `log` and the
matrix both ways are within 10 ε (ε = 2.2e-16, relative to its length) of the exact result for angles from 0 to
π - 1e-8.
"""

from poinsot._jit import kernel
from poinsot.algebra.coefficients import half_angle, half_sinc
from poinsot.algebra.matrix import times
from poinsot.scalars import select, sqrt

IDENTITY = (1.0, 0.0, 0.0, 0.0)


@kernel
def product(p, q):
    """The product p q: first turn by q, then by p."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@kernel
def conjugate(q):
    """The inverse rotation; the inverse quaternion if q has unit length."""
    return q[0], -q[1], -q[2], -q[3]


@kernel
def squared_norm(q):
    """|q|²."""
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]


@kernel
def normalise(q):
    """q / |q|."""
    s = 1.0 / sqrt(squared_norm(q))
    return s * q[0], s * q[1], s * q[2], s * q[3]


@kernel
def exp(u):
    """The unit quaternion (cos θ/2, sin θ/2 u/θ) of the rotation vector u, θ = |u|."""
    c, s = half_sinc(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    return c, s * u[0], s * u[1], s * u[2]


@kernel
def exp_minus_one(u):
    """exp(u) - 1, in which small u lose no digits: cos θ/2 - 1 = -2 sin² θ/4."""
    squared = u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
    _, s = half_sinc(squared)
    _, quarter = half_sinc(0.25 * squared)
    return -0.5 * squared * quarter * quarter, s * u[0], s * u[1], s * u[2]


@kernel
def log(q):
    """The rotation vector of q, of any length, with |u| <= π: q and -q give the same."""
    q = upper(q)
    s = half_angle(q[0], q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return s * q[1], s * q[2], s * q[3]


@kernel
def upper(q):
    """The one of q and -q (the same rotation) that has w >= 0."""
    sign = select(q[0] < 0.0, -1.0, 1.0)
    return sign * q[0], sign * q[1], sign * q[2], sign * q[3]


@kernel
def to_matrix(q):
    """The rotation matrix of q, of any length but zero."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    s = 2.0 / squared_norm(q)
    sx, sy, sz = s * x, s * y, s * z
    xx, yy, zz = sx * x, sy * y, sz * z
    xy, xz, yz = sx * y, sx * z, sy * z
    wx, wy, wz = sx * w, sy * w, sz * w
    return (
        1.0 - (yy + zz), xy - wz, xz + wy,
        xy + wz, 1.0 - (xx + zz), yz - wx,
        xz - wy, yz + wx, 1.0 - (xx + yy),
    )  # fmt: skip


@kernel
def from_matrix(R):
    """The unit quaternion of R with w >= 0 (w = 0: either of the two).

    The rows of 4 q qᵀ are linear in R; the one with the largest diagonal entry, at least 1, gives q without
    cancellation at any angle (Shepperd's choice, made by selects).
    """
    a, b, c = R[7] - R[5], R[2] - R[6], R[3] - R[1]
    d, e, f = R[1] + R[3], R[2] + R[6], R[5] + R[7]
    ww, xx = 1.0 + R[0] + R[4] + R[8], 1.0 + R[0] - R[4] - R[8]
    yy, zz = 1.0 - R[0] + R[4] - R[8], 1.0 - R[0] - R[4] + R[8]
    x_first, z_first = xx > ww, zz > yy
    p = (select(x_first, a, ww), select(x_first, xx, a), select(x_first, d, b), select(x_first, e, c))
    q = (select(z_first, c, b), select(z_first, e, d), select(z_first, f, yy), select(z_first, zz, f))
    second = select(z_first, zz, yy) > select(x_first, xx, ww)
    return upper(
        normalise(
            (
                select(second, q[0], p[0]),
                select(second, q[1], p[1]),
                select(second, q[2], p[2]),
                select(second, q[3], p[3]),
            )
        )
    )


@kernel
def rotate(q, a):
    """The vector a turned by q."""
    return times(to_matrix(q), a)


@kernel
def derivative(q, w):
    """dq/dt = q (0, w) / 2 for the angular velocity w in body axes."""
    x, y, z = 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]
    return (
        -q[1] * x - q[2] * y - q[3] * z,
        q[0] * x + q[2] * z - q[3] * y,
        q[0] * y + q[3] * x - q[1] * z,
        q[0] * z + q[1] * y - q[2] * x,
    )
