"""What a tree in joint coordinates cannot do is refused by name."""

import pytest
from mechanism.trees import Tree

import poinsot as ps

BALL = ps.Inertia.sphere(mass=1.0, radius=0.1)


def two_balls():
    model = ps.Model("two")
    model.body("a", BALL, (1, 0, 0))
    model.body("b", BALL, (2, 0, 0))
    return model


@pytest.mark.parametrize("kind", ["spherical", "fixed", "free", "revolute"])
def test_a_loop_names_the_joint_that_closes_it(kind):
    model = two_balls()
    model.spherical("first", "ground", "a", at=(0, 0, 0))
    model.spherical("second", "a", "b", at=(1.5, 0, 0))
    getattr(model, kind)("third", "b", "ground", at=(3, 0, 0), **({"axis": (0, 0, 1)} if kind == "revolute" else {}))
    if kind == "revolute":
        model.motor("motor", "third", torque=1.0)
        model.damper("damper", "third", damping=1.0)
    with pytest.raises(ps.PoinsotError, match=r'joint "third": it closes a loop, .*"recursive" takes trees'):
        Tree(model)


def test_two_joints_between_the_same_bodies_close_a_loop():
    model = two_balls()
    model.revolute("left", "a", "b", at=(1, 0, 0), axis=(1, 0, 0))
    model.revolute("right", "b", "a", at=(2, 0, 0), axis=(1, 0, 0))
    with pytest.raises(ps.PoinsotError, match=r'joint "right": it closes a loop, because "b" and "a"'):
        ps.simulate(model, 1.0)


def test_constraint_elements_are_refused():
    for kind in ("distance", "point_on_line", "point_on_plane", "gear"):
        model = two_balls()
        model.revolute("one", "ground", "a", at=(0, 0, 0), axis=(0, 0, 1))
        model.revolute("other", "ground", "b", at=(0, 0, 0), axis=(0, 0, 1))
        if kind == "gear":
            model.gear("tie", "one", "other", ratio=-2.0)
        elif kind == "distance":
            model.distance("tie", "a", "b")
        else:
            getattr(model, kind)("tie", "a", "b", at=(2, 0, 0), axis=(1, 0, 0))
        with pytest.raises(ps.PoinsotError, match=rf'joint "tie": {kind} is a constraint.*"recursive" takes trees'):
            Tree(model)


def test_drives_are_refused():
    model = two_balls()
    model.revolute("axle", "ground", "a", at=(0, 0, 0), axis=(0, 0, 1))
    model.drive("turn", "axle", position="2*t")
    with pytest.raises(ps.PoinsotError, match=r'drive "turn": formulation "recursive" cannot prescribe.*"axle"'):
        Tree(model)
