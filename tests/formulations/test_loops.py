"""Closed loops in `recursive`: accelerations against a dense solution, reactions against Newton's and Euler's laws."""

import numpy as np
import pytest
from mechanism import textbook
from mechanism.trees import GRAVITY, KINDS, Instant, add_loads, direction, joint_arguments, random_tree

import poinsot as ps
from poinsot.formulations import loops, recursive
from poinsot.formulations.closure import Closure, move
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import build
from poinsot.mechanism.dynamics import inverse_dynamics, mass_matrix
from poinsot.mechanism.kinematics import tree_workspace
from poinsot.mechanism.record import record
from poinsot.scalars import WIDTH, Duals, Packs, floats

CLOSING = (*(kind for kind in KINDS if kind != "free"), "distance", "point_on_line", "point_on_plane", "gear")


def with_loops(seed, bodies=7, loops=3, kinds=CLOSING, loaded=False, **tree):
    """A random tree, with joints and constraint elements between random bodies of it, and loads in all of them."""
    model = random_tree(seed, bodies=bodies, **tree)
    rng = np.random.default_rng(seed + 500)
    for n in range(loops):
        kind = kinds[(seed + n) % len(kinds)]
        a, b = rng.choice([*sorted(model.bodies), "ground"], size=2, replace=False)
        with_reading = [name for name, joint in sorted(model.joints.items()) if joint.kind in ("revolute", "prismatic")]
        if kind == "gear" and len(with_reading) > 1:
            model.gear(f"loop {n}", *rng.choice(with_reading, size=2, replace=False), ratio=rng.normal())
        elif kind in ("distance", "gear"):
            model.distance(f"loop {n}", a, b, at_a=rng.normal(size=3), at_b=rng.normal(size=3))
        else:
            arguments = joint_arguments(rng, kind, rng.normal(size=3))
            if kind in ("point_on_line", "point_on_plane"):
                arguments["axis"] = direction(rng)
            getattr(model, kind)(f"loop {n}", a, b, **arguments)
    if loaded:
        add_loads(model, seed)
    return model


class Looped:
    """A model with loops, posed, at any state: closed or not."""

    def __init__(self, model):
        self.model, self.layout = model, build(model)
        self.problem = recursive.pose(self.layout, {})
        self.closure = Closure.of(self.layout, {})
        self.n = self.layout.n_velocities
        plan = self.problem.mechanism.plan
        self.plan = getattr(plan, "view", plan)
        first, count = self.plan[loops.CHOSEN, 0], self.plan[loops.COUNT, 0]
        self.chosen = [self.closure.rows.index(e) for e in self.plan[first : first + count, 0]]

    def state(self, seed, turn=0.5):
        rng = np.random.default_rng(seed)
        state = self.problem.initial.copy()
        increment = np.zeros((2 * self.n, 1))
        increment[: self.n, 0] = turn * rng.normal(size=self.n)
        move(self.problem.blocks, self.problem.initial, increment, state)
        state[-self.n :, 0] = rng.normal(size=self.n)
        return state

    def forward(self, state, time=0.3):
        rate = np.zeros((2 * self.n, 1))
        loops.loop_dynamics(self.problem.mechanism, time, state, self.problem.work, rate)
        return rate[self.n :, 0]

    def dense(self, state, time=0.3):
        """[M Kᵀ; K 0] solved by NumPy, with K' from differences along the velocities."""
        mechanism, work = self.layout.mechanism, tree_workspace(self.layout.mechanism, recursive.COLUMNS, floats)
        mass, bias = np.zeros((self.n, self.n)), np.zeros((self.n, 1))
        mass_matrix(mechanism, state, work, mass)
        sizes = self.problem.mechanism.sizes
        mechanism = mechanism._replace(sizes=getattr(sizes, "view", sizes))
        inverse_dynamics(mechanism, time, state, np.zeros((2 * self.n, 1)), work, bias)
        speed = [self.jacobian_at(state, h, time) @ state[-self.n :, 0] for h in (-2e-3, -1e-3, 1e-3, 2e-3)]
        change = (speed[0] - 8.0 * speed[1] + 8.0 * speed[2] - speed[3]) / 12e-3
        K = self.jacobian_at(state, 0.0, time)
        matrix = np.block([[mass, K.T], [K, np.zeros((len(K), len(K)))]])
        return np.linalg.solve(matrix, np.concatenate((-bias[:, 0], -change)))[: self.n], np.linalg.cond(matrix)

    def jacobian_at(self, state, h, time):
        turn, moved = np.zeros((2 * self.n, 1)), state.copy()
        turn[: self.n, 0] = h * state[-self.n :, 0]
        move(self.problem.blocks, state, turn, moved)
        return self.closure.equations_at(time, moved)[2][self.chosen]


def of_other_scalar(looped, view):
    """The same mechanism for another scalar type."""
    mechanism = looped.closure.mechanism._replace(loops=view(*looped.closure.mechanism.loops.shape))
    given = looped.problem.mechanism.loops
    given = getattr(given, "view", given)
    mechanism = mechanism._replace(plan=looped.plan)
    for lane in range(WIDTH if view is Packs else 1):
        mechanism.loops.data[:, :, lane] = given
    work = tree_workspace(mechanism, recursive.COLUMNS, view)
    return mechanism, view(looped.problem.n_states, 1), work, view(2 * looped.n, 1)


LOOPED = [pytest.param(with_loops(seed, loads=seed % 3 == 0), id=f"seed {seed}") for seed in range(24)]


@pytest.mark.parametrize("model", LOOPED)
def test_accelerations_are_those_of_the_dense_equations(model):
    looped = Looped(model)
    for seed in range(3):
        state = looped.state(seed)
        wanted, condition = looped.dense(state)
        found = looped.forward(state)
        # differences give K' v to ten digits, and what is badly conditioned magnifies that
        assert np.abs(found - wanted).max() <= 1e-9 * max(1.0, np.abs(wanted).max()) * max(1.0, 1e-5 * condition)


@pytest.mark.parametrize("model", [with_loops(seed) for seed in range(6)])
def test_lanes_agree_with_float64(model):
    looped = Looped(model)
    mechanism, state, work, rate = of_other_scalar(looped, Packs)
    states = np.hstack([looped.state(seed) for seed in range(WIDTH)])
    state.data[:, 0, :] = states
    loops.loop_dynamics(mechanism, 0.0, state, work, rate)
    for lane in range(WIDTH):
        alone = looped.forward(states[:, [lane]].copy(), 0.0)
        assert np.abs(rate.data[looped.n :, 0, lane] - alone).max() <= 1e-9 * np.abs(alone).max()


@pytest.mark.parametrize("model", [with_loops(seed) for seed in range(6)])
def test_derivatives_agree_with_differences(model):
    looped = Looped(model)
    mechanism, duals, work, rate = of_other_scalar(looped, Duals)
    state = looped.state(1)
    along = np.random.default_rng(2).normal(size=state.shape)
    duals.data[:, 0, 0], duals.data[:, 0, 1] = state[:, 0], along[:, 0]
    loops.loop_dynamics(mechanism, 0.0, duals, work, rate)
    h = 1e-4
    ahead = [looped.forward(state + n * h * along, 0.0) for n in (-2, -1, 1, 2)]
    difference = (ahead[0] - 8.0 * ahead[1] + 8.0 * ahead[2] - ahead[3]) / (12.0 * h)
    assert np.abs(rate.data[looped.n :, 0, 1] - difference).max() <= 1e-6 * np.abs(difference).max()


@pytest.mark.parametrize("seed", range(8))
def test_newton_and_euler_hold_for_every_body_with_its_reactions(seed):
    kinds = tuple(kind for kind in CLOSING if kind not in ("gear", "distance"))
    model = with_loops(seed, kinds=kinds, loaded=seed % 2 == 1)
    looped = Looped(model)
    problem, state = looped.problem, looped.state(seed, turn=0.2)
    room = np.zeros((2, 2 * looped.n, 1))
    assert loops.close_loops(problem.mechanism, problem.blocks, 0.0, state, problem.work, *room) == loops.KEPT
    bodies = np.zeros((1, len(model.bodies), t.BODY_REPORT_COLUMNS))
    joints = np.zeros((1, len(model.joints), t.JOINT_REPORT_COLUMNS))
    totals, rate = np.zeros((1, t.TOTAL_COLUMNS)), np.zeros((2 * looped.n, 1))
    arguments = np.zeros(1), state.T.copy(), state.copy(), problem.work, rate, bodies, joints, totals
    record(problem.rates, problem.report, problem.mechanism, problem.blocks, *arguments)
    instant = Instant(model, 0.0, bodies[0], joints[0], totals[0])
    wrenches = textbook.loads(model, instant)
    for joint in model.joints.values():
        point, _ = textbook.rigid_point(instant, joint.b, joint.at)
        reaction = instant.reaction_force[joint.name], instant.reaction_torque[joint.name]
        wrenches.add_pair(joint.a, joint.b, *reaction, point)
    largest = max(np.abs(table[name]).max() for table in (wrenches.force, wrenches.torque) for name in model.bodies)
    for name, body in model.bodies.items():
        mass, J, w = body.inertia.mass, body.inertia.matrix, instant.angular_velocity[name]
        force = mass * (instant.acceleration[name] - np.array(GRAVITY))
        torque = instant.rotation[name] @ (J @ instant.angular_acceleration[name] + np.cross(w, J @ w))
        assert np.abs(force - wrenches.force[name]).max() <= 1e-10 * max(largest, 9.81 * mass), name
        assert np.abs(torque - wrenches.torque[name]).max() <= 1e-10 * max(largest, 9.81 * mass), name


@pytest.mark.parametrize("seed", range(6))
def test_projection_closes_what_is_open_and_leaves_the_rest(seed):
    looped = Looped(with_loops(seed))
    problem = looped.problem
    state = looped.state(seed, turn=1e-3)
    room = np.zeros((2, 2 * looped.n, 1))
    answer = loops.close_loops(problem.mechanism, problem.blocks, 0.0, state, problem.work, *room)
    gap, speed, _ = looped.closure.equations_at(0.0, state)
    assert answer == loops.KEPT
    assert np.abs(gap[looped.chosen]).max(initial=0.0) <= 1e-14
    assert np.abs(speed[looped.chosen]).max(initial=0.0) <= 1e-13
    again = state.copy()
    loops.close_loops(problem.mechanism, problem.blocks, 0.0, again, problem.work, *room)
    np.testing.assert_allclose(again, state, rtol=0, atol=1e-13)


def ladder(rungs):
    """A chain of planar parallelograms, one on top of the other: every loop meets far from the ground."""
    model = ps.Model(f"ladder {rungs}")
    bar = ps.Inertia.box(mass=1.0, size=(1.0, 0.1, 0.1))
    below = model.ground
    for n in range(rungs):
        left = model.body(f"left {n}", bar, (0.0, 0.0, n + 0.5), orientation=upright())
        right = model.body(f"right {n}", bar, (1.0, 0.0, n + 0.5), orientation=upright())
        top = model.body(f"top {n}", bar, (0.5, 0.0, n + 1.0))
        for name, a, b, at in (
            ("a", below, left, (0, 0, n)), ("b", below, right, (1, 0, n)),
            ("c", left, top, (0, 0, n + 1)), ("d", right, top, (1, 0, n + 1)),
        ):  # fmt: skip
            model.revolute(f"{name} {n}", a, b, at=at, axis=(0, 1, 0))
        below = top
    return model


def upright():
    """Turned by a quarter about y."""
    return np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])


def test_loops_meet_where_their_bodies_hang_together():
    small, large = (Looped(ladder(rungs)) for rungs in (4, 8))
    assert len(small.chosen) == 2 * 4
    used = [looped.plan[loops.USED, 0] - looped.plan[loops.PAIRS, 0] for looped in (small, large)]
    assert used[1] <= 2 * used[0] + 1  # what is kept grows with the ladder, and not with its square
    for looped in (small, large):
        state = looped.state(1, turn=0.1)
        wanted, _ = looped.dense(state)
        np.testing.assert_allclose(looped.forward(state), wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())
