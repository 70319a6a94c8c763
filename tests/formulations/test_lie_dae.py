"""`lie-dae` against `recursive`, dense solutions of its equations, and the formulas of its paper in NumPy."""

import numpy as np
import pytest
from formulations.test_loops import ladder, with_loops
from mechanism.trees import random_tree
from scipy.spatial.transform import Rotation

import poinsot as ps
from poinsot.formulations import lie_dae
from poinsot.formulations.loops import KEPT
from poinsot.mechanism.absolute import MOTION, POSE, workspace_of_bodies
from poinsot.mechanism.build import build
from poinsot.scalars import WIDTH, Duals, Packs

CHOSEN = {"stabilize": "projection", "weights": "mass", "rate_of_return": 0.0}


def largest_differences(model, t_end=0.3, **settings):
    """Of every variable of a run, from `recursive`, relative to the largest value (at least one)."""
    found, wanted = (
        ps.simulate(model, t_end, output_step=t_end / 10, rtol=1e-11, formulation=formulation, **settings)
        for formulation in ("lie-dae", "recursive")
    )
    differences = {}
    for name, array in wanted.arrays.items():
        np.testing.assert_array_equal(np.isnan(array), np.isnan(found.arrays[name]))
        if array.dtype == bool:
            np.testing.assert_array_equal(array, found.arrays[name], err_msg=name)
        else:
            scale = np.nanmax(np.abs(array), initial=1.0)
            differences[name] = np.nanmax(np.abs(array - found.arrays[name]), initial=0.0) / scale
    return differences


@pytest.mark.parametrize("seed", range(8))
def test_trees_move_as_in_recursive(seed):
    differences = largest_differences(random_tree(seed, loads=True))
    assert max(differences.values()) < 1e-10, differences


@pytest.mark.parametrize("seed", range(8))
def test_loops_move_as_in_recursive(seed):
    differences = largest_differences(with_loops(seed, loaded=True))
    assert max(differences.values()) < 1e-10, differences


@pytest.mark.parametrize(
    ("name", "t_end"),
    [
        ("five-bar", 1.0), ("five-bar-driven", 0.5), ("bricard", 1.0), ("stewart-platform", 0.5),
        ("slider-crank", 0.5), ("andrews", 0.01),
    ],
)  # fmt: skip
def test_redundant_and_driven_mechanisms_move_as_in_recursive(name, t_end):
    differences = largest_differences(ps.case(name), t_end)
    assert max(differences.values()) < 1e-8, differences


def test_ladders_move_as_in_recursive():
    assert max(largest_differences(ladder(5), 0.5).values()) < 1e-9


@pytest.mark.parametrize("name", ["dual-spin-satellite", "dual-spin-satellite-inertial-torque"])
def test_the_satellite_of_the_paper(name):
    settings = {"output_step": 1.0, "rtol": 1e-13, "atol": 1e-15}
    wanted = ps.simulate(ps.case(name), 20.0, **settings)
    found = ps.simulate(ps.case(name), 20.0, formulation="lie-dae", **settings)
    stepped = ps.simulate(ps.case(name), 20.0, formulation="lie-dae", method="rkmk4", step=2e-4, output_step=1.0)
    for variable in ("position", "velocity", "angular_velocity", "reaction_force", "reaction_torque"):
        exact = wanted.arrays[variable]
        scale = max(1.0, np.abs(exact).max())
        np.testing.assert_allclose(found.arrays[variable], exact, rtol=0, atol=1e-9 * scale, err_msg=variable)
        np.testing.assert_allclose(stepped.arrays[variable], exact, rtol=0, atol=1e-9 * scale, err_msg=variable)


def test_thin_rods_need_no_inertia_about_their_axis():
    model = ps.Model("rods", gravity=(0.0, -9.81, 0.0))
    lying = Rotation.from_euler("y", 90.0, degrees=True)
    before = model.ground
    for n in range(3):
        body = model.body(f"rod {n}", ps.Inertia.rod(mass=1.0, length=1.0), (n + 0.5, 0.0, 0.0), orientation=lying)
        model.revolute(f"pin {n}", before, body, at=(n, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
        before = body
    assert max(largest_differences(model, 1.0).values()) < 1e-10


def test_angles_count_whole_turns():
    model = ps.Model("wheel", gravity=(0.0, 0.0, 0.0))
    wheel = model.body("wheel", ps.Inertia.cylinder(1.0, 0.3, 0.1), angular_velocity=(0.0, 0.0, 20.0))
    model.revolute("axle", model.ground, wheel, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), position=0.5)
    model.torsion_spring("spring", "axle", stiffness=0.1, rest=0.0)
    differences = largest_differences(model, 5.0)
    assert max(differences.values()) < 1e-9
    run = ps.simulate(model, 1.0, formulation="lie-dae", rtol=1e-10)
    assert run.arrays["joint_position"].max() > 4.0 * np.pi


# ---------------------------------------------------------------------------------------- equations in NumPy


def unwrapped(mechanism):
    """The plain arrays of a mechanism that kernels were handed."""
    parts = getattr(mechanism, "parts", mechanism)
    return type(parts)(*(getattr(x, "view", x) for x in parts))


class Posed:
    """A model as `lie-dae` poses it, at any state."""

    def __init__(self, model, **chosen):
        self.problem = lie_dae.pose(build(model), CHOSEN | chosen)
        self.mechanism = unwrapped(self.problem.mechanism)
        self.plan, self.n = self.mechanism.plan[:, 0], self.problem.n_rates // 2
        self.bodies = len(model.bodies)
        self.first = self.problem.n_states - self.n

    def state(self, seed, turn=0.05):
        """The first state with every body moved a little, and with velocities at random."""
        random, state = np.random.default_rng(seed), self.problem.initial.copy()
        for b in range(self.bodies):
            R = state[POSE * b : POSE * b + 9, 0].reshape(3, 3)
            moved = R @ Rotation.from_rotvec(turn * random.normal(size=3)).as_matrix()
            state[POSE * b : POSE * b + 9, 0] = moved.ravel()
            state[POSE * b + 9 : POSE * b + 12, 0] += turn * random.normal(size=3)
        state[self.first : self.first + MOTION * self.bodies, 0] = random.normal(size=MOTION * self.bodies)
        return state

    def rates(self, state):
        rate = np.zeros((2 * self.n, 1))
        lie_dae.lie_dynamics(self.mechanism, 0.0, state, self.problem.work, rate)
        return rate[:, 0]

    def residuals(self, state):
        """Φ and Φ' of what is imposed."""
        lie_dae.evaluate_for_python(self.mechanism, 0.0, state, self.problem.work)
        rows = self.mechanism.loops[: self.plan[lie_dae.EQUATIONS]]
        return rows[:, 18].copy(), rows[:, 19].copy()

    def moved(self, state, step):
        moved = state.copy()
        for b in range(self.bodies):
            turn, shift = step[MOTION * b : MOTION * b + 3], step[MOTION * b + 3 : MOTION * b + 6]
            R = state[POSE * b : POSE * b + 9, 0].reshape(3, 3) @ Rotation.from_rotvec(turn).as_matrix()
            moved[POSE * b : POSE * b + 9, 0] = R.ravel()
            moved[POSE * b + 9 : POSE * b + 12, 0] += shift
        return moved

    def jacobian(self, state):
        """Φ' for unit velocities: C, one column each; at t = 0 and without drives Φ' = C v."""
        columns = []
        for k in range(MOTION * self.bodies):
            unit = state.copy()
            unit[self.first :, 0] = 0.0
            unit[self.first + k, 0] = 1.0
            columns.append(self.residuals(unit)[1])
        return np.array(columns).T

    def masses(self, model):
        M = np.zeros((MOTION * self.bodies,) * 2)
        for b, body in enumerate(model.bodies.values()):
            here = MOTION * b
            M[here : here + 3, here : here + 3] = body.inertia.matrix
            M[here + 3 : here + 6, here + 3 : here + 6] = body.inertia.mass * np.eye(3)
        return M


WITHOUT_DRIVES = [with_loops(seed, loads=False) for seed in range(4)]


@pytest.mark.parametrize("model", WITHOUT_DRIVES, ids=lambda model: model.name)
def test_accelerations_solve_equation_10(model):
    posed = Posed(model)
    state = posed.state(1)
    M, C, v = posed.masses(model), posed.jacobian(state), state[posed.first :, 0][: MOTION * posed.bodies]
    Q = np.zeros(len(M))
    for b, body in enumerate(model.bodies.values()):
        w = v[MOTION * b : MOTION * b + 3]
        Q[MOTION * b : MOTION * b + 3] = -np.cross(w, body.inertia.matrix @ w)
        Q[MOTION * b + 3 : MOTION * b + 6] = body.inertia.mass * model.gravity
    h = 1e-3  # ξ = -C' v along the motion with constant velocities
    ahead = [posed.jacobian(posed.moved(state, k * h * v)) @ v for k in (-2, -1, 1, 2)]
    xi = -(ahead[0] - 8.0 * ahead[1] + 8.0 * ahead[2] - ahead[3]) / (12.0 * h)
    K = np.block([[M, C.T], [C, np.zeros((len(C), len(C)))]])
    wanted = np.linalg.solve(K, np.concatenate((Q, xi)))[: len(M)]
    found = posed.rates(state)[posed.n : posed.n + len(M)]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())


def weighted_step(posed, state, metric, rows, gaps):
    """The least step in a metric that takes the gaps of some rows away (22)-(23)."""
    K = np.block([[metric, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    return np.linalg.solve(K, np.concatenate((np.zeros(len(metric)), -gaps)))[: len(metric)]


@pytest.mark.parametrize("weights", ["mass", "unit"])
@pytest.mark.parametrize("model", WITHOUT_DRIVES[:2], ids=lambda model: model.name)
def test_projection_is_the_least_motion(model, weights):
    posed = Posed(model, weights=weights)
    state = posed.state(2, turn=1e-4)
    metric = posed.masses(model) if weights == "mass" else np.eye(MOTION * posed.bodies)
    wanted = state
    for _ in range(6):  # (12), positions
        step = weighted_step(posed, wanted, metric, posed.jacobian(wanted), posed.residuals(wanted)[0])
        wanted = posed.moved(wanted, step)
    C = posed.jacobian(wanted)
    moving = slice(posed.first, posed.first + MOTION * posed.bodies)
    wanted[moving, 0] += weighted_step(posed, wanted, metric, C, C @ wanted[moving, 0])  # (12), velocities
    found, room = state.copy(), np.zeros((2, 2 * posed.n, 1))
    answer = lie_dae.stabilise(posed.mechanism, posed.problem.blocks, 0.0, found, posed.problem.work, *room)
    assert answer == KEPT
    gap, speed = posed.residuals(found)
    assert np.abs(gap).max() < 1e-14
    assert np.abs(speed).max() < 1e-13
    np.testing.assert_allclose(found[: POSE * posed.bodies], wanted[: POSE * posed.bodies], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[moving], wanted[moving], rtol=0, atol=1e-11)


@pytest.mark.parametrize("weights", ["mass", "unit"])
def test_one_step_in_rotation_vectors(weights):
    model = WITHOUT_DRIVES[1]
    posed = Posed(model, weights=weights, stabilize="rotation-vector")
    state = posed.state(3, turn=0.3)
    # T(Ψ) of (17) by differences: exp(Ψ + δΨ) = R exp(δΘ)
    bodies, h = range(posed.bodies), 1e-5
    psi = [Rotation.from_matrix(state[POSE * b : POSE * b + 9, 0].reshape(3, 3)).as_rotvec() for b in bodies]
    T = np.eye(MOTION * posed.bodies)
    for b in bodies:
        for k in range(3):
            two = [Rotation.from_rotvec(psi[b] + sign * h * np.eye(3)[k]) for sign in (-1, 1)]
            T[MOTION * b : MOTION * b + 3, MOTION * b + k] = (two[0].inv() * two[1]).as_rotvec() / (2.0 * h)
    metric = T.T @ posed.masses(model) @ T if weights == "mass" else np.eye(len(T))
    step = weighted_step(posed, state, metric, posed.jacobian(state) @ T, posed.residuals(state)[0])
    found, room = state.copy(), np.zeros((2, 2 * posed.n, 1))
    lie_dae.stabilise(posed.mechanism, posed.problem.blocks, 0.0, found, posed.problem.work, *room)
    for b in bodies:
        turned = Rotation.from_rotvec(psi[b] + step[MOTION * b : MOTION * b + 3]).as_matrix()  # (24)
        np.testing.assert_allclose(found[POSE * b : POSE * b + 9, 0], turned.ravel(), rtol=0, atol=1e-8)
        there = state[POSE * b + 9 : POSE * b + 12, 0] + step[MOTION * b + 3 : MOTION * b + 6]  # (20)
        np.testing.assert_allclose(found[POSE * b + 9 : POSE * b + 12, 0], there, rtol=0, atol=1e-8)


def of_other_scalar(posed, view):
    mechanism = posed.mechanism._replace(loops=view(*posed.mechanism.loops.shape))
    for lane in range(WIDTH if view is Packs else 1):
        mechanism.loops.data[:, :, lane] = posed.mechanism.loops
    return mechanism, view(posed.problem.n_states, 1), workspace_of_bodies(mechanism, view), view(2 * posed.n, 1)


@pytest.mark.parametrize("model", WITHOUT_DRIVES[:2], ids=lambda model: model.name)
def test_lanes_and_derivatives(model):
    posed = Posed(model)
    mechanism, lanes, work, rate = of_other_scalar(posed, Packs)
    states = np.hstack([posed.state(seed) for seed in range(WIDTH)])
    lanes.data[:, 0, :] = states
    lie_dae.lie_dynamics(mechanism, 0.0, lanes, work, rate)
    for lane in range(WIDTH):
        alone = posed.rates(states[:, [lane]].copy())
        np.testing.assert_allclose(rate.data[:, 0, lane], alone, rtol=0, atol=1e-10 * np.abs(alone).max())
    mechanism, duals, work, rate = of_other_scalar(posed, Duals)
    state, along = posed.state(1), np.random.default_rng(2).normal(size=(posed.problem.n_states, 1))
    duals.data[:, 0, 0], duals.data[:, 0, 1] = state[:, 0], along[:, 0]
    lie_dae.lie_dynamics(mechanism, 0.0, duals, work, rate)
    h = 1e-4
    ahead = [posed.rates(state + k * h * along) for k in (-2, -1, 1, 2)]
    difference = (ahead[0] - 8.0 * ahead[1] + 8.0 * ahead[2] - ahead[3]) / (12.0 * h)
    np.testing.assert_allclose(rate.data[:, 0, 1], difference, rtol=0, atol=1e-6 * np.abs(difference).max())


# ---------------------------------------------------------------------------------------- in time


def test_drift_is_removed_by_every_stabilization():
    model = ps.case("dual-spin-satellite-inertial-torque")
    settings = {"step": 0.02, "output_step": 1.0, "formulation": "lie-dae", "method": "rkmk4"}
    errors = {
        word: ps.simulate(model, 20.0, stabilize=word, **settings).position_error
        for word in ("none", "projection", "rotation-vector")
    }
    assert errors["none"] > 1e-6
    assert errors["projection"] < 1e-14
    assert errors["rotation-vector"] < 1e-10


@pytest.mark.parametrize("loops", [1, 4])
def test_singular_positions_are_passed(loops):
    run = ps.simulate(ps.case(f"four-bars-{loops}"), 3.0, step=0.005, formulation="lie-dae")
    assert run.energy_drift < 1e-6
    assert run.position_error < 1e-12


def test_cost_grows_with_the_mechanism():
    tables = (unwrapped(lie_dae.pose(build(ladder(rungs)), CHOSEN).mechanism).loops for rungs in (5, 10))
    small, large = (len(table) for table in tables)
    assert large < 2.2 * small


def test_a_wrong_weight_gets_a_sentence():
    with pytest.raises(ps.PoinsotError, match='no weights "heavy"; known: mass, unit'):
        ps.simulate(ps.case("dual-spin-satellite"), 1.0, formulation="lie-dae", weights="heavy")
