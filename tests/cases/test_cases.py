"""The built-in cases have the values that their sources give; other ways of solving confirm their reference numbers."""

import math

import numpy as np
import pytest
from cases import independent

from poinsot.cases import case, cases, find, free_body, heavy_top
from poinsot.errors import PoinsotError

NAMES = [case.name for case in cases()]


def reference(case, value):
    return find(case).reference[value][0]


def test_list():
    assert NAMES == [
        "double-pendulum",
        "chain-4",
        "dual-spin-satellite",
        "dual-spin-satellite-inertial-torque",
        "dual-spin-satellite-platform-below",
        "heavy-top",
        "free-body",
        "three-axis-table",
        "flywheel-pendulum",
        "five-bar",
        "five-bar-driven",
        "four-bars-2",
        "bricard",
        "andrews",
        "slider-crank",
        "stewart-platform",
        "flyball-governor",
    ]


@pytest.mark.parametrize("name", [*NAMES, "chain-1", "chain-16", "four-bars-40"])
def test_every_case_says_what_it_is_and_builds(name):
    found = find(name)
    assert found.name == name
    assert found.title
    assert found.source
    model, again = case(name), case(name)
    assert model is not again
    assert not model.frozen
    assert model.bodies
    assert {"t_end", "output_step", "formulation", "method"} <= set(model.settings)
    assert ("step" in model.settings) != ("rtol" in model.settings)
    model.settings["t_end"] = 0.0
    assert again.settings["t_end"] > 0.0
    for value, how in found.reference.values():
        assert np.all(np.isfinite(value))
        assert how


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("doble-pendulum", 'there is no case "doble-pendulum"; did you mean "double-pendulum"?'),
        ("heavytop", 'did you mean "heavy-top"?'),
        ("q", 'there is no case "q"; known: double-pendulum, chain-4, '),
        (3, 'there is no case "3"; known: '),
        ("chain-0", 'case "chain-0": "0" is not a number of links; write it as in chain-4 or chain-16'),
        ("chain-N", '"N" is not a number of links'),
        ("chain-", '"" is not a number of links'),
        ("chain--4", '"-4" is not a number of links'),
        ("chain-2.5", '"2.5" is not a number of links'),
        ("chain-²", '"²" is not a number of links'),
    ],
)
def test_unknown_case(name, sentence):
    with pytest.raises(PoinsotError) as caught:
        case(name)
    assert sentence in str(caught.value)


def test_double_pendulum():
    model = case("double-pendulum")
    upper, lower = model.bodies.values()
    assert model.gravity.tolist() == [9.81, 0.0, 0.0]
    assert upper.inertia.mass == lower.inertia.mass == 0.108
    # C of the paper, 3.636 kg cm², about the axis out of the plane.
    assert upper.inertia.matrix[2, 2] == pytest.approx(3.636e-4)
    assert upper.inertia.matrix[0, 0] < upper.inertia.matrix[1, 1] < upper.inertia.matrix[2, 2]
    for body, degrees, start in ((upper, 20, np.zeros(3)), (lower, 10, 2 * upper.position)):
        along = np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0])
        np.testing.assert_allclose(body.position, start + 0.1 * along, atol=1e-16)
        np.testing.assert_allclose(body.rotation[:, 0], along, atol=1e-15)
    assert [joint.kind for joint in model.joints.values()] == ["spherical", "spherical"]
    np.testing.assert_allclose(model.joints["H1"].at, 2 * upper.position, atol=1e-16)


@pytest.mark.parametrize("t", [1, 10])
def test_double_pendulum_by_its_angles(t):
    expected = reference("double-pendulum", f"phi at {t} s"), reference("double-pendulum", f"psi at {t} s")
    np.testing.assert_allclose(independent.double_pendulum(t), expected, rtol=0, atol=2e-13)


@pytest.mark.parametrize("links", [1, 4, 16])
def test_chain(links):
    model = case(f"chain-{links}")
    assert (len(model.bodies), len(model.joints)) == (links, links)
    line = np.array([0.0, math.sin(0.1), -math.cos(0.1)])
    for i, (body, joint) in enumerate(zip(model.bodies.values(), model.joints.values(), strict=True)):
        np.testing.assert_allclose(body.position, (2 * i + 1) * line, atol=1e-14)
        np.testing.assert_allclose(joint.at, 2 * i * line, atol=1e-14)
        np.testing.assert_allclose(body.rotation @ [0, 0, -1], line, atol=1e-15)
        assert (joint.kind, joint.b, body.inertia.mass) == ("spherical", body, 50.0)
    # J = 66.83 about the joint, as the prism of Table 3.1 has it.
    first = next(iter(model.bodies.values())).inertia
    assert first.moved((0, 0, -1)).about((0, 0, 0))[0, 0] == pytest.approx(66.8333, abs=1e-4)


def test_chain_by_other_ways():
    assert independent.pendulum_period() == pytest.approx(reference("chain-1", "period"), rel=1e-14)
    assert independent.pendulum_period() == pytest.approx(2.32075, abs=1e-5)
    half = independent.chain(1, reference("chain-1", "period") / 2)
    np.testing.assert_allclose(half, [-0.1], atol=1e-12)
    angles = reference("chain-4", "angles from the vertical at 10 s")
    np.testing.assert_allclose(independent.chain(4, 10.0), angles, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("variant", "height", "frame"),
    [("", 1.75, "body"), ("-inertial-torque", 1.75, "world"), ("-platform-below", -1.75, "body")],
)
def test_satellite(variant, height, frame):
    name = f"dual-spin-satellite{variant}"
    model = case(name)
    a, b = model.bodies.values()
    assert not model.gravity.any()
    assert (a.inertia.mass, b.inertia.mass) == (300.0, 100.0)
    assert np.diag(a.inertia.matrix).tolist() == [175.0, 175.0, 150.0]
    assert np.diag(b.inertia.matrix).tolist() == [43.75, 43.75, 50.0]
    assert (a.position.tolist(), b.position.tolist()) == ([0, 0, 0], [0, 0, height])
    assert (a.angular_velocity.tolist(), b.angular_velocity.tolist()) == ([0, 0, 1], [0, 0, 0.1])
    bearing, torque = model.joints["bearing"], model.loads["thrusters"]
    assert (bearing.kind, bearing.axis.tolist(), bearing.at.tolist()) == ("revolute", [0, 0, 1], [0, 0, 0])
    assert (torque.body, torque.frame, torque.torque(3.0)) == (a, frame, (100.0, 200.0, 0.0))

    omega, p_A, p_B = independent.satellite(10.0, height, frame)
    np.testing.assert_allclose(omega, reference(name, "angular velocity of A at 10 s"), rtol=0, atol=1e-11)
    np.testing.assert_allclose(p_A, reference(name, "position of A at 10 s"), rtol=0, atol=1e-12)
    np.testing.assert_allclose(p_B, reference(name, "position of B at 10 s"), rtol=0, atol=1e-12)
    if frame == "body":
        across = independent.satellite_across(10.0)
        np.testing.assert_allclose(omega, [across.real, across.imag, 1.0], atol=1e-12)


def test_heavy_top():
    model = case("heavy-top")
    top = model.bodies["top"]
    # The masses are π and 8π kg, which puts the centre at 0.4 m.
    assert top.inertia.mass == pytest.approx(9 * math.pi)
    assert top.inertia.center.tolist() == pytest.approx([0.0, 0.0, 0.4])
    np.testing.assert_allclose(top.position, top.rotation @ top.inertia.center, atol=1e-15)
    np.testing.assert_allclose(top.rotation[:, 2], [0.0, -math.sin(0.3), math.cos(0.3)])
    assert top.angular_velocity.tolist() == [0.0, 0.0, 40.0]
    assert model.joints["tip"].at.tolist() == [0.0, 0.0, 0.0]
    about_tip = heavy_top.inertia().about((0, 0, 0))
    assert about_tip[0, 0] == pytest.approx(about_tip[1, 1])


def test_heavy_top_by_elliptic_functions():
    angle, period, center = independent.heavy_top(10)
    assert angle == pytest.approx(reference("heavy-top", "largest angle from the vertical"), rel=1e-14)
    assert period == pytest.approx(reference("heavy-top", "period of nutation"), rel=1e-14)
    np.testing.assert_allclose(center, reference("heavy-top", "centre of mass at 10 s"), rtol=0, atol=1e-14)


def test_free_body():
    model = case("free-body")
    box = model.bodies["box"]
    assert not model.gravity.any()
    assert not model.joints
    np.testing.assert_allclose(np.diag(box.inertia.matrix), [0.005, 0.01, 0.013])
    assert box.angular_velocity.tolist() == [0.0, 2 * math.pi, 0.5]


def test_free_body_starts_where_the_case_does():
    R, omega = free_body.motion(np.array(0.0))
    np.testing.assert_allclose(R, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(omega, free_body.ANGULAR_VELOCITY, atol=1e-14)


def test_free_body_keeps_energy_and_momentum_for_a_thousand_turns():
    t = np.linspace(0.0, 1000.0, 2001)
    R, omega = free_body.motion(t)
    moments = np.diag(free_body.BOX.matrix)
    start = omega[0]
    np.testing.assert_allclose(omega**2 @ moments, start**2 @ moments, rtol=1e-12)
    np.testing.assert_allclose(np.einsum("tij,tj->ti", R, omega * moments), [start * moments] * len(t), atol=1e-12)
    np.testing.assert_allclose(np.swapaxes(R, 1, 2) @ R, [np.eye(3)] * len(t), atol=1e-14)


def test_free_body_turns_as_its_angular_velocity_says():
    t, h = np.linspace(0.0, 50.0, 501), 1e-4
    R, omega = free_body.motion(t)
    ahead, behind = free_body.motion(t + h)[0], free_body.motion(t - h)[0]
    hat = np.swapaxes(R, 1, 2) @ (ahead - behind) / (2.0 * h)
    rate = np.stack([hat[:, 2, 1], hat[:, 0, 2], hat[:, 1, 0]], axis=-1)
    np.testing.assert_allclose(rate, omega, atol=2e-6)


def test_free_body_by_eulers_equations():
    omega, R = independent.free_body(3)
    closed_R, closed_omega = free_body.motion(np.array(3.0))
    np.testing.assert_allclose(closed_omega, omega, rtol=0, atol=5e-14)
    np.testing.assert_allclose(closed_R, R, rtol=0, atol=1e-14)
    # At 100 s, after 100 turns, by the same equations, which take a minute: Taylor series in 30-digit arithmetic.
    closed_R, closed_omega = free_body.motion(np.array(100.0))
    np.testing.assert_allclose(
        closed_omega, [-4.328437608244055, -3.8076136139418626, 3.5014074210952617], rtol=0, atol=2e-12
    )
    np.testing.assert_allclose(
        closed_R[0], [-0.4255095273420306, -0.5842749595277918, -0.6910603546796465], rtol=0, atol=5e-13
    )
    for t in (1, 10):
        expected = reference("free-body", f"angular velocity at {t} s")
        np.testing.assert_allclose(free_body.motion(np.array(float(t)))[1], expected, rtol=0, atol=1e-12)


def turn(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    return {
        "x": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
        "y": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        "z": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]


def test_three_axis_table():
    model = case("three-axis-table")
    one, two, three = model.bodies.values()
    Rz, Ry, Rx = turn("z", math.pi), turn("y", math.pi / 3), turn("x", math.pi / 3)
    # Equation (2).
    l1, l2 = np.array([0, 0, 78.5e-3]), np.array([81.5e-3, 0, 0])
    np.testing.assert_allclose(one.position, Rz @ [-28.5e-3, -1e-3, -7.2e-3], atol=1e-17)
    np.testing.assert_allclose(two.position, Rz @ (l1 + Ry @ [27e-3, -0.3e-3, 1.3e-3]), atol=1e-17)
    np.testing.assert_allclose(three.position, Rz @ (l1 + Ry @ (l2 + Rx @ [34e-3, -0.48e-3, 5.5e-3])), atol=1e-16)
    np.testing.assert_allclose(three.rotation, Rz @ Ry @ Rx, atol=1e-15)
    assert [body.inertia.mass for body in model.bodies.values()] == [0.87, 0.66, 3.5]
    assert np.diag(three.inertia.matrix).tolist() == [1.46e-2, 2.09e-2, 3.29e-2]
    assert [joint.position[0] for joint in model.joints.values()] == [math.pi, math.pi / 3, math.pi / 3]
    yaw, pitch, roll = model.joints.values()
    np.testing.assert_allclose(roll.at, Rz @ (l1 + Ry @ l2), atol=1e-17)
    assert (pitch.at.tolist(), yaw.axis.tolist()) == (l1.tolist(), [0, 0, 1])
    np.testing.assert_allclose(pitch.axis, Rz @ [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(roll.axis, Rz @ Ry @ [1, 0, 0], atol=1e-15)


def test_three_axis_table_starts_with_the_velocities_of_its_joints():
    model = case("three-axis-table")
    before = np.zeros(3)
    for body, joint, rate in zip(
        model.bodies.values(), model.joints.values(), (math.pi, math.pi / 3, math.pi / 3), strict=True
    ):
        world = body.rotation @ body.angular_velocity
        np.testing.assert_allclose(world - before, rate * joint.axis, atol=1e-14)
        before = world


def test_three_axis_table_by_projected_equations():
    _, _, start = independent.three_axis_table(0.0)
    theta, _, momentum = independent.three_axis_table(1.0)
    np.testing.assert_allclose(theta, reference("three-axis-table", "joint positions at 1 s"), rtol=0, atol=1e-11)
    vertical = reference("three-axis-table", "angular momentum about the vertical")
    np.testing.assert_allclose([start, momentum], vertical, rtol=0, atol=1e-13)


@pytest.mark.slow
def test_three_axis_table_by_projected_equations_to_the_end():
    theta, _, _ = independent.three_axis_table(10.0)
    np.testing.assert_allclose(theta, reference("three-axis-table", "joint positions at 10 s"), rtol=0, atol=1e-9)


def test_flywheel_pendulum():
    model = case("flywheel-pendulum")
    rod, wheel = model.bodies.values()
    assert model.gravity.tolist() == [0.0, 0.0, -9.81]
    # Tables 2 and 3.
    assert (rod.inertia.mass, wheel.inertia.mass) == (2.71944, 4.89499)
    assert rod.inertia.matrix.tolist() == np.diag([0.05708, 0.05708, 0.0008498]).tolist()
    assert wheel.inertia.matrix.tolist() == np.diag([0.02779, 0.02779, 0.05507]).tolist()
    Rx = turn("x", math.pi / 6)
    for body, below in ((rod, 0.25), (wheel, 0.5)):
        np.testing.assert_allclose(body.position, Rx @ [0, 0, -below], atol=1e-16)
        np.testing.assert_allclose(body.rotation, Rx, atol=1e-16)
        assert body.angular_velocity.tolist() == [0.0, 0.5, 0.0]
    ball, axle = model.joints.values()
    assert (ball.kind, ball.b, ball.at.tolist()) == ("spherical", rod, [0.0, 0.0, 0.0])
    assert (axle.kind, axle.a, axle.b) == ("revolute", rod, wheel)
    np.testing.assert_allclose(axle.at, wheel.position, atol=1e-16)
    np.testing.assert_allclose(axle.axis, Rx[:, 2], atol=1e-16)
    (torque,) = model.loads.values()
    assert (torque.body, torque.frame) == (wheel, "body")
    assert [(event.what, event.restart) for event in model.settings["events"]] == [("t - 1.5", True), ("t - 4.5", True)]
    assert model.settings["t_end"] == 6.0


@pytest.mark.parametrize("t", [4.5, 6])
def test_flywheel_pendulum_by_its_momentum(t):
    # In 30-digit arithmetic, by Taylor series, the same equations give the same numbers to all their digits.
    center, _, spin = independent.flywheel_pendulum(t)
    np.testing.assert_allclose(
        center, reference("flywheel-pendulum", f"centre of the wheel at {t} s"), rtol=0, atol=3e-13
    )
    expected = reference("flywheel-pendulum", "speed of the wheel on the rod at 6 s")
    assert spin == pytest.approx(expected, rel=1e-14)
    assert expected == 2.0 * 3.0 / 0.05507
