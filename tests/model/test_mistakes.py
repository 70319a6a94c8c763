"""Every mistake a user can make in a model, and the sentence that answers it."""

import math

import numpy as np
import pytest

from poinsot.errors import PoinsotError, SimulationError, nearest, unknown
from poinsot.model import Inertia, Model, load

CUBE = Inertia.box(mass=1.0, size=(1.0, 1.0, 1.0))
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


@load
def drag(t, body, coefficient, offset=0.0):
    v = body.velocity
    return (-coefficient * v[0], -coefficient * v[1], offset - coefficient * v[2]), (0.0, 0.0, 0.0)


@load
def pull(t, a, b, strength):
    force = (strength, 0.0, 0.0)
    return (force, (0.0, 0.0, 0.0)), ((-strength, 0.0, 0.0), (0.0, 0.0, 0.0))


def returning(value):
    def law(t, body):
        return value

    return load(law)


def of_time(value):
    return lambda t: value


@pytest.fixture
def model():
    m = Model("test")
    m.body("upper", CUBE, (0.0, 0.0, -1.0))
    m.body("lower", CUBE, (0.0, 0.0, -3.0))
    m.spherical("ball", "ground", "upper", at=(0.0, 0.0, 0.0))
    m.revolute("hinge", "upper", "lower", at=(0.0, 0.0, -2.0), axis=X)
    return m


def add_body(m, **arguments):
    return m.body("new", arguments.pop("inertia", CUBE), **arguments)


def add_revolute(m, **arguments):
    return m.revolute("new", **{"a": "upper", "b": "lower", "at": (0, 0, 0), "axis": X, **arguments})


def add_spring(m, **arguments):
    return m.spring("new", **{"a": "upper", "b": "lower", "stiffness": 1.0, **arguments})


def add_force(m, force):
    return m.force("new", "upper", force=force)


def turned(angle):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


OTHER = Model("other")
FOREIGN = OTHER.body("foreign", CUBE)
FOREIGN_JOINT = OTHER.revolute("hinge", "ground", "foreign", at=(0, 0, 0), axis=X)

ORIENTATIONS = "give a 3x3 rotation matrix, a quaternion (w, x, y, z) or a scipy Rotation"
MISTAKES = {
    # Names
    "same name": (
        lambda m: m.body("upper", CUBE),
        'body "upper": there is a body "upper" already; choose another name',
    ),
    "a joint's name": (
        lambda m: m.force("hinge", "upper", force=X),
        'force "hinge": there is a joint "hinge" already; choose another name',
    ),
    "reserved name": (
        lambda m: m.body("ground", CUBE),
        'body "ground": the name "ground" is reserved for the world; choose another',
    ),
    "empty name": (lambda m: m.body(" ", CUBE), "body: the name ' ' is empty; give one, such as \"body 1\""),
    "name of another kind": (lambda m: m.body(3, CUBE), 'body: the name 3 is not a string; give one, such as "body 1"'),
    "model without a name": (lambda m: Model(""), "model: the name '' is empty"),
    "unknown body": (
        lambda m: add_revolute(m, b="lowr"),
        'joint "new": b: there is no body "lowr"; did you mean "lower"?',
    ),
    "unknown body, none near": (
        lambda m: add_revolute(m, b="xyz"),
        'joint "new": b: there is no body "xyz"; known: upper, lower',
    ),
    "a joint for a body": (lambda m: add_revolute(m, b="hinge"), 'joint "new": b: "hinge" is a joint; give a body'),
    "a joint object for a body": (
        lambda m: add_revolute(m, b=m.joints["hinge"]),
        'joint "new": b Joint "hinge" is not a body; give a body, its name, or model.ground',
    ),
    "None for a body": (lambda m: add_revolute(m, b=None), 'joint "new": b None is not a body'),
    "unknown joint": (
        lambda m: m.motor("new", "hinges", torque=1),
        'motor "new": joint: there is no joint "hinges"; did you mean "hinge"?',
    ),
    "no joints at all": (
        lambda m: Model("bare").damper("new", "hinge", damping=1),
        'damper "new": joint: there is no joint "hinge"; there are none',
    ),
    "a number for a joint": (
        lambda m: m.damper("new", 3, damping=1),
        'damper "new": joint 3 is not a joint; give a joint or its name',
    ),
    "body of another model": (
        lambda m: add_revolute(m, b=FOREIGN),
        'joint "new": b: body "foreign" belongs to another model; add one to model "test" and give that',
    ),
    "joint of another model": (
        lambda m: m.motor("new", FOREIGN_JOINT, torque=1),
        'motor "new": joint: joint "hinge" belongs to another model',
    ),
    "ground of another model": (
        lambda m: add_revolute(m, a=OTHER.ground),
        'joint "new": a is the ground of another model; use that of model "test"',
    ),
    # Models and bodies
    "gravity as a number": (lambda m: Model("new", 9.81), 'model "new": gravity 9.81 is not a vector; give 3 numbers'),
    "gravity of two": (lambda m: Model("new", (0, 9.81)), 'model "new": gravity (0, 9.81) has 2 numbers; give 3'),
    "gravity infinite": (
        lambda m: Model("new", (0, 0, math.inf)),
        'model "new": gravity (0, 0, inf): inf is not finite',
    ),
    "inertia of another kind": (
        lambda m: add_body(m, inertia=3.0),
        'body "new": inertia 3 is not an inertia; give one, such as ps.Inertia.box(mass=1, size=(1, 1, 1))',
    ),
    "position as a string": (
        lambda m: add_body(m, position="1, 2, 3"),
        "body \"new\": position '1, 2, 3' is not a vector; give 3 numbers",
    ),
    "position too long": (
        lambda m: add_body(m, position=(1, 2, 3, 4)),
        'body "new": position (1, 2, 3, 4) has 4 numbers; give 3 numbers',
    ),
    "position of strings": (
        lambda m: add_body(m, position=(1, "2", 3)),
        "body \"new\": position (1, '2', 3): '2' is not a number; give 3 numbers",
    ),
    "position with a bool": (
        lambda m: add_body(m, position=(1, True, 3)),
        'body "new": position (1, True, 3): True is not a number; give 3 numbers',
    ),
    "position with a NumPy bool": (
        lambda m: add_body(m, position=np.array([True, False, True])),
        'body "new": position (True, False, True): True is not a number',
    ),
    "position with a hole": (
        lambda m: add_body(m, position=(1, None, 3)),
        'body "new": position (1, None, 3): None is not a number; give 3 numbers',
    ),
    "complex position": (lambda m: add_body(m, position=(1, 2j, 3)), "2j is not a number; give 3 numbers"),
    "ragged position": (lambda m: add_body(m, position=(1, (2, 3), 3)), "(2, 3) is not a number; give 3 numbers"),
    "position not finite": (
        lambda m: add_body(m, position=(1, math.nan, 3)),
        'body "new": position (1, nan, 3): nan is not finite; give 3 numbers',
    ),
    "velocity too short": (
        lambda m: add_body(m, velocity=(1,)),
        'body "new": velocity (1) has 1 number; give 3 numbers',
    ),
    "angular velocity as a number": (
        lambda m: add_body(m, angular_velocity=40.0),
        'body "new": angular_velocity 40 is not a vector; give 3 numbers',
    ),
    # Orientations
    "orientation of three numbers": (
        lambda m: add_body(m, orientation=(0.1, 0.2, 0.3)),
        f'body "new": orientation (0.1, 0.2, 0.3) has 3 numbers; {ORIENTATIONS}',
    ),
    "orientation as a string": (
        lambda m: add_body(m, orientation="upright"),
        f"body \"new\": orientation 'upright' is not an orientation; {ORIENTATIONS}",
    ),
    "orientation ragged": (
        lambda m: add_body(m, orientation=((1, 0, 0), (0, 1), (0, 0, 1))),
        f"is not an orientation; {ORIENTATIONS}",
    ),
    "orientation of shape 2x2": (lambda m: add_body(m, orientation=np.eye(2)), "has 2x2 numbers; give a 3x3"),
    "stretched": (
        lambda m: add_body(m, orientation=2.0 * np.eye(3)),
        'body "new": orientation is not orthogonal (largest error 3.0e+00, determinant 8); '
        "give a matrix whose columns are the body's axes: perpendicular unit vectors",
    ),
    "sheared": (
        lambda m: add_body(m, orientation=((1, 0.1, 0), (0, 1, 0), (0, 0, 1))),
        'body "new": orientation is not orthogonal (largest error 1.0e-01, determinant 1)',
    ),
    "left-handed": (
        lambda m: add_body(m, orientation=np.diag([1.0, 1.0, -1.0])),
        'body "new": orientation is left-handed (determinant -1); '
        "give a right-handed rotation matrix, of determinant 1: turn one of its columns round",
    ),
    "orientation with nan": (
        lambda m: add_body(m, orientation=np.full((3, 3), np.nan)),
        'body "new": orientation: row (nan, nan, nan): nan is not finite',
    ),
    "quaternion of length zero": (
        lambda m: add_body(m, orientation=(0, 0, 0, 0)),
        'body "new": orientation (0, 0, 0, 0) is a quaternion of length zero; give one of length 1',
    ),
    "quaternion not of unit length": (
        lambda m: add_body(m, orientation=(1, 1, 0, 0)),
        'body "new": orientation (1, 1, 0, 0) is a quaternion of length 1.41421356, not 1; '
        "divide it by its length (the order is w, x, y, z)",
    ),
    # Inertias
    "mass negative": (
        lambda m: Inertia.box(mass=-3, size=(1, 1, 1)),
        "Inertia.box: mass -3 is not positive; give a positive number of kilograms",
    ),
    "mass zero": (lambda m: Inertia(0.0, (1, 1, 1)), "Inertia: mass 0 is not positive"),
    "mass infinite": (lambda m: Inertia(math.inf, (1, 1, 1)), "Inertia: mass inf is not finite"),
    "mass nan": (lambda m: Inertia.point(math.nan), "Inertia.point: mass nan is not finite"),
    "mass as a string": (lambda m: Inertia.rod("3", 1.0), "Inertia.rod: mass '3' is not a number"),
    "mass as a bool": (lambda m: Inertia.sphere(True, 1.0), "Inertia.sphere: mass True is not a number"),
    "neither mass nor density": (
        lambda m: Inertia.sphere(radius=1.0),
        "Inertia.sphere: neither mass nor density is given; give one of them",
    ),
    "mass and density": (
        lambda m: Inertia.sphere(mass=1.0, radius=1.0, density=3.0),
        "Inertia.sphere: both mass and density are given; give one of them",
    ),
    "density negative": (
        lambda m: Inertia.sphere(density=-3.0, radius=1.0),
        "Inertia.sphere: density -3 is not positive; give a positive number of kilograms per cubic metre",
    ),
    "size missing": (lambda m: Inertia.box(mass=1.0), "Inertia.box: size is missing; give three lengths in metres"),
    "size negative": (
        lambda m: Inertia.box(1.0, (1.0, -2.0, 1.0)),
        "Inertia.box: size (1, -2, 1): -2 is not positive; give a positive number of metres",
    ),
    "radius missing": (lambda m: Inertia.cylinder(1.0, length=2.0), "Inertia.cylinder: radius is missing"),
    "length zero": (lambda m: Inertia.cylinder(1.0, 1.0, 0.0), "Inertia.cylinder: length 0 is not positive"),
    "inertia of two numbers": (
        lambda m: Inertia(1.0, (1.0, 2.0)),
        "Inertia: inertia (1, 2) has the wrong shape; give three principal moments or a 3x3 matrix",
    ),
    "inertia as a number": (lambda m: Inertia(1.0, 2.0), "Inertia: inertia 2 has the wrong shape"),
    "inertia not symmetric": (
        lambda m: Inertia(1.0, ((2, 0.5, 0), (0, 2, 0), (0, 0, 2))),
        "Inertia: inertia is not symmetric (elements across the diagonal differ by 0.5); "
        "give the same products of inertia on both sides",
    ),
    "inertia negative": (
        lambda m: Inertia(1.0, (1.0, -0.5, 1.0)),
        "Inertia: inertia has a negative principal moment, -0.5; no body has one",
    ),
    "inertia indefinite": (
        lambda m: Inertia(1.0, ((1, 2, 0), (2, 1, 0), (0, 0, 1))),
        "Inertia: inertia has a negative principal moment, -1; no body has one",
    ),
    "triangle inequality": (
        lambda m: Inertia(1.0, (1.0, 1.0, 2.1)),
        "Inertia: inertia has principal moments (1, 1, 2.1), and 2.1 is more than the sum of the other two; "
        "no body has such moments: check units and axes",
    ),
    "inertia nan": (lambda m: Inertia(1.0, (1.0, math.nan, 1.0)), "Inertia: inertia (1, nan, 1): nan is not finite"),
    "center of two numbers": (lambda m: Inertia(1.0, (1, 1, 1), (0, 0)), "Inertia: center (0, 0) has 2 numbers"),
    "moved by a number": (lambda m: CUBE.moved(1.0), "Inertia.moved: position 1 is not a vector"),
    "moved by no rotation": (lambda m: CUBE.moved(rotation=2 * np.eye(3)), "Inertia.moved: rotation is not orthogonal"),
    "joined with a number": (
        lambda m: CUBE + 1.0,
        "Inertia: 1 cannot be joined with an inertia; join two inertias with +",
    ),
    # Joints
    "axis zero": (
        lambda m: m.revolute("elbow", "upper", "lower", at=(0, 0, 0), axis=(0, 0, 0)),
        'joint "elbow": axis (0, 0, 0) has no direction; give a non-zero vector',
    ),
    "axis not finite": (lambda m: add_revolute(m, axis=(0, math.inf, 0)), 'joint "new": axis (0, inf, 0): inf is not'),
    "axis missing": (
        lambda m: add_revolute(m, axis=None),
        'joint "new": axis is missing; give its direction in world axes at t = 0',
    ),
    "axis as a letter": (
        lambda m: add_revolute(m, axis="z"),
        "joint \"new\": axis 'z' is not a vector; give 3 numbers",
    ),
    "point missing": (
        lambda m: add_revolute(m, at=None),
        'joint "new": at is missing; give the joint\'s point in world axes at t = 0',
    ),
    "point of two numbers": (lambda m: add_revolute(m, at=(0, 0)), 'joint "new": at (0, 0) has 2 numbers'),
    "to itself": (
        lambda m: add_revolute(m, a="lower"),
        'joint "new": it connects body "lower" to itself; give two different bodies',
    ),
    "ground to ground": (
        lambda m: m.fixed("new", "ground", m.ground),
        'joint "new": it connects the ground to itself; give two different bodies',
    ),
    "reading as a string": (lambda m: add_revolute(m, position="pi"), "joint \"new\": position 'pi' is not a number"),
    "pitch missing": (
        lambda m: m.screw("new", "upper", "lower", at=(0, 0, 0), axis=X),
        'joint "new": pitch is missing; give the advance in metres per radian',
    ),
    "universal without axis": (
        lambda m: m.universal("new", "upper", "lower", at=(0, 0, 0)),
        'joint "new": axis is missing; give its direction in world axes at t = 0, or both axes',
    ),
    "universal askew": (
        lambda m: m.universal("new", "upper", "lower", at=(0, 0, 0), axis=(X, (1, 1, 0))),
        "are 45 degrees apart; give two perpendicular ones",
    ),
    "universal with three axes": (
        lambda m: m.universal("new", "upper", "lower", at=(0, 0, 0), axis=(X, Z), second_axis=Z),
        'joint "new": the second axis is given twice, in axis and in second_axis; give it once',
    ),
    "universal second axis zero": (
        lambda m: m.universal("new", "upper", "lower", at=(0, 0, 0), axis=X, second_axis=(0, 0, 0)),
        'joint "new": second_axis (0, 0, 0) has no direction; give a non-zero vector',
    ),
    "distance of nothing": (
        lambda m: m.distance("new", "upper", "lower", at_a=X, at_b=X),
        'joint "new": its two points coincide at (1, 0, 0), so that it has no direction; move at_a or at_b',
    ),
    "distance contradicted": (
        lambda m: m.distance("new", "upper", "lower", length=3.0),
        'joint "new": length 3 contradicts the distance 2 of its points at t = 0; move the points, or leave length out',
    ),
    "distance negative": (
        lambda m: m.distance("new", "upper", "lower", length=-2.0),
        'joint "new": length -2 is not positive',
    ),
    "distance from the ground": (
        lambda m: m.distance("new", "ground", "lower"),
        'joint "new": at_a is missing and the ground has no centre; give the point in world axes',
    ),
    "gear on one joint": (
        lambda m: m.gear("new", "hinge", "hinge", ratio=2.0),
        'joint "new": it couples joint "hinge" to itself; give two different joints',
    ),
    "gear on a ball joint": (
        lambda m: m.gear("new", "hinge", "ball", ratio=2.0),
        'joint "new": joint "ball" is spherical and has 3 coordinates; '
        "give one with a single coordinate: revolute or prismatic or screw",
    ),
    "gear without ratio": (
        lambda m: m.gear("new", "hinge", add_hinge(m), ratio=None),
        'joint "new": ratio is missing; give the motion of joint_b over that of joint_a',
    ),
    "gear ratio zero": (
        lambda m: m.gear("new", "hinge", add_hinge(m), ratio=0),
        'joint "new": ratio 0 would lock joint_b; give a ratio other than 0, or use a fixed joint',
    ),
    # Drives and joint loads
    "driven ball joint": (
        lambda m: m.drive("new", "ball", position="t"),
        'drive "new": joint "ball" is spherical and has 3 coordinates',
    ),
    "driven twice, the other joint free": (
        lambda m: (
            m.drive("first", add_hinge(m), position="t"),
            m.drive("second", "hinge", position="t"),
            m.drive("new", "hinge", position="t"),
        ),
        'drive "new": joint "hinge" is driven by "second" already',
    ),
    "driven twice": (
        lambda m: (m.drive("first", "hinge", position="t"), m.drive("new", "hinge", position="t")),
        'drive "new": joint "hinge" is driven by "first" already; give a joint one drive',
    ),
    "drive without position": (
        lambda m: m.drive("new", "hinge"),
        'drive "new": position is missing; give a number, a string such as "2*sin(t)", or a Python function of t',
    ),
    "motor on a ball joint": (
        lambda m: m.motor("new", "ball", torque=1.0),
        'motor "new": joint "ball" is spherical and has 3 coordinates; '
        "give one with a single coordinate: revolute or prismatic or screw",
    ),
    "torsion spring on a ball joint": (
        lambda m: m.torsion_spring("new", "ball", stiffness=1.0),
        'torsion spring "new": joint "ball" is spherical and has no single axis to turn about; '
        "give one that has: revolute or screw",
    ),
    "torsion spring on a slider": (
        lambda m: m.torsion_spring("new", m.prismatic("slider", "upper", "lower", axis=X), stiffness=1.0),
        'torsion spring "new": joint "slider" is prismatic and has no single axis to turn about',
    ),
    "torsion spring too soft": (
        lambda m: m.torsion_spring("new", "hinge", stiffness=-1.0),
        'torsion spring "new": stiffness -1 is negative; give 0 or more newton metres per radian',
    ),
    "torsion spring's damping": (
        lambda m: m.torsion_spring("new", "hinge", stiffness=1.0, damping=-1.0),
        'torsion spring "new": damping -1 is negative',
    ),
    "torsion spring's rest": (
        lambda m: m.torsion_spring("new", "hinge", stiffness=1.0, rest="0"),
        "torsion spring \"new\": rest '0' is not a number; give the angle at ease in radians",
    ),
    "damper on a weld": (
        lambda m: m.damper("new", m.fixed("weld", "upper", "lower"), damping=1.0),
        'damper "new": joint "weld" is fixed and has no coordinate to damp; give a joint that moves',
    ),
    "damper negative": (lambda m: m.damper("new", "hinge", damping=-1.0), 'damper "new": damping -1 is negative'),
    "damper of two numbers on a hinge": (
        lambda m: m.damper("new", "hinge", damping=(1.0, 2.0)),
        'damper "new": damping (1, 2) has 2 numbers; give 1 number',
    ),
    "damper missing": (lambda m: m.damper("new", "ball"), 'damper "new": damping is missing; give 0 or more newton'),
    "damper of two": (
        lambda m: m.damper("new", "ball", damping=(1.0, 2.0)),
        'damper "new": damping (1, 2) has 2 numbers; give 3 numbers',
    ),
    # Forces and springs
    "force on the ground": (
        lambda m: m.force("new", m.ground, force=X),
        'force "new": it acts on the ground, which does not move; give a body',
    ),
    "torque on the ground": (lambda m: m.torque("new", "ground", torque=X), 'torque "new": it acts on the ground'),
    "force in another frame": (
        lambda m: m.force("new", "upper", force=X, frame="local"),
        'force "new": frame \'local\' is not known; give "world" or "body"',
    ),
    "torque in another frame": (
        lambda m: m.torque("new", "upper", torque=X, frame=None),
        'torque "new": frame None is not known; give "world" or "body"',
    ),
    "force missing": (lambda m: m.force("new", "upper"), 'force "new": force is missing'),
    "force as a number": (lambda m: add_force(m, 3.0), 'force "new": force 3 is not a vector function; give three of'),
    "force as one string": (lambda m: add_force(m, "sin(t)"), "force \"new\": force 'sin(t)' is not a vector function"),
    "force of two": (lambda m: add_force(m, (1.0, 2.0)), 'force "new": force (1, 2) is not a vector function'),
    "force's component": (
        lambda m: add_force(m, (1.0, None, 0.0)),
        'force "new": force\'s y component is missing; give a number, a string such as "2*sin(t)"',
    ),
    "force's point": (lambda m: m.force("new", "upper", force=X, at=1.0), 'force "new": at 1 is not a vector'),
    "spring to itself": (lambda m: add_spring(m, b="upper"), 'spring "new": it connects body "upper" to itself'),
    "spring without length": (
        lambda m: add_spring(m, at_a=X, at_b=X, length=0.0),
        'spring "new": its two points coincide at (1, 0, 0), so that it has no direction; move at_a or at_b',
    ),
    "spring without stiffness": (lambda m: add_spring(m, stiffness=None), 'spring "new": stiffness is missing'),
    "spring too soft": (
        lambda m: add_spring(m, stiffness=-1.0),
        'spring "new": stiffness -1 is negative; give 0 or more newtons per metre',
    ),
    "spring too short": (
        lambda m: add_spring(m, length=-1.0),
        'spring "new": length -1 is negative; give 0 or more metres',
    ),
    "spring's damping": (
        lambda m: add_spring(m, damping=-1.0),
        'spring "new": damping -1 is negative; give 0 or more newton seconds per metre',
    ),
    "spring from nowhere": (
        lambda m: add_spring(m, a="ground"),
        'spring "new": at_a is missing and the ground has no centre; give the point in world axes',
    ),
    # Functions of time
    "function of nothing": (
        lambda m: m.motor("new", "hinge", torque=lambda: 1.0),
        'motor "new": torque <lambda>() does not take one argument; write a function of t alone',
    ),
    "function of two": (
        lambda m: m.motor("new", "hinge", torque=lambda t, x: t),
        'motor "new": torque <lambda>(t, x) does not take one argument; write a function of t alone',
    ),
    "built-in function": (
        lambda m: m.motor("new", "hinge", torque=math.sin),
        'motor "new": torque <built-in function sin> is not a plain Python function, and nothing else can be compiled; '
        "write one, such as lambda t: 2.0 * math.sin(t)",
    ),
    "function object": (
        lambda m: add_force(m, np.cos),
        "force \"new\": force <ufunc 'cos'> is not a plain Python function",
    ),
    "function that returns two": (
        lambda m: m.motor("new", "hinge", torque=of_time((1.0, 2.0))),
        'motor "new": torque (a Python function) at t = 0: result (1, 2) is not a number; return one finite number',
    ),
    "function that returns nothing": (
        lambda m: m.motor("new", "hinge", torque=of_time(None)),
        'motor "new": torque (a Python function) at t = 0: result is missing; return one finite number',
    ),
    "function that returns nan": (
        lambda m: m.motor("new", "hinge", torque=of_time(math.nan)),
        'motor "new": torque (a Python function) at t = 0: result nan is not finite; return one finite number',
    ),
    "function that returns a bool": (lambda m: m.motor("new", "hinge", torque=of_time(True)), "True is not a number"),
    "function that fails": (
        lambda m: m.motor("new", "hinge", torque=lambda t: 1 / t),
        'motor "new": torque (a Python function) failed at t = 0 with ZeroDivisionError: ',
    ),
    "vector function that returns one": (
        lambda m: add_force(m, of_time(1.0)),
        'force "new": force (a Python function) at t = 0: result 1 is not a vector; give 3 numbers',
    ),
    "vector function that returns a list": (
        lambda m: add_force(m, of_time([1.0, 2.0, 3.0])),
        'force "new": force (a Python function) at t = 0: result is a list; return a tuple (x, y, z)',
    ),
    "vector function that returns four": (
        lambda m: add_force(m, of_time((1, 2, 3, 4))),
        "has 4 numbers; give 3 numbers",
    ),
    "expression without a value": (
        lambda m: m.drive("new", "hinge", position="1/t"),
        'drive "new": position "1/t" at t = 0: inf is not finite; give one that has a value there',
    ),
    "expression with a motor's name": (
        lambda m: m.drive("new", "hinge", position="2*velocity"),
        'drive "new": position: in "2*velocity", column 3: "velocity" is not known; allowed: t, pi, e, sin',
    ),
    # User-written loads
    "load of a string": (lambda m: load("drag"), "load: 'drag' is not a Python function; write it as def law(t, body"),
    "load of a built-in": (lambda m: load(math.sin), "is not a Python function"),
    "load with open arguments": (
        lambda m: load(lambda t, *bodies: None),
        'load "<lambda>": the argument "*bodies" is open-ended; name every argument: write it as',
    ),
    "load with keyword-only arguments": (
        lambda m: load(lambda t, body, *, k: None),
        'load "<lambda>": the argument "k" is positional-only or keyword-only; leave out / and *',
    ),
    "load of nothing": (
        lambda m: load(lambda t: None),
        'load "<lambda>": it has no argument for a body; write it as def law(t, body',
    ),
    "load with too many arguments": (
        lambda m: load(lambda t, a, b, c, d, e, f, g, h, i, j, k: None),
        'load "<lambda>": it has 12 arguments; use at most t, two bodies and 8 parameters',
    ),
    "load that is a generator": (lambda m: load(generator), 'load "generator": it is a coroutine or a generator'),
    "not a law": (
        lambda m: m.load("new", lambda t, body: None, "upper"),
        'load "new": function <lambda> is not a load law; decorate the Python function with @ps.load',
    ),
    "load without bodies": (
        lambda m: m.load("new", drag, coefficient=1.0),
        'load "new": it is given 0 bodies; a load acts on one body or between two',
    ),
    "load with three bodies": (
        lambda m: m.load("new", pull, "upper", "lower", "ground", strength=1.0),
        'load "new": it is given 3 bodies; a load acts on one body or between two',
    ),
    "load on the ground": (
        lambda m: m.load("new", drag, "ground", coefficient=1.0),
        'load "new": it acts on the ground, which does not move; give a body',
    ),
    "load between a body and itself": (
        lambda m: m.load("new", pull, "upper", "upper", strength=1.0),
        'load "new": it acts between body "upper" and itself; give two different bodies',
    ),
    "load with too few bodies": (
        lambda m: m.load("new", pull, "upper", strength=1.0),
        'load "new": pull(t, a, b, strength) needs b; give b=...',
    ),
    "load with too many bodies": (
        lambda m: m.load("new", returning(None), "upper", "lower"),
        'load "new": law(t, body) takes one body and is given 2; give one',
    ),
    "parameter missing": (
        lambda m: m.load("new", drag, "upper"),
        'load "new": drag(t, body, coefficient, offset) needs coefficient; give coefficient=...',
    ),
    "parameter misspelt": (
        lambda m: m.load("new", drag, "upper", coeficient=1.0),
        'drag(t, body, coefficient, offset): there is no parameter "coeficient"; did you mean "coefficient"?',
    ),
    "parameter of another kind": (
        lambda m: m.load("new", drag, "upper", coefficient="much"),
        "load \"new\": parameter coefficient 'much' is not a number",
    ),
    "body with a default": (
        lambda m: m.load("new", load(lambda t, body=None: None), "upper"),
        'load "new": <lambda>(t, body) gives the body "body" a default; give one to parameters only',
    ),
    "too many parameters": (
        lambda m: m.load("new", load(nine), "upper", **dict.fromkeys("bcdefghij", 1.0)),
        "has 9 parameters; use at most 8",
    ),
    "load that returns nothing": (
        lambda m: m.load("new", returning(None), "upper"),
        'load "new": law returns None; return ((fx, fy, fz), (tx, ty, tz))',
    ),
    "load that returns one vector": (
        lambda m: m.load("new", returning((1.0, 2.0, 3.0)), "upper"),
        'load "new": law returns (1.0, 2.0, 3.0); return ((fx, fy, fz), (tx, ty, tz))',
    ),
    "load that returns lists": (
        lambda m: m.load("new", returning(([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])), "upper"),
        "return ((fx, fy, fz), (tx, ty, tz))",
    ),
    "load between two that returns one pair": (
        lambda m: m.load("new", load(lambda t, a, b: (X, Z)), "upper", "lower"),
        "return (((fx, fy, fz), (tx, ty, tz)), ((fx, fy, fz), (tx, ty, tz))), for the first and the second body",
    ),
    "load that fails": (
        lambda m: m.load("new", load(lambda t, body: body.speed), "upper"),
        "load \"new\": <lambda> failed at t = 0 with AttributeError: 'BodyState' object has no attribute 'speed'",
    ),
}


def generator(t, body):
    yield 1.0


def nine(t, a, b, c, d, e, f, g, h, i, j):
    return X, Z


def add_hinge(m):
    return m.revolute("second hinge", "ground", "lower", at=(0, 0, -2), axis=X)


@pytest.mark.parametrize(("mistake", "sentence"), MISTAKES.values(), ids=MISTAKES.keys())
def test_says_what_is_wrong(model, mistake, sentence):
    with pytest.raises(PoinsotError) as caught:
        mistake(model)
    assert sentence in str(caught.value)
    assert "; " in str(caught.value), "every message ends with a remedy"
    assert "new" not in {*model.bodies, *model.joints, *model.drives, *model.loads}


ADDITIONS = {
    "body": lambda m: m.body("new", CUBE),
    "joint": lambda m: add_revolute(m),
    "drive": lambda m: m.drive("new", "hinge", position="t"),
    "force": lambda m: add_force(m, X),
    "load": lambda m: m.load("new", drag, "upper", coefficient=1.0),
}


@pytest.mark.parametrize(("kind", "add"), ADDITIONS.items(), ids=ADDITIONS.keys())
def test_frozen_model_takes_nothing_more(model, kind, add):
    model.freeze()
    with pytest.raises(PoinsotError, match="has been simulated and is frozen") as caught:
        add(model)
    assert str(caught.value) == (
        f'{kind} "new": model "test" has been simulated and is frozen; add to a copy of it: model.copy()'
    )
    add(model.copy())


def test_errors_are_value_errors_and_keep_what_was_reached():
    error = SimulationError("the step became too small", time=1.5)
    assert isinstance(error, PoinsotError)
    assert isinstance(error, ValueError)
    assert (error.time, error.run) == (1.5, None)


def test_nearest_names():
    assert unknown("body", "uper", ["upper", "lower"]) == 'there is no body "uper"; did you mean "upper"?'
    assert unknown("body", "q", ["upper", "lower"]) == 'there is no body "q"; known: upper, lower'
    assert unknown("body", "q", []) == 'there is no body "q"; there are none'
    assert nearest("zzz", ["upper"]) == ""
