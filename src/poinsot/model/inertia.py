"""The inertia of a body: mass, centre of mass, and the inertia matrix about it.

Made from the shapes of textbooks (uniform density), moved and joined (parallel axis theorem), or given as
numbers; every one is checked to be the inertia of something that can exist.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poinsot.errors import PoinsotError
from poinsot.model import checks
from poinsot.model.checks import Array, show

VectorLike = Sequence[float] | Array
MatrixLike = Sequence[float] | Sequence[Sequence[float]] | Array

# Inertias come from catalogues with six digits or so; a thin plate meets the triangle inequality with equality.
TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False, init=False)
class Inertia:
    """Mass (kg), inertia matrix about the centre of mass in body axes (kg m²), and where the centre is.

    `center` is where a shape's or a composite's centre of mass lies in the axes it was described in. A body's
    `position` is always that of its centre of mass, so that `center` informs, and serves `moved` and `+`.
    """

    mass: float
    matrix: Array
    center: Array

    def __init__(self, mass: float, inertia: MatrixLike, center: VectorLike = (0.0, 0.0, 0.0)) -> None:
        object.__setattr__(self, "mass", checks.positive("Inertia", "mass", mass, "kilograms"))
        object.__setattr__(self, "matrix", _matrix(inertia))
        object.__setattr__(self, "center", checks.vector("Inertia", "center", center))

    @classmethod
    def box(cls, mass: float | None = None, size: VectorLike | None = None, *, density: float | None = None) -> Inertia:
        """Return a uniform box with edges `size` along the body's x, y and z."""
        where = "Inertia.box"
        if size is None:
            raise PoinsotError(f"{where}: size is missing; give three lengths in metres")
        lengths = checks.numbers(where, "size", size, 3)
        a, b, c = (checks.positive(where, f"size {show(lengths)}:", length, "metres") for length in lengths)
        m = _mass(where, mass, density, a * b * c)
        return cls(m, (m * (b * b + c * c) / 12.0, m * (a * a + c * c) / 12.0, m * (a * a + b * b) / 12.0))

    @classmethod
    def cylinder(
        cls,
        mass: float | None = None,
        radius: float | None = None,
        length: float | None = None,
        *,
        density: float | None = None,
    ) -> Inertia:
        """Return a uniform solid cylinder (or disc) about the body's z axis."""
        where = "Inertia.cylinder"
        r = checks.positive(where, "radius", radius, "metres")
        h = checks.positive(where, "length", length, "metres")
        m = _mass(where, mass, density, math.pi * r * r * h)
        across = m * (3.0 * r * r + h * h) / 12.0
        return cls(m, (across, across, m * r * r / 2.0))

    @classmethod
    def sphere(cls, mass: float | None = None, radius: float | None = None, *, density: float | None = None) -> Inertia:
        """Return a uniform solid sphere."""
        where = "Inertia.sphere"
        r = checks.positive(where, "radius", radius, "metres")
        m = _mass(where, mass, density, 4.0 / 3.0 * math.pi * r**3)
        return cls(m, (0.4 * m * r * r,) * 3)

    @classmethod
    def rod(cls, mass: float, length: float) -> Inertia:
        """Return a thin uniform rod along the body's z axis; it has no inertia about that axis."""
        where = "Inertia.rod"
        m = checks.positive(where, "mass", mass, "kilograms")
        h = checks.positive(where, "length", length, "metres")
        return cls(m, (m * h * h / 12.0, m * h * h / 12.0, 0.0))

    @classmethod
    def point(cls, mass: float) -> Inertia:
        """Return a point mass."""
        return cls(checks.positive("Inertia.point", "mass", mass, "kilograms"), (0.0, 0.0, 0.0))

    def moved(self, position: VectorLike = (0.0, 0.0, 0.0), rotation: object = None) -> Inertia:
        """Return the same body turned by `rotation` and then shifted by `position`, ready to be joined with `+`."""
        where = "Inertia.moved"
        p = checks.vector(where, "position", position)
        R = np.eye(3) if rotation is None else checks.rotation(where, "rotation", rotation)
        turned = R @ self.matrix @ R.T
        return Inertia(self.mass, 0.5 * (turned + turned.T), p + R @ self.center)

    def __add__(self, other: Inertia) -> Inertia:
        """Join two bodies into one, about their common centre of mass."""
        if not isinstance(other, Inertia):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise PoinsotError(f"Inertia: {show(other)} cannot be joined with an inertia; join two inertias with +")
        mass = self.mass + other.mass
        center = (self.mass * self.center + other.mass * other.center) / mass
        return Inertia(mass, self.about(center) + other.about(center), center)

    def about(self, point: VectorLike) -> Array:
        """Return the inertia matrix about another point, given where `center` is (parallel axis theorem)."""
        r = self.center - checks.vector("Inertia.about", "point", point)
        return self.matrix + self.mass * (np.dot(r, r) * np.eye(3) - np.outer(r, r))


def _mass(where: str, mass: float | None, density: float | None, volume: float) -> float:
    if (mass is None) == (density is None):
        have = "neither mass nor density is given" if mass is None else "both mass and density are given"
        raise PoinsotError(f"{where}: {have}; give one of them")
    if density is not None:
        return checks.positive(where, "density", density, "kilograms per cubic metre") * volume
    return checks.positive(where, "mass", mass, "kilograms")


def _matrix(value: object) -> Array:
    """Check an inertia matrix: three principal moments or a full symmetric matrix of something that can exist."""
    where = "Inertia"
    shape = checks.shape(value)
    if shape == (3,):
        matrix = np.diag(checks.numbers(where, "inertia", value, 3))
    elif shape == (3, 3):
        matrix = np.array([checks.numbers(where, "inertia: row", row, 3) for row in value])  # pyright: ignore
    else:
        raise PoinsotError(
            f"{where}: inertia {show(value)} has the wrong shape; give three principal moments or a 3x3 matrix"
        )
    largest = float(np.max(np.abs(matrix)))
    asymmetry = float(np.max(np.abs(matrix - matrix.T)))
    if asymmetry > TOLERANCE * largest:
        raise PoinsotError(
            f"{where}: inertia is not symmetric (elements across the diagonal differ by {show(asymmetry)}); "
            "give the same products of inertia on both sides"
        )
    matrix = 0.5 * (matrix + matrix.T)
    small, middle, large = (float(moment) for moment in np.linalg.eigvalsh(matrix))
    if small < -TOLERANCE * largest:
        raise PoinsotError(
            f"{where}: inertia has a negative principal moment, {show(small)}; "
            "no body has one: check the signs (products of inertia enter as -∫xy dm)"
        )
    if small + middle < large - TOLERANCE * largest:
        raise PoinsotError(
            f"{where}: inertia has principal moments {show((small, middle, large))}, and {show(large)} is more than "
            "the sum of the other two; no body has such moments: check units and axes"
        )
    return checks.read_only(matrix)
