"""A heavy symmetric top: a disc on a rod, its tip on a ball joint at the origin (moving frame thesis, section 3.3.1).

Density 1000 kg/m³; disc of radius 0.4 m and thickness 0.05 m on top of a rod of radius 0.05 m and length 0.4 m. The
axis starts 0.3 rad from the vertical (about x), at rest, the top spinning at 40 rad/s about it. Its nutation is a
Jacobi elliptic function of time.
"""

from math import cos, sin

from poinsot.cases.case import Case
from poinsot.model import Inertia, Model

DENSITY = 1000.0
ROD_RADIUS, ROD_LENGTH = 0.05, 0.4
DISC_RADIUS, DISC_THICKNESS = 0.4, 0.05
ANGLE, SPIN = 0.3, 40.0


def inertia() -> Inertia:
    """Return rod and disc joined, described from the tip with z along the axis."""
    rod = Inertia.cylinder(density=DENSITY, radius=ROD_RADIUS, length=ROD_LENGTH)
    disc = Inertia.cylinder(density=DENSITY, radius=DISC_RADIUS, length=DISC_THICKNESS)
    return rod.moved((0.0, 0.0, 0.5 * ROD_LENGTH)) + disc.moved((0.0, 0.0, ROD_LENGTH + 0.5 * DISC_THICKNESS))


def build() -> Model:
    """Return the spinning top."""
    model = Model("heavy top")
    top = inertia()
    c, s = cos(ANGLE), sin(ANGLE)
    height = float(top.center[2])
    model.body(
        "top",
        top,
        (0.0, -height * s, height * c),
        orientation=((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)),
        angular_velocity=(0.0, 0.0, SPIN),
    )
    model.spherical("tip", model.ground, "top", at=(0.0, 0.0, 0.0))
    return model


CASES = (
    Case(
        "heavy-top",
        "Heavy symmetric top of a disc on a rod",
        "The moving frame method for n-body pendulums (thesis), section 3.3.1, Table 3.4",
        build,
        reference={
            "largest angle from the vertical": (0.38092686531385034, "root of the cubic for cos θ (mpmath, 30 digits)"),
            "period of nutation": (0.5598980933048872, "2K/ω, complete elliptic integral (mpmath, 30 digits)"),
            "centre of mass at 10 s": (
                (0.03587158704897085, 0.11902497007265925, 0.380192432515155),
                "cos θ by Jacobi elliptic functions, precession by one quadrature of them (mpmath, 30 digits)",
            ),
        },
    ),
)
