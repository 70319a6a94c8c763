"""What a user leaves out of the initial velocities follows from the joints; what contradicts them is an error."""

import numpy as np
import pytest
from mechanism.trees import KINDS, Tree, random_tree

import poinsot as ps

BALL = ps.Inertia.sphere(mass=1.0, radius=0.1)


def moves(model, name):
    """Velocity of the centre of mass and angular velocity of a body at t = 0."""
    tree = Tree(model)
    start = tree.instant(tree.problem.initial)
    assert start.errors[1] <= 1e-14
    return start.velocity[name], start.angular_velocity[name]


def pendulum(kind="revolute", swapped=False, **told):
    """A body 2 m below a joint at the origin, about x where there is an axis."""
    model = ps.Model("pendulum")
    model.body("bob", BALL, (0, 0, -2), **told)
    ends = ("bob", "ground") if swapped else ("ground", "bob")
    axis = {} if kind == "spherical" else {"axis": (1, 0, 0)}
    getattr(model, kind)("hinge", *ends, at=(0, 0, 0), **axis)
    return model


@pytest.mark.parametrize("swapped", [False, True])
def test_one_velocity_of_a_joint_follows_from_the_other(swapped):
    velocity, spin = moves(pendulum(swapped=swapped, angular_velocity=(3, 0, 0)), "bob")
    np.testing.assert_allclose(velocity, (0, 6, 0), atol=1e-14)
    velocity, spin = moves(pendulum(swapped=swapped, velocity=(0, 6, 0)), "bob")
    np.testing.assert_allclose(spin, (3, 0, 0), atol=1e-14)


@pytest.mark.parametrize("swapped", [False, True])
def test_what_is_left_open_is_as_small_as_can_be(swapped):
    _, spin = moves(pendulum("spherical", swapped, velocity=(4, 6, 0)), "bob")
    np.testing.assert_allclose(spin, (3, -2, 0), atol=1e-14)  # no spin about the arm


def test_a_free_body_told_one_velocity_has_no_other():
    model = ps.Model("free")
    model.body("thrown", BALL, (1, 2, 3), velocity=(1, 0, 2))
    model.body("spun", BALL, (3, 2, 1), angular_velocity=(0, 0, 5))
    np.testing.assert_allclose(moves(model, "thrown"), ((1, 0, 2), (0, 0, 0)), atol=1e-15)
    np.testing.assert_allclose(moves(model, "spun"), ((0, 0, 0), (0, 0, 5)), atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_of_which_nothing_is_said_rests_on_its_parent(kind):
    model = pendulum(angular_velocity=(3, 0, 0))
    model.body("tip", BALL, (0.5, 0, -3), orientation=((0, -1, 0), (1, 0, 0), (0, 0, 1)))
    arguments = {"axis": (0, 1, 0)} if kind not in ("fixed", "spherical", "free") else {}
    if kind == "screw":
        arguments["pitch"] = 0.1
    getattr(model, kind)("wrist", "bob", "tip", at=(0, 0, -2.5), **arguments)
    velocity, spin = moves(model, "tip")
    np.testing.assert_allclose(velocity, (0, 9, 0), atol=1e-14)
    np.testing.assert_allclose(spin, (0, -3, 0), atol=1e-14)


@pytest.mark.parametrize("swapped", [False, True])
def test_what_is_told_of_the_tip_moves_the_joints_before_it(swapped):
    model = pendulum(swapped=swapped)
    model.body("tip", BALL, (0, 0, -3), velocity=(0, 9, 0))
    model.fixed("weld", *(("tip", "bob") if swapped else ("bob", "tip")), at=(0, 0, -2.5))
    np.testing.assert_allclose(moves(model, "bob"), ((0, 6, 0), (3, 0, 0)), atol=1e-13)


@pytest.mark.parametrize("seed", range(6))
def test_velocities_told_of_every_body_are_found_again(seed):
    bare = Tree(random_tree(seed, bodies=9))
    state = bare.problem.initial.copy()
    state[bare.n_states - bare.n :] = np.random.default_rng(seed).normal(size=(bare.n, 1))
    wanted = bare.instant(state)
    motion = {
        name: {"velocity": wanted.velocity[name], "angular_velocity": wanted.angular_velocity[name]}
        for name in bare.model.bodies
    }
    tree = Tree(random_tree(seed, bodies=9, motion=motion))
    np.testing.assert_allclose(tree.problem.initial, state, atol=1e-12)


@pytest.mark.parametrize(
    ("told", "speed"),
    [({"velocity": (1, 0, 0)}, 1), ({"angular_velocity": (0, 2, 0)}, 2), ({"velocity": (0, 0, 3)}, 3)],
)
def test_a_velocity_that_the_joint_forbids_is_refused(told, speed):
    with pytest.raises(ps.PoinsotError, match=rf'body "bob": its initial velocity contradicts the joints by {speed} '):
        Tree(pendulum(**told))


def test_two_velocities_that_contradict_each_other_name_the_body():
    with pytest.raises(ps.PoinsotError, match='body "bob": its initial velocity contradicts the joints'):
        Tree(pendulum(velocity=(0, 6, 0), angular_velocity=(1, 0, 0)))
    model = pendulum(angular_velocity=(3, 0, 0))
    model.body("tip", BALL, (0, 0, -3), velocity=(0, 5, 0))
    model.fixed("weld", "bob", "tip")
    with pytest.raises(ps.PoinsotError, match=r'body "(bob|tip)": its initial velocity contradicts the joints'):
        Tree(model)


def test_rounding_in_given_velocities_is_no_contradiction():
    velocity, _ = moves(pendulum(velocity=(0, 6, 1e-9)), "bob")
    np.testing.assert_allclose(velocity, (0, 6, 0), atol=1e-8)
