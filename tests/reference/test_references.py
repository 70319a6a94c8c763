"""What `recursive` and `dop853` say of the built-in cases, against every reference number that the cases give."""

import math
from functools import cache

import numpy as np
import pytest
from cases import independent

import poinsot as ps
from poinsot.cases import case, cases, find, free_body

TIGHT = {"rtol": 1e-13, "atol": 1e-15}


@cache
def final(name, t_end):
    """Everything at the last instant of a case, by name."""
    model = ps.case(name)
    run = ps.simulate(model, t_end, events=model.settings.get("events", ()), **TIGHT)
    return {variable: values[-1] for variable, values in run.arrays.items()}


def reference(name, what):
    return find(name).reference[what][0]


def link_angles(R):
    """The angles of a chain's links from the vertical, in the plane of y and z."""
    return np.arctan2(R[:, 2, 1], R[:, 2, 2])


def double_pendulum(body, t):
    """The angle of a bar from x, in the plane of x and y."""
    x, y, _ = final("double-pendulum", t)["rotation"][body, :, 0]
    return math.atan2(y, x)


def top_angle(t):
    return math.acos(final("heavy-top", t)["rotation"][0, 2, 2])


def pendulum_period():
    """The time at which the link rests again: by one step of Newton from where the reference has it."""
    t = reference("chain-1", "period")
    state = final("chain-1", t)
    return t - state["angular_velocity"][0, 0] / state["angular_acceleration"][0, 0]


def nutation_period():
    """The time at which the top neither rises nor falls, likewise."""
    t = reference("heavy-top", "period of nutation")
    state = final("heavy-top", t)
    return t - state["velocity"][0, 2] / state["acceleration"][0, 2]


def satellite(variant, what, body):
    return lambda: final(f"dual-spin-satellite{variant}", 10.0)[what][body]


def crank_end(loops):
    return lambda: 2.0 * final(f"four-bars-{loops}", 10.0)["position"][0, :2]


def bricard(t):
    state = final("bricard", t)
    return state["position"][2] + 0.5 * state["rotation"][2, :, 0]


def governor(joint):
    model = case("flyball-governor")
    run = ps.simulate(model, 10.0, rtol=1e-9, output_step=10.0)
    return run.arrays["joint_position"][-1, list(model.joints).index(joint)]


# What each reference number is compared with, and the accuracy that its text states for it.
MEASURED = {
    ("double-pendulum", "phi at 1 s"): (lambda: double_pendulum(0, 1.0), 1e-13),
    ("double-pendulum", "psi at 1 s"): (lambda: double_pendulum(1, 1.0), 1e-13),
    ("double-pendulum", "phi at 10 s"): (lambda: double_pendulum(0, 10.0), 1e-12),
    ("double-pendulum", "psi at 10 s"): (lambda: double_pendulum(1, 10.0), 1e-12),
    ("chain-1", "period"): (pendulum_period, 1e-12),
    ("chain-4", "angles from the vertical at 10 s"): (lambda: link_angles(final("chain-4", 10.0)["rotation"]), 1e-12),
    ("heavy-top", "largest angle from the vertical"): (
        lambda: top_angle(reference("heavy-top", "period of nutation") / 2),
        1e-12,
    ),
    ("heavy-top", "period of nutation"): (nutation_period, 1e-12),
    ("heavy-top", "centre of mass at 10 s"): (lambda: final("heavy-top", 10.0)["position"][0], 1e-11),
    ("free-body", "angular velocity at 1 s"): (lambda: final("free-body", 1.0)["angular_velocity"][0], 1e-12),
    ("free-body", "angular velocity at 10 s"): (lambda: final("free-body", 10.0)["angular_velocity"][0], 1e-11),
    ("three-axis-table", "joint positions at 1 s"): (lambda: final("three-axis-table", 1.0)["joint_position"], 1e-11),
    ("three-axis-table", "joint positions at 10 s"): (lambda: final("three-axis-table", 10.0)["joint_position"], 1e-9),
    ("three-axis-table", "angular momentum about the vertical"): (
        lambda: final("three-axis-table", 10.0)["angular_momentum"][2],
        1e-12,
    ),
    **{
        ("flywheel-pendulum", f"centre of the wheel at {t} s"): (
            lambda t=t: final("flywheel-pendulum", t)["position"][1],
            2e-12,
        )
        for t in (4.5, 6)
    },
    ("flywheel-pendulum", "speed of the wheel on the rod at 6 s"): (
        lambda: final("flywheel-pendulum", 6.0)["joint_velocity"][1, 0],
        1e-11,
    ),
    **{(f"four-bars-{loops}", "end of the first crank at 10 s"): (crank_end(loops), 1e-7) for loops in (1, 2, 10, 40)},
    **{
        ("five-bar", f"crank angle at {t} s"): (lambda t=t: final("five-bar", t)["joint_position"][0], 1e-11)
        for t in (10, 20)
    },
    **{("bricard", f"P3 at {t} s"): (lambda t=t: bricard(t), 1e-11) for t in (1, 10)},
    **{
        ("andrews", f"{words}β, Θ, γ, Φ, δ, Ω, ε at 0.03 s"): (
            lambda what=what: final("andrews", 0.03)[what][:7],
            accuracy,
        )
        for words, what, accuracy in (("", "joint_position", 1e-8), ("rates of ", "joint_velocity", 2e-6))
    },
    ("slider-crank", "crank angle at 10 s"): (lambda: final("slider-crank", 10.0)["joint_position"][0], 1e-9),
    ("slider-crank", "piston at 10 s"): (lambda: final("slider-crank", 10.0)["position"][2, 0], 1e-9),
    ("flyball-governor", "arms' angle below the horizontal at 10 s"): (lambda: governor("right pivot"), 1e-10),
    ("flyball-governor", "slider's height at 10 s"): (lambda: governor("sleeve"), 1e-10),
    ("stewart-platform", "centre of the plate at 2 s"): (lambda: final("stewart-platform", 2.0)["position"][0], 1e-11),
    **{
        (f"dual-spin-satellite{variant}", f"{words} at 10 s"): (satellite(variant, what, body), 1e-11)
        for variant in ("", "-inertial-torque", "-platform-below")
        for words, what, body in (
            ("angular velocity of A", "angular_velocity", 0),
            ("position of A", "position", 0),
            ("position of B", "position", 1),
        )
    },
}


# Members of families that `cases` lists by another one.
FURTHER = ("chain-1", "four-bars-1", "four-bars-10", "four-bars-40")


def test_every_reference_number_is_measured():
    given = {(case.name, what) for case in (*cases(), *map(find, FURTHER)) for what in case.reference}
    assert given == set(MEASURED)


@pytest.mark.parametrize(("name", "what"), MEASURED)
def test_reference(name, what):
    measure, accuracy = MEASURED[name, what]
    np.testing.assert_allclose(measure(), reference(name, what), rtol=0, atol=accuracy)


def test_free_body_for_a_hundred_turns():
    run = ps.simulate(ps.case("free-body"), 100.0, step=0.01, method="dop853", output_step=0.5)
    R, omega = free_body.motion(run.time)
    assert (np.linalg.norm(omega, axis=1) * 100.0 > 2.0 * math.pi * 100).all()
    np.testing.assert_allclose(run.arrays["rotation"][:, 0], R, rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.arrays["angular_velocity"][:, 0], omega, rtol=0, atol=1e-10)
    straight = run.time[:, None] * free_body.VELOCITY
    np.testing.assert_allclose(run.arrays["position"][:, 0], straight, rtol=0, atol=1e-12)


def test_double_pendulum_along_the_way():
    run = ps.simulate(ps.case("double-pendulum"), 10.0, output_step=0.5, **TIGHT)
    R = run.arrays["rotation"]
    angles = np.arctan2(R[:, :, 1, 0], R[:, :, 0, 0])
    for t in (2.5, 5.0, 7.5):
        expected = independent.double_pendulum(t)
        np.testing.assert_allclose(angles[run.time == t][0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("variant", ["", "-platform-below"])
def test_satellite_conserves_linear_momentum_and_both_spins(variant):
    run = ps.simulate(ps.case(f"dual-spin-satellite{variant}"), 10.0, output_step=0.1, **TIGHT)
    spins = run.arrays["angular_velocity"][:, :, 2]
    np.testing.assert_allclose(run.arrays["linear_momentum"], 0.0, atol=1e-10)
    np.testing.assert_allclose(spins, np.broadcast_to([1.0, 0.1], spins.shape), rtol=0, atol=1e-12)


def test_table_conserves_its_angular_momentum_about_the_vertical():
    run = ps.simulate(ps.case("three-axis-table"), 10.0, output_step=0.01, **TIGHT)
    about_z = run.arrays["angular_momentum"][:, 2]
    np.testing.assert_allclose(about_z, about_z[0], rtol=0, atol=1e-12)
    assert run.energy_drift < 1e-12


def test_flywheel_pendulum_along_the_way():
    model = case("flywheel-pendulum")
    run = ps.simulate(model, 6.0, output_step=0.25, events=model.settings["events"], **TIGHT)
    assert [event.time for event in run.events] == [1.5, 4.5]
    for t in (0.75, 1.5, 2.25, 3.0, 3.75, 4.5, 5.25, 6.0):
        center, omega, spin = independent.flywheel_pendulum(t)
        (at,) = np.flatnonzero(run.time == t)
        rod, wheel = run.arrays["angular_velocity"][at]
        np.testing.assert_allclose(run.arrays["position"][at], [0.5 * center, center], rtol=0, atol=2e-12)
        np.testing.assert_allclose(rod, omega, rtol=0, atol=3e-11)
        assert wheel[2] == pytest.approx(spin, abs=1e-11)


def test_flywheel_pendulum_spins_up_evenly_and_swings_with_constant_energy():
    model = case("flywheel-pendulum")
    run = ps.simulate(model, 6.0, output_step=0.01, events=model.settings["events"], **TIGHT)
    pushed = np.clip(run.time - 1.5, 0.0, 3.0)
    spin = 2.0 / 0.05507 * pushed
    # What the torque does goes into the spin alone.
    swing = run.arrays["energy"] - 0.5 * 0.05507 * spin**2
    np.testing.assert_allclose(swing, swing[0], rtol=0, atol=1e-10)
    turned = 2.0 / 0.05507 * (0.5 * pushed**2 + 3.0 * np.maximum(run.time - 4.5, 0.0))
    np.testing.assert_allclose(run.arrays["joint_velocity"][:, 1, 0], spin, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.arrays["joint_position"][:, 1, 0], turned, rtol=0, atol=1e-11)
    # The torque lies along the axis: left alone, the momentum about the vertical stays.
    about_z = run.arrays["angular_momentum"][:, 2]
    for alone in (run.time <= 1.5, run.time >= 4.5):
        assert np.ptp(about_z[alone]) < 1e-11


def test_chain_of_sixteen():
    run = ps.simulate(ps.case("chain-16"), 3.0, **TIGHT)
    np.testing.assert_allclose(link_angles(run.arrays["rotation"][-1]), independent.chain(16, 3.0), rtol=0, atol=1e-11)
    assert run.energy_drift < 1e-11


def test_chain_of_sixteen_swings_in_its_modes():
    links, length, mass, small = 16, 2.0, 50.0, 1e-5
    i = np.arange(links)
    beyond = links - 1.0 - np.maximum.outer(i, i)
    M = mass * length**2 * (beyond + np.where(np.equal.outer(i, i), 0.25, 0.5))
    M += mass * (length**2 + 0.2**2) / 12.0 * np.eye(links)
    K = mass * 9.81 * length * (links - i - 0.5)
    squares, modes = np.linalg.eig(np.linalg.solve(M, np.diag(K)))
    for k in np.argsort(squares)[[0, 3, 15]]:
        angles = small * modes[:, k] / np.abs(modes[:, k]).max()
        half = math.pi / math.sqrt(squares[k])
        run = ps.simulate(_bent_chain(angles), half, **TIGHT)
        found = link_angles(run.arrays["rotation"][-1])
        np.testing.assert_allclose(found, -angles, rtol=0, atol=1e-7 * small)


def _bent_chain(angles):
    """A chain at rest with these angles from the vertical, about x."""
    model = ps.Model("bent chain")
    link = ps.Inertia.box(mass=50.0, size=(0.2, 0.2, 2.0))
    above, hinge = model.ground, np.zeros(3)
    for i, angle in enumerate(angles):
        c, s = math.cos(angle), math.sin(angle)
        down = np.array([0.0, s, -c])
        body = model.body(f"link {i}", link, hinge + down, orientation=((1, 0, 0), (0, c, -s), (0, s, c)))
        model.spherical(f"joint {i}", above, body, at=hinge)
        above, hinge = body, hinge + 2.0 * down
    return model
