"""Andrews' squeezing mechanism: seven bodies in a plane, three loops that meet in E, a motor on one crank, a spring.

Data, names and initial position are those of the Test Set for IVP Solvers. Its seven coordinates are readings of joints
here: β, Θ, γ, Φ, δ, Ω, ε of O, F, B, H, A5, G, A7. No gravity acts. What the problem leaves out, the moments about axes
in the plane, is set to the moment about z.
"""

from math import cos, sin
from typing import TypeAlias

from poinsot.cases.case import SETTINGS, Case
from poinsot.model import Inertia, Model

Point: TypeAlias = tuple[float, float]

MASSES = {"K1": 0.04325, "K2": 0.00365, "K3": 0.02373, "K4": 0.00706, "K5": 0.07050, "K6": 0.00706, "K7": 0.05498}
MOMENTS = {
    "K1": 2.194e-6, "K2": 4.410e-7, "K3": 5.255e-6, "K4": 5.667e-7, "K5": 1.169e-5, "K6": 5.667e-7, "K7": 1.912e-5,
}  # fmt: skip
O, A, B, C = (0.0, 0.0), (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
D, DA, E, EA, RR, RA = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092
SS, SA, SB, SC, SD, TA, TB = 0.035, 0.01874, 0.01043, 0.018, 0.02, 0.02308, 0.00916
U, UA, UB, ZF, ZT, FA = 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
STIFFNESS, LENGTH, TORQUE = 4530.0, 0.07785, 0.033
BETA, THETA, GAMMA = -0.0617138900142764496358948458001, 0.0, 0.455279819163070380255912382449
PHI, DELTA = 0.222668390165885884674473185609, 0.487364979543842550225598953530
OMEGA, EPSILON = -0.222668390165885884674473185609, 1.23054744454982119249735015568


def build() -> Model:
    """Return the mechanism at rest in its initial position."""
    model = Model("Andrews' squeezing mechanism", gravity=(0.0, 0.0, 0.0))
    F = _beyond(O, BETA, RR, 0.0)
    H = _beyond(A, DELTA, ZT, 0.0)
    G = _beyond(A, EPSILON, 0.0, -U)
    # Each body: its angle, and its centre of mass beyond a joint, in its own axes.
    placed = {
        "K1": (BETA, O, RA, 0.0),
        "K2": (BETA + THETA, F, -DA, 0.0),
        "K3": (GAMMA, B, SB, -SA),
        "K4": (PHI + DELTA, H, 0.0, EA - E),
        "K5": (DELTA, A, TA, TB),
        "K6": (OMEGA + EPSILON, G, ZF - FA, 0.0),
        "K7": (EPSILON, A, -UB, -UA),
    }
    for name, (angle, joint, x, y) in placed.items():
        c, s = cos(angle), sin(angle)
        orientation = ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))
        center = (*_beyond(joint, angle, x, y), 0.0)
        model.body(name, Inertia(MASSES[name], (MOMENTS[name],) * 3), center, orientation=orientation)
    ground, tip = model.ground.name, _beyond(F, BETA + THETA, -D, 0.0)
    for name, a, b, point, reading in (
        ("O", ground, "K1", O, BETA),
        ("F", "K1", "K2", F, THETA),
        ("B", ground, "K3", B, GAMMA),
        ("H", "K5", "K4", H, PHI),
        ("A5", ground, "K5", A, DELTA),
        ("G", "K7", "K6", G, OMEGA),
        ("A7", ground, "K7", A, EPSILON),
        ("at E with K3", "K2", "K3", tip, 0.0),
        ("at E with K4", "K2", "K4", tip, 0.0),
        ("at E with K6", "K2", "K6", tip, 0.0),
    ):
        model.revolute(name, a, b, at=(*point, 0.0), axis=(0.0, 0.0, 1.0), position=reading)
    model.motor("motor", "O", torque=TORQUE)
    hook = (*_beyond(B, GAMMA, SD, -SC), 0.0)
    model.spring("spring", ground, "K3", at_a=(*C, 0.0), at_b=hook, stiffness=STIFFNESS, length=LENGTH)
    return model


def _beyond(start: Point, angle: float, x: float, y: float) -> Point:
    """The point (x, y) in axes that are turned by an angle and begin at a point."""
    c, s = cos(angle), sin(angle)
    return start[0] + c * x - s * y, start[1] + s * x + c * y


HOW = "published: PSIDE at 1e-14 (about 10 digits)"

CASES = (
    Case(
        "andrews",
        "Andrews' squeezing mechanism, seven bodies",
        "Mazzia, Magherini: Test Set for Initial Value Problem Solvers, Andrews' squeezing mechanism; after Hairer, "
        "Wanner: Solving Ordinary Differential Equations II, section VII.7",
        build,
        settings={**SETTINGS, "t_end": 0.03, "output_step": 5e-5},
        reference={
            "β, Θ, γ, Φ, δ, Ω, ε at 0.03 s": (
                (
                    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
                    0.5244099658805304, 0.5347301163226948, 1.048080741042263,
                ),
                HOW,
            ),
            "rates of β, Θ, γ, Φ, δ, Ω, ε at 0.03 s": (
                (
                    1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385,
                    0.5735699284790808, -19.29337464421385, 0.3231791658026955,
                ),
                HOW,
            ),
        },
    ),
)  # fmt: skip
