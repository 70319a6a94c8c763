"""Loads that users write: equal to the built-in ones they imitate, in all scalar types, and clear about mistakes."""

import math

import numba
import numpy as np
import pytest
from mechanism.trees import WIDTH, Tree, random_tree

import poinsot as ps
from poinsot._jit import DISABLED
from poinsot.mechanism.build_loads import with_laws_for
from poinsot.scalars import pack

TIME = 0.7
compiled = pytest.mark.skipif(DISABLED, reason="plain Python compiles nothing")


@numba.njit
def rotated(R, v):
    return (
        R[0] * v[0] + R[1] * v[1] + R[2] * v[2],
        R[3] * v[0] + R[4] * v[1] + R[5] * v[2],
        R[6] * v[0] + R[7] * v[1] + R[8] * v[2],
    )


@numba.njit
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@ps.load
def push(t, body, x, y, z, at_x, at_y, at_z):
    """A force in body axes at a point of the body."""
    force = (x, y * t, z * math.cos(t))
    R = body.rotation
    return rotated(R, force), rotated(R, cross((at_x, at_y, at_z), force))


@ps.load
def pull(t, a, b, stiffness, length, damping):
    """A spring and damper between two centres of mass."""
    x = (b.position[0] - a.position[0], b.position[1] - a.position[1], b.position[2] - a.position[2])
    v = (b.velocity[0] - a.velocity[0], b.velocity[1] - a.velocity[1], b.velocity[2] - a.velocity[2])
    distance = np.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    rate = (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]) / distance
    k = (stiffness * (distance - length) + damping * rate) / distance
    still = (0.0, 0.0, 0.0)
    return ((k * x[0], k * x[1], k * x[2]), still), ((-k * x[0], -k * x[1], -k * x[2]), still)


def built_in_and_written(wanted):
    """The same tree with a built-in load and with the law that imitates it."""
    pair = [random_tree(11, bodies=7) for _ in range(2)]
    a, b = sorted(pair[0].bodies)[:2]
    if wanted == "push":
        body = pair[0].bodies[a]
        at = body.position + body.rotation @ (0.4, -0.2, 0.9)
        pair[0].force("load", a, force=(3.0, "-2*t", "5*cos(t)"), at=at, frame="body")
        pair[1].load("load", push, a, x=3.0, y=-2.0, z=5.0, at_x=0.4, at_y=-0.2, at_z=0.9)
    else:
        ends = (a, "ground") if wanted == "pull on the ground" else (a, b)
        at = (0.0, 0.0, 0.0) if ends[1] == "ground" else None
        pair[0].spring("load", *ends, at_b=at, stiffness=40.0, length=0.3, damping=2.0)
        pair[1].load("load", pull, *ends, stiffness=40.0, length=0.3, damping=2.0)
    return tuple(Tree(model) for model in pair)


@pytest.mark.parametrize("wanted", ["push", "pull", "pull on the ground"])
def test_a_law_equals_the_built_in_load_that_it_imitates(wanted):
    built_in, written = built_in_and_written(wanted)
    states = np.hstack([built_in.random_state(seed) for seed in range(WIDTH)])
    state, directions = states[:, [0]].copy(), np.random.default_rng(1).normal(size=(built_in.n_states, WIDTH))
    rate = built_in.forward(state, TIME)
    scale = np.abs(rate).max()
    np.testing.assert_allclose(written.forward(state, TIME), rate, rtol=0, atol=1e-13 * scale)
    packs = built_in.forward_packs(states, TIME)
    np.testing.assert_allclose(written.forward_packs(states, TIME), packs, rtol=0, atol=1e-12 * np.abs(packs).max())
    for found, known in zip(
        written.forward_duals(state, directions, TIME), built_in.forward_duals(state, directions, TIME), strict=True
    ):
        np.testing.assert_allclose(found, known, rtol=0, atol=1e-12 * np.abs(known).max())


@ps.load
def with_0(t, body):
    return (1.0 + t, 0.0, 0.0), (0.0, 0.0, 0.0)


@ps.load
def with_1(t, body, a):
    return (a, 0.0, 0.0), (0.0, 0.0, 0.0)


@ps.load
def with_2(t, body, a, b):
    return (a, b, 0.0), (0.0, 0.0, 0.0)


@ps.load
def with_3(t, body, a, b, c):
    return (a, b, c), (0.0, 0.0, 0.0)


@ps.load
def with_4(t, body, a, b, c, d):
    return (a, b, c), (d, 0.0, 0.0)


@ps.load
def with_5(t, body, a, b, c, d, e):
    return (a, b, c), (d, e, 0.0)


@ps.load
def with_7(t, body, a, b, c, d, e, f, g):
    return (a, b, c), (d, e, f + g)


@ps.load
def with_8(t, body, a, b, c, d, e, f, g, h=2.0):
    return (a, b, c), (d, e, f + g * h)


@pytest.mark.parametrize("law", [with_0, with_1, with_2, with_3, with_4, with_5, with_7, with_8], ids=lambda x: x.name)
def test_parameters_arrive_in_their_order(law):
    values = dict(zip("abcdefg", (1.5, -2.5, 3.25, 4.5, -5.75, 6.5, 7.25), strict=True))
    given = {name: value for name, value in values.items() if name in law.parameter_names(1)}
    model = ps.Model("ball", gravity=(0, 0, 0))
    body = model.body("ball", ps.Inertia(1.0, (1.0, 1.0, 1.0)))
    model.load("load", law, body, **given)
    tree = Tree(model)
    force, torque = law(TIME, None, *model.loads["load"].parameters)
    np.testing.assert_allclose(tree.forward(tree.problem.initial, TIME)[6:, 0], (*torque, *force), rtol=0, atol=1e-15)


def ball_with(law, **parameters):
    model = ps.Model("ball")
    model.load("wind", law, model.body("ball", ps.Inertia.sphere(mass=1.0, radius=0.1)), **parameters)
    return model


def test_whole_numbers_are_numbers():
    @ps.load
    def lift(t, body):
        return (0, 0, 10), (0, 0, 0)

    tree = Tree(ball_with(lift))
    np.testing.assert_allclose(tree.forward(tree.problem.initial)[11, 0], 10.0 - 9.81, rtol=1e-15)


def test_a_law_that_fails_is_named():
    @ps.load
    def broken(t, body):
        return (undefined, 0.0, 0.0), (0.0, 0.0, 0.0)  # noqa: F821

    with pytest.raises(ps.PoinsotError, match=r'load "wind": broken failed at t = 0 with NameError.*undefined'):
        ball_with(broken)


@compiled
def test_a_law_that_cannot_be_compiled_is_named():
    @ps.load
    def odd(t, body):
        return (float(np.linalg.norm(body.velocity)), 0.0, 0.0), (0.0, 0.0, 0.0)

    with pytest.raises(ps.PoinsotError, match=r'load "wind": the Python function odd cannot be compiled: '):
        Tree(ball_with(odd))


def plain(x):
    return 2.0 * x


@compiled
def test_what_a_law_calls_must_be_compiled_too():
    @ps.load
    def calling(t, body):
        return (plain(t), 0.0, 0.0), (0.0, 0.0, 0.0)

    with pytest.raises(ps.PoinsotError) as error:
        Tree(ball_with(calling))
    assert "'plain'" in str(error.value)
    assert "@numba.njit" in str(error.value)
    assert str(error.value).isprintable()


@compiled
def test_a_law_that_branches_on_the_state_is_refused_for_packs():
    @ps.load
    def one_way(t, body):
        return (-1.0 if body.velocity[0] > 0.0 else 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)

    tree = Tree(ball_with(one_way))
    with pytest.raises(ps.PoinsotError, match=r'load "wind": the Python function one_way cannot be compiled: '):
        with_laws_for(pack, tree.model, tree.mechanism)


@compiled
@pytest.mark.parametrize("odd", [lambda t: np.linalg.norm((t, 1.0)), lambda t: float(str(t))])
def test_a_function_of_time_that_cannot_be_compiled_is_refused(odd):
    model = ps.Model("ball")
    model.force("wind", model.body("ball", ps.Inertia.sphere(mass=1.0, radius=0.1)), force=(odd, 0, 0))
    with pytest.raises(ps.PoinsotError, match=r'force "wind": the Python function <lambda> cannot be compiled: '):
        Tree(model)
