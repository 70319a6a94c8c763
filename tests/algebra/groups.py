"""The groups of the axiom suite, each behind the same few names, and the elements that its tests draw.

Algebra elements are flat arrays, group elements are what the kernels make of them; `flat` turns either into an array
that can be compared.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import pi, tan

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from poinsot.algebra import matrix, quaternion, se3, so3

bounded = settings(max_examples=60, deadline=None, derandomize=True, database=None)

ANGLES = [0.0, 1e-12, 1e-9, 1e-6, 1e-3, pi - 1e-2, pi - 1e-5, pi - 1e-8, pi, pi + 1e-8, pi + 1e-3]
FRACTIONS = st.floats(-1.0, 1.0, allow_subnormal=False)


def angles(largest: float = 4.0):
    special = [angle for angle in ANGLES if angle <= largest]
    tiny = st.floats(-12.0, -3.0).map(lambda power: 10.0**power)
    return st.sampled_from(special) | tiny | st.floats(1e-3, largest)


def directions():
    axes = [np.eye(3)[i] for i in range(3)]
    generic = st.tuples(FRACTIONS, FRACTIONS, FRACTIONS).filter(lambda a: np.linalg.norm(a) > 0.1)
    return st.sampled_from(axes) | generic.map(lambda a: np.array(a) / np.linalg.norm(a))


def vectors(largest: float = 4.0):
    return st.tuples(angles(largest), directions()).map(lambda drawn: drawn[0] * drawn[1])


def twists(largest: float = 4.0):
    return st.tuples(vectors(largest), vectors(3.0)).map(np.concatenate)


def triple(a):
    return tuple(float(x) for x in a)


def screw(a):
    return triple(a[:3]), triple(a[3:])


def flat(x) -> np.ndarray:
    return np.concatenate([np.ravel(part) for part in x]) if isinstance(x[0], tuple) else np.array(x)


@dataclass(frozen=True)
class Group:
    name: str
    identity: tuple
    elements: Callable  # largest angle -> strategy of algebra elements
    exp: Callable
    log: Callable
    compose: Callable
    inverse: Callable
    adjoint: Callable
    bracket: Callable
    dexp: Callable
    dexp_inv: Callable
    one_parameter: bool = True  # exp((s + t) u) = exp(s u) exp(t u)
    double_cover: bool = False  # g and -g are one rotation

    def difference(self, g, h) -> float:
        g, h = flat(g), flat(h)
        if self.double_cover and g @ h < 0.0:
            h = -h
        return float(np.max(np.abs(g - h)))


def on_rotations(kernel):
    return lambda u, w: np.array(kernel(triple(u), triple(w)))


def on_screws(kernel):
    return lambda u, w: flat(kernel(screw(u), screw(w)))


def cayley_vectors(largest: float = 4.0):
    """Vectors whose Cayley transform turns by the angles that the other groups draw, up to half turns less 0.01."""
    return st.tuples(angles(min(largest, pi - 1e-2)), directions()).map(lambda drawn: 2 * tan(drawn[0] / 2) * drawn[1])


ROTATIONS = Group(
    name="rotation matrices",
    identity=matrix.IDENTITY,
    elements=vectors,
    exp=lambda u: so3.exp(triple(u)),
    log=lambda R: np.array(so3.log(R)),
    compose=matrix.product,
    inverse=matrix.transpose,
    adjoint=lambda R, u: np.array(matrix.times(R, triple(u))),
    bracket=np.cross,
    dexp=on_rotations(so3.dexp),
    dexp_inv=on_rotations(so3.dexp_inv),
)
QUATERNIONS = Group(
    name="unit quaternions",
    identity=quaternion.IDENTITY,
    elements=vectors,
    exp=lambda u: quaternion.exp(triple(u)),
    log=lambda q: np.array(quaternion.log(q)),
    compose=quaternion.product,
    inverse=quaternion.conjugate,
    adjoint=lambda q, u: np.array(quaternion.rotate(q, triple(u))),
    bracket=np.cross,
    dexp=on_rotations(so3.dexp),
    dexp_inv=on_rotations(so3.dexp_inv),
    double_cover=True,
)
CAYLEY = Group(
    name="rotation matrices by Cayley",
    identity=matrix.IDENTITY,
    elements=cayley_vectors,
    exp=lambda u: so3.cayley(triple(u)),
    log=lambda R: np.array(so3.cayley_inv(R)),
    compose=matrix.product,
    inverse=matrix.transpose,
    adjoint=lambda R, u: np.array(matrix.times(R, triple(u))),
    bracket=np.cross,
    dexp=on_rotations(so3.dcay),
    dexp_inv=on_rotations(so3.dcay_inv),
    one_parameter=False,
)
POSES = Group(
    name="poses",
    identity=se3.IDENTITY,
    elements=twists,
    exp=lambda u: se3.exp(screw(u)),
    log=lambda X: flat(se3.log(X)),
    compose=se3.compose,
    inverse=se3.inverse,
    adjoint=lambda X, u: flat(se3.adjoint(X, screw(u))),
    bracket=on_screws(se3.bracket),
    dexp=on_screws(se3.dexp),
    dexp_inv=on_screws(se3.dexp_inv),
)
GROUPS = [ROTATIONS, QUATERNIONS, CAYLEY, POSES]
