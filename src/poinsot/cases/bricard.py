"""Bricard's mechanism (benchmark A04): five rods and the ground in a closed chain of six revolute joints.

The joints' points are P0 to P5, the corners of a cube that are left when two opposite ones are taken away; rod i runs
from P(i-1) to P(i). By Grübler's formula nothing moves; one of the 30 equations is redundant, and it does.
"""

import numpy as np

from poinsot.cases.case import SETTINGS, Case
from poinsot.model import Inertia, Model

LENGTH, WIDTH, MASS = 1.0, 0.1, 1.0
POINTS = (
    (0.0, 0.0, 0.0),
    (1.0, 0.0, 0.0),
    (1.0, -1.0, 0.0),
    (1.0, -1.0, 1.0),
    (0.0, -1.0, 1.0),
    (0.0, 0.0, 1.0),
)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
AXES = (Y, Z, X, Y, Z, X)


def build() -> Model:
    """Return the mechanism at rest, half a cube."""
    model = Model("Bricard's mechanism", gravity=(0.0, -9.81, 0.0))
    rod = Inertia.box(mass=MASS, size=(LENGTH, WIDTH, WIDTH))
    points = np.array(POINTS)
    before = model.ground.name
    for i in range(5):
        name, along = f"rod {i + 1}", points[i + 1] - points[i]
        # The body's x axis runs along the rod; its two others are equal.
        across = np.roll(along, 1)
        orientation = np.column_stack((along, across, np.cross(along, across)))
        model.body(name, rod, 0.5 * (points[i] + points[i + 1]), orientation=orientation)
        model.revolute(f"P{i}", before, name, at=points[i], axis=AXES[i])
        before = name
    model.revolute("P5", before, model.ground, at=points[5], axis=AXES[5])
    return model


HOW = "motion along the curve cos(θ/2) cos(φ/2) = 1/2 of its two angles, DOP853 at 1e-13 (about 12 digits)"

CASES = (
    Case(
        "bricard",
        "Bricard's six-bar mechanism, overconstrained",
        "IFToMM library of multibody benchmarks, A04: Bricard's mechanism (González, Dopico, Lugrís, Cuadrado: "
        "A benchmarking system for MBS simulation software, 2006)",
        build,
        settings={**SETTINGS, "t_end": 10.0},
        reference={
            "P3 at 1 s": ((0.51050146118723, -1.6491675993948, 0.14012311455319), HOW),
            "P3 at 10 s": ((0.99999996380636, -1.0002690126962, 0.99973095111988), HOW),
        },
    ),
)
