"""The tree that joints span over the bodies, whatever the order in which a user added them.

From the ground, and then from the heaviest body of every part that floats, the tree grows depth first along joints in
the order of their names. A joint that would meet a body for the second time closes a loop and stays outside.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from poinsot.errors import PoinsotError
from poinsot.model.body import Anchor, Body
from poinsot.model.joint import Joint
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
    at: defaultdict[str, list[Joint]] = defaultdict(list)
    for joint in sorted(model.joints.values(), key=lambda joint: (joint.kind == "free", joint.name)):
        if joint.kind in TREE_KINDS:
            at[joint.a.name].append(joint)
            at[joint.b.name].append(joint)
    branches: list[Branch] = []
    reached: dict[str, Joint | None] = {}
    _grow(model.ground, at, reached, branches)
    for body in sorted(model.bodies.values(), key=lambda body: (-body.inertia.mass, body.name)):
        if body.name not in reached:
            branches.append(Branch(model.ground, body, None))
            reached[body.name] = None
            _grow(body, at, reached, branches)
    used = {branch.joint for branch in branches}
    return Topology(tuple(branches), tuple(joint for joint in model.joints.values() if joint not in used))


def _grow(root: Anchor, at: dict[str, list[Joint]], reached: dict[str, Joint | None], branches: list[Branch]) -> None:
    """Add all that hangs on `root`; a stack of its own, because chains may be longer than Python's."""
    waiting = [(root, joint) for joint in reversed(at[root.name])]
    while waiting:
        parent, joint = waiting.pop()
        child = joint.b if joint.a is parent else joint.a
        if not isinstance(child, Body) or child.name in reached:
            continue
        reached[child.name] = joint
        branches.append(Branch(parent, child, joint))
        waiting.extend((child, other) for other in reversed(at[child.name]) if other is not joint)
