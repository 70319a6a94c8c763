"""3x3 matrices: full ones as row-major 9-tuples, symmetric ones as the 6-tuple (xx, yy, zz, xy, xz, yz).

Symmetric storage keeps articulated inertias symmetric to the last bit. Everything is unrolled with the fewest
products: these kernels are most of the time of forward dynamics.
"""

from poinsot._jit import kernel

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
SYMMETRIC_IDENTITY = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)


@kernel
def times(A, a):
    """A a."""
    return (
        A[0] * a[0] + A[1] * a[1] + A[2] * a[2],
        A[3] * a[0] + A[4] * a[1] + A[5] * a[2],
        A[6] * a[0] + A[7] * a[1] + A[8] * a[2],
    )


@kernel
def transposed_times(A, a):
    """Aᵀ a."""
    return (
        A[0] * a[0] + A[3] * a[1] + A[6] * a[2],
        A[1] * a[0] + A[4] * a[1] + A[7] * a[2],
        A[2] * a[0] + A[5] * a[1] + A[8] * a[2],
    )


@kernel
def product(A, B):
    """A B."""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@kernel
def transpose(A):
    """Aᵀ."""
    return A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]


@kernel
def transposed_product(A, B):
    """Aᵀ B."""
    return product(transpose(A), B)


@kernel
def product_transposed(A, B):
    """A Bᵀ."""
    return product(A, transpose(B))


@kernel
def full_add(A, B):
    """A + B."""
    return (
        A[0] + B[0], A[1] + B[1], A[2] + B[2],
        A[3] + B[3], A[4] + B[4], A[5] + B[5],
        A[6] + B[6], A[7] + B[7], A[8] + B[8],
    )  # fmt: skip


@kernel
def full_sub(A, B):
    """A - B."""
    return (
        A[0] - B[0], A[1] - B[1], A[2] - B[2],
        A[3] - B[3], A[4] - B[4], A[5] - B[5],
        A[6] - B[6], A[7] - B[7], A[8] - B[8],
    )  # fmt: skip


@kernel
def full_scale(s, A):
    """s A."""
    return s * A[0], s * A[1], s * A[2], s * A[3], s * A[4], s * A[5], s * A[6], s * A[7], s * A[8]


@kernel
def skew(a):
    """The matrix of a ×: skew(a) b = a × b."""
    zero = 0.0 * a[0]  # of the scalar type of a, so that the tuple is homogeneous
    return zero, -a[2], a[1], a[2], zero, -a[0], -a[1], a[0], zero


@kernel
def outer(a, b):
    """a bᵀ."""
    return (
        a[0] * b[0], a[0] * b[1], a[0] * b[2],
        a[1] * b[0], a[1] * b[1], a[1] * b[2],
        a[2] * b[0], a[2] * b[1], a[2] * b[2],
    )  # fmt: skip


@kernel
def times_skew(B, r):
    """B skew(r): each row b of B becomes b × r."""
    x, y, z = r[0], r[1], r[2]
    return (
        B[1] * z - B[2] * y, B[2] * x - B[0] * z, B[0] * y - B[1] * x,
        B[4] * z - B[5] * y, B[5] * x - B[3] * z, B[3] * y - B[4] * x,
        B[7] * z - B[8] * y, B[8] * x - B[6] * z, B[6] * y - B[7] * x,
    )  # fmt: skip


@kernel
def skew_times(r, B):
    """skew(r) B: each column b of B becomes r × b."""
    x, y, z = r[0], r[1], r[2]
    return (
        y * B[6] - z * B[3], y * B[7] - z * B[4], y * B[8] - z * B[5],
        z * B[0] - x * B[6], z * B[1] - x * B[7], z * B[2] - x * B[8],
        x * B[3] - y * B[0], x * B[4] - y * B[1], x * B[5] - y * B[2],
    )  # fmt: skip


@kernel
def inverse(A):
    """A⁻¹ by cofactors; the entries are infinite or undefined where A is singular."""
    a = A[4] * A[8] - A[5] * A[7]
    b = A[5] * A[6] - A[3] * A[8]
    c = A[3] * A[7] - A[4] * A[6]
    d = 1.0 / (A[0] * a + A[1] * b + A[2] * c)
    return (
        a * d, (A[2] * A[7] - A[1] * A[8]) * d, (A[1] * A[5] - A[2] * A[4]) * d,
        b * d, (A[0] * A[8] - A[2] * A[6]) * d, (A[2] * A[3] - A[0] * A[5]) * d,
        c * d, (A[1] * A[6] - A[0] * A[7]) * d, (A[0] * A[4] - A[1] * A[3]) * d,
    )  # fmt: skip


@kernel
def determinant(A):
    """det A."""
    return A[0] * (A[4] * A[8] - A[5] * A[7]) + A[1] * (A[5] * A[6] - A[3] * A[8]) + A[2] * (A[3] * A[7] - A[4] * A[6])


@kernel
def full(S):
    """The nine entries of a symmetric matrix."""
    return S[0], S[3], S[4], S[3], S[1], S[5], S[4], S[5], S[2]


@kernel
def symmetric_part(A):
    """(A + Aᵀ) / 2."""
    return A[0], A[4], A[8], 0.5 * (A[1] + A[3]), 0.5 * (A[2] + A[6]), 0.5 * (A[5] + A[7])


@kernel
def symmetric_times(S, a):
    """S a."""
    return (
        S[0] * a[0] + S[3] * a[1] + S[4] * a[2],
        S[3] * a[0] + S[1] * a[1] + S[5] * a[2],
        S[4] * a[0] + S[5] * a[1] + S[2] * a[2],
    )


@kernel
def symmetric_product(S, B):
    """S B, a full matrix."""
    return product(full(S), B)


@kernel
def symmetric_add(S, T):
    """S + T."""
    return S[0] + T[0], S[1] + T[1], S[2] + T[2], S[3] + T[3], S[4] + T[4], S[5] + T[5]


@kernel
def symmetric_sub(S, T):
    """S - T."""
    return S[0] - T[0], S[1] - T[1], S[2] - T[2], S[3] - T[3], S[4] - T[4], S[5] - T[5]


@kernel
def symmetric_scale(s, S):
    """s S."""
    return s * S[0], s * S[1], s * S[2], s * S[3], s * S[4], s * S[5]


@kernel
def symmetric_inverse(S):
    """S⁻¹ by cofactors, exactly symmetric."""
    a = S[1] * S[2] - S[5] * S[5]
    b = S[4] * S[5] - S[3] * S[2]
    c = S[3] * S[5] - S[4] * S[1]
    d = 1.0 / (S[0] * a + S[3] * b + S[4] * c)
    return (
        a * d,
        (S[0] * S[2] - S[4] * S[4]) * d,
        (S[0] * S[1] - S[3] * S[3]) * d,
        b * d,
        c * d,
        (S[3] * S[4] - S[0] * S[5]) * d,
    )


@kernel
def symmetric_outer(a):
    """a aᵀ."""
    return a[0] * a[0], a[1] * a[1], a[2] * a[2], a[0] * a[1], a[0] * a[2], a[1] * a[2]


@kernel
def transposed_product_symmetric(A, B):
    """Aᵀ B where it is known to be symmetric (B = S A with S symmetric): six entries only."""
    return (
        A[0] * B[0] + A[3] * B[3] + A[6] * B[6],
        A[1] * B[1] + A[4] * B[4] + A[7] * B[7],
        A[2] * B[2] + A[5] * B[5] + A[8] * B[8],
        A[0] * B[1] + A[3] * B[4] + A[6] * B[7],
        A[0] * B[2] + A[3] * B[5] + A[6] * B[8],
        A[1] * B[2] + A[4] * B[5] + A[7] * B[8],
    )


@kernel
def symmetric_times_skew(S, r):
    """S skew(r), a full matrix."""
    x, y, z = r[0], r[1], r[2]
    return (
        S[3] * z - S[4] * y, S[4] * x - S[0] * z, S[0] * y - S[3] * x,
        S[1] * z - S[5] * y, S[5] * x - S[3] * z, S[3] * y - S[1] * x,
        S[5] * z - S[2] * y, S[2] * x - S[4] * z, S[4] * y - S[5] * x,
    )  # fmt: skip


@kernel
def skew_times_symmetric(r, X):
    """skew(r) X where it is known to be symmetric (X = S skew(r) with S symmetric): six entries only."""
    x, y, z = r[0], r[1], r[2]
    return (
        y * X[6] - z * X[3],
        z * X[1] - x * X[7],
        x * X[5] - y * X[2],
        y * X[7] - z * X[4],
        y * X[8] - z * X[5],
        z * X[2] - x * X[8],
    )


@kernel
def twice_symmetric_part(A):
    """A + Aᵀ."""
    return 2.0 * A[0], 2.0 * A[4], 2.0 * A[8], A[1] + A[3], A[2] + A[6], A[5] + A[7]


@kernel
def point_inertia(mass, r):
    """-m skew(r)², the inertia of a point mass at r about the origin."""
    x, y, z = r[0], r[1], r[2]
    xx, yy, zz = mass * x * x, mass * y * y, mass * z * z
    return yy + zz, xx + zz, xx + yy, -mass * x * y, -mass * x * z, -mass * y * z


@kernel
def rotate_symmetric(R, S):
    """R S Rᵀ for a rotation R, exactly symmetric.

    With S = s 1 + L + v ×, where s = S_zz, L has two columns and v = (-S_yz, S_xz, 0), this is s 1 + R L Rᵀ + (R v) ×,
    and the trace gives the last entry: 28 products instead of 45 (Featherstone), 4.0 ns instead of 5.5. Where R is not
    orthogonal, the result is off by S times that departure.
    """
    a, b, c = S[0] - S[2], S[1] - S[2], S[3]
    d, e = S[4] + S[4], S[5] + S[5]
    xx, xy = R[0] * a + R[1] * c + R[2] * d, R[0] * c + R[1] * b + R[2] * e
    yx, yy = R[3] * a + R[4] * c + R[5] * d, R[3] * c + R[4] * b + R[5] * e
    first, second = xx * R[0] + xy * R[1], yx * R[3] + yy * R[4]
    return (
        first + S[2],
        second + S[2],
        (a - first) + (b - second) + S[2],
        xx * R[3] + xy * R[4] + (R[6] * S[5] - R[7] * S[4]),
        xx * R[6] + xy * R[7] + (R[4] * S[4] - R[3] * S[5]),
        yx * R[6] + yy * R[7] + (R[0] * S[5] - R[1] * S[4]),
    )


@kernel
def rotate_full(R, B):
    """R B Rᵀ."""
    return product(product(R, B), transpose(R))


@kernel
def rotate_planar(R, xx, yy, xy):
    """R S Rᵀ for a symmetric S whose third row and column are zero."""
    px, py, pz = xx * R[0] + xy * R[1], xx * R[3] + xy * R[4], xx * R[6] + xy * R[7]
    qx, qy, qz = xy * R[0] + yy * R[1], xy * R[3] + yy * R[4], xy * R[6] + yy * R[7]
    return (
        px * R[0] + qx * R[1], py * R[3] + qy * R[4], pz * R[6] + qz * R[7],
        px * R[3] + qx * R[4], px * R[6] + qx * R[7], py * R[6] + qy * R[7],
    )  # fmt: skip


@kernel
def rotate_two_rows(R, a, b):
    """R B Rᵀ for a B with the rows a and b and a third one of zeros."""
    a, b = times(R, a), times(R, b)  # a Rᵀ, as a row
    return (
        R[0] * a[0] + R[1] * b[0], R[0] * a[1] + R[1] * b[1], R[0] * a[2] + R[1] * b[2],
        R[3] * a[0] + R[4] * b[0], R[3] * a[1] + R[4] * b[1], R[3] * a[2] + R[4] * b[2],
        R[6] * a[0] + R[7] * b[0], R[6] * a[1] + R[7] * b[1], R[6] * a[2] + R[7] * b[2],
    )  # fmt: skip
