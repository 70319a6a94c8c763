"""Which components of reactions are unique: those that no self-equilibrated reaction has a part in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from poinsot.mechanism.build import Layout

Array = NDArray[np.float64]

# A direction in which self-equilibrated reactions have less than this part (squared: projectors are) has none.
NO_PART = 1e-9


def unique_components(layout: Layout, parts: Array, sampled: Array, rotations: Array) -> tuple[Array, Array]:
    """Which components of forces and of torques in joints no self-equilibrated reaction has a part in.

    `parts` are those of the projector at some instants (instant, joint, 6, 6), `sampled` the rotations of the bodies
    there, and `rotations` those at all times that are asked for. The answer is in world axes, (time, joint, 3) each.

    As the mechanism moves, the directions of self-equilibrated reactions in a joint stay in some space that is fixed in
    the world, in one of its bodies or in the other: the smallest such spaces are found from the samples, and what lies
    across one of them is unique.
    """
    row = {name: b for b, name in enumerate(layout.bodies)}
    times, joints = len(rotations), list(layout.model.joints.values())
    unique = np.ones((2, times, len(joints), 3), bool)
    for j, joint in enumerate(joints):
        for kind in range(2):
            here = parts[:, j, 3 * kind : 3 * kind + 3, 3 * kind : 3 * kind + 3]
            if np.abs(here).max(initial=0.0) <= NO_PART:
                continue
            rank = max(_directions(part).shape[1] for part in here)
            found = np.ones((times, 3), bool)
            for name in ("", joint.a.name, joint.b.name):
                b = row.get(name)
                frame = None if b is None else sampled[:, b]
                turned = here if frame is None else frame.transpose(0, 2, 1) @ here @ frame
                space = _directions(turned.mean(axis=0))
                axes = space[None] if b is None else rotations[:, b] @ space
                found &= np.linalg.norm(axes, axis=2) > NO_PART**0.5
                if space.shape[1] == rank:
                    break  # the directions themselves: no other frame can say more
            unique[kind, :, j] = ~found
    return unique[0], unique[1]


def _directions(projector: Array) -> Array:
    """Where a projector, or a mean of some, has any part: an orthonormal basis, one column each."""
    sizes, axes = np.linalg.eigh(0.5 * (projector + projector.T))
    return axes[:, sizes > NO_PART]
