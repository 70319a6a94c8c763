"""The three-axis rotary table of Bai: yaw, pitch and roll frames in series, unbalanced, falling freely under gravity.

Equation (2) places the centres: s1 = Rz ρ1, s2 = Rz (l1 e3 + Ry ρ2), s3 = Rz (l1 e3 + Ry (l2 e1 + Rx ρ3)). Inertias are
about the centres of mass in body axes; gravity is along -z. The joints read θ1, θ2, θ3. The angular momentum about the
vertical is conserved (the paper's text says, of another one, that it stays 0: it does not).
"""

from __future__ import annotations

from math import pi

import numpy as np

from poinsot.cases.case import Case
from poinsot.model import Inertia, Model
from poinsot.model.checks import Array

MASSES = (0.87, 0.66, 3.5)
MOMENTS = ((6.55e-4, 7.10e-4, 11.3e-4), (1.79e-4, 4.45e-4, 4.6e-4), (1.46e-2, 2.09e-2, 3.29e-2))
CENTERS = ((-28.5e-3, -1e-3, -7.2e-3), (27e-3, -0.3e-3, 1.3e-3), (34e-3, -0.48e-3, 5.5e-3))
L1, L2 = 78.5e-3, 81.5e-3
ANGLES = (pi, pi / 3.0, pi / 3.0)
RATES = (pi, pi / 3.0, pi / 3.0)
NAMES = ("yaw table", "pitch table", "roll table")
JOINTS = ("yaw", "pitch", "roll")


def build() -> Model:
    """Return the table at its initial angles and speeds."""
    model = Model("three-axis table")
    e1, e2, e3 = np.eye(3)
    Rz, Ry, Rx = _turn(2, ANGLES[0]), _turn(1, ANGLES[1]), _turn(0, ANGLES[2])
    R1, R2, R3 = Rz, Rz @ Ry, Rz @ Ry @ Rx
    B = L1 * e3
    C = B + L2 * R2 @ e1
    # Angular velocities in body axes: each adds its joint's to that of the one before.
    w1 = RATES[0] * e3
    w2 = Ry.T @ w1 + RATES[1] * e2
    w3 = Rx.T @ w2 + RATES[2] * e1
    origins, rotations = (np.zeros(3), B, C), (R1, R2, R3)
    for name, mass, moments, center, origin, R, w in zip(
        NAMES, MASSES, MOMENTS, CENTERS, origins, rotations, (w1, w2, w3), strict=True
    ):
        model.body(name, Inertia(mass, moments), origin + R @ np.array(center), orientation=R, angular_velocity=w)
    axes = (e3, R1 @ e2, R2 @ e1)
    below = model.ground.name
    for joint, name, origin, axis, angle in zip(JOINTS, NAMES, origins, axes, ANGLES, strict=True):
        model.revolute(joint, below, name, at=origin, axis=axis, position=angle)
        below = name
    return model


def _turn(axis: int, angle: float) -> Array:
    """Return the rotation about a coordinate axis (equation (1))."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


HOW = "projected Newton-Euler equations in the joint angles, DOP853 at 1e-13 (to about 1e-10)"

CASES = (
    Case(
        "three-axis-table",
        "Three-axis rotary table falling freely",
        "Bai: Lie group variational integrator for multi-body system with rotation coupling in space, section 6",
        build,
        reference={
            "joint positions at 1 s": ((11.59215241190838, 0.9966194705213, 8.27905670511455), HOW),
            "joint positions at 10 s": ((83.741723693926, 1.367835206927, 73.278059619205), HOW),
            "angular momentum about the vertical": (0.08135965138143, "conserved; its value at t = 0"),
        },
    ),
)
