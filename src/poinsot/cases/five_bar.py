"""The parallel five-bar linkage of Del Citto, Pennestrì and Vita: three equal cranks carry a coupler.

Each crank is 0.3 m from its pivot in the ground to the coupler, which is 0.8 m long and stays level: every crank turns
by the same angle, and 7 of the 30 equations of the six revolute joints are redundant (8 where all lies flat). With the
crank's direction (sin θ, -cos θ, 0) the linkage is a pendulum, 5 l θ'' = -5.5 g sin θ. The paper gives neither
dimensions nor masses; they are fixed here.
"""

from math import cos, pi, sin

from poinsot.cases.case import SETTINGS, Case
from poinsot.model import Inertia, Model

CRANK, CRANK_MASS = 0.3, 1.0
COUPLER, COUPLER_MASS = 0.8, 4.0
PIVOTS = {"left": 0.0, "middle": 0.4, "right": 0.8}
ANGLE = pi / 3.0
SPEED = 6.28


def build() -> Model:
    """Return the linkage at rest."""
    model = Model("five-bar linkage", gravity=(0.0, -9.81, 0.0))
    across = CRANK_MASS * CRANK**2 / 12.0
    crank = Inertia(CRANK_MASS, (0.001, across, across))
    across = COUPLER_MASS * COUPLER**2 / 12.0
    s, c = sin(ANGLE), -cos(ANGLE)
    end_x, end_y = CRANK * s, CRANK * c
    model.body("coupler", Inertia(COUPLER_MASS, (0.01, across, across)), (0.5 * COUPLER + end_x, end_y, 0.0))
    for name, x in PIVOTS.items():
        center = (x + 0.5 * end_x, 0.5 * end_y, 0.0)
        model.body(name, crank, center, orientation=((s, -c, 0.0), (c, s, 0.0), (0.0, 0.0, 1.0)))
        model.revolute(f"{name} pivot", model.ground, name, at=(x, 0.0, 0.0), axis=(0.0, 0.0, 1.0), position=ANGLE)
        model.revolute(f"{name} pin", name, "coupler", at=(x + end_x, end_y, 0.0), axis=(0.0, 0.0, 1.0))
    return model


def driven() -> Model:
    """Return the linkage with its left crank turned steadily."""
    model = build()
    model.drive("motor", "left pivot", position=f"pi / 3 + {SPEED} * t")
    return model


SOURCE = (
    "Del Citto, Pennestrì, Vita: Coordinate reduction for the dynamics of constrained multibody systems by QTZ "
    "decomposition, section 4.1"
)
HOW = "closed form of the pendulum with Jacobi elliptic functions (scipy)"

CASES = (
    Case(
        "five-bar",
        "Parallel five-bar linkage with seven redundant equations, swinging freely",
        SOURCE,
        build,
        settings={**SETTINGS, "t_end": 20.0},
        reference={
            "crank angle at 10 s": (0.832606187759055, HOW),
            "crank angle at 20 s": (0.258746974170422, HOW),
        },
    ),
    Case(
        "five-bar-driven",
        "Parallel five-bar linkage, its left crank driven at 6.28 rad/s",
        SOURCE,
        driven,
        settings={**SETTINGS, "t_end": 2.0, "output_step": 0.005},
    ),
)
