"""What is recorded of positions, velocities and accelerations fits together, for every joint and both directions."""

import numpy as np
import pytest
from mechanism import textbook
from mechanism.trees import KINDS, Tree, hat, random_tree
from scipy.linalg import expm

BOTH = ("forwards", "backwards")
STEP = 1e-3


def exp(v):
    return expm(hat(v))


def vee(A):
    return 0.5 * np.array([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]])


def single_kind(kind, way):
    """A tree of one kind of joint in which some joint runs this way."""
    for seed in range(20):
        tree = Tree(random_tree(seed, bodies=5, kinds=("revolute", kind, kind), floating=0.2, loads=True))
        for branch in tree.layout.topology.branches:
            if branch.joint is not None and branch.joint.kind == kind and branch.reversed == (way == "backwards"):
                return tree
    raise AssertionError(f"no {kind} runs {way}")


@pytest.fixture(params=[(kind, way) for kind in KINDS for way in BOTH], ids=" ".join, scope="module")
def tree(request):
    return single_kind(*request.param)


@pytest.fixture
def state(tree):
    return tree.random_state(11, turn=1.2)


def slopes(tree, state, quantity):
    """Central differences of order 4 along the motion of what an instant gives by name; a function of two instants."""
    slope = tree.slope(state, tree.forward(state))
    at = {k: tree.instant(state + k * STEP * slope) for k in (-2, -1, 1, 2)}
    second = {}
    for name in quantity(at[1]):
        values = {k: quantity(at[k])[name] for k in at}
        second[name] = (8.0 * (values[1] - values[-1]) - (values[2] - values[-2])) / (12.0 * STEP)
    return second


def test_velocities_are_the_rates_of_positions(tree, state):
    now, rates = tree.instant(state), slopes(tree, state, lambda instant: instant.position)
    turning = slopes(tree, state, lambda instant: instant.rotation)
    for name in tree.model.bodies:
        np.testing.assert_allclose(rates[name], now.velocity[name], atol=1e-8)
        spin = vee(now.rotation[name].T @ turning[name])
        np.testing.assert_allclose(spin, now.angular_velocity[name], atol=1e-8)


def test_accelerations_are_the_rates_of_velocities(tree, state):
    now, scale = tree.instant(state), 1.0 + np.abs(tree.forward(state)).max()
    rates = slopes(tree, state, lambda instant: instant.velocity)
    spins = slopes(tree, state, lambda instant: instant.angular_velocity)
    for name in tree.model.bodies:
        np.testing.assert_allclose(rates[name], now.acceleration[name], atol=1e-8 * scale**2)
        np.testing.assert_allclose(spins[name], now.angular_acceleration[name], atol=1e-8 * scale**2)


def test_joint_velocities_are_the_rates_of_joint_positions(tree, state):
    now = tree.instant(state)
    plain = slopes(tree, state, lambda instant: instant.joint_position)
    turned = slopes(tree, state, lambda i: {name: exp(q[:3]) for name, q in i.joint_position.items() if len(q) >= 3})
    for name, joint in tree.model.joints.items():
        rate, velocity = plain[name], now.joint_velocity[name]
        if joint.kind in ("spherical", "free"):  # a rotation vector, and the angular velocity
            spin = vee(exp(now.joint_position[name][:3]).T @ turned[name])
            rate = np.concatenate((spin, rate[3:]))
        np.testing.assert_allclose(rate, velocity, atol=1e-8)


def test_joint_coordinates_mean_what_the_joint_says(tree, state):
    now = tree.instant(state)
    for name, joint in tree.model.joints.items():
        turn, shift = textbook.relative_pose(joint, now)
        wanted_turn, wanted_shift = textbook.pose_from_readings(joint, now.joint_position[name], exp)
        np.testing.assert_allclose(turn, wanted_turn, atol=1e-13)
        np.testing.assert_allclose(shift, wanted_shift, atol=1e-13)
        w, u = textbook.relative_motion(joint, now)
        freedoms = zip(now.joint_velocity[name], textbook.freedoms(joint, now), strict=True)
        moved = sum((v * np.concatenate(freedom[:2]) for v, freedom in freedoms), np.zeros(6))
        np.testing.assert_allclose(np.concatenate((w, u)), moved, atol=1e-13)


def test_the_initial_state_has_the_given_poses(tree):
    start = tree.instant(tree.problem.initial)
    for name, body in tree.model.bodies.items():
        np.testing.assert_allclose(start.position[name], body.position, atol=2e-15)
        np.testing.assert_allclose(start.rotation[name], body.rotation, atol=2e-15)
    for name, joint in tree.model.joints.items():
        np.testing.assert_allclose(start.joint_position[name], joint.position, atol=2e-15)
    assert np.all(start.errors <= 5e-15)
