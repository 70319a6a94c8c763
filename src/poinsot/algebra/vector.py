"""3-vectors as tuples of three scalars."""

from poinsot._jit import kernel
from poinsot.scalars import sqrt


@kernel
def add(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def sub(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def negate(a):
    """-a."""
    return -a[0], -a[1], -a[2]


@kernel
def scale(s, a):
    """s a."""
    return s * a[0], s * a[1], s * a[2]


@kernel
def add_scaled(a, s, b):
    """a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@kernel
def dot(a, b):
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    """a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def squared_norm(a):
    """a · a."""
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


@kernel
def norm(a):
    """|a|; it has no derivative at a = 0."""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
