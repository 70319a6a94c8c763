"""What joints leave and what they say twice: degrees of freedom, redundant equations, reactions that are not unique.

Ranks are those of formulations/closure.py, in joint velocities and the metric of the masses; reactions those of
mechanism/reactions.py. Nothing is simulated, and a mechanism that is open at t = 0 is a report and not an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from poinsot.analysis.assembly import Drawing, assemble
from poinsot.formulations.closure import OPEN, RANK_TOLERANCE, Array, Closure
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import build
from poinsot.mechanism.initial import initial_state
from poinsot.mechanism.reactions import Reactions
from poinsot.mechanism.unique import unique_components
from poinsot.model import Model

Components = tuple[bool, ...]


class Redundant(NamedTuple):
    """An equation that others say already: its joint (or drive), and what it hinders, in world axes at t = 0."""

    joint: str
    direction: str


class Residual(NamedTuple):
    """How far a joint or drive is from being fulfilled at t = 0, the largest of its equations (m or rad, and per s)."""

    position: float
    velocity: float


class Unique(NamedTuple):
    """Which components of a joint's reaction, world axes at t = 0, have no other value for the same motion."""

    force: Components
    torque: Components


@dataclass(frozen=True)
class Report:
    """What `model.check()` finds.

    `mobility` counts the degrees of freedom that the joints leave, those of parts that float (`floating` names their
    heaviest bodies) included; `driven` says how many of them drives prescribe. `redundant` lists the equations that say
    nothing new, out of `equations`. `residuals` are those at t = 0, velocities as completed; `closed` says whether
    positions are, and `closable` whether the joints can be closed from there, so that ranks are those of a closed
    position; a mechanism that is drawn open is assembled for that.
    `singular` says that rank is less at t = 0 than near it; what is said of ranks and reactions holds near it, then.
    Singular values of the scaled rows below `rank_tolerance` are zero.
    """

    model: str
    mobility: int
    driven: int
    redundant: tuple[Redundant, ...]
    equations: int
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    drives: tuple[str, ...]
    floating: tuple[str, ...]
    residuals: Mapping[str, Residual]
    unique: Mapping[str, Unique]
    closed: bool
    closable: bool
    singular: bool
    rank_tolerance: float

    def as_json(self) -> dict[str, Any]:
        """The same as plain values under the same names."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        values["redundant"] = [each._asdict() for each in self.redundant]
        for name in ("residuals", "unique"):
            values[name] = {joint: each._asdict() for joint, each in values[name].items()}
        return values

    def summary(self) -> str:
        """The report in a few readable lines."""
        from poinsot.view.summary import as_text

        return as_text(self.facts())

    __str__ = summary

    def facts(self, title: str | None = None) -> list[tuple[str, str]]:
        """The lines of the summary, as pairs of a label and a text."""
        from poinsot.view.summary import counted

        size = f"{counted(len(self.bodies), 'body', 'bodies')}, {counted(len(self.joints), 'joint')}"
        lines = [("model", f"{title or self.model}: {size}"), ("mobility", self._mobility())]
        lines.append(("closure", self._closure()))
        if self.redundant:
            lines.append(("redundant", f"{len(self.redundant)} of {counted(self.equations, 'equation')}"))
            lines += [("", f"{_owner(self, each.joint)}: {each.direction}") for each in self.redundant]
            lines += [("not unique", words) for words in self._not_unique()[:1]]
            lines += [("", words) for words in self._not_unique()[1:]]
        else:
            lines.append(("redundant", f"none of {counted(self.equations, 'equation')}: all reactions are unique"))
        if self.singular:
            lines.append(("position", "singular at t = 0: equations that are independent near it depend on each other"))
        return lines

    def _mobility(self) -> str:
        from poinsot.view.summary import counted

        words = counted(self.mobility, "degree of freedom", "degrees of freedom")
        if self.driven:
            words += f", {self.driven} of them driven"
        if self.floating:
            words += f"; {counted(len(self.floating), 'part')} not tied to the ground ({', '.join(self.floating)})"
        return words

    def _closure(self) -> str:
        worst = max(self.residuals, key=lambda name: self.residuals[name].position, default=None)
        if self.closed or worst is None:
            largest = max((each.position for each in self.residuals.values()), default=0.0)
            return f"closed at t = 0 (largest residual {largest:.1e})"
        open_ = f"{_owner(self, worst)} is open by {self.residuals[worst].position:.3g}, most of all"
        return f"{open_}; model.assemble() {'closes it' if self.closable else 'would be needed, but finds no way'}"

    def _not_unique(self) -> list[str]:
        """Each joint with the components of its reaction that are not the only ones."""
        lines: list[str] = []
        for joint, each in self.unique.items():
            parts = [
                f"{kind} {' '.join(axis for axis, unique in zip('xyz', components, strict=True) if not unique)}"
                for kind, components in zip(("force", "torque"), each, strict=True)
                if not all(components)
            ]
            if parts:
                lines.append(f'joint "{joint}": {", ".join(parts)}')
        return lines


def check(model: Model) -> Report:
    """Count degrees of freedom and redundant equations of a model, and say what is open or not unique."""
    if any(joint.drawn_apart for joint in model.joints.values()):
        return _check_assembled(model)
    layout = build(model)
    closure, start = Closure.of(layout, {}), initial_state(layout)
    gap, _, _ = closure.equations_at(0.0, start)
    state = closure.tied.closed(0.0, start)
    here = start if state is None else state
    rank = len(closure.independent(0.0, here)[0])
    picked, _, usual = closure.generic(0.0, here)
    drives = sum(layout.equations[closure.rows[n]].is_drive for n in picked)
    if closure.rows:
        start, *_ = closure.completed(start)
    return Report(
        model=model.name,
        mobility=layout.n_velocities - len(picked) + drives,
        driven=len(model.drives),
        redundant=tuple(
            Redundant(layout.equations[row].owner, layout.equations[row].direction)
            for n, row in enumerate(closure.rows)
            if n not in picked
        ),
        equations=len(layout.equations),
        bodies=tuple(layout.bodies),
        joints=tuple(layout.joints),
        drives=tuple(model.drives),
        floating=tuple(branch.child.name for branch in layout.topology.branches if branch.joint is None),
        residuals=_residuals(closure, start),
        unique=_unique(closure, usual, len(closure.rows) - len(picked)),
        closed=float(np.abs(gap).max(initial=0.0)) <= OPEN * closure.size,
        closable=state is not None,
        singular=rank != len(picked),
        rank_tolerance=RANK_TOLERANCE,
    )


def _check_assembled(model: Model) -> Report:
    """The report of the assembled mechanism, with the residuals of the drawn one."""
    drawing = Drawing(model)
    missed, _ = drawing.at(*drawing.start)
    report = check(assemble(model))
    open_ = {name: value for name, (value, *_) in drawing.residuals(missed).items()}
    residuals = {name: each._replace(position=open_.get(name, 0.0)) for name, each in report.residuals.items()}
    closed = max(open_.values(), default=0.0) <= OPEN * drawing.size
    return replace(report, residuals=residuals, closed=closed)


def _residuals(closure: Closure, state: Array) -> dict[str, Residual]:
    """The largest residuals of each joint and drive."""
    layout = closure.layout
    every = replace(closure, rows=tuple(range(len(layout.equations))))
    gap, speed, _ = every.equations_at(0.0, state)
    found = {name: (0.0, 0.0) for name in (*layout.joints, *layout.model.drives)}
    for word, position, velocity in zip(layout.equations, np.abs(gap), np.abs(speed), strict=True):
        before = found[word.owner]
        found[word.owner] = max(before[0], float(position)), max(before[1], float(velocity))
    return {name: Residual(*values) for name, values in found.items()}


def _unique(closure: Closure, usual: Array, redundant: int) -> dict[str, Unique]:
    """Which components are unique, in world axes at t = 0, from positions that are not singular."""
    layout = closure.layout
    if not redundant:
        return {name: Unique((True,) * 3, (True,) * 3) for name in layout.joints}
    reactions = Reactions(layout)
    poses = np.array([_poses(closure, state) for state in (usual, *closure.near(0.0, usual)[0])])
    found = [reactions.self_equilibrated(pose) for pose in poses]
    taken = np.array([abs(count - redundant) < 0.5 for _, count in found])
    taken |= not taken.any()
    rotations = poses[:, :, 3:].reshape(*poses.shape[:2], 3, 3)
    at_start = np.array([[body.rotation for body in layout.model.bodies.values()]])
    force, torque = unique_components(layout, np.array([part for part, _ in found])[taken], rotations[taken], at_start)
    return {
        name: Unique(tuple(map(bool, force[0, j])), tuple(map(bool, torque[0, j])))
        for j, name in enumerate(layout.joints)
    }


def _poses(closure: Closure, state: Array) -> Array:
    """Centres of mass and rotation matrices of the bodies in a state."""
    closure.equations_at(0.0, state)
    rows = [closure.layout.row[name] for name in closure.layout.bodies]
    return closure.work[rows, t.POSITION : t.POSITION + 12].copy()


def _owner(report: Report, name: str) -> str:
    return f'{"drive" if name in report.drives else "joint"} "{name}"'
