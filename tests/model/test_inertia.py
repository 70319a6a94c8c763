"""Inertias against closed forms, against integrals over the shape, and against each other."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poinsot.model import Inertia

LENGTHS = st.floats(0.01, 10.0)
SMALL = st.floats(-3.0, 3.0)


def rotation(u):
    """Rodrigues' formula."""
    angle = np.linalg.norm(u)
    if angle == 0.0:
        return np.eye(3)
    x, y, z = u / angle
    hat = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * hat + (1.0 - math.cos(angle)) * hat @ hat


def integrated(inside, corner, cells):
    """Mass and inertia matrix of density 1, by the midpoint rule over a box from -corner to corner."""
    axes = [np.linspace(-c, c, n, endpoint=False) + c / n for c, n in zip(corner, cells, strict=True)]
    x, y, z = (grid.ravel() for grid in np.meshgrid(*axes, indexing="ij"))
    kept = inside(x, y, z)
    points = np.stack([x[kept], y[kept], z[kept]], axis=-1)
    cell = np.prod([2.0 * c / n for c, n in zip(corner, cells, strict=True)])
    matrix = np.eye(3) * np.sum(points**2) - points.T @ points
    return cell * kept.sum(), cell * matrix


def test_box():
    mass, matrix = integrated(lambda x, y, z: np.isfinite(x), (0.1, 0.2, 0.3), (60, 60, 60))
    box = Inertia.box(density=1.0, size=(0.2, 0.4, 0.6))
    assert box.mass == pytest.approx(mass, rel=1e-12)
    np.testing.assert_allclose(box.matrix, matrix, rtol=1e-3, atol=1e-15)


def test_cylinder_is_about_z():
    mass, matrix = integrated(lambda x, y, z: x**2 + y**2 < 0.04, (0.2, 0.2, 0.5), (200, 200, 40))
    cylinder = Inertia.cylinder(density=1.0, radius=0.2, length=1.0)
    assert cylinder.mass == pytest.approx(mass, rel=2e-3)
    np.testing.assert_allclose(cylinder.matrix, matrix, rtol=5e-3, atol=1e-12)


def test_sphere():
    mass, matrix = integrated(lambda x, y, z: x**2 + y**2 + z**2 < 0.09, (0.3, 0.3, 0.3), (90, 90, 90))
    sphere = Inertia.sphere(density=1.0, radius=0.3)
    assert sphere.mass == pytest.approx(mass, rel=2e-3)
    np.testing.assert_allclose(sphere.matrix, matrix, rtol=5e-3, atol=1e-12)


@settings(deadline=None)
@given(size=st.tuples(LENGTHS, LENGTHS, LENGTHS), cut=st.floats(0.1, 0.9), axis=st.integers(0, 2))
def test_two_halves_make_a_box(size, cut, axis):
    parts = []
    for fraction, start in ((cut, 0.0), (1.0 - cut, cut)):
        part = np.array(size)
        part[axis] *= fraction
        shift = np.zeros(3)
        shift[axis] = (start + 0.5 * fraction) * size[axis]
        parts.append(Inertia.box(density=3.0, size=part).moved(shift))
    whole, joined = Inertia.box(density=3.0, size=size), parts[0] + parts[1]
    assert joined.mass == pytest.approx(whole.mass)
    np.testing.assert_allclose(joined.matrix, whole.matrix, rtol=1e-9, atol=1e-12 * np.max(whole.matrix))
    assert joined.center[axis] == pytest.approx(0.5 * size[axis])


@settings(deadline=None)
@given(u=st.tuples(SMALL, SMALL, SMALL), p=st.tuples(SMALL, SMALL, SMALL))
def test_moving_turns_and_shifts(u, p):
    R = rotation(np.array(u))
    part = Inertia(2.0, (1.0, 2.0, 2.5), center=(0.1, 0.2, 0.3))
    moved = part.moved(p, R)
    np.testing.assert_allclose(moved.center, p + R @ part.center, atol=1e-12)
    np.testing.assert_allclose(moved.matrix, R @ np.diag([1.0, 2.0, 2.5]) @ R.T, atol=1e-12)
    assert moved.mass == part.mass
    np.testing.assert_array_equal(moved.matrix, moved.matrix.T)


def test_joining_points_and_rods():
    dumbbell = Inertia.point(2.0).moved((0, 0, 1)) + Inertia.point(1.0).moved((0, 0, -2))
    np.testing.assert_allclose(dumbbell.center, 0.0, atol=1e-15)
    np.testing.assert_allclose(dumbbell.matrix, np.diag([6.0, 6.0, 0.0]))
    half = Inertia.rod(1.0, 1.0)
    np.testing.assert_allclose(
        (half.moved((0, 0, 0.5)) + half.moved((0, 0, -0.5))).matrix, Inertia.rod(2.0, 2.0).matrix
    )


def test_joining_does_not_depend_on_the_order():
    a = Inertia.box(1.0, (1, 2, 3)).moved((1, 0, 0))
    b = Inertia.sphere(2.0, 1.0).moved((0, 1, 0))
    c = Inertia.cylinder(3.0, 1.0, 2.0).moved((0, 0, 1), rotation(np.array([0.3, 0.2, 0.1])))
    np.testing.assert_allclose(((a + b) + c).matrix, (a + (c + b)).matrix, rtol=1e-14)


def test_about_a_point_is_the_parallel_axis_theorem():
    np.testing.assert_allclose(Inertia.rod(3.0, 2.0).about((0, 0, 1)), np.diag([4.0, 4.0, 0.0]))


def test_full_matrix_and_moments_say_the_same():
    np.testing.assert_array_equal(Inertia(1, (1, 2, 2)).matrix, Inertia(np.float32(1), np.diag([1, 2, 2])).matrix)


def test_thin_plate_meets_the_triangle_inequality_with_equality():
    assert Inertia(1.0, (0.1, 0.2, 0.1 + 0.2)).matrix[2, 2] == pytest.approx(0.3)


def test_arrays_are_copies_that_nobody_can_write_to():
    given_matrix = np.diag([1.0, 1.0, 1.0])
    inertia = Inertia(1.0, given_matrix)
    given_matrix[0, 0] = 5.0
    assert inertia.matrix[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        inertia.matrix[0, 0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        inertia.center[0] = 2.0
