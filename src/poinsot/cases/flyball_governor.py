"""A stiff flyball governor (benchmark A05): arms with balls on a spinning shaft, tied to a slider by stiff springs.

Shaft and arms are bars of 1 x 0.01 x 0.01 m, the slider a cube of 0.1 m, all of density 3000 kg/m³; each arm carries a
ball of 5 kg at its end. The arms hang on pivots at (±0.05, 1, 0), 30° below the horizontal; springs with dampers, which
stand for the links of a real governor, run from (±0.05, 0.5, 0) on the slider to the middle of the arms, and are at
ease at first. The shaft is along y, spins at 2π rad/s, and is left alone. Where the balls' own moments and the places
of attachment are not given by the benchmark, the balls are points and the places are those that make 0.5 m.
"""

from math import cos, pi, radians, sin

import numpy as np

from poinsot.cases.case import SETTINGS, Case
from poinsot.model import Inertia, Model

DENSITY, LENGTH, WIDTH, EDGE, BALL = 3000.0, 1.0, 0.01, 0.1, 5.0
STIFFNESS, DAMPING, NATURAL = 8e5, 4e4, 0.5
HEIGHT, SLIDER, PIVOT = 1.0, 0.5, 0.05
ANGLE, SPEED = radians(30.0), 2.0 * pi


def build() -> Model:
    """Return the governor spinning, its arms and slider at rest on the shaft."""
    model = Model("flyball governor", gravity=(0.0, -9.81, 0.0))
    spin = np.array((0.0, SPEED, 0.0))
    shaft = Inertia.box(density=DENSITY, size=(WIDTH, LENGTH, WIDTH))
    model.body("shaft", shaft, (0.0, 0.5 * LENGTH, 0.0), angular_velocity=spin)
    slider = Inertia.box(density=DENSITY, size=(EDGE, EDGE, EDGE))
    model.body("slider", slider, (0.0, SLIDER, 0.0), angular_velocity=spin)
    model.revolute("bearing", model.ground, "shaft", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    model.prismatic("sleeve", "shaft", "slider", at=(0.0, SLIDER, 0.0), axis=(0.0, 1.0, 0.0), position=SLIDER)
    bar = Inertia.box(density=DENSITY, size=(LENGTH, WIDTH, WIDTH))
    arm = bar + Inertia.point(BALL).moved((0.5 * LENGTH, 0.0, 0.0))
    for name, side in (("right", 1.0), ("left", -1.0)):
        along = np.array((side * cos(ANGLE), -sin(ANGLE), 0.0))
        across = np.array((0.0, 0.0, side))
        orientation = np.column_stack((along, np.cross(across, along), across))
        pivot = np.array((side * PIVOT, HEIGHT, 0.0))
        center = pivot + (0.5 * LENGTH + arm.center[0]) * along
        model.body(
            f"{name} arm", arm, center, orientation=orientation, velocity=np.cross(spin, center),
            angular_velocity=orientation.T @ spin,
        )  # fmt: skip
        model.revolute(f"{name} pivot", "shaft", f"{name} arm", at=pivot, axis=(0.0, 0.0, -side), position=ANGLE)
        model.spring(
            f"{name} link",
            "slider",
            f"{name} arm",
            at_a=(side * PIVOT, SLIDER, 0.0),
            at_b=pivot + 0.5 * LENGTH * along,
            stiffness=STIFFNESS,
            length=NATURAL,
            damping=DAMPING,
        )
    return model


HOW = "Lagrange's equations in the arms' angle and the slider's height, Radau IIA at 1e-11 (scipy, about 10 digits)"

CASES = (
    Case(
        "flyball-governor",
        "Stiff flyball governor",
        "IFToMM library of multibody benchmarks, A05: stiff flyball governor (González, Dopico, Lugrís, Cuadrado: "
        "A benchmarking system for MBS simulation software, 2006)",
        build,
        settings={**SETTINGS, "rtol": 1e-8, "atol": 1e-11, "method": "radau5"},
        reference={
            "arms' angle below the horizontal at 10 s": (0.390073701845, HOW),
            "slider's height at 10 s": (0.619622917061, HOW),
        },
    ),
)
