"""What a user says: Model, Body, Inertia, joints, drives, loads, and every check with its error message."""

from poinsot.model.body import Anchor, Body, Ground
from poinsot.model.event import Event
from poinsot.model.functions import Function, Function3
from poinsot.model.inertia import Inertia
from poinsot.model.joint import COORDINATES, Drive, Joint
from poinsot.model.loads import Damper, Force, Load, Motor, Spring, Torque, TorsionSpring, UserLoad
from poinsot.model.model import Model
from poinsot.model.user_load import BodyState, UserLaw, load

__all__ = [
    "COORDINATES",
    "Anchor",
    "Body",
    "BodyState",
    "Damper",
    "Drive",
    "Event",
    "Force",
    "Function",
    "Function3",
    "Ground",
    "Inertia",
    "Joint",
    "Load",
    "Model",
    "Motor",
    "Spring",
    "Torque",
    "TorsionSpring",
    "UserLaw",
    "UserLoad",
    "load",
]
