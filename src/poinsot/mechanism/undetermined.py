"""Motions of a tree that nothing resists at t = 0: points and thin rods have no inertia about some axis.

The articulated-body elimination of `recursive` in NumPy, with pivots that are looked at. It runs only where a body
without full inertia exists: with full inertias every pivot of a tree is positive.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import PoinsotError
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import Layout
from poinsot.model.checks import show

Array = NDArray[np.float64]

# A pivot this small against the inertia that it belongs to is rounding, not inertia.
TOLERANCE = 1e-12
# Distances below this fraction of the mechanism's size are rounding, too.
NO_DISTANCE = 1e-9


def refuse_undetermined(layout: Layout) -> None:
    """Raise an error for the first joint or free body, from the leaves, whose acceleration nothing determines."""
    moments = [np.linalg.eigvalsh(body.inertia.matrix) for body in layout.model.bodies.values()]
    if all(least > TOLERANCE * most for least, _, most in moments):
        return
    links, origins = layout.mechanism.links, layout.start_origins
    inertia = body_inertias(layout)
    size = max(np.ptp(origins, axis=0).max(), 1e-3)
    for i in range(len(links) - 1, 0, -1):
        S, I = motions(layout, i), inertia[i]
        length = np.sqrt(np.trace(I[:3, :3]) / np.trace(I[3:, 3:])) + NO_DISTANCE * size
        scale = np.repeat((1.0 / length, 1.0), 3)  # per unit of the speed at that distance
        unit = S / np.linalg.norm(S / scale[:, None], axis=0)
        pivots, directions = np.linalg.eigh(unit.T @ I @ unit)
        if len(pivots) and pivots[0] <= TOLERANCE * np.trace(I[3:, 3:]):
            raise _error(layout, i, unit @ directions[:, 0] / scale)
        if len(pivots):
            force = I @ unit
            I = I - force @ directions / pivots @ directions.T @ force.T
        shift = np.eye(6)
        shift[3:, :3] = -_skew(origins[i] - origins[links[i, t.PARENT]])
        inertia[links[i, t.PARENT]] += shift.T @ I @ shift


def body_inertias(layout: Layout) -> Array:
    """The inertia of each link about its origin, world axes at t = 0, for (angular velocity, velocity)."""
    inertia = np.zeros((len(layout.mechanism.links), 6, 6))
    for body in layout.model.bodies.values():
        i, mass = layout.row[body.name], body.inertia.mass
        C = _skew(body.position - layout.start_origins[i])
        inertia[i, :3, :3] = body.rotation @ body.inertia.matrix @ body.rotation.T - mass * C @ C
        inertia[i, :3, 3:], inertia[i, 3:, :3] = mass * C, -mass * C
        inertia[i, 3:, 3:] = mass * np.eye(3)
    return inertia


def motions(layout: Layout, i: int) -> Array:
    """What the velocities of link i move at its origin, one column each."""
    kind, W, frame = layout.mechanism.links[i, t.KIND], layout.start_axes[i], layout.mechanism.frames[i]
    if kind in (t.REVOLUTE, t.ONE_AXIS):
        return np.concatenate((frame[t.TURN] * W[:, 2], frame[t.SLIDE] * W[:, 2]))[:, None]
    return np.eye(6)[:, : t.DEGREES_OF_FREEDOM[kind]]


def _skew(v: Array) -> Array:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _error(layout: Layout, i: int, motion: Array) -> PoinsotError:
    name = layout.link_names[i]
    kind, behind = ("joint", "behind it ") if name in layout.model.joints else ("body", "")
    turning = np.linalg.norm(motion[:3]) >= np.linalg.norm(motion[3:])
    along = motion[:3] if turning else motion[3:]
    along = np.round(along / np.linalg.norm(along), 6) + 0.0
    along = along * (-1.0 if along[np.argmax(np.abs(along))] < 0.0 else 1.0) + 0.0
    return PoinsotError(
        f'{kind} "{name}": no inertia {behind}resists {"turning about" if turning else "sliding along"} {show(along)} '
        "at t = 0, so that this motion is not determined; give the body an inertia (a point has none, a rod none about "
        "its axis), or choose a joint without that freedom"
    )
