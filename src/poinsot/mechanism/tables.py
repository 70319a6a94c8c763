"""The tables that describe a mechanism to the kernels, and the names of their columns.

A *link* is one primitive joint with the frame behind it; row 0 is the ground, and parents come before children. A
compound joint is a chain of links of which the last carries the body. A link's frame has its origin at the joint, a
one-axis joint's axis along its z; spherical and free links are parallel to their parent's frame at zero reading.
Tables have one row per thing, so that a kernel gets a mechanism as a few arrays whatever it consists of.
"""

from typing import Any, NamedTuple

from poinsot._jit import kernel
from poinsot.scalars import borrow, lend, point

# Kinds of links.
FIXED, REVOLUTE, ONE_AXIS, SPHERICAL, FREE = range(5)
DEGREES_OF_FREEDOM = {FIXED: 0, REVOLUTE: 1, ONE_AXIS: 1, SPHERICAL: 3, FREE: 6}
COORDINATES = {FIXED: 0, REVOLUTE: 1, ONE_AXIS: 1, SPHERICAL: 4, FREE: 7}  # quaternion, then position

# Columns of `links` (integers). READING and RATE are rows of the state, MOTION is a row of the velocities.
PARENT, KIND, READING, RATE, MOTION = range(5)
LINK_COLUMNS = 5

# Columns of `frames`: where the link sits in its parent at zero reading, and the inertia about the link's origin.
PLACEMENT, HINGE, MOMENT, MASS, INERTIA, TURN, SLIDE = 0, 9, 12, 15, 16, 22, 23
FRAME_COLUMNS = 24  # TURN and SLIDE: radians and metres per unit of a one-axis joint's reading

# Columns of `bodies`: the centre of mass and the user's axes in the link's frame; mass and inertia in these axes.
CENTER, AXES, BODY_MASS, BODY_INERTIA = 0, 3, 12, 13
BODY_COLUMNS = 19

# Columns of `joints` (integers): kind of the user's joint, rows of its bodies' links, how many coordinates, the row of
# the state that counts what a one-coordinate joint reads (-1: none), whether it is outside the tree, its coordinates'
# links.
JOINT_KIND, BODY_A, BODY_B, COUNT, SIGN, READING_ROW, CLOSES, FIRST_LINK = range(8)
JOINT_COLUMNS = 11  # FIRST_LINK + 0, 1, 2: the links of the coordinates in the user's order
# Columns of `joint_frames`: the joint's point and its axes in the axes of each body, relative to the centre of mass;
# a screw's pitch or a gear's ratio; the reading at t = 0; the distance that is kept.
POINT_A, FRAME_A, POINT_B, FRAME_B, PITCH, START_READING, LENGTH_OF_JOINT = 0, 3, 12, 15, 24, 25, 26
JOINT_FRAME_COLUMNS = 27

# Columns of `equations` (integers), one row per equation of every joint and drive: the row itself, that of its joint
# (of a drive, of the joint that it moves), its terms, the first of the three functions of a drive (-1: none).
EQUATION, EQUATION_JOINT, FIRST_TERM, EQUATION_TERMS, FUNCTION_OF_TIME = range(5)
EQUATION_COLUMNS = 5
# Columns of `terms` (integers): see mechanism/constraints.py. AXIS_A and AXIS_B are columns of the joint's frames.
TERM_KIND, TERM_JOINT, AXIS_A, AXIS_B = range(4)
TERM_COLUMNS = 4

# Kinds of joints; DESIGN's names.
JOINT_KINDS = (
    "fixed", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "screw", "free",
    "distance", "point_on_line", "point_on_plane", "gear",
)  # fmt: skip

# Kinds of loads: first those on joint coordinates, then those on bodies.
JOINT_SPRING, JOINT_DAMPER, SPIN_DAMPER, FLIGHT_DAMPER, MOTOR, FORCE, TORQUE, SPRING, USER_LOAD = range(9)
# Columns of `loads` (integers). LOAD_A and LOAD_B
# are rows of links; of loads on joints, LOAD_B is the row of the joint. FUNCTION is the first of three for vectors, or
# the address of `apply_law`.
LOAD_KIND, LOAD_A, LOAD_B, FUNCTION, IN_BODY_AXES, LAW, PARAMETERS, BACKWARDS, COORDINATE = range(9)
LOAD_COLUMNS = 9  # BACKWARDS: the tree runs from the joint's b to its a. COORDINATE: which of the joint's it acts along
# Columns of `load_values`; a damper of three coordinates has the axes in which it counts instead of the first nine.
AT_A, AT_B, STIFFNESS, LENGTH, DAMPING, PARAMETER = 0, 3, 6, 7, 8, 9
DAMPED_AXES = 0
MOST_PARAMETERS = 8
LOAD_VALUE_COLUMNS = PARAMETER + MOST_PARAMETERS

# Columns of a formulation's `work`, the same for all, one row per link: the motion of the body behind it (centre of
# mass, user's axes), and what loads put on it (at the centre of mass, world axes) and on its joint coordinates.
POSITION, ROTATION, VELOCITY, ANGULAR_VELOCITY, LOAD_FORCE, LOAD_TORQUE, JOINT_FORCE = 0, 3, 12, 15, 18, 21, 24
SHARED_COLUMNS = 30

# Columns of what a formulation reports: of each body ...
ACCELERATION, ANGULAR_ACCELERATION, ORTHOGONALITY = 18, 21, 24
BODY_REPORT_COLUMNS = 30  # after POSITION, ROTATION, VELOCITY, ANGULAR_VELOCITY
# ... and of each joint; DRIVE_FORCE is what its drive exerts on its coordinate. ORTHOGONALITY and MULTIPLIER, of up to
# six equations, are for formulations with such multipliers.
JOINT_POSITION, JOINT_VELOCITY, REACTION_FORCE, REACTION_TORQUE, DRIVE_FORCE, MULTIPLIER = 0, 6, 12, 15, 18, 19
JOINT_REPORT_COLUMNS = 25
# ... and of the whole.
KINETIC_ENERGY, POTENTIAL_ENERGY, LINEAR_MOMENTUM, ANGULAR_MOMENTUM = 0, 1, 2, 5
POSITION_ERROR, VELOCITY_ERROR, ROTATION_ERROR, ENERGY = 8, 9, 10, 11
TOTAL_COLUMNS = 12


# Columns of `sizes`: how many loads act on bodies (they stand first) and on coordinates of the state, the address of
# what applies them (0 without loads), rows of velocities, the addresses of what subtracts the functions of drives and
# of what makes wrenches on bodies of loads on joint coordinates (0 where there are none).
BODY_LOADS, JOINT_LOADS, LOADS_ADDRESS, VELOCITIES, DRIVES_ADDRESS, COORDINATE_LOADS_ADDRESS = range(6)
SIZES = 6


class Mechanism(NamedTuple):
    """All that kernels know of a mechanism; integer tables and float64 tables (or views of Packs)."""

    sizes: Any  # (1, SIZES)
    links: Any  # (links + ground, LINK_COLUMNS)
    frames: Any
    gravity: Any  # (1, 3)
    bodies: Any  # (bodies, 1) the row of the body's link
    body_frames: Any
    joints: Any
    joint_frames: Any
    loads: Any
    load_values: Any
    functions: Any
    function_values: Any
    equations: Any
    terms: Any
    plan: Any  # (numbers, 1) integers by which a formulation finds its way through the constraints
    loops: Any  # (rows, columns) scalars that it works with on the way; first stand equations, one a row
    chart: Any  # (rows, columns) numbers that a formulation keeps from one step to the next, without derivatives


@kernel
def borrowed(m):
    """The same mechanism with tables that count no references (scalars/borrowed.py); it may have such already."""
    return Mechanism(
        borrow(m.sizes), borrow(m.links), borrow(m.frames), borrow(m.gravity), borrow(m.bodies), borrow(m.body_frames),
        borrow(m.joints), borrow(m.joint_frames), borrow(m.loads), borrow(m.load_values), borrow(m.functions),
        borrow(m.function_values), borrow(m.equations), borrow(m.terms), borrow(m.plan), borrow(m.loops),
        borrow(m.chart),
    )  # fmt: skip


def handed(mechanism: Mechanism, work: Any) -> tuple[Any, Any]:
    """Mechanism and workspace as kernels are handed them: a pointer, and a view without references."""
    return point(mechanism), lend(work)
