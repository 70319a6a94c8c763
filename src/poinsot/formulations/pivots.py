"""Joints whose motion moves no mass: their accelerations are not determined, and no elimination can find them.

The check looks at the divisors of the elimination at t = 0: the inertia that a joint feels along its own freedoms,
beside the largest that it feels at all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import PoinsotError
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import Layout

Array = NDArray[np.float64]

# Less inertia than this fraction of the largest is rounding error.
TOLERANCE = 1e-13


def check_inertia(layout: Layout, A: Array, B: Array, M: Array) -> None:
    """Raise an error for the first link that can be accelerated without force; A, B, M as they stand in (5)."""
    for i in range(1, len(layout.mechanism.links)):
        kind, frame = layout.mechanism.links[i, t.KIND], layout.mechanism.frames[i]
        felt = np.block([[_full(A[i]), B[i].reshape(3, 3)], [B[i].reshape(3, 3).T, _full(M[i])]])
        if kind in (t.REVOLUTE, t.ONE_AXIS):
            motions = np.zeros((6, 1))
            motions[2], motions[5] = frame[t.TURN], frame[t.SLIDE]
        else:
            motions = np.eye(6)[:, : t.DEGREES_OF_FREEDOM[int(kind)]]
        if motions.shape[1] == 0:
            continue
        values, vectors = np.linalg.eigh(motions.T @ felt @ motions)
        if not values[0] > TOLERANCE * np.abs(felt).max():
            raise PoinsotError(_sentence(layout, i, motions @ vectors[:, 0]))


def _full(S: Array) -> Array:
    xx, yy, zz, xy, xz, yz = S
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _sentence(layout: Layout, i: int, motion: Array) -> str:
    name = layout.link_names[i]
    what = "joint" if name in layout.model.joints else "body"
    if np.linalg.norm(motion[:3]) == 0.0:
        return f'{what} "{name}": nothing behind it has mass along its axis; give the body that it carries a mass'
    axis = layout.start_axes[i] @ motion[:3] / np.linalg.norm(motion[:3])
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
    direction = ", ".join(f"{x:.3g}" for x in np.where(np.abs(axis) < 1e-9, 0.0, axis))
    return (
        f'{what} "{name}": nothing behind it has inertia about the direction ({direction}), so that its acceleration '
        "is not determined; give the body an inertia there, or use a joint that does not turn about it"
    )
