"""A constrained problem for tests of methods: bodies on ball joints in absolute coordinates, one constraint per joint.

Each body has its centre of mass, a unit quaternion, the velocity of the centre and the angular velocity in its axes.
"""

from types import SimpleNamespace

import numpy as np
from numba import float64, typeof, types

from poinsot._jit import address, routine
from poinsot.algebra import manifold, quaternion
from poinsot.algebra.matrix import times, transposed_times
from poinsot.algebra.memory import column3, column4, get3
from poinsot.algebra.vector import add, cross, scale
from poinsot.problem import Derived, SecondOrderDAE
from poinsot.scalars import BorrowedType, Duals, dual


@routine
def residual(mechanism, t, state, acceleration, multipliers, work, out):
    """M a - f + Bᵀ λ, then the joints' gaps, their rates and accelerations."""
    bodies, joints = mechanism
    n, m = bodies.shape[0], joints.shape[0]
    for i in range(n):
        v = 7 * n + 6 * i
        w, a, alpha = column3(state, v + 3, 0), column3(acceleration, 6 * i, 0), column3(acceleration, 6 * i + 3, 0)
        J = get3(bodies, i, 1)
        spin, demand = (J[0] * w[0], J[1] * w[1], J[2] * w[2]), (J[0] * alpha[0], J[1] * alpha[1], J[2] * alpha[2])
        put(out, 6 * i, scale(bodies[i, 0], add(a, (0.0, 0.0, 9.81))))
        put(out, 6 * i + 3, add(demand, cross(w, spin)))
    for j in range(m):
        zero = (0.0 * t, 0.0 * t, 0.0 * t)
        gap, speed, jerk = zero, zero, zero
        push = column3(multipliers, 3 * j, 0)
        for end in range(2):
            i, sign = int(joints[j, end]), 1.0 if end == 1 else -1.0
            point = get3(joints, j, 2 + 3 * end)
            if i < 0:
                gap = add(gap, scale(sign, point))
            else:
                x, R = column3(state, 7 * i, 0), quaternion.to_matrix(column4(state, 7 * i + 3, 0))
                v, w = column3(state, 7 * n + 6 * i, 0), column3(state, 7 * n + 6 * i + 3, 0)
                a, alpha = column3(acceleration, 6 * i, 0), column3(acceleration, 6 * i + 3, 0)
                swing = add(cross(alpha, point), cross(w, cross(w, point)))
                gap = add(gap, scale(sign, add(x, times(R, point))))
                speed = add(speed, scale(sign, add(v, times(R, cross(w, point)))))
                jerk = add(jerk, scale(sign, add(a, times(R, swing))))
                gain(out, 6 * i, scale(sign, push))
                gain(out, 6 * i + 3, scale(sign, cross(point, transposed_times(R, push))))
        put(out, 6 * n + 3 * j, gap)
        put(out, 6 * n + 3 * m + 3 * j, speed)
        put(out, 6 * n + 6 * m + 3 * j, jerk)


@routine
def put(view, i, x):
    view[i, 0], view[i + 1, 0], view[i + 2, 0] = x[0], x[1], x[2]


@routine
def gain(view, i, x):
    for k in range(3):
        view[i + k, 0] = view[i + k, 0] + x[k]


def constrained(model, repeat=(), velocities=None):
    """The problem of a model whose joints are spherical; joints in `repeat` are imposed once more.

    `velocities` are those of the centres; without them they are zero, and for the method to make consistent.
    """
    names = {body.name: i for i, body in enumerate(model.bodies.values())}
    bodies = np.array([[body.inertia.mass, *np.diag(body.inertia.matrix)] for body in model.bodies.values()])
    listed = [*model.joints.values(), *(model.joints[name] for name in repeat)]
    rows = [
        [names.get(end.name, -1) for end in (joint.a, joint.b)]
        + [x for end in (joint.a, joint.b) for x in end.rotation.T @ (joint.at - end.position)]
        for joint in listed
    ]
    mechanism = bodies, np.array(rows)
    n, m = len(bodies), 3 * len(rows)
    blocks, n_states, n_rates = manifold.block_table(
        [*[(manifold.REAL, 3), (manifold.QUATERNION, 4)] * n, (manifold.REAL, 6 * n)]
    )
    initial = np.zeros((n_states, 1))
    for i, body in enumerate(model.bodies.values()):
        initial[7 * i : 7 * i + 3, 0] = body.position
        initial[7 * i + 3 : 7 * i + 7, 0] = quaternion.from_matrix(tuple(body.rotation.ravel()))
        spin = np.zeros(3) if body.angular_velocity is None else body.angular_velocity
        initial[7 * n + 6 * i + 3 : 7 * n + 6 * i + 6, 0] = spin
        if velocities is not None:
            initial[7 * n + 6 * i : 7 * n + 6 * i + 3, 0] = velocities[i]

    def derived():
        return Derived(address(residual, signature(dual)), mechanism, Duals(1, 1))

    def signature(scalar):
        return types.void(typeof(mechanism), float64, *(BorrowedType(scalar),) * 5)

    return SecondOrderDAE(
        layout=SimpleNamespace(),
        mechanism=mechanism,
        blocks=blocks,
        n_states=n_states,
        n_rates=n_rates,
        n_constraints=m,
        initial=initial,
        work=np.zeros((1, 1)),
        residual=address(residual, signature(float64)),
        report=0,
        derived=derived,
    )
