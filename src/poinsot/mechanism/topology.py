"""The tree that joints span over the bodies, whatever the order in which a user added them.

It grows from the ground, and then from the heaviest body of every part that floats, joint by joint, so that few
coordinates and short loops come of it. A joint that would meet a body for the second time closes a loop and stays
outside. The branches are counted depth first, in the order of the joints' names.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass

from poinsot.errors import PoinsotError
from poinsot.model.body import Anchor, Body
from poinsot.model.joint import Joint
from poinsot.model.loads import Damper, Motor, TorsionSpring
from poinsot.model.model import Model

# Kinds that leave coordinates between two bodies; the others are constraint elements and cannot carry a body.
TREE_KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "screw", "free")


@dataclass(frozen=True)
class Branch:
    """A joint of the tree, from the parent to the child; `joint` is None for a body that floats freely."""

    parent: Anchor
    child: Body
    joint: Joint | None

    @property
    def reversed(self) -> bool:
        """Whether the tree runs from the joint's b to its a."""
        return self.joint is not None and self.joint.a is self.child


@dataclass(frozen=True)
class Topology:
    """The branches, parents first, and the joints that close loops."""

    branches: tuple[Branch, ...]
    closing: tuple[Joint, ...]


def span(model: Model) -> Topology:
    """Find the tree of a model."""
    if not model.bodies:
        raise PoinsotError(f'model "{model.name}": it has no body; add one with model.body()')
    heaviest_first = sorted(model.bodies.values(), key=lambda body: (-body.inertia.mass, body.name))
    chosen, floating = _choose(model, heaviest_first)
    at: defaultdict[str, list[Joint]] = defaultdict(list)
    for joint in sorted(chosen, key=lambda joint: (joint.kind == "free", joint.name)):
        at[joint.a.name].append(joint)
        at[joint.b.name].append(joint)
    branches: list[Branch] = []
    _grow(model.ground, at, branches)
    for body in floating:
        branches.append(Branch(model.ground, body, None))
        _grow(body, at, branches)
    return Topology(tuple(branches), tuple(joint for joint in model.joints.values() if joint not in chosen))


def _choose(model: Model, bodies: list[Body]) -> tuple[set[Joint], list[Body]]:
    """The joints of the tree, and the bodies at which floating parts begin.

    The tree grows by the joint that needs its coordinates (for a load, a drive or a gear), else by the one with the
    fewest freedoms, else by the one nearest to the root, else in the order of names.
    """
    at: defaultdict[str, list[Joint]] = defaultdict(list)
    for joint in model.joints.values():
        if joint.kind in TREE_KINDS:
            at[joint.a.name].append(joint)
            at[joint.b.name].append(joint)
    needed = _with_coordinates(model)
    chosen: set[Joint] = set()
    reached: set[str] = set()
    floating: list[Body] = []
    for root in (model.ground, *bodies):
        if root.name in reached:
            continue
        if isinstance(root, Body):
            floating.append(root)
        waiting: list[tuple[bool, int, int, str, str]] = []
        found = [(root, 0)]
        while found:
            body, depth = found.pop()
            reached.add(body.name)
            for joint in at[body.name]:
                other = joint.b if joint.a is body else joint.a
                if other.name not in reached:
                    need = joint.name not in needed
                    heapq.heappush(waiting, (need, joint.coordinates, depth, joint.name, other.name))
            while waiting:
                *_, depth, name, other_name = heapq.heappop(waiting)
                if other_name not in reached:
                    chosen.add(model.joints[name])
                    found.append((model.bodies[other_name], depth + 1))
                    break
    return chosen, floating


def _with_coordinates(model: Model) -> set[str]:
    """Joints whose coordinates something else reads."""
    loaded = (load.joint.name for load in model.loads.values() if isinstance(load, Damper | Motor | TorsionSpring))
    driven = (drive.joint.name for drive in model.drives.values())
    geared = (joint.name for gear in model.joints.values() for joint in (gear.joint_a, gear.joint_b) if joint)
    return {*loaded, *driven, *geared}


def _grow(root: Anchor, at: dict[str, list[Joint]], branches: list[Branch]) -> None:
    """Add all that hangs on `root`, depth first; a stack of its own, because chains may be longer than Python's."""
    waiting = [(root, joint) for joint in reversed(at[root.name])]
    while waiting:
        parent, joint = waiting.pop()
        child = joint.b if joint.a is parent else joint.a
        if isinstance(child, Body):
            branches.append(Branch(parent, child, joint))
            waiting.extend((child, other) for other in reversed(at[child.name]) if other is not joint)
