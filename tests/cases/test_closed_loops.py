"""The built-in cases with closed loops: their data, and `recursive` against other ways of solving them."""

import math
from functools import cache

import numpy as np
import pytest
from cases import independent_loops as independent

import poinsot as ps
from poinsot.cases import andrews, case, find, stewart_platform
from poinsot.errors import PoinsotError

TIGHT = {"rtol": 1e-13, "atol": 1e-15}


def reference(name, value):
    return find(name).reference[value][0]


@cache
def bricard():
    return independent.Bricard()


@cache
def stewart():
    return independent.Stewart()


# ---------------------------------------------------------------------------------------- what the sources say


def test_five_bar():
    model = case("five-bar")
    assert model.gravity.tolist() == [0.0, -9.81, 0.0]
    assert [body.inertia.mass for body in model.bodies.values()] == [4.0, 1.0, 1.0, 1.0]
    np.testing.assert_allclose(np.diag(model.bodies["left"].inertia.matrix), [0.001, 0.0075, 0.0075])
    np.testing.assert_allclose(np.diag(model.bodies["coupler"].inertia.matrix), [0.01, 4 * 0.64 / 12, 4 * 0.64 / 12])
    crank = 0.3 * np.array([math.sin(math.pi / 3), -math.cos(math.pi / 3), 0.0])
    for name, x in (("left", 0.0), ("middle", 0.4), ("right", 0.8)):
        pivot = np.array([x, 0.0, 0.0])
        np.testing.assert_allclose(model.joints[f"{name} pivot"].at, pivot)
        np.testing.assert_allclose(model.joints[f"{name} pin"].at, pivot + crank, atol=1e-16)
        np.testing.assert_allclose(model.bodies[name].position, pivot + 0.5 * crank, atol=1e-16)
        np.testing.assert_allclose(model.bodies[name].rotation[:, 0], crank / 0.3, atol=1e-15)
    assert {joint.kind for joint in model.joints.values()} == {"revolute"}
    assert case("five-bar-driven").drives["motor"].position(1.0) == pytest.approx(math.pi / 3 + 6.28)


@pytest.mark.parametrize("loops", [1, 2, 10])
def test_four_bars(loops):
    model = case(f"four-bars-{loops}")
    assert (len(model.bodies), len(model.joints)) == (2 * loops + 1, 3 * loops + 1)
    for body in model.bodies.values():
        assert body.inertia.mass == 1.0
        assert body.inertia.matrix[2, 2] == pytest.approx(1.0 / 12.0)
        top = body.velocity + np.cross(body.rotation @ body.angular_velocity, [0, 1.0 - body.position[1], 0])
        np.testing.assert_allclose(top, [1.0, 0.0, 0.0], atol=1e-15)


@pytest.mark.parametrize("name", ["four-bars-0", "four-bars-", "four-bars-two"])
def test_four_bars_want_a_number(name):
    with pytest.raises(PoinsotError, match="is not a number of loops; write it as in four-bars-2"):
        case(name)


def test_bricard():
    model = case("bricard")
    assert [joint.at.tolist() for joint in model.joints.values()] == independent.Bricard.points.tolist()
    assert [np.abs(joint.axis).tolist() for joint in model.joints.values()] == independent.Bricard.axes.tolist()
    for i, body in enumerate(model.bodies.values()):
        along = independent.Bricard.points[i + 1] - independent.Bricard.points[i]
        np.testing.assert_allclose(body.rotation[:, 0], along)
        np.testing.assert_allclose(np.diag(body.inertia.matrix), np.array([0.02, 1.01, 1.01]) / 12.0)


def test_bricard_closes_along_its_curve():
    for theta in (1.5, 1.0, 0.5, -0.7):
        phi = 2.0 * math.acos(0.5 / math.cos(0.5 * theta))
        _, end, R = bricard().chain(theta, phi)
        np.testing.assert_allclose(end, bricard().points[5], atol=1e-15)
        np.testing.assert_allclose(R @ [1, 0, 0], [1, 0, 0], atol=1e-15)


def test_andrews():
    model = case("andrews")
    assert sum(body.inertia.mass for body in model.bodies.values()) == pytest.approx(0.21023)
    ends = [model.joints[f"at E with {name}"].at for name in ("K3", "K4", "K6")]
    # E as K3, K5 with K4, and K7 with K6 have it, by the constraints of the Test Set.
    A, B = np.array(andrews.A), np.array(andrews.B)
    gamma, phi, delta, omega, epsilon = andrews.GAMMA, andrews.PHI, andrews.DELTA, andrews.OMEGA, andrews.EPSILON
    for found, expected in zip(
        ends,
        (
            B + 0.035 * np.array([math.sin(gamma), -math.cos(gamma)]),
            A + 0.02 * np.array([math.sin(phi + delta), -math.cos(phi + delta)])
            + 0.04 * np.array([math.cos(delta), math.sin(delta)]),
            A + 0.02 * np.array([math.cos(omega + epsilon), math.sin(omega + epsilon)])
            + 0.04 * np.array([math.sin(epsilon), -math.cos(epsilon)]),
        ),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_allclose(found[:2], expected, atol=1e-16)


def test_stewart_platform():
    model = case("stewart-platform")
    assert sum(joint.kind == "universal" for joint in model.joints.values()) == 6
    for i in range(6):
        foot, ball = model.joints[f"foot {i + 1}"].at, model.joints[f"ball {i + 1}"].at
        np.testing.assert_allclose(foot, stewart().feet[i], atol=1e-15)
        np.testing.assert_allclose(ball, stewart().balls[i] + [0, 0, 1], atol=1e-15)
        assert np.linalg.norm(model.bodies[f"tube {i + 1}"].position - foot) == pytest.approx(0.3)
        assert np.linalg.norm(model.bodies[f"piston {i + 1}"].position - ball) == pytest.approx(0.3)


# ---------------------------------------------------------------------------------------- how they move


def test_five_bar_swings_as_a_pendulum():
    run = ps.simulate(case("five-bar"), 20.0, output_step=0.1, **TIGHT)
    angle, rate = independent.five_bar(run.time)
    for joint in ("left pivot", "middle pivot", "right pivot"):
        found = run.data.sel(joint=joint)
        np.testing.assert_allclose(found["joint_position"], angle, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found["joint_velocity"], rate, rtol=0, atol=1e-8)
    for t in (10, 20):
        assert independent.five_bar(t)[0] == pytest.approx(reference("five-bar", f"crank angle at {t} s"), abs=1e-14)
    assert max(run.arrays["position_error"].max(), run.arrays["velocity_error"].max()) < 1e-13


def test_driven_five_bar_turns_through_its_flat_positions():
    run = ps.simulate(case("five-bar-driven"), 2.0, output_step=0.01, rtol=1e-10)
    theta = np.pi / 3 + 6.28 * run.time
    end = 0.3 * np.stack([np.sin(theta), -np.cos(theta), 0 * theta], axis=-1)
    np.testing.assert_allclose(
        run.data["position"].sel(body="coupler"), end + np.array([0.4, 0, 0]), rtol=0, atol=1e-11
    )
    np.testing.assert_allclose(
        run.data["position"].sel(body="right"), 0.5 * end + np.array([0.8, 0, 0]), rtol=0, atol=1e-11
    )
    # At a steady speed the motor carries weights only: 1.5 kg of cranks and 4 kg of coupler at a crank's end.
    assert np.ptp(run.arrays["kinetic_energy"]) < 1e-9
    height = 5.5 * 9.81 * end[:, 1]
    np.testing.assert_allclose(run.arrays["potential_energy"] - height, np.zeros(201), rtol=0, atol=1e-9)


@pytest.mark.parametrize("loops", [1, 2, 10])
@pytest.mark.parametrize("tolerance", [1e-8, 1e-10, 1e-13])
def test_four_bars_pass_their_singular_positions_on_the_parallelograms_branch(loops, tolerance):
    run = ps.simulate(case(f"four-bars-{loops}"), 10.0, output_step=0.05, rtol=tolerance)
    assert np.sum(np.diff(np.sign(run.arrays["position"][:, 0, 1])) != 0) == 10  # flat ten times
    ends = 2.0 * run.arrays["position"][:, 0, :2]
    error = np.abs(ends - independent.four_bars(loops, run.time)).max()
    # Below that it is rounding, which each passage magnifies.
    assert error <= max(2e3 * tolerance, 1e-7)
    assert run.energy_drift <= max(10.0 * tolerance, 1e-8)
    assert max(run.arrays["position_error"].max(), run.arrays["velocity_error"].max()) < 1e-12
    assert run.stats.steps < 1000  # rounding near the singular positions makes no short steps


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.002), ("rk4", 0.01), ("gauss3", 0.002), ("gauss3", 0.01)])
def test_four_bars_pass_with_fixed_steps(method, step):
    run = ps.simulate(case("four-bars-2"), 10.0, step=step, method=method, output_step=0.05)
    ends = 2.0 * run.arrays["position"][:, 0, :2]
    accuracy = 1e-4 if (method, step) == ("rk4", 0.01) else 1e-7
    assert run.energy_drift < 0.1 * accuracy
    assert np.abs(ends - independent.four_bars(2, run.time)).max() < accuracy


def test_bricard_moves_along_its_curve():
    run = ps.simulate(case("bricard"), 10.0, output_step=1.0, **TIGHT)
    points = run.arrays["position"][:, 2] + 0.5 * run.arrays["rotation"][:, 2, :, 0]
    for t in (1, 3, 10):
        expected = bricard().at(float(t))
        np.testing.assert_allclose(points[t], expected, rtol=0, atol=1e-11)
        if t != 3:
            np.testing.assert_allclose(expected, reference("bricard", f"P3 at {t} s"), rtol=0, atol=1e-11)
    assert run.energy_drift < 1e-12


def test_andrews_at_its_end():
    run = ps.simulate(case("andrews"), 0.03, **TIGHT)
    angles, rates = independent.andrews(0.03)
    found, speeds = run.arrays["joint_position"][-1, :7], run.arrays["joint_velocity"][-1, :7]
    np.testing.assert_allclose(found, angles, rtol=0, atol=1e-9)
    np.testing.assert_allclose(speeds, rates, rtol=0, atol=1e-7)
    published = [value for value, _ in find("andrews").reference.values()]
    np.testing.assert_allclose(found, published[0], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(speeds, published[1], rtol=1e-7)


def test_slider_crank_by_its_angle():
    run = ps.simulate(case("slider-crank"), 10.0, output_step=2.0, **TIGHT)
    for t in (2, 10):
        angle, rate, piston = independent.slider_crank(float(t))
        assert run.data["joint_position"].sel(joint="main bearing")[t // 2] == pytest.approx(angle, abs=1e-9)
        assert run.data["joint_velocity"].sel(joint="main bearing")[t // 2] == pytest.approx(rate, abs=1e-8)
        assert run.data["position"].sel(body="piston")[t // 2, 0] == pytest.approx(piston, abs=1e-9)
    assert angle == pytest.approx(reference("slider-crank", "crank angle at 10 s"), abs=1e-9)
    assert piston == pytest.approx(reference("slider-crank", "piston at 10 s"), abs=1e-9)


def test_stewart_platform_accelerates_as_its_projected_equations_say():
    run = ps.simulate(case("stewart-platform"), 5.0, output_step=0.5, rtol=1e-10)
    plate = {name: run.data[name].sel(body="plate").values for name in run.data if "body" in run.data[name].dims}
    for n, t in enumerate(run.time):
        R = plate["rotation"][n]
        u = np.concatenate([plate["velocity"][n], R @ plate["angular_velocity"][n]])
        expected = stewart().accelerations(t, plate["position"][n], R, u)
        found = np.concatenate([plate["acceleration"][n], R @ plate["angular_acceleration"][n]])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_stewart_platform_arrives_where_its_projected_equations_lead():
    run = ps.simulate(case("stewart-platform"), 2.0, **TIGHT)
    expected, R = stewart().at(2.0)
    np.testing.assert_allclose(run.arrays["position"][-1, 0], expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.arrays["rotation"][-1, 0], R, rtol=0, atol=1e-11)
    centre = reference("stewart-platform", "centre of the plate at 2 s")
    np.testing.assert_allclose(expected, centre, rtol=0, atol=1e-11)


def test_stewart_platform_on_its_springs_keeps_its_energy():
    model = stewart_platform.build(actuated=False)
    run = ps.simulate(model, 5.0, rtol=1e-12)
    assert run.arrays["kinetic_energy"].max() > 0.1
    assert run.energy_drift < 1e-10
    assert np.ptp(run.arrays["position"][:, 0, 2]) > 0.005


def test_flyball_governor():
    model = case("flyball-governor")
    assert model.bodies["slider"].inertia.mass == pytest.approx(3.0)
    assert model.bodies["left arm"].inertia.mass == pytest.approx(5.3)
    for side, link in ((1.0, model.loads["right link"]), (-1.0, model.loads["left link"])):
        ends = np.array([side * 0.05, 0.5, 0.0]), np.array([side * (0.05 + 0.5 * math.cos(math.pi / 6)), 0.75, 0.0])
        np.testing.assert_allclose(link.at_a, ends[0], atol=1e-15)
        np.testing.assert_allclose(link.at_b, ends[1], atol=1e-15)
        assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(0.5)
        assert (link.stiffness, link.damping, link.length) == (8e5, 4e4, 0.5)


def test_flyball_governor_swings_as_its_three_coordinates_do():
    run = ps.simulate(case("flyball-governor"), 10.0, rtol=1e-9, output_step=1.0)
    for t in (1, 10):
        angle, height, speed = independent.flyball_governor(float(t))
        now = run.data.isel(time=t)
        for joint, expected in (("right pivot", angle), ("left pivot", angle), ("sleeve", height)):
            assert now["joint_position"].sel(joint=joint) == pytest.approx(expected, abs=1e-10)
        assert now["joint_velocity"].sel(joint="bearing") == pytest.approx(speed, abs=1e-9)
    assert angle == pytest.approx(reference("flyball-governor", "arms' angle below the horizontal at 10 s"), abs=1e-11)
    assert height == pytest.approx(reference("flyball-governor", "slider's height at 10 s"), abs=1e-11)
