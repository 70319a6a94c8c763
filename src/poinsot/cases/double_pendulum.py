"""Two flat bars on ball joints, moving in a plane: the double pendulum of Dumitriu and Mărgăritescu.

Their world has x0 pointing down, so that gravity is (+g, 0, 0); both angles are measured from x0. Each bar's body x
axis runs along it, and z0 is out of the plane. The reference solves their equation (26).
"""

from math import cos, radians, sin

from poinsot.cases.case import Case
from poinsot.model import Inertia, Model

LENGTH = 0.20
SIZE = (LENGTH, 0.02, 0.01)
MASS = 0.108
PHI, PSI = radians(20.0), radians(10.0)


def build() -> Model:
    """Return the double pendulum at rest at its initial angles."""
    model = Model("double pendulum", gravity=(9.81, 0.0, 0.0))
    bar = Inertia.box(mass=MASS, size=SIZE)
    along_1, along_2 = (cos(PHI), sin(PHI), 0.0), (cos(PSI), sin(PSI), 0.0)
    hinge = tuple(LENGTH * x for x in along_1)
    center_2 = tuple(h + 0.5 * LENGTH * x for h, x in zip(hinge, along_2, strict=True))
    model.body("upper", bar, tuple(0.5 * LENGTH * x for x in along_1), orientation=_turned(PHI))
    model.body("lower", bar, center_2, orientation=_turned(PSI))
    model.spherical("O", model.ground, "upper", at=(0.0, 0.0, 0.0))
    model.spherical("H1", "upper", "lower", at=hinge)
    return model


def _turned(angle: float) -> tuple[tuple[float, float, float], ...]:
    c, s = cos(angle), sin(angle)
    return ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))


HOW = "equation (26), Taylor series in 25-digit arithmetic (mpmath.odefun)"

CASES = (
    Case(
        "double-pendulum",
        "Double pendulum of two bars on ball joints",
        "Dumitriu, Mărgăritescu: Validation of new rigid body dynamics formulation using rotation matrices elements "
        "as dependent parameters, double pendulum case study, section 6",
        build,
        reference={
            "phi at 1 s": (0.160915491458184896, HOW),
            "psi at 1 s": (0.53793944988495474, HOW),
            "phi at 10 s": (-0.186658054443265674, HOW),
            "psi at 10 s": (-0.529071813498726414, HOW),
        },
    ),
)
