"""What a model holds once it has been described."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from poinsot.model import BodyState, Inertia, Model, UserLaw, load

CUBE = Inertia.box(mass=1.0, size=(1.0, 1.0, 1.0))
X, Y, Z = np.eye(3)
ORIGIN = (0.0, 0.0, 0.0)


@pytest.fixture
def model():
    m = Model("test")
    m.body("upper", CUBE, (0.0, 0.0, -1.0))
    m.body("lower", CUBE, (0.0, 0.0, -3.0))
    return m


def test_bodies_have_defaults_and_keep_the_order():
    m = Model("test", gravity=(0, 0, -1))
    names = ["c", "a", "b"]
    bodies = [m.body(name, CUBE) for name in names]
    assert list(m.bodies) == names
    assert list(m.bodies.values()) == bodies
    assert (m.name, m.gravity.tolist(), m.ground.name) == ("test", [0.0, 0.0, -1.0], "ground")
    body = bodies[0]
    assert body.position.tolist() == [0.0, 0.0, 0.0]
    assert body.rotation.tolist() == np.eye(3).tolist()
    assert body.velocity is None
    assert body.angular_velocity is None
    assert Model("earth").gravity.tolist() == [0.0, 0.0, -9.81]


def test_everything_is_read_only():
    m = Model("test")
    body = m.body("a", CUBE, velocity=(1, 2, 3))
    for array in (m.gravity, body.position, body.rotation, body.velocity, m.ground.rotation):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    with pytest.raises(AttributeError):
        body.position = (1, 2, 3)
    with pytest.raises(TypeError):
        m.bodies["b"] = body
    with pytest.raises(AttributeError):
        m.gravity = (0, 0, 0)


def test_stored_arrays_are_copies():
    position = np.zeros(3)
    body = Model("test").body("a", CUBE, position)
    position[0] = 1.0
    assert body.position[0] == 0.0


@pytest.mark.parametrize(
    "orientation",
    [
        ((0, -1, 0), (1, 0, 0), (0, 0, 1)),
        np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
        (math.sqrt(0.5), 0, 0, math.sqrt(0.5)),
        (-math.sqrt(0.5), 0, 0, -math.sqrt(0.5)),
        (0.7071, 0, 0, 0.7071),
        Rotation.from_euler("z", 90, degrees=True),
    ],
    ids=["tuples", "integers", "quaternion", "its negative", "four digits", "scipy"],
)
def test_orientation_in_every_form(orientation):
    body = Model("test").body("a", CUBE, orientation=orientation)
    np.testing.assert_allclose(body.rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)


def test_orientation_with_rounding_is_made_orthogonal():
    R = Rotation.from_rotvec([0.3, 0.2, 0.1]).as_matrix()
    body = Model("test").body("a", CUBE, orientation=np.round(R, 8))
    np.testing.assert_allclose(body.rotation.T @ body.rotation, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(body.rotation, R, atol=1e-7)


def test_quaternion_order_is_w_x_y_z():
    q = Rotation.from_rotvec([0.3, -0.2, 0.1])
    x, y, z, w = q.as_quat()
    body = Model("test").body("a", CUBE, orientation=(w, x, y, z))
    np.testing.assert_allclose(body.rotation, q.as_matrix(), atol=1e-15)


def test_numpy_numbers_are_numbers(model):
    joint = model.revolute(
        "j", "upper", "lower", at=np.zeros(3, np.float32), axis=np.array([0, 0, 2]), position=np.float64(1)
    )
    assert joint.position == (1.0,)
    assert model.damper("d", joint, damping=np.array(2)).damping == (2.0,)


@pytest.mark.parametrize(
    ("kind", "arguments", "coordinates"),
    [
        ("fixed", {}, 0),
        ("revolute", {"axis": X}, 1),
        ("prismatic", {"axis": X}, 1),
        ("cylindrical", {"axis": X}, 2),
        ("universal", {"axis": X}, 2),
        ("spherical", {}, 3),
        ("planar", {"axis": X}, 3),
        ("screw", {"axis": X, "pitch": 0.1}, 1),
        ("free", {}, 6),
        ("point_on_line", {"axis": X}, 0),
        ("point_on_plane", {"axis": X}, 0),
    ],
)
def test_joints(model, kind, arguments, coordinates):
    joint = getattr(model, kind)("j", model.ground, "lower", at=(1, 2, 3), **arguments)
    assert model.joints == {"j": joint}
    assert (joint.kind, joint.coordinates, joint.position) == (kind, coordinates, (0.0,) * coordinates)
    assert (joint.a, joint.b) == (model.ground, model.bodies["lower"])
    assert joint.at.tolist() == [1.0, 2.0, 3.0]
    assert (joint.axis is not None) == ("axis" in arguments)
    assert joint.pitch == arguments.get("pitch")
    assert repr(joint) == f'<Joint "j": {kind}, from "ground" to "lower" at (1, 2, 3)>'


@pytest.mark.parametrize("kind", ["fixed", "prismatic", "planar", "free"])
def test_point_defaults_to_the_centre_where_it_does_not_matter(model, kind):
    axis = {"axis": X} if kind in ("prismatic", "planar") else {}
    assert getattr(model, kind)("j", "upper", "lower", **axis).at.tolist() == [0.0, 0.0, -3.0]
    assert getattr(model, kind)("k", "upper", "ground", **axis).at.tolist() == [0.0, 0.0, -1.0]


@pytest.mark.parametrize("axis", [(0, 3, 4), (0, 3e-200, 4e-200), (0, 3e200, 4e200)])
def test_axes_become_unit_vectors(model, axis):
    np.testing.assert_allclose(model.revolute("j", "upper", "lower", at=ORIGIN, axis=axis).axis, [0, 0.6, 0.8])


def test_universal_axes(model):
    pair = model.universal("pair", "upper", "lower", at=ORIGIN, axis=((2, 0, 0), (0, 0, 3)))
    assert (pair.axis.tolist(), pair.second_axis.tolist()) == ([1, 0, 0], [0, 0, 1])
    named = model.universal("named", "upper", "lower", at=ORIGIN, axis=X, second_axis=(1e-8, 1, 0))
    assert abs(named.axis @ named.second_axis) < 1e-15
    # Perpendicular to the first axis and to the line down to the body's centre.
    one = model.universal("one", "upper", "lower", at=ORIGIN, axis=(1, 0, 1))
    np.testing.assert_allclose(np.abs(one.second_axis), [0, 1, 0], atol=1e-15)
    # Along that line, and for the ground, a world axis serves.
    along = model.universal("along", "upper", "lower", at=ORIGIN, axis=Z)
    ground = model.universal("ground joint", "upper", "ground", at=ORIGIN, axis=Z)
    for joint in (along, ground):
        assert abs(joint.axis @ joint.second_axis) < 1e-15
        assert np.linalg.norm(joint.second_axis) == pytest.approx(1.0)


def test_distance(model):
    rod = model.distance("rod", "upper", "lower", at_a=(1, 0, -1), length=math.sqrt(5))
    assert rod.length == pytest.approx(math.sqrt(5))
    assert (rod.at_a.tolist(), rod.at_b.tolist()) == ([1, 0, -1], [0, 0, -3])
    assert rod.at is rod.at_b


def test_gear(model):
    first = model.revolute("first", "ground", "upper", at=ORIGIN, axis=X)
    second = model.prismatic("second", "ground", "lower", axis=X)
    gear = model.gear("gear", first, "second", ratio=-2)
    assert (gear.joint_a, gear.joint_b, gear.ratio, gear.coordinates) == (first, second, -2.0, 0)
    assert (gear.a, gear.b) == (first.b, second.b)


def test_loads(model):
    hinge = model.revolute("hinge", "upper", "lower", at=ORIGIN, axis=X, position=0.5)
    ball = model.spherical("ball", "ground", "upper", at=ORIGIN)
    push = model.force("push", "upper", force=("2*t", 1, lambda t: t + 1.0))
    assert (push.body, push.frame, push.at.tolist()) == (model.bodies["upper"], "world", [0, 0, -1])
    assert [component.kind for component in push.force.components] == ["expression", "constant", "python"]
    assert push.force(2.0) == (4.0, 1.0, 3.0)
    assert push.force.callable is None
    twist = model.torque("twist", "upper", torque=lambda t: (t, 2, 3.0), frame="body")
    assert twist.frame == "body"
    assert twist.torque.components is None
    assert twist.torque(1.0) == (1.0, 2.0, 3.0)
    spring = model.spring("spring", "ground", "lower", at_a=ORIGIN, stiffness=3)
    assert (spring.stiffness, spring.length, spring.damping) == (3.0, 3.0, 0.0)
    assert model.spring("rubber", "upper", "lower", stiffness=3, length=0, damping=1).length == 0.0
    torsion = model.torsion_spring("torsion", "hinge", stiffness=3, damping=2, rest=1)
    assert (torsion.joint, torsion.stiffness, torsion.damping, torsion.rest) == (hinge, 3.0, 2.0, 1.0)
    assert model.damper("all", ball, damping=2).damping == (2.0, 2.0, 2.0)
    assert model.damper("each", ball, damping=(1, 2, 3)).damping == (1.0, 2.0, 3.0)
    motor = model.motor("motor", hinge, torque="-2*velocity + position + t")
    assert motor.torque(1.0, 2.0, 3.0) == -3.0
    assert [operation for operation, _ in motor.torque.program][:3] == ["number", "neg", "velocity"]
    drive = model.drive("drive", hinge, position=lambda t: math.sin(t))
    assert model.drives == {"drive": drive}
    assert drive.position(1.0) == math.sin(1.0)
    assert list(model.loads) == ["push", "twist", "spring", "rubber", "torsion", "all", "each", "motor"]


def test_functions_that_are_compiled_already_are_taken(model):
    from numba import njit

    hinge = model.revolute("hinge", "upper", "lower", at=ORIGIN, axis=X)
    compiled = njit(lambda t: t + 2.0)
    assert model.motor("motor", hinge, torque=compiled).torque.callable is compiled.py_func
    assert load(njit(drag)).function is drag


def test_things_show_what_they_are(model):
    assert repr(model.bodies["lower"]) == '<Body "lower": 1 kg at (0, 0, -3)>'
    assert repr(model.ground) == "<Ground>"
    assert repr(model) == '<Model "test": 2 bodies, 0 joints, 0 loads>'


def drag(t, body, coefficient, offset=0.5):
    v = body.velocity
    return (-coefficient * v[0], -coefficient * v[1], offset - coefficient * v[2]), (0.0, 0.0, 0.0)


def test_user_load(model):
    law = load(drag)
    assert isinstance(law, UserLaw)
    assert load(law) is law
    assert (law.function, law.name, law.arguments) == (drag, "drag", ("body", "coefficient", "offset"))
    assert law.parameter_names(1) == ("coefficient", "offset")
    state = BodyState(ORIGIN, tuple(np.eye(3).ravel()), (1.0, 2.0, 3.0), ORIGIN)
    assert law(0.0, state, 2.0) == ((-2.0, -4.0, -5.5), ORIGIN)
    air = model.load("air", law, "lower", coefficient=2)
    assert (air.law, air.bodies, air.parameters) == (law, (model.bodies["lower"],), (2.0, 0.5))
    assert model.load("oil", law, "lower", offset=np.float64(1), coefficient=2).parameters == (2.0, 1.0)


def test_user_load_between_two(model):
    seen = []

    @load
    def pull(t, a, b, name):
        seen.append((a, b))
        force = (name * (b.position[0] - a.position[0]), 0.0, 0.0)
        return (force, ORIGIN), (ORIGIN, ORIGIN)

    pulled = model.load("pull", pull, model.ground, "lower", name=1)
    assert pulled.bodies == (model.ground, model.bodies["lower"])
    ground, lower = seen[0]
    assert (ground.position, ground.rotation, ground.velocity) == (ORIGIN, (1, 0, 0, 0, 1, 0, 0, 0, 1), ORIGIN)
    assert lower.position == (0.0, 0.0, -3.0)


@pytest.mark.parametrize("law", [lambda t, body: 1 / 0, lambda t, body: (math.log(body.velocity[0]), 0)])
def test_a_law_that_has_no_value_at_rest_is_given_the_benefit_of_the_doubt(model, law):
    assert model.load("law", load(law), "upper").parameters == ()


def test_copy_takes_more_and_leaves_the_first_alone(model):
    upper = model.bodies["upper"]
    model.settings["t_end"] = 2.0
    model.freeze()
    assert model.frozen
    copy = model.copy("copy")
    assert (copy.name, copy.frozen, copy.settings) == ("copy", False, {"t_end": 2.0})
    copy.spherical("ball", copy.ground, upper, at=ORIGIN)
    copy.body("third", CUBE)
    copy.settings["t_end"] = 3.0
    assert (list(model.joints), list(model.bodies), model.settings) == ([], ["upper", "lower"], {"t_end": 2.0})
    assert model.copy().name == "test"
    assert repr(copy) == '<Model "copy": 3 bodies, 1 joints, 0 loads>'


def test_models_can_be_sent_to_other_processes(model):
    model.spherical("ball", model.ground, "upper", at=ORIGIN)
    model.force("push", "upper", force=("t", 0, 0))
    twin = pickle.loads(pickle.dumps(model))
    assert twin.joints["ball"].a is twin.ground
    assert twin.joints["ball"].b is twin.bodies["upper"]
    assert twin.loads["push"].force(2.0) == (2.0, 0.0, 0.0)
    twin.body("third", CUBE)


def test_importing_the_model_and_the_cases_is_light():
    code = (
        "import sys, poinsot.model; from poinsot.cases import case; case('heavy-top');"
        "heavy = {'numba', 'scipy', 'xarray', 'pandas', 'matplotlib', 'pydantic'} & set(sys.modules);"
        "sys.exit(', '.join(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
