"""What mechanics demands of every tree, whatever its joints: no golden numbers, only identities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanism import textbook
from mechanism.trees import GRAVITY, KINDS, Tree, random_tree

models = st.builds(
    random_tree,
    seed=st.integers(0, 2**32 - 1),
    bodies=st.integers(1, 12),
    kinds=st.just(KINDS) | st.sampled_from(KINDS).map(lambda kind: (kind,)),
    floating=st.sampled_from((0.0, 0.15)),
    loads=st.booleans(),
)
bounded = settings(max_examples=50, derandomize=True, database=None, deadline=None)


def of_every_tree(identity):
    """The test that this identity holds for trees of mixed joints and of one kind, each in a random state."""

    def test(model, seed):
        tree = Tree(model)
        identity(tree, tree.random_state(seed))

    test.__name__, test.__doc__ = identity.__name__, identity.__doc__
    return bounded(given(model=models, seed=st.integers(0, 2**32 - 1))(test))


def bias(tree, state, time=0.0):
    """The joint forces without accelerations: the scale against which forces are measured."""
    return tree.inverse(state, np.zeros((tree.n_rates, 1)), time)


@of_every_tree
def test_inverse_dynamics_undoes_forward_dynamics(tree, state):
    forces = np.random.default_rng(1).normal(size=(tree.n, 1)) * 10.0
    rate = tree.forward_under(state, forces, 0.3)
    scale = np.abs(bias(tree, state, 0.3)).max(initial=10.0)
    assert np.abs(tree.inverse(state, rate, 0.3) - forces).max(initial=0.0) <= 1e-11 * scale
    rate = tree.forward(state, 0.3)
    assert np.abs(tree.inverse(state, rate, 0.3)).max(initial=0.0) <= 1e-11 * scale
    assert np.array_equal(rate[: tree.n], state[tree.n_states - tree.n :])


@of_every_tree
def test_forward_dynamics_undoes_inverse_dynamics(tree, state):
    rate = np.concatenate((state[tree.n_states - tree.n :], np.random.default_rng(2).normal(size=(tree.n, 1))))
    found = tree.forward_under(state, tree.inverse(state, rate, 0.3), 0.3)
    condition = np.linalg.cond(tree.mass(state)) if tree.n else 1.0
    assert np.abs(found - rate).max(initial=0.0) <= 1e-13 * max(condition, 100.0) * np.abs(rate).max(initial=1.0)


@of_every_tree
def test_mass_matrix_is_symmetric_positive_definite_and_makes_the_kinetic_energy(tree, state):
    M, v = tree.mass(state), state[tree.n_states - tree.n :, 0]
    assert np.array_equal(M, M.T)
    assert tree.n == 0 or np.linalg.eigvalsh(M)[0] > 0.0
    kinetic = tree.instant(state).kinetic
    assert abs(0.5 * v @ M @ v - kinetic) <= 1e-13 * max(kinetic, 1e-3)


@of_every_tree
def test_mass_matrix_is_the_slope_of_inverse_dynamics(tree, state):
    M, still = tree.mass(state), bias(tree, state)
    for column in range(tree.n):
        rate = np.zeros((tree.n_rates, 1))
        rate[tree.n + column] = 1.0
        found = (tree.inverse(state, rate) - still)[:, 0]
        assert np.abs(found - M[:, column]).max() <= 1e-12 * max(np.abs(M).max(), np.abs(still).max())


@of_every_tree
def test_power_of_the_loads_is_the_rate_of_the_energy(tree, state):
    time = 0.3
    slope = tree.slope(state, tree.forward(state, time))
    instant, (energies, rates) = tree.instant(state, time), tree.energy(state, slope)
    np.testing.assert_allclose(energies, (instant.kinetic, instant.potential), rtol=1e-12, atol=1e-12)
    # The energy counts the springs, so that their elastic part does no power; gravity's is in the energy as well.
    power = textbook.loads(tree.model, instant).power() + elastic_rate(tree.model, instant)
    scale = max(1.0, np.abs(rates).max(), abs(power), instant.kinetic)
    assert abs(rates.sum() - power) <= 1e-11 * scale
    step = 1e-3
    change = [sum(tree.energy(state + k * step * slope, slope)[0]) for k in (-2, -1, 1, 2)]
    difference = (change[0] - 8.0 * change[1] + 8.0 * change[2] - change[3]) / (12.0 * step)
    assert abs(difference - power) <= 1e-6 * scale * np.abs(slope).max(initial=1.0) ** 2


def elastic_rate(model, instant):
    """How fast the springs between points and about joints store energy."""
    rate = 0.0
    for load in model.loads.values():
        kind = type(load).__name__
        if kind == "TorsionSpring":
            q, v = (table[load.joint.name][0] for table in (instant.joint_position, instant.joint_velocity))
            rate += load.stiffness * (q - load.rest) * v
        elif kind == "Spring":
            (p_a, v_a), (p_b, v_b) = (
                textbook.rigid_point(instant, body, at) for body, at in ((load.a, load.at_a), (load.b, load.at_b))
            )
            line = p_b - p_a
            rate += load.stiffness * (1.0 - load.length / np.linalg.norm(line)) * line @ (v_b - v_a)
    return rate


@of_every_tree
def test_momenta_of_all_bodies_follow_from_their_motion(tree, state):
    instant, model = tree.instant(state, 0.3), tree.model
    linear, angular = np.zeros(3), np.zeros(3)
    for name, body in model.bodies.items():
        p = body.inertia.mass * instant.velocity[name]
        linear += p
        spin = body.inertia.matrix @ instant.angular_velocity[name]
        angular += instant.rotation[name] @ spin + np.cross(instant.position[name], p)
    np.testing.assert_allclose(instant.linear_momentum, linear, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(instant.angular_momentum, angular, rtol=1e-12, atol=1e-11)


@of_every_tree
def test_newton_and_euler_hold_for_every_body_with_its_reactions(tree, state):
    instant, model = tree.instant(state, 0.3), tree.model
    wrenches = textbook.loads(model, instant)
    for joint in model.joints.values():
        point, _ = textbook.rigid_point(instant, joint.b, joint.at)
        reaction = instant.reaction_force[joint.name], instant.reaction_torque[joint.name]
        wrenches.add_pair(joint.a, joint.b, *reaction, point)
    largest = max(np.abs(table[name]).max() for table in (wrenches.force, wrenches.torque) for name in model.bodies)
    for name, body in model.bodies.items():
        mass, J, w = body.inertia.mass, body.inertia.matrix, instant.angular_velocity[name]
        force = mass * (instant.acceleration[name] - np.array(GRAVITY))
        torque = instant.rotation[name] @ (J @ instant.angular_acceleration[name] + np.cross(w, J @ w))
        scale = max(largest, 9.81 * mass)
        assert np.abs(force - wrenches.force[name]).max() <= 1e-11 * scale, name
        assert np.abs(torque - wrenches.torque[name]).max() <= 1e-11 * scale, name


@of_every_tree
def test_reactions_do_no_work_on_what_the_joint_leaves_free(tree, state):
    instant, model = tree.instant(state, 0.3), tree.model
    for name, joint in model.joints.items():
        force, torque = instant.reaction_force[name], instant.reaction_torque[name]
        for w, u, _ in textbook.freedoms(joint, instant):
            assert abs(force @ u + torque @ w) <= 1e-11 * max(1.0, np.abs(force).max(), np.abs(torque).max()), name


@of_every_tree
def test_joints_are_closed_at_any_state(tree, state):
    position, velocity, rotation = tree.instant(state).errors
    assert position <= 1e-13
    assert velocity <= 1e-13
    assert rotation <= 1e-15


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_addition_does_not_matter(seed):
    first, second = (Tree(random_tree(seed, bodies=9, order=order, loads=True)) for order in (0, seed + 1))
    assert list(first.model.bodies) != list(second.model.bodies)
    state = first.random_state(5)
    assert np.array_equal(first.problem.initial, second.problem.initial)
    assert np.array_equal(first.forward(state, 0.3), second.forward(state, 0.3))
    a, b = first.instant(state, 0.3), second.instant(state, 0.3)
    for quantity in ("position", "rotation", "acceleration", "joint_velocity", "reaction_force", "reaction_torque"):
        there, here = getattr(a, quantity), getattr(b, quantity)
        assert all(np.array_equal(there[name], here[name]) for name in there), quantity
    np.testing.assert_allclose((a.kinetic, a.potential), (b.kinetic, b.potential), rtol=1e-13)
