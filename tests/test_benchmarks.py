"""The scripts in benchmarks/ run and measure what they say; their figures are printed by running them in full."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot._jit import DISABLED
from poinsot.formulations import recursive
from poinsot.mechanism.build import build
from poinsot.recording import recorded
from poinsot.scalars import floats

FOLDER = Path(__file__).parents[1] / "benchmarks"
pytestmark = pytest.mark.skipif(DISABLED, reason="benchmarks measure compiled kernels")


@pytest.fixture
def script(monkeypatch):
    """Import a script as Python does that runs it: its folder stands first."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_every_script_can_be_imported(script, name):
    assert script(name).__doc__


def test_springs_of_the_users_give_the_accelerations_of_those_built_in(script):
    benchmark = script("user_load")
    rates = {}
    for kind in ("none", "built in", "user's"):
        problem = benchmark.chain(kind)
        rates[kind] = floats(problem.n_rates, 1)
        benchmark.repeat(1, problem.rates, problem.mechanism, problem.initial + 0.01, problem.work, rates[kind])
    scale = np.abs(rates["built in"]).max()
    np.testing.assert_allclose(rates["user's"], rates["built in"], rtol=0, atol=1e-12 * scale)
    assert np.abs(rates["none"] - rates["built in"]).max() > 1e-3 * scale


def test_scipy_solves_the_equations_that_poinsot_steps(script):
    model = ps.case("double-pendulum")
    problem = recursive.pose(build(model), {})
    slope = script("work_precision").right_hand_side(problem)
    found = solve_ivp(slope, (0.0, 0.1), problem.initial[:, 0], "DOP853", rtol=1e-10, atol=1e-12)
    theirs = recorded(problem, found.t[-1:], np.ascontiguousarray(found.y[:, -1:].T))
    ours = ps.simulate(model, 0.1, rtol=1e-10, output_step=0.1).arrays
    assert np.abs(ours["rotation"][-1] - ours["rotation"][0]).max() > 0.1
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        np.testing.assert_allclose(theirs[name][-1], ours[name][-1], rtol=0, atol=1e-8)


def test_forward_dynamics_are_measured_with_all_three_scalars(script):
    benchmark = script("forward_dynamics")
    row = benchmark.measure("4 spherical", benchmark.CASES["4 spherical"]())
    assert row["lanes"] < 1e-12
    assert row["residual"] < 1e-13


def test_the_linkage_of_paper_002_swings_as_its_pendulum_with_its_joint_closed(script):
    benchmark = script("paper_002")
    run = ps.simulate(ps.case("five-bar"), 0.5, **benchmark.qtz_with("minimal", step=0.01))
    np.testing.assert_allclose(benchmark.angle(run), benchmark.swinging(run.time)[0], rtol=0, atol=1e-9)
    assert benchmark.violation(run).max() < 1e-12


def test_the_decomposition_that_is_timed_finds_rank_and_null_space(script):
    benchmark = script("paper_002")
    n, m, rank = 18, 21, 17
    rng = np.random.default_rng(3)
    given = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m))
    a, spare, out = (np.zeros((rows, benchmark.padded(m))) for rows in (n, 2, n))
    order = np.zeros((m, 1), np.int64)
    assert benchmark.decompose(1, given, a, n, m, order, spare, out, 1e-9, n) == rank
    assert np.abs(given.T @ out[:, : n - rank]).max() < 1e-12
    assert np.linalg.norm(out[:, 0]) == pytest.approx(1.0)
