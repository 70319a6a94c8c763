"""Random trees of every joint kind, and what the kernels say of them at one instant.

All tests of mechanics share these few calls, so that each kernel is compiled once per scalar type.
"""

from functools import cached_property
from types import SimpleNamespace

import numpy as np
from numba import float64, typeof, types

import poinsot as ps
from poinsot._jit import address, routine
from poinsot.algebra import manifold
from poinsot.formulations import elimination, recursive
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import build
from poinsot.mechanism.build_loads import with_laws_for
from poinsot.mechanism.dynamics import inverse_dynamics, mass_matrix
from poinsot.mechanism.energy import put_energies
from poinsot.mechanism.kinematics import move_bodies, move_in_world, move_link, tree_workspace
from poinsot.mechanism.loads import apply_loads
from poinsot.mechanism.record import record
from poinsot.scalars import WIDTH, BorrowedType, Duals, Packs, lend

KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "screw", "free")
WITH_READING = ("revolute", "prismatic", "screw")
GRAVITY = (0.7, -1.1, -9.81)


def rotation(rng):
    """A rotation of any size; every fourth one maps axes to axes."""
    if rng.random() < 0.25:
        R = np.eye(3)[rng.permutation(3)]
        return R * np.linalg.det(R)
    q = rng.normal(size=4)
    return matrix_of(q / np.linalg.norm(q))


def matrix_of(q):
    """The rotation matrix of a unit quaternion (w, x, y, z)."""
    w, v = q[0], q[1:]
    return (w * w - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * w * hat(v)


def hat(v):
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def direction(rng):
    """A unit vector; every third one is a world axis or its opposite."""
    if rng.random() < 1.0 / 3.0:
        return np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
    n = rng.normal(size=3)
    return n / np.linalg.norm(n)


def inertia(rng):
    """The inertia of a cloud of five points, so that it can exist."""
    points, masses = rng.uniform(-0.6, 0.6, size=(5, 3)), rng.uniform(0.1, 2.0, size=5)
    points -= masses @ points / masses.sum()
    matrix = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
    return ps.Inertia(masses.sum(), matrix)


def joint_arguments(rng, kind, near):
    """Where a joint of this kind is, and what else it needs."""
    arguments = {"at": near + rng.uniform(-0.5, 0.5, size=3)}
    if kind in ("revolute", "prismatic", "cylindrical", "planar", "screw"):
        arguments["axis"] = direction(rng)
    if kind == "universal":
        first = direction(rng)
        second = np.cross(first, direction(rng) + 0.1 * rng.normal(size=3))
        arguments["axis"] = (first, second)
    if kind == "screw":
        arguments["pitch"] = rng.uniform(-0.4, 0.4)
    if kind in WITH_READING:
        arguments["position"] = rng.uniform(-2.0, 2.0) if rng.random() < 0.5 else 0.0
    return arguments


def random_tree(seed, bodies=8, kinds=KINDS, floating=0.15, backwards=0.4, order=0, loads=False, motion=None):
    """A tree whose names, directions of joints and poses are random; `order` shuffles only the order of addition.

    `motion` gives bodies by name what they are told of their velocities.
    """
    rng = np.random.default_rng(seed)
    labels = rng.permutation(bodies)
    specifications = [(f"body {labels[k]}", inertia(rng), rng.uniform(-1, 1, 3), rotation(rng)) for k in range(bodies)]
    joints, names = [], rng.permutation(bodies)
    for k in range(bodies):
        kind = kinds[rng.integers(len(kinds))]
        arguments = joint_arguments(rng, kind, specifications[k][2])
        parent = "ground" if k == 0 or rng.random() < 0.2 else specifications[rng.integers(k)][0]
        ends = (parent, specifications[k][0])
        if rng.random() < backwards:
            ends = ends[::-1]
        if rng.random() >= floating:
            joints.append((kind, f"joint {names[k]}", ends, arguments))
    shuffle = np.random.default_rng(order).permutation if order else np.arange
    model = ps.Model(f"tree {seed}", gravity=GRAVITY)
    for k in shuffle(bodies):
        name, of, position, orientation = specifications[k]
        model.body(name, of, position, orientation=orientation, **(motion or {}).get(name, {}))
    for k in shuffle(len(joints)):
        kind, name, (a, b), arguments = joints[k]
        getattr(model, kind)(name, a, b, **arguments)
    if loads:
        add_loads(model, seed, shuffle)
    return model


def add_loads(model, seed, shuffle=np.arange):
    """One load of each kind where it can be, the same whatever the order of addition."""
    rng = np.random.default_rng(seed + 1000)
    bodies, joints = sorted(model.bodies), sorted(model.joints)
    wanted = []
    for frame in ("world", "body"):
        for _ in range(2):
            force, torque = (tuple(rng.normal(size=3)) for _ in range(2))
            where = {"at": rng.normal(size=3), "frame": frame}
            body = bodies[rng.integers(len(bodies))]
            wanted.append((model.force, f"force {len(wanted)}", (body,), {"force": force, **where}))
            texts = tuple(f"{component:.3f} * cos(3*t + {k})" for k, component in enumerate(torque))
            wanted.append((model.torque, f"torque {len(wanted)}", (body,), {"torque": texts, "frame": frame}))
    for k in range(3):
        a, b = rng.choice([*bodies, "ground"], size=2, replace=False)
        ends = {"at_a": rng.normal(size=3), "at_b": rng.normal(size=3)}
        coefficients = {"stiffness": 20.0 * rng.random(), "length": rng.random(), "damping": 3.0 * rng.random()}
        wanted.append((model.spring, f"spring {k}", (a, b), ends | coefficients))
    for name in joints:
        joint = model.joints[name]
        if joint.coordinates > 0:
            damping = rng.random(joint.coordinates)
            wanted.append((model.damper, f"damper {name}", (name,), {"damping": damping}))
        if joint.kind in ("revolute", "screw"):
            numbers = {"stiffness": 5.0 * rng.random(), "rest": rng.normal(), "damping": rng.random()}
            wanted.append((model.torsion_spring, f"torsion {name}", (name,), numbers))
        if joint.coordinates == 1:
            wanted.append((model.motor, f"motor {name}", (name,), {"torque": "2 - 3*position + 0.5*velocity*sin(t)"}))
    for k in shuffle(len(wanted)):
        add, name, ends, arguments = wanted[k]
        add(name, *ends, **arguments)


@routine
def _energies(mechanism, state, work, joints, totals):
    for i in range(1, mechanism.links.shape[0]):
        move_link(mechanism.links, mechanism.frames, state, work, i)
    move_in_world(mechanism, state, work)
    move_bodies(mechanism, work)
    put_energies(mechanism, work, joints, totals, 0)


class Tree:
    """A model, posed, with its kernels as functions of NumPy columns."""

    def __init__(self, model):
        self.model, self.layout = model, build(model)
        self.problem = recursive.pose(self.layout, {})
        self.mechanism, self.work = self.layout.mechanism, self.problem.work
        self.n = self.layout.n_velocities
        self.n_states, self.n_rates = self.problem.n_states, self.problem.n_rates

    def random_state(self, seed, turn=2.0, speed=1.0):
        """Readings up to `turn`, any orientations, and velocities."""
        rng = np.random.default_rng(seed)
        state = rng.uniform(-turn, turn, size=(self.n_states, 1))
        state[self.n_states - self.n :] = speed * rng.normal(size=(self.n, 1))
        manifold.normalise(self.problem.blocks, state)
        return state

    def forward(self, state, time=0.0):
        """The rates of all coordinates: velocities, then accelerations."""
        rate = np.zeros((self.n_rates, 1))
        elimination.forward_dynamics(self.mechanism, time, state, self.work, rate)
        return rate

    def forward_under(self, state, forces, time=0.0):
        rate = np.zeros((self.n_rates, 1))
        elimination.forward_dynamics_under(self.mechanism, time, state, forces, self.work, rate)
        return rate

    def inverse(self, state, rate, time=0.0):
        """The joint forces that the accelerations in `rate` need besides the loads."""
        forces = np.zeros((self.n, 1))
        inverse_dynamics(self.mechanism, time, state, rate, self.work, forces)
        return forces

    def mass(self, state):
        matrix = np.zeros((self.n, self.n))
        mass_matrix(self.mechanism, state, self.work, matrix)
        return matrix

    def slope(self, state, rate):
        """The time derivatives of the numbers in the state."""
        slope = np.zeros((self.n_states, 1))
        manifold.coordinate_rates(self.problem.blocks, state, rate, slope)
        return slope

    def moved(self, state, slope, step):
        """The state a moment later, up to terms in step squared, on the manifold."""
        state = state + step * slope
        manifold.normalise(self.problem.blocks, state)
        return state

    def instant(self, state, time=0.0):
        """What a Run would record: arrays over bodies and joints in the model's order, and totals."""
        bodies = np.zeros((1, len(self.model.bodies), t.BODY_REPORT_COLUMNS))
        joints = np.zeros((1, len(self.model.joints), t.JOINT_REPORT_COLUMNS))
        totals, rate = np.zeros((1, t.TOTAL_COLUMNS)), np.zeros((self.n_rates, 1))
        p, times, scratch = self.problem, np.array([time]), np.zeros_like(state)
        arguments = times, state.T.copy(), scratch, self.work, rate, bodies, joints, totals
        record(p.rates, p.report, p.mechanism, p.blocks, *arguments)
        return Instant(self.model, time, bodies[0], joints[0], totals[0])

    @cached_property
    def packs(self):
        return self._other(Packs)

    @cached_property
    def duals(self):
        return self._other(Duals)

    def _other(self, view):
        """Mechanism, state, workspace and rates for another scalar type."""
        mechanism = with_laws_for(view.scalar, self.model, self.mechanism)
        mechanism = mechanism._replace(sizes=self.mechanism.sizes.copy(), loops=view(*self.mechanism.loops.shape))
        state, rate = view(self.n_states, 1), view(self.n_rates, 1)
        if len(mechanism.loads):
            lent = BorrowedType(view.scalar)
            signature = types.void(typeof(lend(mechanism)), float64, lent, lent)
            mechanism.sizes[0, t.LOADS_ADDRESS] = address(apply_loads, signature)
        return SimpleNamespace(
            mechanism=mechanism, state=state, rate=rate, work=tree_workspace(mechanism, recursive.COLUMNS, view)
        )

    def forward_packs(self, states, time=0.0):
        """The rates of WIDTH states at once, one per column."""
        p = self.packs
        p.state.data[:, 0, :] = states
        elimination.forward_dynamics(p.mechanism, time, p.state, p.work, p.rate)
        return p.rate.data[:, 0, :].copy()

    def forward_duals(self, state, directions, time=0.0):
        """The rates, and their derivatives along each column of `directions`."""
        d = self.duals
        d.state.data[:, 0, 0], d.state.data[:, 0, 1:] = state[:, 0], directions
        elimination.forward_dynamics(d.mechanism, time, d.state, d.work, d.rate)
        return d.rate.data[:, 0, 0].copy(), d.rate.data[:, 0, 1:].copy()

    def energy(self, state, direction):
        """Kinetic and potential energy, and their derivatives along a direction in the state."""
        d = self.duals
        joints, totals = Duals(len(self.model.joints), t.JOINT_REPORT_COLUMNS), Duals(1, t.TOTAL_COLUMNS)
        d.state.data[:] = 0.0
        d.state.data[:, 0, 0], d.state.data[:, 0, 1] = state[:, 0], direction[:, 0]
        for j, joint in enumerate(self.model.joints.values()):
            # Springs act on one-axis joints only; a fixed joint's link has no reading.
            for k, link in enumerate(self.layout.links_of[joint.name][: joint.coordinates]):
                reading = d.state.data[self.mechanism.links[link, t.READING], 0]
                joints.data[j, t.JOINT_POSITION + k] = reading
        _energies(d.mechanism, d.state, d.work, joints, totals)
        energies = totals.data[0, [t.KINETIC_ENERGY, t.POTENTIAL_ENERGY]]
        return energies[:, 0], energies[:, 1]


class Instant:
    """Everything recorded at one instant, bodies and joints by name."""

    def __init__(self, model, time, bodies, joints, totals):
        self.time, self.tables = time, (bodies, joints, totals)
        vectors = {
            "position": t.POSITION, "velocity": t.VELOCITY, "angular_velocity": t.ANGULAR_VELOCITY,
            "acceleration": t.ACCELERATION, "angular_acceleration": t.ANGULAR_ACCELERATION,
        }  # fmt: skip
        for name, column in vectors.items():
            setattr(self, name, dict(zip(model.bodies, bodies[:, column : column + 3], strict=True)))
        rotations = bodies[:, t.ROTATION : t.ROTATION + 9].reshape(-1, 3, 3)
        self.rotation = dict(zip(model.bodies, rotations, strict=True))
        self.joint_position, self.joint_velocity, self.reaction_force, self.reaction_torque = {}, {}, {}, {}
        for row, joint in zip(joints, model.joints.values(), strict=True):
            self.joint_position[joint.name] = row[t.JOINT_POSITION : t.JOINT_POSITION + joint.coordinates]
            self.joint_velocity[joint.name] = row[t.JOINT_VELOCITY : t.JOINT_VELOCITY + joint.coordinates]
            self.reaction_force[joint.name] = row[t.REACTION_FORCE : t.REACTION_FORCE + 3]
            self.reaction_torque[joint.name] = row[t.REACTION_TORQUE : t.REACTION_TORQUE + 3]
        self.kinetic, self.potential = totals[t.KINETIC_ENERGY], totals[t.POTENTIAL_ENERGY]
        self.linear_momentum = totals[t.LINEAR_MOMENTUM : t.LINEAR_MOMENTUM + 3]
        self.angular_momentum = totals[t.ANGULAR_MOMENTUM : t.ANGULAR_MOMENTUM + 3]
        self.errors = totals[[t.POSITION_ERROR, t.VELOCITY_ERROR, t.ROTATION_ERROR]]
        for name in ("position", "velocity", "angular_velocity"):
            getattr(self, name)["ground"] = np.zeros(3)
        self.rotation["ground"] = np.eye(3)


__all__ = ["KINDS", "WIDTH", "Instant", "Tree", "hat", "matrix_of", "random_tree"]
