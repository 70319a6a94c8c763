"""Rigid displacements: a pose is (R, p), a 9-tuple and a 3-tuple, x -> R x + p; a twist is (angular, linear).

Conventions as in so3: right-trivialised tangents, d/dt exp(T) = hat(dexp(T, T')) exp(T). With twists as dual vectors
u + δ v (δ² = 0), `dexp` and `dexp_inv` are those of SO(3): the second component is the derivative of the first along
v, in closed form. Each result is within 10 ε of the exact one (ε = 2.2e-16, relative to its length) for angles from 0
to π - 1e-8.
"""

from poinsot._jit import kernel
from poinsot.algebra import so3
from poinsot.algebra.coefficients import inverse_tangent, inverse_tangent_slope, tangent, tangent_slopes
from poinsot.algebra.matrix import product, times, transpose, transposed_product, transposed_times
from poinsot.algebra.vector import add, cross, dot, negate, squared_norm, sub

IDENTITY = ((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0))


@kernel
def compose(X, Y):
    """X Y: first Y, then X."""
    return product(X[0], Y[0]), add(times(X[0], Y[1]), X[1])


@kernel
def inverse(X):
    """X⁻¹."""
    return transpose(X[0]), negate(transposed_times(X[0], X[1]))


@kernel
def between(X, Y):
    """X⁻¹ Y: the pose of Y as seen from X."""
    return transposed_product(X[0], Y[0]), transposed_times(X[0], sub(Y[1], X[1]))


@kernel
def act(X, a):
    """The point a carried along: R a + p."""
    return add(times(X[0], a), X[1])


@kernel
def exp(T):
    """The screw displacement of a twist: (exp u, dexp_u v)."""
    return so3.exp(T[0]), so3.dexp(T[0], T[1])


@kernel
def log(X):
    """The twist of X, with an angle of at most π."""
    u = so3.log(X[0])
    return u, so3.dexp_inv(u, X[1])


@kernel
def adjoint(X, T):
    """Ad_X T = (R u, p × R u + R v): the twist T seen from the other side of X."""
    u = times(X[0], T[0])
    return u, add(cross(X[1], u), times(X[0], T[1]))


@kernel
def bracket(S, T):
    """[S, T] = (a × u, b × u + a × v) for S = (a, b), T = (u, v)."""
    return cross(S[0], T[0]), add(cross(S[1], T[0]), cross(S[0], T[1]))


@kernel
def _double_cross(T, W, first, second, first_slope, second_slope):
    """W + first [T, W] + second [T, [T, W]], with coefficients that are functions of |u|², itself a dual number."""
    u, v, a, b = T[0], T[1], W[0], W[1]
    ua = cross(u, a)
    uua = cross(u, ua)
    turned = add(cross(u, b), cross(v, a))
    twice = add(cross(u, turned), cross(v, ua))
    step = 2.0 * dot(u, v)
    g, h = first_slope * step, second_slope * step
    angular = (
        a[0] + (first * ua[0] + second * uua[0]),
        a[1] + (first * ua[1] + second * uua[1]),
        a[2] + (first * ua[2] + second * uua[2]),
    )
    linear = (
        b[0] + (first * turned[0] + second * twice[0] + (g * ua[0] + h * uua[0])),
        b[1] + (first * turned[1] + second * twice[1] + (g * ua[1] + h * uua[1])),
        b[2] + (first * turned[2] + second * twice[2] + (g * ua[2] + h * uua[2])),
    )
    return angular, linear


@kernel
def dexp(T, W):
    """dexp_T W, the spatial velocity of exp(T) when T changes at the rate W."""
    x = squared_norm(T[0])
    second, third = tangent(x)
    second_slope, third_slope = tangent_slopes(x)
    return _double_cross(T, W, second, third, second_slope, third_slope)


@kernel
def dexp_inv(T, W):
    """The inverse of `dexp`; it exists for angles below 2π."""
    x = squared_norm(T[0])
    return _double_cross(T, W, -0.5, inverse_tangent(x), 0.0, inverse_tangent_slope(x))
