"""The spherical pendulum with flywheel of Del Citto, Pennestrì and Vita: a rod on a ball joint, a wheel at its end.

The rod hangs from a ball joint at the origin and is 0.5 m long; the axis of the wheel, a revolute joint at the rod's
other end, is the rod's own, z of both bodies. Both start turned by π/6 about x, with the angular velocity (0, 0.5, 0)
rad/s in body axes. The pendulum swings freely until 1.5 s; then 2 N m act on the wheel about its axis, from outside,
until 4.5 s, and after that it is left alone. The torque jumps, so the case's settings hold two events, at which a step
ends and the next begins. Masses and inertias are those of the paper; where it gives nothing, the length (which is that
of the rod's inertia), the start, and the torque's size and whence it comes, they are fixed here.
"""

from math import cos, pi, sin

import numpy as np

from poinsot.cases.case import SETTINGS, Case
from poinsot.model import Event, Inertia, Model

LENGTH = 0.5
ROD = Inertia(2.71944, (0.05708, 0.05708, 0.0008498))
WHEEL = Inertia(4.89499, (0.02779, 0.02779, 0.05507))
ANGLE, ANGULAR_VELOCITY = pi / 6.0, (0.0, 0.5, 0.0)
TORQUE, ON, OFF = 2.0, 1.5, 4.5


def build() -> Model:
    """Return the pendulum at its initial angle and speed, the wheel at rest on the rod."""
    model = Model("spherical pendulum with flywheel", gravity=(0.0, 0.0, -9.81))
    c, s = cos(ANGLE), sin(ANGLE)
    R = np.array(((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)))
    axis = R[:, 2]
    end = -LENGTH * axis
    model.body("rod", ROD, 0.5 * end, orientation=R, angular_velocity=ANGULAR_VELOCITY)
    model.body("wheel", WHEEL, end, orientation=R, angular_velocity=ANGULAR_VELOCITY)
    model.spherical("ball joint", model.ground, "rod", at=(0.0, 0.0, 0.0))
    model.revolute("axle", "rod", "wheel", at=end, axis=axis)
    about_axis = f"where({ON} < t and t < {OFF}, {TORQUE}, 0)"
    model.torque("torque", "wheel", torque=(0.0, 0.0, about_axis), frame="body")
    return model


EVENTS = (
    Event(f"t - {ON}", name="torque on", restart=True),
    Event(f"t - {OFF}", name="torque off", restart=True),
)
CLOSED = "closed form: the torque's impulse over the wheel's inertia about its axis"
MOMENTUM = "momentum balance of a gyrostat about the ball joint, DOP853 at 1e-13 from jump to jump (about 12 digits)"

CASES = (
    Case(
        "flywheel-pendulum",
        "Spherical pendulum with a flywheel that is spun up",
        "Del Citto, Pennestrì, Vita: Coordinate reduction for the dynamics of constrained multibody systems by QTZ "
        "decomposition, section 4.2",
        build,
        settings={**SETTINGS, "t_end": 6.0, "output_step": 0.005, "events": EVENTS},
        reference={
            "centre of the wheel at 4.5 s": ((-0.0152606581123, 0.0507431918905, -0.4971843126958), MOMENTUM),
            "centre of the wheel at 6 s": ((0.0652897838576, -0.2192514045119, -0.4445965201656), MOMENTUM),
            "speed of the wheel on the rod at 6 s": (108.95224260032686, CLOSED),
        },
    ),
)
