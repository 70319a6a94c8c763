"""The checks that every object of a model shares, and the way their messages read.

Each check takes `where` (kind and name of the user's object), `what` (the argument) and the value that
arrived; it returns the value in the form that is stored, or raises a `PoinsotError`. Arrays come back read-only.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable
from numbers import Real
from types import FunctionType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import PoinsotError

Array = NDArray[np.float64]

# A quaternion typed with four digits has lost its unit length but not its direction, and only that counts.
QUATERNION_TOLERANCE = 1e-3
# A matrix this near to orthogonal suffers from rounding; one further away is a mistake.
ROTATION_TOLERANCE = 1e-6

ORIENTATIONS = "give a 3x3 rotation matrix, a quaternion (w, x, y, z) or a scipy Rotation"


def show(value: object) -> str:
    """Return a value as messages show it: short, and numbers without noise."""
    if isinstance(value, np.ndarray):
        value = cast("object", value.tolist())
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        return f"{float(value):.9g}"
    if isinstance(value, tuple | list):
        items = cast("list[object]", value)
        return f"({', '.join(show(item) for item in items[:9])}{', ...' if len(items) > 9 else ''})"
    if isinstance(value, FunctionType):
        return f"function {value.__name__}"
    return reprlib.repr(value)


def read_only(values: Any) -> Array:
    """Return the values as a float64 array of their own that nobody can write to."""
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


def name(kind: str, value: object) -> str:
    """Check the name of a new object."""
    if not isinstance(value, str):
        raise PoinsotError(f'{kind}: the name {show(value)} is not a string; give one, such as "{kind} 1"')
    if not value.strip():
        raise PoinsotError(f'{kind}: the name {value!r} is empty; give one, such as "{kind} 1"')
    return value


def number(where: str, what: str, value: object, remedy: str = "give a finite number") -> float:
    """Check one finite real number."""
    if value is None and not what.endswith(":"):
        raise PoinsotError(f"{where}: {what} is missing; {remedy}")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = cast("object", value.item())
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        raise PoinsotError(f"{where}: {what} {show(value)} is not a number; {remedy}")
    if not math.isfinite(value):
        raise PoinsotError(f"{where}: {what} {show(value)} is not finite; {remedy}")
    return float(value)


def positive(where: str, what: str, value: object, unit: str) -> float:
    """Check a number greater than zero."""
    remedy = f"give a positive number of {unit}"
    result = number(where, what, value, remedy)
    if result <= 0.0:
        raise PoinsotError(f"{where}: {what} {show(result)} is not positive; {remedy}")
    return result


def not_negative(where: str, what: str, value: object, unit: str) -> float:
    """Check a number that may be zero."""
    remedy = f"give 0 or more {unit}"
    result = number(where, what, value, remedy)
    if result < 0.0:
        raise PoinsotError(f"{where}: {what} {show(result)} is negative; {remedy}")
    return result


def numbers(where: str, what: str, value: object, count: int) -> list[float]:
    """Check a sequence of `count` finite numbers."""
    remedy = f"give {count} number{'s' * (count != 1)}"
    if shape(value) == ():
        raise PoinsotError(f"{where}: {what} {show(value)} is not a vector; {remedy}")
    # An array of any library gives plain numbers this way.
    items = np.asarray(value).tolist() if hasattr(value, "__array__") else list(cast("Iterable[object]", value))
    if len(items) != count:
        have = "1 number" if len(items) == 1 else f"{len(items)} numbers"
        raise PoinsotError(f"{where}: {what} {show(items)} has {have}; {remedy}")
    for item in items:
        number(where, f"{what} {show(items)}:", item, remedy)
    return [float(cast("Any", item)) for item in items]


def vector(where: str, what: str, value: object) -> Array:
    """Check three finite numbers."""
    return read_only(numbers(where, what, value, 3))


def direction(where: str, what: str, value: object) -> Array:
    """Check a vector that has a direction, and return its unit vector."""
    components = vector(where, what, value)
    largest = float(np.max(np.abs(components)))
    if largest == 0.0:
        raise PoinsotError(f"{where}: {what} {show(components)} has no direction; give a non-zero vector")
    scaled = components / largest
    return read_only(scaled / np.linalg.norm(scaled))


def rotation(where: str, what: str, value: object) -> Array:
    """Check an orientation in any of its three forms, and return its rotation matrix (body to world)."""
    if hasattr(value, "as_matrix"):
        value = cast("Any", value).as_matrix()
    form = shape(value)
    if form == (4,):
        return _quaternion(where, what, value)
    if form == (3, 3):
        return _rotation_matrix(where, what, value)
    if not form:
        raise PoinsotError(f"{where}: {what} {show(value)} is not an orientation; {ORIENTATIONS}")
    size = "x".join(str(length) for length in form)
    raise PoinsotError(f"{where}: {what} {show(value)} has {size} numbers; {ORIENTATIONS}")


def shape(value: object) -> tuple[int, ...] | None:
    """Return the shape of a nested sequence: () for anything that is not one, None if it is ragged."""
    try:
        return np.shape(cast("Any", value))
    except ValueError:
        return None


def _quaternion(where: str, what: str, value: object) -> Array:
    q = np.array(numbers(where, what, value, 4))
    length = float(np.linalg.norm(q))
    if length == 0.0:
        raise PoinsotError(f"{where}: {what} {show(q)} is a quaternion of length zero; give one of length 1")
    if abs(length - 1.0) > QUATERNION_TOLERANCE:
        raise PoinsotError(
            f"{where}: {what} {show(q)} is a quaternion of length {show(length)}, not 1; divide it by its length "
            "(the order is w, x, y, z)"
        )
    w, x, y, z = q / length
    return read_only(
        [
            [w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def _rotation_matrix(where: str, what: str, value: object) -> Array:
    rows = cast("Iterable[object]", value)
    R = np.array([numbers(where, f"{what}: row", row, 3) for row in rows])
    determinant = float(np.linalg.det(R))
    error = float(np.max(np.abs(R.T @ R - np.eye(3))))
    if error > ROTATION_TOLERANCE:
        raise PoinsotError(
            f"{where}: {what} is not orthogonal (largest error {error:.1e}, determinant {show(determinant)}); "
            "give a matrix whose columns are the body's axes: perpendicular unit vectors"
        )
    if determinant < 0.0:
        raise PoinsotError(
            f"{where}: {what} is left-handed (determinant {show(determinant)}); "
            "give a right-handed rotation matrix, of determinant 1: turn one of its columns round"
        )
    nearest = R
    for _ in range(2):  # Newton's iteration for the nearest rotation: the error squares each time
        nearest = nearest @ (1.5 * np.eye(3) - 0.5 * (nearest.T @ nearest))
    return read_only(nearest)
