"""Points and thin rods where their missing inertia matters are refused, and only there."""

from math import cos, sin

import numpy as np
import pytest
from mechanism.trees import Tree, random_tree

import poinsot as ps
from poinsot.formulations.recursive import COLUMNS
from poinsot.mechanism.build import build
from poinsot.mechanism.dynamics import mass_matrix
from poinsot.mechanism.initial import initial_state
from poinsot.mechanism.kinematics import tree_workspace
from poinsot.scalars import floats

POINT, ROD, BOX = ps.Inertia.point(2.0), ps.Inertia.rod(2.0, 2.0), ps.Inertia.box(mass=1.0, size=(1, 1, 1))
DOWN = (0, 0, -1)


def one(inertia, kind, position=(0, 0, 0), orientation=None, **arguments):
    """One body on one joint at the origin."""
    model = ps.Model("one")
    model.body("bob", inertia, position, orientation=orientation)
    getattr(model, kind)("hinge", "ground", "bob", at=(0, 0, 0), **arguments)
    return model


def two(first, second, *, axis):
    """A point mass on a ball joint at the origin, and a box behind it."""
    model = one(first, "spherical", DOWN)
    model.body("box", BOX, (0, 0, -2))
    if second == "spherical":
        model.spherical("wrist", "bob", "box", at=DOWN)
    else:
        model.revolute("wrist", "bob", "box", at=DOWN, axis=axis)
    return model


ANGLE = 0.7
OBLIQUE = {"position": (0, sin(ANGLE), -cos(ANGLE)), "orientation": (cos(ANGLE / 2), sin(ANGLE / 2), 0, 0)}
AXIS = (0, sin(ANGLE), -cos(ANGLE))


@pytest.mark.parametrize(
    ("model", "axis"),
    [
        (one(POINT, "revolute", axis=(1, 0, 0)), "(1, 0, 0)"),
        (one(POINT, "spherical"), "(1, 0, 0)"),
        (one(POINT, "spherical", DOWN), "(0, 0, 1)"),
        (one(POINT, "spherical", OBLIQUE["position"]), "(0, -0.644218, 0.764842)"),
        (one(POINT, "cylindrical", axis=(0, 1, 0)), "(0, 1, 0)"),
        (one(POINT, "planar", axis=(0, 0, 1)), "(0, 0, 1)"),
        (one(POINT, "universal", DOWN, axis=((1, 0, 0), (0, 0, 1))), "(0, 0, 1)"),
        (one(ROD, "revolute", DOWN, axis=(0, 0, 1)), "(0, 0, 1)"),
        (one(ROD, "revolute", **OBLIQUE, axis=AXIS), "(0, -0.644218, 0.764842)"),
        (one(ROD, "spherical", DOWN), "(0, 0, 1)"),
        (two(POINT, "revolute", axis=(0, 0, 1)), "(0, 0, 1)"),
        (two(POINT, "spherical", axis=None), "(0, 0, 1)"),
    ],
)
def test_a_turn_that_nothing_resists_is_refused(model, axis):
    with pytest.raises(ps.PoinsotError) as error:
        Tree(model)
    assert str(error.value).startswith(f'joint "hinge": no inertia behind it resists turning about {axis}')


@pytest.mark.parametrize(("inertia", "axis"), [(POINT, "(1, 0, 0)"), (ROD, "(0, 0, 1)")])
def test_a_free_body_needs_all_its_inertia(inertia, axis):
    model = ps.Model("free")
    model.body("stone", inertia, (1, 2, 3))
    with pytest.raises(ps.PoinsotError) as error:
        ps.simulate(model, 1.0)
    assert str(error.value).startswith(f'body "stone": no inertia resists turning about {axis} at t = 0')


@pytest.mark.parametrize(
    "model",
    [
        one(POINT, "revolute", DOWN, axis=(1, 0, 0)),
        one(POINT, "prismatic", axis=(0, 0, 1)),
        one(POINT, "screw", axis=(0, 0, 1), pitch=0.1),
        one(POINT, "universal", DOWN, axis=((1, 0, 0), (0, 1, 0))),
        one(ROD, "universal", DOWN, axis=((1, 0, 0), (0, 1, 0))),
        one(ROD, "revolute", DOWN, axis=(1, 0, 0)),
        two(POINT, "revolute", axis=(1, 0, 0)),
        one(POINT, "fixed"),
    ],
)
def test_missing_inertia_that_does_not_matter_is_none(model):
    tree = Tree(model)
    assert np.isfinite(tree.forward(tree.problem.initial)).all()
    assert tree.n == 0 or np.linalg.eigvalsh(tree.mass(tree.problem.initial))[0] > 1e-3


@pytest.mark.parametrize("seed", range(12))
def test_a_point_in_a_random_tree_is_refused_just_where_the_mass_matrix_is_singular(seed):
    kinds = ("revolute", "prismatic", "cylindrical", "universal", "planar", "screw", "spherical")
    model = random_tree(seed, bodies=6, kinds=kinds, floating=0.0)
    host = model.bodies[f"body {seed % 6}"]
    model.body("point", POINT, host.position + host.rotation @ (0.3, 0.4, 0.5))
    kind = ("fixed", "revolute", "spherical")[seed % 3]
    axis = {"axis": (1, 0, 0)} if kind == "revolute" else {}
    getattr(model, kind)("last", "point", host, at=host.position, **axis)
    layout = build(model)
    matrix = np.zeros((layout.n_velocities, layout.n_velocities))
    mass_matrix(layout.mechanism, initial_state(layout), tree_workspace(layout.mechanism, COLUMNS, floats), matrix)
    values = np.linalg.eigvalsh(matrix)
    if values[0] > 1e-9 * values[-1]:
        Tree(model)
    else:
        with pytest.raises(ps.PoinsotError, match="resists turning about"):
            Tree(model)
    assert (values[0] > 1e-9 * values[-1]) == (kind != "spherical")


def test_small_things_have_inertia_enough():
    model = ps.Model("grain")
    model.body("grain", ps.Inertia.sphere(density=2000.0, radius=1e-7), (0, 0, 1))
    model.body("wheel", ps.Inertia.cylinder(density=2000.0, radius=1e-7, length=1e-8), (0, 0, 2))
    model.revolute("axle", "ground", "wheel", at=(0, 0, 2), axis=(0, 0, 1))
    tree = Tree(model)
    assert np.isfinite(tree.forward(tree.problem.initial)).all()


def test_the_joint_named_is_the_one_that_lacks_inertia():
    model = two(BOX, "spherical", axis=None)
    model.body("tip", POINT, (0, 0, -3))
    model.revolute("tip's", "box", "tip", at=(0, 0, -3), axis=(1, 0, 0))
    with pytest.raises(
        ps.PoinsotError, match=r'joint "tip\'s": no inertia behind it resists turning about \(1, 0, 0\)'
    ):
        Tree(model)
