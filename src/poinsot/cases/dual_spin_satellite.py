"""The dual-spin satellite (gyrostat) of Terze, Müller and Zlatar: a rotor and a platform on a common axis.

Rotor A's centre is at the origin, platform B's at (0, 0, 1.75); a revolute joint about the common z axis at A's centre
joins them. The torque (100, 200, 0) N m acts on A, constant in its body axes: both spins stay as they are, and the
transverse angular velocity has a closed form. Variants hold the torque constant in inertial axes, and put B below A,
as the paper's (29) has it when taken literally. The common centre of mass stays at rest in all of them.
"""

from collections.abc import Callable

from poinsot.cases.case import Case, Reference
from poinsot.model import Inertia, Model

ROTOR = Inertia(300.0, (175.0, 175.0, 150.0))
PLATFORM = Inertia(100.0, (43.75, 43.75, 50.0))
HEIGHT = 1.75
TORQUE = (100.0, 200.0, 0.0)
SPIN_A, SPIN_B = 1.0, 0.1


def satellite(height: float = HEIGHT, frame: str = "body") -> Model:
    """Return the satellite with the platform's centre at this height and the torque constant in this frame."""
    model = Model("dual-spin satellite", gravity=(0.0, 0.0, 0.0))
    rest = (0.0, 0.0, 0.0)
    model.body("A", ROTOR, rest, velocity=rest, angular_velocity=(0.0, 0.0, SPIN_A))
    model.body("B", PLATFORM, (0.0, 0.0, height), velocity=rest, angular_velocity=(0.0, 0.0, SPIN_B))
    model.revolute("bearing", "A", "B", at=rest, axis=(0.0, 0.0, 1.0))
    model.torque("thrusters", "A", torque=TORQUE, frame=frame)
    return model


def _case(name: str, title: str, build: Callable[[], Model], reference: dict[str, Reference]) -> Case:
    source = (
        "Terze, Müller, Zlatar: DAE index 1 formulation for multibody system dynamics in Lie-group setting, section 3"
    )
    return Case(name, title, source, build, reference=reference)


CLOSED = "closed form: the transverse angular velocity in the rotor's axes obeys a linear equation"
MOMENTUM = "momentum balance about the common centre of mass, DOP853 at 1e-13 (about 12 digits)"

CASES = (
    _case(
        "dual-spin-satellite",
        "Dual-spin satellite, torque constant in the rotor's axes",
        satellite,
        {
            "angular velocity of A at 10 s": ((0.110703842685153, 0.163976591706591, 1.0), CLOSED),
            "position of A at 10 s": ((0.36242533764316, -0.22394886050556, 0.33799606785408), MOMENTUM),
            "position of B at 10 s": ((-1.08727601292948, 0.67184658151669, 0.73601179643777), MOMENTUM),
        },
    ),
    _case(
        "dual-spin-satellite-inertial-torque",
        "Dual-spin satellite, torque constant in inertial axes",
        lambda: satellite(frame="world"),
        {
            "angular velocity of A at 10 s": ((1.54295361097236, -4.28474489126903, 6.12509844538796), MOMENTUM),
            "position of A at 10 s": ((-0.07377395117611, -0.13340526481006, 0.02741867946854), MOMENTUM),
            "position of B at 10 s": ((0.22132185352832, 0.40021579443017, 1.66774396159437), MOMENTUM),
        },
    ),
    _case(
        "dual-spin-satellite-platform-below",
        "Dual-spin satellite, platform below the rotor",
        lambda: satellite(height=-HEIGHT),
        {
            "angular velocity of A at 10 s": ((0.110703842685153, 0.163976591706591, 1.0), CLOSED),
            "position of A at 10 s": ((-0.36242533764316, 0.22394886050556, -0.33799606785408), MOMENTUM),
            "position of B at 10 s": ((1.08727601292948, -0.67184658151669, -0.73601179643777), MOMENTUM),
        },
    ),
)
