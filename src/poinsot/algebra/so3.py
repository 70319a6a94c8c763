"""Rotations: elements of SO(3) as row-major 9-tuples, of so(3) as 3-tuples (rotation vectors, angular velocities).

R_WB maps components in B to components in W. Tangents are right-trivialised: d/dt exp(u) = hat(dexp(u, u')) exp(u),
the spatial velocity; the left-trivialised one, the velocity in body axes, is dexp(-u, u'), and likewise for the
others. Cayley: cay(u) = (1 - û/2)⁻¹ (1 + û/2), which has no trigonometry and agrees with exp to second order.
The result of each kernel is within 10 ε (ε = 2.2e-16, relative to its length) of the exact one, `cayley_inv` within
20 ε, for angles from 0 to π - 1e-8.
"""

from poinsot._jit import kernel
from poinsot.algebra import quaternion
from poinsot.algebra.coefficients import half_sinc, inverse_tangent, tangent
from poinsot.algebra.matrix import skew
from poinsot.algebra.vector import cross, dot, scale, squared_norm

# |B_2k| / (2k)!, k = 1, 2, …: the even terms of x / (exp x - 1), up to signs that the cross products undo.
_BERNOULLI = (
    1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160,
    691 / 1307674368000, 1 / 74724249600, 3617 / 10670622842880000,
)  # fmt: skip
HIGHEST_ORDER = 2 * len(_BERNOULLI) + 2  # of `dexp_inv_truncated`

hat = skew


@kernel
def vee(A):
    """The vector of the skew-symmetric part of A; vee(hat(a)) = a."""
    return 0.5 * (A[7] - A[5]), 0.5 * (A[2] - A[6]), 0.5 * (A[3] - A[1])


@kernel
def _rotation(w, x, y, z):
    """The rotation matrix of a quaternion that is known to have unit length."""
    sx, sy, sz = x + x, y + y, z + z
    xx, yy, zz = sx * x, sy * y, sz * z
    xy, xz, yz = sx * y, sx * z, sy * z
    wx, wy, wz = sx * w, sy * w, sz * w
    return (
        1.0 - (yy + zz), xy - wz, xz + wy,
        xy + wz, 1.0 - (xx + zz), yz - wx,
        xz - wy, yz + wx, 1.0 - (xx + yy),
    )  # fmt: skip


@kernel
def exp(u):
    """The rotation by the angle |u| about u."""
    c, s = half_sinc(squared_norm(u))
    return _rotation(c, s * u[0], s * u[1], s * u[2])


@kernel
def exp_minus_one(u):
    """exp(u) - 1, in which small u lose no digits."""
    c, s = half_sinc(squared_norm(u))
    x, y, z = s * u[0], s * u[1], s * u[2]
    xx, yy, zz, xy, xz, yz = 2.0 * x * x, 2.0 * y * y, 2.0 * z * z, 2.0 * x * y, 2.0 * x * z, 2.0 * y * z
    wx, wy, wz = 2.0 * c * x, 2.0 * c * y, 2.0 * c * z
    return (
        -(yy + zz), xy - wz, xz + wy,
        xy + wz, -(xx + zz), yz - wx,
        xz - wy, yz + wx, -(xx + yy),
    )  # fmt: skip


@kernel
def log(R):
    """The rotation vector of R, |u| <= π; by way of the quaternion, which stays accurate up to π."""
    return quaternion.log(quaternion.from_matrix(R))


@kernel
def _double_cross(u, w, first, second):
    """w + first u × w + second u × (u × w)."""
    a = cross(u, w)
    b = cross(u, a)
    return (
        w[0] + (first * a[0] + second * b[0]),
        w[1] + (first * a[1] + second * b[1]),
        w[2] + (first * a[2] + second * b[2]),
    )


@kernel
def dexp(u, w):
    """dexp_u w = w + (1 - cos θ)/θ² u × w + (θ - sin θ)/θ³ u × (u × w), θ = |u|."""
    second, third = tangent(squared_norm(u))
    return _double_cross(u, w, second, third)


@kernel
def dexp_inv(u, w):
    """The inverse, w - u × w / 2 + (1 - θ/2 cot θ/2)/θ² u × (u × w); it exists for θ < 2π."""
    return _double_cross(u, w, -0.5, inverse_tangent(squared_norm(u)))


@kernel
def dexp_inv_truncated(u, w, order):
    """Σ B_p/p! ad_u^p w over p < order: all that a method of this order needs; order up to 18 (HIGHEST_ORDER)."""
    x = squared_norm(u)
    first = 0.0 if order < 2 else -0.5
    second = 0.0 * x
    for k in range(min((order - 1) // 2, 8) - 1, -1, -1):
        second = second * x + _BERNOULLI[k]
    return _double_cross(u, w, first, second)


@kernel
def cayley(u):
    """cay(u) = (1 - û/2)⁻¹ (1 + û/2): the rotation by 2 atan(|u|/2) about u."""
    return quaternion.to_matrix((1.0, 0.5 * u[0], 0.5 * u[1], 0.5 * u[2]))


@kernel
def cayley_inv(R):
    """The u with cay(u) = R; it is infinite for half turns."""
    q = quaternion.from_matrix(R)
    return scale(2.0 / q[0], (q[1], q[2], q[3]))


@kernel
def dcay(u, w):
    """(w + u × w / 2) / (1 + u·u/4): d/dt cay(u) = hat(dcay(u, u')) cay(u)."""
    a, s = cross(u, w), 1.0 / (1.0 + 0.25 * squared_norm(u))
    return s * (w[0] + 0.5 * a[0]), s * (w[1] + 0.5 * a[1]), s * (w[2] + 0.5 * a[2])


@kernel
def dcay_inv(u, w):
    """The inverse, w - u × w / 2 + (u·w) u / 4."""
    a, s = cross(u, w), 0.25 * dot(u, w)
    return w[0] - 0.5 * a[0] + s * u[0], w[1] - 0.5 * a[1] + s * u[1], w[2] - 0.5 * a[2] + s * u[2]
