"""A box that tumbles freely, thrown spinning about its middle axis: it turns over again and again (Dzhanibekov).

Its motion has a closed form: the angular velocity in Jacobi elliptic functions, the precession about the angular
momentum in the incomplete elliptic integral of the third kind. `motion` evaluates it.
"""

from __future__ import annotations

from math import pi

import numpy as np

from poinsot.cases.case import Case
from poinsot.model import Inertia, Model
from poinsot.model.checks import Array

BOX = Inertia.box(mass=1.2, size=(0.3, 0.2, 0.1))
ANGULAR_VELOCITY = (0.0, 2.0 * pi, 0.5)
VELOCITY = (0.1, 0.0, 0.05)


def build() -> Model:
    """Return the spinning box."""
    model = Model("free body", gravity=(0.0, 0.0, 0.0))
    model.body("box", BOX, velocity=VELOCITY, angular_velocity=ANGULAR_VELOCITY)
    return model


def motion(times: Array) -> tuple[Array, Array]:
    """Return the rotation matrices (body to world) and angular velocities (body axes) at the given times.

    Euler's angles about the angular momentum L: cos θ = I₃ω₃/L, tan φ = I₁ω₁/(I₂ω₂), and the precession
    ψ' = L (I₁ω₁² + I₂ω₂²)/((I₁ω₁)² + (I₂ω₂)²). Valid where the spin about the third axis keeps its sign (L² > 2EI₂)
    and starts with ω₁ = 0, as here.
    """
    from scipy.special import ellipj, ellipk, elliprf, elliprj  # importing it takes longer than building every case

    t = np.asarray(times, dtype=np.float64)
    I1, I2, I3 = (float(moment) for moment in np.diag(BOX.matrix))
    _, w2, w3 = ANGULAR_VELOCITY
    L = float(np.hypot(I2 * w2, I3 * w3))
    # The constants of the motion, as sums of positive terms: L² - 2EI₁ and 2EI₃ - L².
    from_1 = I2 * (I2 - I1) * w2**2 + I3 * (I3 - I1) * w3**2
    from_3 = I2 * (I3 - I2) * w2**2
    rate = float(np.sqrt((I3 - I2) * from_1 / (I1 * I2 * I3)))
    m = (I2 - I1) * from_3 / ((I3 - I2) * from_1)
    quarter = float(ellipk(m))
    sn, cn, dn, amplitude = ellipj(rate * t + quarter, m)
    largest_1 = float(np.sqrt(from_3 / (I1 * (I3 - I1))))
    largest_3 = float(np.sqrt(from_1 / (I3 * (I3 - I1))))
    omega = np.stack([largest_1 * cn, w2 * sn, largest_3 * dn], axis=-1)

    n = -(I3 / I1) * (I2 - I1) / (I3 - I2)
    turns = np.round(amplitude / pi)
    s, c = np.sin(amplitude - pi * turns), np.cos(amplitude - pi * turns)

    def third_kind(s: Array, c: Array) -> Array:
        d = 1.0 - m * s * s
        return s * elliprf(c * c, d, 1.0) + n / 3.0 * s**3 * elliprj(c * c, d, 1.0, 1.0 - n * s * s)

    complete = third_kind(np.ones(()), np.zeros(()))
    grown = third_kind(s, c) + (2.0 * turns - 1.0) * complete
    psi = L / I3 * (t + (I3 - I1) / (I1 * rate) * grown)

    start = _tilt(np.array([0.0, I2 * w2, I3 * w3]) / L)
    return start.T @ _about_z(psi) @ _tilt(omega * np.diag(BOX.matrix) / L), omega


def _tilt(direction: Array) -> Array:
    """Return Rx(θ) Rz(φ), which takes this direction of the body to the z axis."""
    x, y, z = np.moveaxis(direction, -1, 0)
    r, zero = np.hypot(x, y), np.zeros_like(x)
    rows = [[y / r, -x / r, zero], [z * x / r, z * y / r, -r], [x, y, z]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def _about_z(angle: Array) -> Array:
    """Return rotations about z."""
    c, s, zero = np.cos(angle), np.sin(angle), np.zeros_like(angle)
    return np.moveaxis(np.array([[c, -s, zero], [s, c, zero], [zero, zero, zero + 1.0]]), (0, 1), (-2, -1))


HOW = "Jacobi elliptic functions (scipy), checked against Euler's equations in 30-digit arithmetic (mpmath)"

CASES = (
    Case(
        "free-body",
        "Free box tumbling about its middle axis",
        "Landau, Lifshitz: Mechanics, section 37 (the asymmetrical top)",
        build,
        reference={
            "angular velocity at 1 s": ((-4.76151985607475, 3.04121507810588, 3.84491600219961), HOW),
            "angular velocity at 10 s": ((-1.8663274101570, 5.9020488195614, 1.5756923594016), HOW),
        },
    ),
)
