"""A slider-crank: a crank on the ground, a connecting rod, and a piston that slides along x, thrown and left alone.

With the crank's angle θ from x, all follows from one equation, J(θ) θ'' + J'(θ) θ'²/2 = -V'(θ). The crank turns over
and over through both dead centres, at which the piston rests but the mechanism is not singular: the rod is longer than
the crank. Of the 20 equations of its joints in space 3 are redundant. The dimensions are of our choice.
"""

from math import asin, cos, pi, sin

from poinsot.cases.case import Case
from poinsot.model import Inertia, Model

CRANK, CRANK_MASS = 0.2, 1.0
ROD, ROD_MASS = 0.5, 2.0
PISTON_MASS = 1.5
WIDTH = 0.04
ANGLE, SPEED = pi / 3.0, 10.0


def build() -> Model:
    """Return the slider-crank with the crank turning at its initial speed."""
    model = Model("slider-crank", gravity=(0.0, -9.81, 0.0))
    pin = (CRANK * cos(ANGLE), CRANK * sin(ANGLE), 0.0)
    lean = asin(pin[1] / ROD)
    wrist = (pin[0] + ROD * cos(lean), 0.0, 0.0)
    model.body(
        "crank",
        Inertia.box(mass=CRANK_MASS, size=(CRANK, WIDTH, WIDTH)),
        (0.5 * pin[0], 0.5 * pin[1], 0.0),
        orientation=_turned(ANGLE),
        angular_velocity=(0.0, 0.0, SPEED),
    )
    center = (0.5 * (pin[0] + wrist[0]), 0.5 * pin[1], 0.0)
    model.body("rod", Inertia.box(mass=ROD_MASS, size=(ROD, WIDTH, WIDTH)), center, orientation=_turned(-lean))
    model.body("piston", Inertia.box(mass=PISTON_MASS, size=(0.1, 0.08, 0.08)), wrist)
    axis = (0.0, 0.0, 1.0)
    model.revolute("main bearing", model.ground, "crank", at=(0.0, 0.0, 0.0), axis=axis, position=ANGLE)
    model.revolute("crank pin", "crank", "rod", at=pin, axis=axis)
    model.revolute("wrist pin", "rod", "piston", at=wrist, axis=axis)
    model.prismatic("cylinder", model.ground, "piston", at=wrist, axis=(1.0, 0.0, 0.0), position=wrist[0])
    return model


def _turned(angle: float) -> tuple[tuple[float, float, float], ...]:
    c, s = cos(angle), sin(angle)
    return ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))


HOW = "the equation of motion in the crank's angle, DOP853 at 1e-13 (about 10 digits)"

CASES = (
    Case(
        "slider-crank",
        "Slider-crank, thrown and left alone",
        "textbooks; dimensions of our choice",
        build,
        reference={
            "crank angle at 10 s": (148.9275182474, HOW),
            "piston at 10 s": (0.4032606482, HOW),
        },
    ),
)
