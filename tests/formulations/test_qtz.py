"""`qtz` against `recursive` and closed forms, and the formulas of paper 002 in NumPy."""

import numpy as np
import pytest
from convergence.motions import spatial_chain
from formulations.test_loops import CLOSING, with_loops
from formulations.test_qtz_rank import flat_five_bar
from mechanism import textbook
from mechanism.trees import Instant, random_tree
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

import poinsot as ps
from poinsot.cases import five_bar, free_body
from poinsot.formulations import qtz
from poinsot.formulations.loops import AT, NEAR, OPENED
from poinsot.formulations.qtz_plan import (
    BASES,
    CHOSEN,
    FREE,
    FREEDOMS,
    MOVING,
    MULTIPLIER,
    PER_MOTION,
    PER_TURN,
    PLACES,
    RANK,
    SCALES,
    SOLUTIONS,
    VARIANTS,
)
from poinsot.mechanism import tables as t
from poinsot.mechanism.absolute import MOTION, POSE
from poinsot.mechanism.build import build
from poinsot.mechanism.constraints import RATE_OF_VALUE, VALUE
from poinsot.mechanism.record import record
from poinsot.recording import recorded, report_tables
from poinsot.scalars import Duals, lend

STATE_FORMS, REDUCED = VARIANTS[:2], VARIANTS[2]
# What is asked of each variant, and how near it then comes to `recursive`.
RTOL = {REDUCED: 1e-9}
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def by(variant, model, t_end, **settings):
    return ps.simulate(model, t_end, formulation="qtz", qtz=variant, **settings)


def largest_differences(variant, model, t_end=0.3, **settings):
    """Of every variable of a run, from `recursive`, relative to the largest value (at least one)."""
    events = {"events": model.settings.get("events", ())}
    given = {"rtol": RTOL.get(variant, 1e-11)} | settings
    found = by(variant, model, t_end, output_step=t_end / 10, **events, **given)
    wanted = ps.simulate(model, t_end, output_step=t_end / 10, rtol=1e-11, **events)
    assert [event.time for event in found.events] == pytest.approx([event.time for event in wanted.events], abs=1e-9)
    assert found.settings["redundant"] == wanted.settings["redundant"]
    assert set(found.arrays) == set(wanted.arrays)
    differences = {}
    for name, array in wanted.arrays.items():
        np.testing.assert_array_equal(np.isnan(array), np.isnan(found.arrays[name]))
        if array.dtype == bool:
            np.testing.assert_array_equal(array, found.arrays[name], err_msg=name)
        else:
            scale = np.nanmax(np.abs(array), initial=1.0)
            differences[name] = np.nanmax(np.abs(array - found.arrays[name]), initial=0.0) / scale
    return differences


def assert_as_in_recursive(variant, model, t_end=0.3, near=1e-9, **settings):
    differences = largest_differences(variant, model, t_end, **settings)
    assert max(differences.values()) < (1e-7 if variant == REDUCED else near), differences


# ---------------------------------------------------------------------------------------- against `recursive`


@every_variant
@pytest.mark.parametrize("seed", range(8))
def test_trees_move_as_in_recursive(variant, seed):
    assert_as_in_recursive(variant, random_tree(seed, loads=True), near=1e-10)


@every_variant
@pytest.mark.parametrize("seed", range(8))
def test_loops_move_as_in_recursive(variant, seed):
    assert_as_in_recursive(variant, with_loops(seed, loaded=True), near=1e-10)


@every_variant
@pytest.mark.parametrize(
    ("name", "t_end"),
    [
        ("five-bar", 1.0), ("five-bar-driven", 0.5), ("bricard", 1.0), ("stewart-platform", 0.5),
        ("slider-crank", 0.5), ("andrews", 0.01), ("four-bars-2", 0.3), ("free-body", 1.0),
    ],
)  # fmt: skip
def test_redundant_and_driven_mechanisms_move_as_in_recursive(variant, name, t_end):
    assert_as_in_recursive(variant, ps.case(name), t_end)


@every_variant
def test_events_restart_the_motion(variant):
    assert_as_in_recursive(variant, ps.case("flywheel-pendulum"), 5.0, near=1e-8)


@pytest.mark.parametrize("variant", STATE_FORMS)
def test_a_chain_of_ten_loops_moves_as_in_recursive(variant):
    assert_as_in_recursive(variant, ps.case("four-bars-10"))


@every_variant
def test_five_bar_swings_as_the_closed_form_says(variant):
    run = by(variant, ps.case("five-bar"), 20.0, rtol=RTOL.get(variant, 1e-12), output_step=10.0)
    known = five_bar.CASES[0].reference
    angles = run.arrays["joint_position"][1:, run.joints.index("left pivot")]
    wanted = [known[f"crank angle at {time} s"][0] for time in (10, 20)]
    assert angles == pytest.approx(wanted, abs=1e-6 if variant == REDUCED else 1e-9)
    assert run.position_error < 1e-12
    assert run.velocity_error < 1e-12


# ---------------------------------------------------------------------------------------- bodies and joints at the edge


def rods(thick=False):
    inertia = ps.Inertia.cylinder(1.0, 0.05, 1.0) if thick else ps.Inertia.rod(mass=1.0, length=1.0)
    model = ps.Model("rods", gravity=(0.0, -9.81, 0.0))
    lying = Rotation.from_euler("y", 90.0, degrees=True)
    before = model.ground
    for n in range(3):
        body = model.body(f"rod {n}", inertia, (n + 0.5, 0.0, 0.0), orientation=lying)
        model.revolute(f"pin {n}", before, body, at=(n, 0.0, 0.0), axis=(0.0, 0.0, 1.0))
        before = body
    return model


def welded():
    """A body that cannot move, one on a hinge on it, and one that flies alone; no gravity."""
    model = ps.Model("welded", gravity=(0.0, 0.0, 0.0))
    inertia = ps.Inertia.box(1.0, (0.3, 0.2, 0.5))
    model.body("post", inertia, (0.1, 0.2, 0.3), orientation=Rotation.from_euler("xyz", (0.3, 0.5, 0.2)))
    model.body("arm", inertia, (0.5, 0.2, 0.3), angular_velocity=(0.0, 0.0, 2.0))
    model.body("stone", inertia, (2.0, 0.0, 0.0), velocity=(0.1, 0.2, 0.3), angular_velocity=(2.0, 0.3, 1.0))
    model.fixed("weld", model.ground, "post", at=(0.0, 0.0, 0.0))
    model.revolute("hinge", "post", "arm", at=(0.3, 0.2, 0.3), axis=(0.0, 0.0, 1.0))
    return model


def all_welded():
    model = ps.Model("all welded")
    model.body("block", ps.Inertia.box(1.0, (0.3, 0.2, 0.5)), (0.1, 0.2, 0.3))
    model.fixed("weld", model.ground, "block", at=(0.0, 0.0, 0.0))
    return model


def driven_rods(*motions):
    """Rods, the first of them driven."""
    model = rods(thick=True)
    for n, motion in enumerate(motions):
        model.drive(f"motor {n}", f"pin {n}", position=motion)
    return model


MOTIONS = "0.5 * sin(3 * t)", "t - 0.2 * t**2", "0.3 * sin(t)"


@every_variant
@pytest.mark.parametrize(
    "model",
    [welded(), all_welded(), driven_rods(*MOTIONS[:1]), driven_rods(*MOTIONS)],
    ids=["welded", "all welded", "one drive", "all driven"],
)
def test_what_stands_still_or_is_told_how_to_move(variant, model):
    assert_as_in_recursive(variant, model, 1.0)


@pytest.mark.parametrize("variant", STATE_FORMS)
def test_thin_rods_need_no_inertia_about_their_axis(variant):
    assert_as_in_recursive(variant, rods(), 1.0)


@every_variant
def test_angles_count_whole_turns(variant):
    model = ps.Model("wheel", gravity=(0.0, 0.0, 0.0))
    wheel = model.body("wheel", ps.Inertia.cylinder(1.0, 0.3, 0.1), angular_velocity=(0.0, 0.0, 20.0))
    model.revolute("axle", model.ground, wheel, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0), position=0.5)
    model.torsion_spring("spring", "axle", stiffness=0.1, rest=0.0)
    assert_as_in_recursive(variant, model, 5.0)
    run = by(variant, model, 1.0, rtol=1e-10)
    assert run.arrays["joint_position"].max() > 4.0 * np.pi
    assert run.stats.decompositions > 0 or variant == REDUCED  # one freedom about a fixed axis never turns away


# ---------------------------------------------------------------------------------------- renewals


@pytest.mark.parametrize("variant", STATE_FORMS)
def test_charts_of_a_free_body_are_only_centred_and_nothing_jumps(variant):
    run = by(variant, ps.case("free-body"), 20.0, rtol=1e-11)
    assert run.stats.decompositions == 0
    wanted = free_body.motion(run.time)[0]
    assert np.abs(run.arrays["rotation"][:, 0] - wanted).max() < 1e-7


@every_variant
def test_a_chain_turns_far_in_space(variant):
    assert_as_in_recursive(variant, spatial_chain(), 1.0, near=1e-6, rtol=1e-12)
    assert by(variant, spatial_chain(), 1.0).stats.decompositions > 3


# ---------------------------------------------------------------------------------------- singular positions


def passed(variant, name, t_end, **settings):
    """How far off the motion is after, and in, singular positions."""
    found = by(variant, ps.case(name), t_end, output_step=t_end / 20, **settings)
    wanted = ps.simulate(ps.case(name), t_end, output_step=t_end / 20, rtol=1e-12)
    assert found.position_error < 1e-13
    names = ("position", "rotation", "velocity", "angular_velocity")
    return max(np.abs(found.arrays[name] - wanted.arrays[name]).max() for name in names)


@every_variant
@pytest.mark.parametrize("settings", [{"step": 1e-3}, {"rtol": 1e-9}], ids=["fixed", "adaptive"])
def test_a_drive_pushes_the_five_bar_through_flat_positions(variant, settings):
    assert passed(variant, "five-bar-driven", 2.0, **settings) < 1e-9


@pytest.mark.parametrize("variant", STATE_FORMS)
def test_four_bars_swing_through_flat_positions_with_fixed_steps(variant):
    assert passed(variant, "four-bars-2", 2.0, step=1e-3) < 1e-7


@every_variant
def test_four_bars_swing_through_flat_positions_with_a_tolerance(variant):
    assert passed(variant, "four-bars-2", 2.0, rtol=1e-8) < 1e-5


# ---------------------------------------------------------------------------------------- equations in NumPy


class Posed:
    """A model as `minimal` poses it, at any state."""

    def __init__(self, model):
        self.model = model
        self.problem = qtz.pose(build(model), {"qtz": "minimal", "stabilize": "projection"})
        parts = self.problem.mechanism._asdict()
        tables = type("Tables", (), {name: getattr(table, "view", table) for name, table in parts.items()})
        self.loops, self.chart, self.plan = tables.loops, tables.chart, tables.plan[:, 0]
        self.bodies, self.free, self.rank = len(model.bodies), self.plan[FREE], self.plan[RANK]
        self.n, self.rates = MOTION * self.bodies, self.problem.n_rates // 2
        first = self.problem.n_states - self.rates
        self.p = slice(POSE * self.bodies, POSE * self.bodies + self.free)
        self.velocities = slice(first, first + self.n)
        self.p_rate = slice(first + self.n, first + self.n + self.free)
        bases = self.chart[self.plan[BASES] : self.plan[BASES] + self.bodies, [PER_TURN, PER_MOTION]]
        self.D = np.repeat(bases, 3)
        self.Q2 = self.chart[self.plan[FREEDOMS] : self.plan[FREEDOMS] + self.free, : self.n].T.copy()

    def state(self, seed, far=0.1):
        """p and p' at random, for turns and speeds of that and of one; the bodies still where they were."""
        random, state = np.random.default_rng(seed), self.problem.initial.copy()
        unit = 1.0 / np.abs(self.D[:, None] * self.Q2).max(initial=1e-9)
        state[self.p, 0] = far * unit * random.uniform(-1.0, 1.0, self.free)
        state[self.p_rate, 0] = unit * random.uniform(-1.0, 1.0, self.free)
        return state

    def accelerations(self, state, time=0.0):
        """p''."""
        rate = np.zeros((2 * self.rates, 1))
        qtz.minimal_dynamics(self.problem.mechanism, time, lend(state), self.problem.work, lend(rate))
        return rate[self.rates + self.n : self.rates + self.n + self.free, 0]

    def corrected(self, state, time=0.0):
        """The state with its bodies where, and as fast as, p and p' say."""
        state, room = state.copy(), np.zeros((2, 2 * self.rates, 1))
        views = lend(state), self.problem.work, lend(room[0]), lend(room[1])
        answer = qtz.correct_minimal(self.problem.mechanism, self.problem.blocks, time, *views)
        assert answer not in (OPENED, NEAR, AT)
        return state

    def residuals(self, state, time=0.0):
        """Φ and Φ' of all equations."""
        qtz.put_all_gradients(self.problem.mechanism, time, lend(state), self.problem.work)
        rows = self.loops[: len(self.problem.layout.equations)]
        return rows[:, VALUE].copy(), rows[:, RATE_OF_VALUE].copy()

    def jacobian(self, state, time=0.0):
        """C and Φ_t: Φ' = C v + Φ_t."""
        still = state.copy()
        still[self.velocities] = 0.0
        Phi_t, columns = self.residuals(still, time)[1], []
        for k in range(self.n):
            unit = still.copy()
            unit[self.velocities.start + k] = 1.0
            columns.append(self.residuals(unit, time)[1] - Phi_t)
        return np.array(columns).T, Phi_t

    def tables(self, state, time=0.0):
        """What a Run records at the state, with the reactions of `qtz` as they are."""
        problem, tables = self.problem, report_tables(self.problem, 1)
        room, rate = np.zeros_like(state), np.zeros((problem.n_rates, 1))
        record(
            problem.observe, problem.report, problem.mechanism, problem.blocks, np.array([time]), state.T.copy(), room,
            problem.work, rate, *tables,
        )  # fmt: skip
        return tables


REGULAR = {
    **{f"loops {seed}": with_loops(seed) for seed in range(4)}, "Bricard": ps.case("bricard"),
    "platform": ps.case("stewart-platform"), "one drive": driven_rods(*MOTIONS[:1]),
}  # fmt: skip
regular = pytest.mark.parametrize("posed", [pytest.param(Posed(REGULAR[name]), id=name) for name in REGULAR])
TIME = 0.05


@regular
def test_independent_accelerations_depend_on_p_and_its_rate_only(posed):
    state, random = posed.state(1), np.random.default_rng(2)
    wanted, moved = posed.accelerations(state, TIME), state.copy()
    for b in range(posed.bodies):
        R, x = slice(POSE * b, POSE * b + 9), slice(POSE * b + 9, POSE * b + 12)
        turned = moved[R, 0].reshape(3, 3) @ Rotation.from_rotvec(0.02 * random.normal(size=3)).as_matrix()
        moved[R, 0] = turned.ravel()
        moved[x, 0] += 0.02 * random.normal(size=3)
    moved[posed.velocities, 0] += random.normal(size=posed.n)
    found = posed.accelerations(moved, TIME)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * max(1.0, np.abs(wanted).max()))
    one, other = posed.corrected(state, TIME), posed.corrected(moved, TIME)
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-12 * max(1.0, np.abs(one).max()))


@regular
def test_freedoms_are_those_of_equations_31_to_33(posed):
    state = posed.state(3)
    posed.accelerations(state, TIME)
    plan, chart, n, free, rank = posed.plan, posed.chart, posed.n, posed.free, posed.rank
    solutions = posed.loops[plan[SOLUTIONS] : plan[SOLUTIONS] + n, : free + 1].copy()
    places = posed.loops[plan[PLACES] : plan[PLACES] + posed.bodies, :6].copy()
    assert np.abs(places).max() > 0.01
    H, D, Q2 = np.eye(n), posed.D, posed.Q2
    for b, u in enumerate(places[:, :3]):
        here = slice(MOTION * b, MOTION * b + 3)
        H[here, here] += 0.5 * np.cross(u, np.eye(3)).T + 0.25 * np.outer(u, u)
    chosen = plan[plan[CHOSEN] : plan[CHOSEN] + rank]
    closed = posed.corrected(state, TIME)
    C, Phi_t = posed.jacobian(closed, TIME)
    S = chart[plan[SCALES] + MOVING, chosen]
    Psi, b_rate = S[:, None] * C[chosen] * D @ np.linalg.inv(H), -S * Phi_t[chosen]
    Q1 = null_space(Q2.T)
    np.testing.assert_allclose(Q2.T @ Q2, np.eye(free), rtol=0, atol=1e-14)
    from_equations = Q1 @ np.linalg.inv(Psi @ Q1)  # (31)
    freedoms = Q2 - from_equations @ Psi @ Q2  # (32)
    found = H @ (solutions / D[:, None])
    np.testing.assert_allclose(found[:, :free], freedoms, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[:, free], from_equations @ b_rate, rtol=0, atol=1e-12)
    np.testing.assert_allclose(Q2.T @ found[:, :free], np.eye(free), rtol=0, atol=1e-13)
    np.testing.assert_allclose(Q2.T @ found[:, free], 0.0, rtol=0, atol=1e-13)
    # (33), and what it is for
    q_rate = found[:, free] + found[:, :free] @ state[posed.p_rate, 0]
    np.testing.assert_allclose(H @ (closed[posed.velocities, 0] / D), q_rate, rtol=0, atol=1e-12)
    gap, speed = posed.residuals(closed, TIME)
    assert np.abs(gap).max() < 1e-14
    assert np.abs(speed).max() < 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_reported_accelerations_and_multipliers_fulfil_the_equations_of_motion(seed):
    posed = Posed(with_loops(seed, kinds=CLOSING, loaded=seed % 2 == 1))
    state = posed.corrected(posed.state(seed))
    tables = posed.tables(state)
    multipliers = posed.loops[: len(posed.problem.layout.equations), MULTIPLIER].copy()
    instant = Instant(posed.model, 0.0, *(table[0] for table in tables))
    wrenches, pulls = textbook.loads(posed.model, instant), posed.jacobian(state)[0].T @ multipliers
    for pull, (name, body) in zip(pulls.reshape(-1, 2, 3), posed.model.bodies.items(), strict=True):
        mass, J, w = body.inertia.mass, body.inertia.matrix, instant.angular_velocity[name]
        force = mass * (instant.acceleration[name] - posed.model.gravity)
        torque = J @ instant.angular_acceleration[name] + np.cross(w, J @ w)
        scale = max(9.81 * mass, np.abs(pulls).max())
        wanted = instant.rotation[name].T @ wrenches.torque[name] - pull[0]
        np.testing.assert_allclose(torque, wanted, rtol=0, atol=1e-12 * scale, err_msg=name)
        np.testing.assert_allclose(force, wrenches.force[name] - pull[1], rtol=0, atol=1e-12 * scale, err_msg=name)


@pytest.mark.parametrize("name", ["five-bar", "five-bar-driven", "bricard", "slider-crank", "andrews", "four-bars-2"])
def test_multipliers_are_the_least_at_once(name):
    posed = Posed(ps.case(name))
    state = posed.corrected(posed.state(1, far=0.05))
    _, joints, _ = posed.tables(state)
    wanted = recorded(posed.problem, np.zeros(1), state.T.copy())
    scale = np.abs(wanted["reaction_force"]).max()
    for variable, first in (("reaction_force", t.REACTION_FORCE), ("reaction_torque", t.REACTION_TORQUE)):
        found = joints[:, :, first : first + 3]
        np.testing.assert_allclose(found, wanted[variable], rtol=0, atol=1e-10 * scale, err_msg=variable)


@pytest.mark.parametrize("name", ["bricard", "stewart-platform"])
def test_derivatives(name):
    posed = Posed(ps.case(name))
    problem, derived, random = posed.problem, posed.problem.derived(), np.random.default_rng(4)
    state, along = posed.state(5), np.zeros(posed.problem.initial.shape)
    for rows in (posed.p, posed.p_rate):
        along[rows] = random.normal(size=(posed.free, 1))
    duals, rate = Duals(problem.n_states, 1), Duals(problem.n_rates, 1)
    duals.data[:, 0, 0], duals.data[:, 0, 1] = state[:, 0], along[:, 0]
    duals.data[: posed.p.start, 0, 2] = random.normal(size=posed.p.start)  # poses that are carried along
    qtz.minimal_dynamics(derived.mechanism, 0.0, lend(duals), derived.work, lend(rate))
    found = rate.data[posed.rates + posed.n : posed.rates + posed.n + posed.free, 0]
    h = 1e-3
    ahead = [posed.accelerations(state + k * h * along) for k in (-2, -1, 1, 2)]
    difference = (ahead[0] - 8.0 * ahead[1] + 8.0 * ahead[2] - ahead[3]) / (12.0 * h)
    scale = np.abs(difference).max()
    np.testing.assert_allclose(found[:, 0], posed.accelerations(state), rtol=0, atol=1e-11 * scale)
    np.testing.assert_allclose(found[:, 1], difference, rtol=0, atol=1e-7 * scale)
    np.testing.assert_allclose(found[:, 2], 0.0, rtol=0, atol=1e-9 * scale)


# ---------------------------------------------------------------------------------------- choices


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"qtz": "wrong"}, 'no qtz "wrong"; known: minimal, independent-accelerations, reduced'),
        ({"qtz": "minimum"}, 'no qtz "minimum"; did you mean "minimal"'),
        ({"stabilize": "rotation-vector"}, 'qtz="minimal"; give "projection" or "none"'),
        ({"stabilize": "rotation-vector", "qtz": "independent-accelerations"}, 'give "projection", "baumgarte" or'),
        ({"stabilize": "baumgarte"}, 'qtz="minimal"; give "projection" or "none"'),
        ({"stabilize": "baumgarte", "qtz": "reduced"}, 'qtz="reduced"; give "projection" or "none"'),
        ({"qtz": "reduced", "method": "rk4", "step": 0.1}, "methods that fit: radau5, generalized-alpha"),
        (
            {"qtz": "independent-accelerations", "method": "generalized-alpha", "step": 0.1},
            "methods that fit: rk4, dopri5, dop853, rkmk4, rkmk5, gauss1, gauss2, gauss3, radau5",
        ),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(given, sentence):
    with pytest.raises(ps.PoinsotError, match=sentence):
        ps.simulate(ps.case("five-bar"), 0.1, formulation="qtz", **given)


def test_drift_is_removed_or_dies_out():
    model, settings = ps.case("five-bar"), {"step": 0.01, "output_step": 1.0}
    errors = {
        word: by("independent-accelerations", model, 5.0, stabilize=word, **settings).position_error
        for word in ("none", "baumgarte", "projection")
    }
    assert errors["none"] > 10.0 * errors["baumgarte"] > 1e-9
    assert errors["projection"] < 1e-14
    assert by("minimal", model, 5.0, stabilize="none", **settings).position_error < 1e-14


def test_a_weak_chart_is_not_taken_for_a_singular_position():
    model = with_loops(55, loops=3, loaded=True)
    wanted = ps.simulate(model, 1.0, rtol=1e-12, output_step=0.05)
    for variant in STATE_FORMS:
        found = by(variant, with_loops(55, loops=3, loaded=True), 1.0, rtol=1e-11, output_step=0.05)
        np.testing.assert_allclose(found.arrays["position"], wanted.arrays["position"], rtol=0, atol=1e-10)


def test_a_start_in_a_singular_position_is_refused():
    with pytest.raises(ps.PoinsotError, match=r"singular position .* begin a little beside it"):
        ps.simulate(flat_five_bar(), 1.0, step=1e-3, formulation="qtz")


def test_reduced_needs_inertia_about_every_axis():
    with pytest.raises(ps.PoinsotError, match='no inertia about some axis, which qtz="reduced" needs'):
        ps.simulate(rods(), 1.0, formulation="qtz", qtz="reduced")
