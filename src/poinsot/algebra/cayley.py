"""Cayley's map: rotations by rational functions, for turns of less than half a turn.

R = cay(u) turns by 2 atan(|u|/2) about u. With the angular velocity w in body axes u' = H w, H = 1 + û/2 + u uᵀ/4.
"""

from poinsot._jit import kernel
from poinsot.algebra.vector import add, cross, dot, scale


@kernel
def cayley(u):
    """The rotation cay(u) = 1 + (û + û²/2) / (1 + u²/4): by 2 atan(|u|/2) about u."""
    x, y, z = u
    f = 1.0 / (1.0 + 0.25 * dot(u, u))
    h = 0.5 * f
    return (
        1.0 - h * (y * y + z * z), h * x * y - f * z, h * x * z + f * y,
        h * x * y + f * z, 1.0 - h * (x * x + z * z), h * y * z - f * x,
        h * x * z - f * y, h * y * z + f * x, 1.0 - h * (x * x + y * y),
    )  # fmt: skip


@kernel
def inverse_cayley(R):
    """The u with R = cay(u), for turns of less than half a turn."""
    f = 2.0 / (1.0 + R[0] + R[4] + R[8])
    return f * (R[7] - R[5]), f * (R[2] - R[6]), f * (R[3] - R[1])


@kernel
def chart_rate(u, w):
    """u' = H w at the angular velocity w in body axes."""
    return add(add(w, scale(0.5, cross(u, w))), scale(0.25 * dot(u, w), u))


@kernel
def chart_rate_transposed(u, row):
    """Hᵀ of a row."""
    return add(add(row, scale(0.5, cross(row, u))), scale(0.25 * dot(row, u), u))


@kernel
def chart_bend(u, rate, w):
    """H' w, what u'' = H w' + H' w has besides."""
    swing = scale(0.5, cross(rate, w))
    return add(swing, scale(0.25, add(scale(dot(u, w), rate), scale(dot(rate, w), u))))
