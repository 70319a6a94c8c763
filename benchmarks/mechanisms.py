"""Mechanisms for benchmarks, and the same ones in Pinocchio, frame by frame from Poinsot's own tables."""

from __future__ import annotations

from typing import Any

import numpy as np

import poinsot as ps
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import Layout


def spherical_chain(n: int) -> ps.Model:
    """The chain of paper 003, Table 3.1."""
    return ps.case(f"chain-{n}")


def revolute_chain(n: int, seed: int = 1) -> ps.Model:
    """A chain of revolute joints with random axes, arms and inertias."""
    return _revolute_tree(list(range(-1, n - 1)), seed, floating=False)


def humanoid(seed: int = 2) -> ps.Model:
    """A floating tree of 38 degrees of freedom: waist of 4, two arms of 7, neck of 2, two legs of 6."""
    parents = [-1]

    def limb(parent: int, joints: int) -> int:
        for _ in range(joints):
            parents.append(parent)
            parent = len(parents) - 1
        return parent

    chest = limb(0, 4)
    for parent, joints in ((chest, 7), (chest, 7), (chest, 2), (0, 6), (0, 6)):
        limb(parent, joints)
    return _revolute_tree(parents, seed, floating=True)


def _revolute_tree(parents: list[int], seed: int, floating: bool) -> ps.Model:
    rng = np.random.default_rng(seed)
    model = ps.Model("random tree")
    bodies: list[Any] = []
    joints: list[np.ndarray] = []
    for i, parent in enumerate(parents):
        at = (joints[parent] if parent >= 0 else np.zeros(3)) + rng.normal(scale=0.3, size=3) * (i > 0)
        points, masses = rng.normal(scale=0.2, size=(5, 3)), rng.uniform(0.2, 1.0, 5)
        center = masses @ points / masses.sum()
        arms = points - center
        inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))
        body = model.body(f"body {i:03d}", ps.Inertia(masses.sum(), inertia), position=at + center)
        if floating and i == 0:
            model.free(f"joint {i:03d}", model.ground, body, at=at)
        else:
            carrier = bodies[parent] if parent >= 0 else model.ground
            model.revolute(f"joint {i:03d}", carrier, body, at=at, axis=rng.normal(size=3))
        bodies.append(body)
        joints.append(at)
    return model


class InPinocchio:
    """A mechanism of revolute, spherical and free links in Pinocchio, with maps of coordinates and velocities."""

    def __init__(self, layout: Layout) -> None:
        import pinocchio as pin

        self.pin, self.layout = pin, layout
        links, frames = layout.mechanism.links, layout.mechanism.frames
        self.model = pin.Model()
        self.model.gravity.linear = layout.mechanism.gravity[0]
        kinds = {t.REVOLUTE: pin.JointModelRZ, t.SPHERICAL: pin.JointModelSpherical, t.FREE: pin.JointModelFreeFlyer}
        self.joint = [0]
        for link, frame in zip(links[1:], frames[1:], strict=True):
            place = pin.SE3(frame[t.PLACEMENT : t.PLACEMENT + 9].reshape(3, 3), frame[t.HINGE : t.HINGE + 3])
            if link[t.KIND] != t.REVOLUTE:
                place = pin.SE3(np.eye(3), frame[t.HINGE : t.HINGE + 3])
            name = f"joint {len(self.joint)}"
            joint = self.model.addJoint(self.joint[link[t.PARENT]], kinds[link[t.KIND]](), place, name)
            mass, moment = frame[t.MASS], frame[t.MOMENT : t.MOMENT + 3]
            xx, yy, zz, xy, xz, yz = frame[t.INERTIA : t.INERTIA + 6]
            center = moment / mass
            about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            inertia = about_origin - mass * (center @ center * np.eye(3) - np.outer(center, center))
            self.model.appendBodyToJoint(joint, pin.Inertia(mass, center, inertia), pin.SE3.Identity())
            self.joint.append(joint)
        self.data = self.model.createData()

    def state(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pinocchio's q and v of a Poinsot state: quaternions end with w, free velocities are in body axes."""
        q, v = np.zeros(self.model.nq), np.zeros(self.model.nv)
        for link, joint in zip(self.layout.mechanism.links[1:], self.joint[1:], strict=True):
            p, r = link[t.READING], link[t.RATE]
            iq, iv = self.model.idx_qs[joint], self.model.idx_vs[joint]
            if link[t.KIND] == t.REVOLUTE:
                q[iq], v[iv] = state[p], state[r]
            elif link[t.KIND] == t.SPHERICAL:
                q[iq : iq + 4], v[iv : iv + 3] = np.roll(state[p : p + 4], -1), state[r : r + 3]
            else:
                turn = self.pin.Quaternion(*state[p : p + 4]).matrix()
                q[iq : iq + 3], q[iq + 3 : iq + 7] = state[p + 4 : p + 7], np.roll(state[p : p + 4], -1)
                v[iv : iv + 3], v[iv + 3 : iv + 6] = turn.T @ state[r + 3 : r + 6], state[r : r + 3]
        return q, v

    def accelerations(self, state: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Pinocchio's accelerations of Poinsot's rates."""
        a, n = np.zeros(self.model.nv), self.layout.n_velocities
        for link, joint in zip(self.layout.mechanism.links[1:], self.joint[1:], strict=True):
            p, r, x, iv = link[t.READING], link[t.RATE], n + link[t.MOTION], self.model.idx_vs[joint]
            if link[t.KIND] == t.REVOLUTE:
                a[iv] = rate[x]
            elif link[t.KIND] == t.SPHERICAL:
                a[iv : iv + 3] = rate[x : x + 3]
            else:
                turn = self.pin.Quaternion(*state[p : p + 4]).matrix()
                spin = state[r : r + 3]
                a[iv : iv + 3] = turn.T @ rate[x + 3 : x + 6] - np.cross(spin, turn.T @ state[r + 3 : r + 6])
                a[iv + 3 : iv + 6] = rate[x : x + 3]
        return a
