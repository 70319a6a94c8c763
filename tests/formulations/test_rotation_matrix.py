"""`rotation-matrix`: the numbers of paper 000, the equations by definition, and agreement with `recursive`."""

import numpy as np
import pytest
from formulations.test_lie_dae import unwrapped
from formulations.test_loops import with_loops
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import poinsot as ps
from poinsot.cases import cases, double_pendulum
from poinsot.formulations import recursive, rotation_matrix
from poinsot.formulations.bodies import EQUATIONS
from poinsot.formulations.rotation_plan import COLUMNS, END_COUNT, END_ROWS
from poinsot.mechanism.absolute import workspace_of_bodies
from poinsot.mechanism.build import build
from poinsot.mechanism.constraints import RATE_OF_VALUE, VALUE, XI
from poinsot.recording import recorded
from poinsot.scalars import WIDTH, Packs, floats

ROTATION = {"formulation": "rotation-matrix"}
MOTIONS = (
    "position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration", "joint_position",
    "joint_velocity", "reaction_force", "reaction_torque", "drive_force",
)  # fmt: skip


def assert_same(found, wanted, tolerance):
    for name in MOTIONS:
        if name in wanted:
            largest = max(1.0, np.nanmax(np.abs(wanted[name]), initial=0.0))
            np.testing.assert_allclose(found[name], wanted[name], rtol=0, atol=tolerance * largest, err_msg=name)


def at_start(problem):
    return recorded(problem, np.zeros(1), problem.initial.T.copy())


# ------------------------------------------------------------------------------------------ against `recursive`


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(
    "options", [{}, {"elimination": "full"}, {"multipliers": "per-step"}], ids=["two-step", "full", "held"]
)
def test_accelerations_and_reactions_are_those_of_recursive(seed, options):
    layout = build(with_loops(seed, loops=seed % 4, loaded=seed % 2 == 1))
    assert_same(at_start(rotation_matrix.pose(layout, options)), at_start(recursive.pose(layout, {})), 1e-10)


@pytest.mark.parametrize("name", [case.name for case in cases()])
def test_cases_agree_with_recursive(name):
    model = ps.case(name)
    end = min(0.5, model.settings["t_end"])
    settings = {"rtol": 1e-11, "atol": 1e-13, "output_step": end / 5}
    found, wanted = (ps.simulate(model, end, **settings, formulation=f) for f in ("rotation-matrix", "recursive"))
    assert_same(found.arrays, wanted.arrays, 1e-9)
    assert max(found.position_error, found.rotation_error) < 1e-14
    assert found.settings["redundant"] == wanted.settings["redundant"]


def test_elimination_in_two_steps_and_at_once_agree_on_many_bodies():
    for seed in range(3):
        layout = build(with_loops(seed, bodies=20, loops=3))
        one, other = (at_start(rotation_matrix.pose(layout, {"elimination": way})) for way in ("two-step", "full"))
        for name in ("acceleration", "angular_acceleration", "orthogonality_multiplier", "joint_multiplier"):
            np.testing.assert_allclose(one[name], other[name], rtol=0, atol=1e-11 * np.nanmax(np.abs(other[name])))


@pytest.mark.slow  # the kernels for derivatives take long to compile
@pytest.mark.parametrize("method", ["radau5", "gauss2", "generalized-alpha"])
def test_implicit_methods_follow_the_same_motion(method):
    model, options = ps.case("five-bar"), {"step": 0.002, "output_step": 0.1, "method": method}
    found, wanted = (ps.simulate(model, 0.2, **options, formulation=f) for f in ("rotation-matrix", "recursive"))
    assert_same(found.arrays, wanted.arrays, 2e-3 if method == "generalized-alpha" else 1e-7)


@pytest.mark.parametrize("body", [ps.Inertia.rod(1.0, 1.0), ps.Inertia(1.0, (0.1, 0.05, 0.05))], ids=["rod", "flat"])
def test_bodies_without_thickness_move_as_with_recursive(body):
    model = ps.Model("thin")
    bar = model.body("bar", body, (0.2, 0.1, -0.3), orientation=Rotation.from_euler("xyz", (0.3, 0.5, 0.2)))
    model.universal("hinge", model.ground, bar, at=(0, 0, 0), axis=(1, 0, 0), second_axis=(0, 1, 0))
    found, wanted = (
        ps.simulate(model, 1.0, rtol=1e-11, output_step=0.2, formulation=f) for f in ("rotation-matrix", "recursive")
    )
    assert_same(found.arrays, wanted.arrays, 1e-8)
    for options in ({"elimination": "full"}, {"multipliers": "per-step"}):
        with pytest.raises(ps.PoinsotError, match='body "bar": it is flat'):
            ps.simulate(model, 1.0, **ROTATION, **options)


# ------------------------------------------------------------------------------------------ equations in elements


class Elements:
    """A model posed, and its equations at any elements: rotations or not."""

    def __init__(self, model):
        self.problem = rotation_matrix.pose(build(model), {})
        self.mechanism = unwrapped(self.problem.mechanism)
        self.work = workspace_of_bodies(self.mechanism, floats, COLUMNS)
        self.n = self.problem.n_rates // 2

    def at(self, state, time=0.3):
        rotation_matrix.evaluate_for_python(self.mechanism, time, state, self.work)
        plan = self.mechanism.plan[:, 0]
        count, first = plan[EQUATIONS], plan[END_ROWS]
        return self.mechanism.loops[:count].copy(), self.mechanism.loops[first : first + plan[END_COUNT]].copy()

    def state(self, seed):
        rng = np.random.default_rng(seed)
        state = self.problem.initial.copy()
        state[: self.n] += 0.1 * rng.normal(size=(self.n, 1))
        state[self.n :] = rng.normal(size=(self.n, 1))
        return state


@pytest.mark.parametrize("seed", range(3))
def test_lanes_agree_with_float64(seed):
    elements = Elements(with_loops(seed, loops=1))
    mechanism = elements.mechanism._replace(loops=Packs(*elements.mechanism.loops.shape))
    work = workspace_of_bodies(mechanism, Packs, COLUMNS)
    states = np.hstack([elements.state(n) for n in range(WIDTH)])
    state, rates, rate = Packs(len(states), 1), Packs(len(states), 1), np.zeros((len(states), 1))
    mechanism.loops.data[...] = elements.mechanism.loops[:, :, None]
    state.data[:, 0, :] = states
    rotation_matrix.rotation_dynamics(mechanism, 0.0, state, work, rates)
    for lane in range(WIDTH):
        here = states[:, [lane]].copy()
        rotation_matrix.rotation_dynamics(elements.mechanism, 0.0, here, elements.work, rate)
        np.testing.assert_allclose(rates.data[:, 0, lane], rate[:, 0], rtol=0, atol=1e-9 * np.abs(rate).max())


@pytest.mark.parametrize("seed", range(12))
def test_rates_and_second_derivatives_hold_for_any_matrices(seed):
    elements = Elements(with_loops(seed, loops=3))
    state, n, h = elements.state(seed), elements.n, 1e-3
    acceleration = np.random.default_rng(seed + 1).normal(size=(n, 1))

    def moved(step):
        ahead = state.copy()
        ahead[:n] += step * state[n:] + 0.5 * step * step * acceleration
        ahead[n:] += step * acceleration
        return elements.at(ahead, 0.3 + step)[0]

    here = elements.at(state)[0]
    values, rates = (np.array([moved(k * h)[:, column] for k in (-2, -1, 1, 2)]) for column in (VALUE, RATE_OF_VALUE))
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * h)
    np.testing.assert_allclose(here[:, RATE_OF_VALUE], weights @ values, rtol=0, atol=1e-8)
    still = elements.at(np.vstack((state[:n], np.zeros((n, 1)))))[0]
    moving = elements.at(np.vstack((state[:n], acceleration)))[0]
    gained = moving[:, RATE_OF_VALUE] - still[:, RATE_OF_VALUE]  # X·x'' + Y:R''
    np.testing.assert_allclose(gained - here[:, XI], weights @ rates, rtol=0, atol=1e-6)


# ------------------------------------------------------------------------------------------ paper 000


def angular_accelerations(phi, psi, phi_rate, psi_rate):
    """(26)."""
    m, length, g = double_pendulum.MASS, double_pendulum.LENGTH, 9.81
    C = m * (length**2 + double_pendulum.SIZE[1] ** 2) / 12.0
    mixed = 0.5 * m * length**2
    matrix = [
        [C + 1.25 * m * length**2, mixed * np.cos(phi - psi)],
        [mixed * np.cos(phi - psi), C + 0.25 * m * length**2],
    ]
    swing = mixed * np.sin(phi - psi) * np.array([-(psi_rate**2), phi_rate**2])
    return np.linalg.solve(matrix, swing - m * g * length * np.array([1.5 * np.sin(phi), 0.5 * np.sin(psi)]))


@pytest.fixture(scope="module")
def pendulum():
    return ps.simulate(ps.case("double-pendulum"), 10.0, step=1e-4, output_step=0.5, **ROTATION)


def test_double_pendulum_moves_as_26_says(pendulum):
    start = [double_pendulum.PHI, double_pendulum.PSI, 0.0, 0.0]
    wanted = solve_ivp(
        lambda t, y: [*y[2:], *angular_accelerations(*y)],
        (0, 10),
        start,
        "DOP853",
        pendulum.time,
        rtol=1e-13,
        atol=1e-14,
    ).y
    x = pendulum.arrays["rotation"][:, :, :2, 0]  # along the bars
    found = np.arctan2(x[..., 1], x[..., 0]).T
    assert np.abs(found - wanted[:2]).max() < 1e-9
    known = double_pendulum.CASES[0].reference
    assert found[:, -1] == pytest.approx([known["phi at 10 s"][0], known["psi at 10 s"][0]], abs=1e-9)


def test_double_pendulum_stays_in_its_plane(pendulum):
    assert np.abs(pendulum.arrays["position"][..., 2]).max() <= 1e-13
    assert np.abs(pendulum.arrays["orthogonality_multiplier"][:, :, 2]).max() <= 1e-13
    assert np.abs(pendulum.arrays["reaction_force"][..., 2]).max() <= 1e-13


@pytest.mark.parametrize("time", [0.0, 1.0])
def test_multipliers_are_those_of_equation_9(pendulum, time):
    """With accelerations from (26): X of (9) gives the joints' multipliers by (21), Y then those of orthogonality."""
    row = int(np.argmin(np.abs(pendulum.time - time)))
    arrays = {name: values[row] for name, values in pendulum.arrays.items() if len(values) == len(pendulum.time)}
    model, m, g = ps.case("double-pendulum"), double_pendulum.MASS, np.array([9.81, 0.0, 0.0])
    starts = np.array([body.rotation for body in model.bodies.values()])
    centers = np.array([body.position for body in model.bodies.values()])
    hinge = 2.0 * centers[0]
    angle = np.arctan2(arrays["rotation"][:, 1, 0], arrays["rotation"][:, 0, 0])
    rates = arrays["angular_velocity"][:, 2]
    R = arrays["rotation"] @ starts.transpose(0, 2, 1)
    j = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    accelerations = angular_accelerations(*angle, *rates)
    R_second = (accelerations[:, None, None] * j + rates[:, None, None] ** 2 * j @ j) @ R
    T_second = np.array([np.zeros(3), (R_second[0] - R_second[1]) @ hinge])  # (24)
    X = m * (T_second + np.einsum("bij,bj->bi", R_second, centers))
    second = m * g - X[1]
    first = m * g + second - X[0]
    np.testing.assert_allclose(-arrays["reaction_force"], [first, second], rtol=0, atol=1e-10)
    np.testing.assert_allclose(arrays["joint_multiplier"][:, :3], [-first, -second], rtol=0, atol=1e-10)
    J = np.diag(model.bodies["upper"].inertia.matrix)
    Y = np.einsum("i,bj->bij", m * g, centers) + np.einsum("b,i,j->bij", (1.0, -1.0), second, hinge)
    for b in range(2):
        K = starts[b] @ np.diag(0.5 * J.sum() - J) @ starts[b].T + m * np.outer(centers[b], centers[b])
        wanted = R[b].T @ (R_second[b] @ K + m * np.outer(T_second[b], centers[b]) - Y[b])
        np.testing.assert_allclose(arrays["orthogonality_multiplier"][b], wanted, rtol=0, atol=1e-10)


def free_body_multipliers(model):
    run = ps.simulate(model, 100.0, rtol=1e-13, atol=1e-15, output_step=0.5, **ROTATION)
    return run, run.arrays["orthogonality_multiplier"][:, 0]


def test_eigenvalues_of_the_multipliers_of_a_symmetric_free_body_are_first_integrals():
    model = ps.Model("top", gravity=(0, 0, 0))
    model.body("top", ps.Inertia.box(1.2, (0.3, 0.3, 0.1)), angular_velocity=(2.0 * np.pi, 0.3, 1.5))
    values = np.linalg.eigvalsh(free_body_multipliers(model)[1])
    assert np.abs(values - values[0]).max() <= 1e-10 * np.abs(values).max()
    assert values.max() < 0.0  # -Λ is positive


def test_first_integrals_in_the_multipliers_of_any_free_body():
    """The trace of Λ is -2T, that of Λ (tr K - det K K⁻²) is -L²; with three different moments eigenvalues change."""
    run, lambdas = free_body_multipliers(ps.case("free-body"))
    J = np.diag(ps.case("free-body").bodies["box"].inertia.matrix)
    K = 0.5 * J.sum() - J
    w = run.arrays["angular_velocity"][:, 0]
    trace = np.trace(lambdas, axis1=1, axis2=2)
    weighted = np.einsum("tii,i->t", lambdas, K.sum() - K.prod() / K**2)
    for found, integral in ((trace, J @ w[0] ** 2), (weighted, J**2 @ w[0] ** 2)):
        np.testing.assert_allclose(found, np.full(len(w), -integral), rtol=1e-10)
    alpha = np.cross(J * w, w) / J  # Euler's equations
    spin, turning = (np.cross(np.eye(3), v[:, None]) for v in (w, alpha))  # rows e × v: the matrices of v ×
    np.testing.assert_allclose(lambdas, (turning + spin @ spin) * K, rtol=0, atol=1e-12)  # R'' K = R Λ
    values = np.linalg.eigvalsh(lambdas)
    assert values.max() < 0.0
    assert np.ptp(values[:, 0]) > 0.2 * np.abs(values[:, 0]).max()


# ------------------------------------------------------------------------------------------ steps


def spinning(**options):
    model = ps.Model("two links")
    rng = np.random.default_rng(4)
    above, hinge = model.ground, np.zeros(3)
    for n in range(2):
        turned = Rotation.random(rng=rng)
        arm = turned.apply([0.1, 0.05, -0.5])
        body = model.body(
            f"link {n}", ps.Inertia.box(1.0, (0.3, 0.2, 1.0)), hinge + arm, orientation=turned,
            angular_velocity=2.0 * rng.normal(size=3),
        )  # fmt: skip
        model.spherical(f"joint {n}", above, body, at=hinge)
        above, hinge = body, hinge + 2.0 * arm
    return lambda **more: ps.simulate(model, 1.0, output_step=1.0, **options, **more).arrays["rotation"][-1]


@pytest.mark.parametrize(
    ("options", "steps", "order"),
    [
        ({}, (1120, 1600, 2240), 4),
        ({"elimination": "full"}, (1120, 1600, 2240), 4),
        ({"stabilize": "none"}, (1120, 1600, 2240), 4),
        ({"multipliers": "per-step"}, (400, 800, 1600), 1),
        ({"multipliers": "per-step", "stabilize": "none"}, (400, 800, 1600), 1),
    ],
)
def test_order_of_rk4(options, steps, order):
    exact, end = spinning()(rtol=1e-13, atol=1e-15), spinning(**ROTATION)
    errors = [np.abs(end(step=1.0 / n, **options) - exact).max() for n in steps]
    slope = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(order, abs=0.2)


def test_stabilisation_holds_what_otherwise_drifts():
    """Without it the departures of a tumbling body from rotations are excited, with (25), or grow slowly, with (23)."""
    ways = {"stabilize": "none"}, {"stabilize": "none", "elimination": "full"}, {"stabilize": "baumgarte"}, {}
    excited, slow, back, held = (
        ps.simulate(ps.case("free-body"), 20.0, step=0.001, output_step=1.0, **way, **ROTATION).rotation_error
        for way in ways
    )
    assert excited > 100.0 * slow > 100.0 * 10.0 * back
    assert held < 1e-14


def test_what_is_not_offered_is_refused_by_name():
    with pytest.raises(
        ps.PoinsotError, match='stabilize "rotation-vector" is not one of formulation "rotation-matrix"'
    ):
        ps.simulate(ps.case("double-pendulum"), 1.0, stabilize="rotation-vector", **ROTATION)
