"""A Stewart platform: six legs of universal, prismatic and spherical joints carry a plate (6-UPS), in forward dynamics.

The feet stand on a circle of 1 m, in pairs 20° apart about 0°, 120° and 240°; the plate, 40 kg, 1 m above, holds the
legs on a circle of 0.6 m, in pairs 20° apart about 60°, 180° and 300°. A leg is a tube of 5 kg, its centre 0.3 m from
the foot, and a piston of 3 kg, its centre 0.3 m from the plate. Springs in the legs carry the weight, and the actuators
push with six sinusoidal forces, so that the plate moves in all six of its freedoms. All numbers are of our choice.
"""

import numpy as np

from poinsot.cases.case import SETTINGS, Case
from poinsot.model import Inertia, Model

FOOT_RADIUS, PLATE_RADIUS, HEIGHT = 1.0, 0.6, 1.0
FOOT_DEGREES = (-10.0, 10.0, 110.0, 130.0, 230.0, 250.0)
PLATE_DEGREES = (-50.0, 50.0, 70.0, 170.0, 190.0, 290.0)
PLATE = Inertia.cylinder(mass=40.0, radius=0.6, length=0.05)
TUBE = Inertia.cylinder(mass=5.0, radius=0.05, length=0.6)
PISTON = Inertia.cylinder(mass=3.0, radius=0.03, length=0.6)
REACH = 0.3
STIFFNESS, EXCESS = 5000.0, 0.02
FORCE = 100.0


def build(actuated: bool = True) -> Model:
    """Return the platform at rest; without its actuators energy is conserved."""
    model = Model("Stewart platform")
    plate = model.body("plate", PLATE, (0.0, 0.0, HEIGHT))
    for i, (foot_angle, plate_angle) in enumerate(zip(FOOT_DEGREES, PLATE_DEGREES, strict=True), 1):
        foot = _on_circle(FOOT_RADIUS, foot_angle, 0.0)
        ball = _on_circle(PLATE_RADIUS, plate_angle, HEIGHT)
        length = float(np.linalg.norm(ball - foot))
        z = (ball - foot) / length
        x = np.cross((0.0, 0.0, 1.0), z)
        x /= np.linalg.norm(x)
        orientation = np.column_stack((x, np.cross(z, x), z))
        model.body(f"tube {i}", TUBE, foot + REACH * z, orientation=orientation)
        model.body(f"piston {i}", PISTON, ball - REACH * z, orientation=orientation)
        # The first axis lies in the ground, below the leg as well as can be; x turns with the leg.
        first = np.cross(x, (0.0, 0.0, 1.0))
        model.universal(f"foot {i}", model.ground, f"tube {i}", at=foot, axis=first, second_axis=x)
        model.prismatic(f"leg {i}", f"tube {i}", f"piston {i}", at=ball, axis=z, position=length)
        model.spherical(f"ball {i}", f"piston {i}", plate, at=ball)
        model.spring(
            f"spring {i}", model.ground, plate, at_a=foot, at_b=ball, stiffness=STIFFNESS, length=length + EXCESS
        )
        if actuated:
            model.motor(f"actuator {i}", f"leg {i}", torque=f"{FORCE} * sin(2 * pi * t * (1 + {i} / 10))")
    return model


def _on_circle(radius: float, degrees: float, height: float) -> np.ndarray:
    angle = np.radians(degrees)
    return np.array([radius * np.cos(angle), radius * np.sin(angle), height])


HOW = "equations of motion in the six velocities of the plate, legs in closed form, DOP853 at 1e-13 (about 12 digits)"

CASES = (
    Case(
        "stewart-platform",
        "Stewart platform on six UPS legs, pushed by its actuators",
        "dimensions of our choice; Stewart: A platform with six degrees of freedom, 1965",
        build,
        settings={**SETTINGS, "t_end": 5.0},
        reference={"centre of the plate at 2 s": ((-0.097885756824691, -0.072570501026539, 0.99077395891711), HOW)},
    ),
)
