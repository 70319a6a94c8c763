"""Constraints between bodies in absolute coordinates: orders, redundant equations, and consistent starts.

The orders are those of Hairer and Wanner II, VII: table 4.1 for index 2, table 6.1 for index 3. The reference is
`recursive` with dop853 at a tight tolerance, in which the joints hold by construction.
"""

from functools import cache

import numpy as np
import pytest
from convergence.motions import slope, spatial_chain
from methods.ball_joints import constrained
from methods.rotating_box import solve

import poinsot as ps
from poinsot.algebra import quaternion
from poinsot.methods import methods

METHODS = {method.name: method for method in methods()}
LINKS, T_END = 3, 0.25
FORMS = pytest.mark.parametrize(
    ("method", "options"),
    [("radau5", {"index": 1}), ("radau5", {"index": 2}), ("radau5", {"index": 3}), ("generalized-alpha", {})],
)


@cache
def reference(t_end=T_END):
    """What a Run records at the start and at the end."""
    return ps.simulate(spatial_chain(), t_end, rtol=1e-13, atol=1e-15, output_step=t_end).arrays


def problem(repeat=()):
    return constrained(spatial_chain(), repeat, reference()["velocity"][0])


def parts(solution, row=-1):
    """Centres, rotation matrices, velocities and angular velocities, accelerations and multipliers."""
    state = solution.states[row]
    poses, velocities, accelerations, multipliers = np.split(state, np.cumsum((7, 6, 6)) * LINKS)
    poses, velocities = poses.reshape(LINKS, 7), velocities.reshape(LINKS, 6)
    R = [np.reshape(quaternion.to_matrix(tuple(pose[3:])), (3, 3)) for pose in poses]
    return poses[:, :3], np.array(R), velocities[:, :3], velocities[:, 3:], accelerations, multipliers.reshape(-1, 3)


def errors(solution):
    """The largest errors of positions, of velocities and of multipliers, these being the negative reactions."""
    assert solution.failure is None
    x, R, v, w, _, multipliers = parts(solution)
    names = ("position", "rotation", "velocity", "angular_velocity", "reaction_force")
    exact = [reference(float(solution.times[-1]))[name][-1] for name in names]
    misses = [np.abs(found - wanted).max() for found, wanted in zip((x, R, v, w, -multipliers), exact, strict=True)]
    return max(misses[:2]), max(misses[2:4]), misses[4]


@pytest.mark.parametrize(
    ("method", "options", "counts", "orders"),
    [
        ("radau5", {"index": 1}, (20, 28, 40, 56), (5, 5, 5)),
        ("radau5", {"index": 2}, (28, 40, 56, 80), (5, 5, 3)),
        ("radau5", {"index": 3}, (40, 56, 80, 112), (5, 3, 2)),
        ("generalized-alpha", {}, (100, 140, 200, 280), (2, 2, 2)),
        ("generalized-alpha", {"spectral_radius": 0.3}, (100, 140, 200, 280), (2, 2, 2)),
    ],
)
def test_orders_of_positions_velocities_and_multipliers(method, options, counts, orders):
    steps = T_END / np.array(counts)
    found = np.array([errors(solve(METHODS[method], problem(), T_END, step=h, **options)) for h in steps])
    assert [slope(steps, column) for column in found.T] == pytest.approx(orders, abs=0.25)


@pytest.mark.parametrize(("index", "bounds"), [(1, (10, 100, 2e4)), (2, (10, 100, np.inf)), (3, (100, np.inf, np.inf))])
def test_errors_of_adaptive_steps_follow_the_tolerance(index, bounds):
    tolerances = 10.0 ** -np.arange(5, 12, 2)
    found = np.array([errors(solve(METHODS["radau5"], problem(), T_END, tolerance=x, index=index)) for x in tolerances])
    assert slope(tolerances, found[:, 0]) == pytest.approx(1.0, abs=0.25)
    assert (found < np.outer(tolerances, bounds)).all()
    assert found[-1, 1] < 1e-2 * found[0, 1]  # index 3 has tol^0.6 for velocities: steps are as tol^0.2


@FORMS
def test_large_steps_over_fast_motion_converge(method, options):
    """Near 0.45 s the last link turns through half a radian within a step, and Jacobians age within it."""
    solution = solve(METHODS[method], problem(), 0.5, step=0.02, **options)
    assert solution.failure is None
    assert solution.times[-1] == 0.5
    assert solution.counts["iterations"] < 30 * solution.counts["steps"]


@FORMS
def test_redundant_constraints_leave_the_motion_unchanged(method, options):
    once, more = (
        solve(METHODS[method], problem(repeat), T_END, step=0.005, **options)
        for repeat in ((), ("joint 1", "joint 0", "joint 1"))
    )
    assert more.failure is None
    bodies = 19 * LINKS  # what stands behind are multipliers
    np.testing.assert_allclose(more.states[:, :bodies], once.states[:, :bodies], rtol=0, atol=1e-8)
    _, _, _, _, _, single = parts(once)
    _, _, _, _, _, shared = parts(more)
    together = shared[:3] + np.stack([shared[4], shared[3] + shared[5], np.zeros(3)])
    np.testing.assert_allclose(together, single, rtol=0, atol=1e-6)


def gaps(found):
    """How far the joints of the chain are apart, and how fast."""
    x, R, v, w, _, _ = found
    bodies = list(spatial_chain().bodies.values())
    places, speeds = [np.zeros(3)], [np.zeros(3)]
    apart, rates = [], []
    for i, (joint, body) in enumerate(zip(spatial_chain().joints.values(), bodies, strict=True)):
        above, below = body.rotation.T @ (joint.at - body.position), None
        apart.append(x[i] + R[i] @ above - places[-1])
        rates.append(v[i] + R[i] @ np.cross(w[i], above) - speeds[-1])
        if i + 1 < len(bodies):
            below = body.rotation.T @ (list(spatial_chain().joints.values())[i + 1].at - body.position)
            places.append(x[i] + R[i] @ below)
            speeds.append(v[i] + R[i] @ np.cross(w[i], below))
    return np.abs(apart).max(), np.abs(rates).max()


@FORMS
def test_an_inconsistent_start_is_made_consistent(method, options):
    start = problem()
    start.initial[:] += 0.01 * np.random.default_rng(2).normal(size=start.initial.shape)
    for i in range(LINKS):
        start.initial[7 * i + 3 : 7 * i + 7] /= np.linalg.norm(start.initial[7 * i + 3 : 7 * i + 7])
    given = start.initial.copy()
    solution = solve(METHODS[method], start, 0.01, step=0.001, **options)
    apart, rates = gaps(parts(solution, 0))
    assert apart < 1e-14
    assert rates < 1e-13
    moved = np.abs(solution.states[0, : given.size] - given[:, 0]).max()
    assert 1e-4 < moved < 0.2
    assert max(gaps(parts(solution))) < 1e-2


def test_a_start_that_cannot_be_made_consistent_is_refused():
    start = problem()
    start.initial[7] += 100.0
    for method in ("radau5", "generalized-alpha"):
        with pytest.raises(
            ps.PoinsotError, match="initial positions cannot be made to fulfil the constraints"
        ) as caught:
            solve(METHODS[method], start, 0.01, step=0.001)
        assert "\n" not in str(caught.value)


def test_undamped_multipliers_are_refused():
    with pytest.raises(ps.PoinsotError, match="spectral_radius 1 damps nothing"):
        solve(METHODS["generalized-alpha"], problem(), 0.01, step=0.001, spectral_radius=1.0)


@pytest.mark.parametrize("index", [1, 2, 3])
def test_outputs_within_steps_lie_on_the_motion_and_change_no_step(index):
    method = METHODS["radau5"]
    plain = solve(method, problem(), T_END, step=0.01, index=index)
    asked = solve(method, problem(), T_END, step=0.01, index=index, outputs=np.array([0.0, 0.0337, 0.1371, T_END]))
    assert asked.states[-1].tobytes() == plain.states[-1].tobytes()
    exact = ps.simulate(spatial_chain(), 0.1371, rtol=1e-12, output_step=0.1371).arrays["position"][-1]
    np.testing.assert_allclose(parts(asked, 2)[0], exact, rtol=0, atol=1e-6)
    assert gaps(parts(asked, 2))[0] < (1e-13 if index == 3 else 1e-5)
