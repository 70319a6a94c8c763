"""Equations of joints: their gradients are derivatives of Φ, and Φ'' = gradient · accelerations - ξ."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poinsot as ps
from poinsot._jit import routine
from poinsot.algebra import quaternion
from poinsot.algebra.matrix import product
from poinsot.algebra.memory import get3, get9, put3, put9
from poinsot.algebra.vector import add
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import build
from poinsot.mechanism.constraints import EQUATION_OUTPUTS, GRADIENT, RATE_OF_VALUE, VALUE, XI, put_equations
from poinsot.mechanism.tables import borrowed
from poinsot.scalars import WIDTH, Duals, Packs, borrow

KINDS = (
    "fixed", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "screw",
    "distance", "point_on_line", "point_on_plane",
)  # fmt: skip


@routine
def _equations(mechanism, t, state, work, out):
    mechanism, state, work, out = borrowed(mechanism), borrow(state), borrow(work), borrow(out)
    put_equations(mechanism, t, state, work, mechanism.equations, 0, mechanism.equations.shape[0], out)


@routine
def _moved(work, rows, step, out):
    """Bodies moved by increments: world displacement, turn in body axes."""
    for i in range(work.shape[0]):
        for k in range(18):
            out[i, k] = work[i, k]
    for n in range(rows.shape[0]):
        i = rows[n, 0]
        turn = quaternion.to_matrix(quaternion.exp(get3(step, n, 3)))
        put3(out, i, t.POSITION, add(get3(work, i, t.POSITION), get3(step, n, 0)))
        put9(out, i, t.ROTATION, product(get9(work, i, t.ROTATION), turn))


def two_bodies(kind):
    """Two bodies at some poses, tied by a joint of a kind with slanted axes, so that none is a world axis."""
    rng = np.random.default_rng(KINDS.index(kind))
    model = ps.Model(kind)
    boxes = [ps.Inertia.box(mass=1.0 + i, size=(0.3, 0.5, 0.7)) for i in range(2)]
    a, b = (
        model.body(name, box, rng.normal(size=3), orientation=Rotation.random(rng=rng))
        for name, box in zip("ab", boxes, strict=True)
    )
    axis = rng.normal(size=3)
    if kind == "distance":
        model.distance("joint", a, b, at_a=rng.normal(size=3), at_b=rng.normal(size=3))
    else:
        with_axis = {} if kind in ("fixed", "spherical") else {"axis": axis}
        pitch = {"pitch": 0.3} if kind == "screw" else {}
        getattr(model, kind)("joint", a, b, at=rng.normal(size=3), **with_axis, **pitch)
    return model, rng


class Pair:
    """Both bodies in the shared columns of `work`, anywhere and moving anyhow."""

    def __init__(self, kind, closed=False):
        model, rng = two_bodies(kind)
        self.layout = build(model)
        self.mechanism = self.layout.mechanism
        self.rows = np.array([[self.layout.row[name]] for name in "ab"])
        self.work = np.zeros((len(self.mechanism.links) + 1, t.SHARED_COLUMNS))
        self.work[0, [t.ROTATION, t.ROTATION + 4, t.ROTATION + 8]] = 1.0
        for body in model.bodies.values():
            turn = Rotation.from_rotvec(np.zeros(3) if closed else rng.normal(size=3)).as_matrix()
            away = 0.0 if closed else rng.normal(size=3)
            here = self.work[self.layout.row[body.name]]
            here[t.POSITION : t.POSITION + 3] = body.position + away
            here[t.ROTATION : t.ROTATION + 9] = (body.rotation @ turn).ravel()
            here[t.VELOCITY : t.VELOCITY + 6] = rng.normal(size=6)
        self.state = np.zeros((40, 1))
        self.count = len(self.mechanism.equations)

    def equations(self, work):
        out = np.zeros((self.count, EQUATION_OUTPUTS))
        _equations(self.mechanism, 0.0, self.state, work, out)
        return out

    def at(self, time, accelerations):
        """`work` after a short time of constant acceleration and constant angular velocity in body axes."""
        work = self.work.copy()
        for (row,), a in zip(self.rows, accelerations, strict=True):
            here = self.work[row]
            v, w = here[t.VELOCITY : t.VELOCITY + 3], here[t.ANGULAR_VELOCITY : t.ANGULAR_VELOCITY + 3]
            work[row, t.POSITION : t.POSITION + 3] += time * v + 0.5 * time**2 * a
            R = here[t.ROTATION : t.ROTATION + 9].reshape(3, 3)
            work[row, t.ROTATION : t.ROTATION + 9] = (R @ Rotation.from_rotvec(time * w).as_matrix()).ravel()
            work[row, t.VELOCITY : t.VELOCITY + 3] += time * a
        return work

    def jacobian(self, work):
        """Gradients in displacements (world) and turns (body axes) of both bodies, one row per equation."""
        out, rows = self.equations(work), np.zeros((self.count, 2, 6))
        for e, (_, _, first, terms, _) in enumerate(self.mechanism.equations):
            for n in range(terms):
                joint = self.mechanism.joints[self.mechanism.terms[first + n, t.TERM_JOINT]]
                force, torque, place = out[e, GRADIENT * n : GRADIENT * (n + 1)].reshape(3, 3)
                for link, sign in ((joint[t.BODY_A], -1.0), (joint[t.BODY_B], 1.0)):
                    x, R = work[link, :3], work[link, t.ROTATION : t.ROTATION + 9].reshape(3, 3)
                    body = int(np.flatnonzero(self.rows[:, 0] == link)[0])
                    rows[e, body, :3] += sign * force
                    rows[e, body, 3:] += sign * R.T @ (torque + np.cross(place - x, force))
        return rows


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_the_derivatives_of_the_equations(kind):
    pair = Pair(kind, closed=kind == "screw")  # a screw's angle is that about its axis only where this is kept
    wanted, found = pair.jacobian(pair.work), np.zeros((pair.count, 2, 6))
    mechanism = pair.mechanism
    for body in range(2):
        for k in range(6):
            step, work, state = Duals(2, 6), Duals(*pair.work.shape), Duals(40, 1)
            step.data[body, k, 1] = 1.0
            _moved(pair.work, pair.rows, step, work)
            out = Duals(pair.count, EQUATION_OUTPUTS)
            _equations(mechanism, 0.0, state, work, out)
            found[:, body, k] = out.data[:, VALUE, 1]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_rates_are_gradients_times_velocities(kind):
    pair = Pair(kind, closed=kind == "screw")
    velocities = pair.work[pair.rows[:, 0], t.VELOCITY : t.VELOCITY + 6]
    rates = pair.equations(pair.work)[:, RATE_OF_VALUE]
    np.testing.assert_allclose(rates, np.einsum("ebk,bk->e", pair.jacobian(pair.work), velocities), rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "screw"])
def test_accelerations_of_the_equations_along_a_motion(kind):
    pair, h = Pair(kind), 1e-3
    accelerations = np.random.default_rng(1).normal(size=(2, 3))
    rate = [pair.equations(pair.at(n * h, accelerations))[:, RATE_OF_VALUE] for n in (-2, -1, 1, 2)]
    difference = (rate[0] - 8.0 * rate[1] + 8.0 * rate[2] - rate[3]) / (12.0 * h)
    out = pair.equations(pair.work)
    second = -out[:, XI]
    for e, (_, joint, _, _, _) in enumerate(pair.mechanism.equations):
        force, _, place = out[e, :GRADIENT].reshape(3, 3)
        for column, sign in ((t.BODY_A, -1.0), (t.BODY_B, 1.0)):
            link = pair.mechanism.joints[joint, column]
            body = int(np.flatnonzero(pair.rows[:, 0] == link)[0])
            R = pair.work[link, t.ROTATION : t.ROTATION + 9].reshape(3, 3)
            w = R @ pair.work[link, t.ANGULAR_VELOCITY : t.ANGULAR_VELOCITY + 3]
            arm = place - pair.work[link, :3]
            second[e] += sign * force @ (accelerations[body] + np.cross(w, np.cross(w, arm)))
    np.testing.assert_allclose(second, difference, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_every_lane_and_every_value_is_that_of_float64(kind):
    pair = Pair(kind)
    wanted = pair.equations(pair.work)
    for view in (Packs, Duals):
        work, state, out = view(*pair.work.shape), view(40, 1), view(pair.count, EQUATION_OUTPUTS)
        lanes = range(WIDTH) if view is Packs else range(1)
        for lane in lanes:
            work.data[:, :, lane] = pair.work
        _equations(pair.mechanism, 0.0, state, work, out)
        for lane in lanes:
            np.testing.assert_allclose(out.data[:, :, lane], wanted, rtol=0, atol=1e-13)
