"""Every load against its definition in NumPy, in each of the ways a user can give it."""

import math

import numpy as np
import pytest
from mechanism import textbook
from mechanism.trees import Tree, random_tree

import poinsot as ps
from poinsot.mechanism import tables as t

TIME = 0.7
KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "screw", "free")


def names(model, *kinds):
    return [name for name, joint in model.joints.items() if joint.kind in kinds]


def force(frame, at):
    def add(model):
        model.force("push", "body 1", force=(1.0, "2*t", "-3*cos(t)"), at=at, frame=frame)

    return add


def torque(frame):
    return lambda model: model.torque("twist", "body 2", torque=("t", 2.0, "-t**2"), frame=frame)


def spring(a, b, damping):
    def add(model):
        ends = {"at_a": (0.3, -0.2, 1.0), "at_b": (0.1, 1.1, -0.4)}
        model.spring("spring", a, b, stiffness=30.0, length=0.4, damping=damping, **ends)

    return add


def torsion(kind):
    def add(model):
        for name in names(model, kind):
            model.torsion_spring(f"torsion {name}", name, stiffness=4.0, damping=0.5, rest=0.3)

    return add


def damper(kind, each):
    def add(model):
        for name in names(model, kind):
            count = model.joints[name].coordinates
            model.damper(f"damper {name}", name, damping=tuple(range(1, count + 1)) if each else 0.8)

    return add


def motor(kind):
    def add(model):
        for name in names(model, kind):
            model.motor(f"motor {name}", name, torque="2*sin(t) - position*velocity")

    return add


LOADS = {
    **{f"force in {frame} axes": force(frame, (0.4, 0.1, -0.9)) for frame in ("world", "body")},
    "force at the centre": force("world", None),
    **{f"torque in {frame} axes": torque(frame) for frame in ("world", "body")},
    "spring between bodies": spring("body 0", "body 3", 0.0),
    "spring and damper between bodies": spring("body 0", "body 3", 2.0),
    "spring and damper to the ground": spring("body 4", "ground", 2.0),
    "spring from the ground": spring("ground", "body 4", 0.0),
    **{f"torsion spring on {kind}": torsion(kind) for kind in ("revolute", "screw")},
    **{f"damper on {kind}": damper(kind, False) for kind in KINDS},
    **{f"damper with a number for each coordinate of {kind}": damper(kind, True) for kind in KINDS},
    **{f"motor on {kind}": motor(kind) for kind in ("revolute", "prismatic", "screw")},
}


def base(seed):
    """Sixteen bodies; in the seeds used, every kind of joint is among theirs, and most run both ways."""
    return random_tree(seed, bodies=16, kinds=KINDS, floating=0.0)


@pytest.mark.parametrize("add", [pytest.param(add, id=name) for name, add in LOADS.items()])
@pytest.mark.parametrize("seed", [16, 46])
def test_loads_are_what_their_definition_says(add, seed):
    model = base(seed)
    free, count = Tree(base(seed)), len(model.loads)
    add(model)
    assert len(model.loads) > count
    tree = Tree(model)
    state = tree.random_state(2)
    rate, instant = tree.forward(state, TIME), tree.instant(state, TIME)
    # What the same motion needs of a mechanism without the load is the load, on the velocities of the tree.
    found = free.inverse(state, rate, TIME)[:, 0]
    scale = np.abs(free.inverse(state, np.zeros_like(rate))).max() + np.abs(found).max()
    assert np.abs(found).max() > 1e-3
    np.testing.assert_allclose(found, generalised(tree, textbook.loads(model, instant), state), atol=1e-11 * scale)


def generalised(tree, wrenches, state):
    """The wrenches on the bodies as joint forces: their power for each unit velocity."""
    forces = np.zeros(tree.n)
    for k in range(tree.n):
        unit = state.copy()
        unit[tree.n_states - tree.n :] = 0.0
        unit[tree.n_states - tree.n + k] = 1.0
        wrenches.instant = tree.instant(unit, TIME)
        forces[k] = wrenches.power()
    return forces


def cosine(t):
    return 2.0 * math.cos(3.0 * t)


def three(t):
    return 2.0 * math.cos(3.0 * t), 1.5, t * t


def same_motion(first, second):
    one, other = Tree(first), Tree(second)
    for seed in range(3):
        state = one.random_state(seed)
        rate = one.forward(state, TIME)
        np.testing.assert_allclose(other.forward(state, TIME), rate, rtol=0, atol=1e-13 * np.abs(rate).max())


def test_a_number_a_string_and_a_function_are_the_same_motor():
    for numbers in ((1.5, "3/2", lambda t: 1.5), ("2*cos(3*t)", cosine)):
        models = [base(3) for _ in numbers]
        for model, value in zip(models, numbers, strict=True):
            for name in names(model, "revolute", "prismatic"):
                model.motor(f"motor {name}", name, torque=value)
        for other in models[1:]:
            same_motion(models[0], other)


def test_three_functions_and_one_of_three_numbers_are_the_same_force():
    models = [base(3) for _ in range(3)]
    for model, value in zip(models, (("2*cos(3*t)", 1.5, "t*t"), (cosine, "1.5", "t**2"), three), strict=True):
        model.force("push", "body 1", force=value, at=(0.1, 0.2, 0.3), frame="body")
        model.torque("twist", "body 2", torque=value)
    same_motion(models[0], models[1])
    same_motion(models[0], models[2])


def test_a_spring_of_no_length_pulls_nowhere():
    model = ps.Model("spring", gravity=(0, 0, 0))
    model.body("ball", ps.Inertia.sphere(mass=2.0, radius=0.1), (0, 0, -1))
    model.spring("spring", "ground", "ball", at_a=(0, 0, 0), at_b=(0, 0, -1), stiffness=8.0, length=0.0, damping=1.0)
    tree = Tree(model)
    state = tree.problem.initial.copy()
    np.testing.assert_allclose(tree.forward(state)[tree.n :, 0], (0, 0, 0, 0, 0, 4.0), atol=1e-15)
    state[4:7, 0] = 0.0, 0.0, 1.0
    assert np.array_equal(tree.forward(state), np.zeros((tree.n_rates, 1)))


def test_loads_on_bodies_stand_before_loads_on_joints():
    loads = Tree(random_tree(5, loads=True)).mechanism.loads[:, t.LOAD_KIND]
    assert np.array_equal(loads >= t.FORCE, np.sort(loads >= t.FORCE)[::-1])
