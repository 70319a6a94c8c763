"""A problem whose state holds a rotation matrix, for tests of methods: the tumbling box of the case free-body.

The state is the matrix R and the angular velocity in body axes; its motion has a closed form.
"""

from types import SimpleNamespace

import numpy as np
from numba import float64, typeof, types

from poinsot._jit import address, routine
from poinsot.algebra import manifold
from poinsot.algebra.memory import column3, get3
from poinsot.algebra.vector import cross
from poinsot.cases import free_body
from poinsot.problem import Controls, Derived, SecondOrderODE
from poinsot.scalars import BorrowedType, Duals, dual


@routine
def rates(mechanism, t, state, work, rate):
    """The angular velocity, and Euler's equations for its change."""
    w, J = column3(state, 9, 0), get3(mechanism[0], 0, 0)
    torque = cross((J[0] * w[0], J[1] * w[1], J[2] * w[2]), w)
    for i in range(3):
        rate[i, 0] = w[i]
        rate[3 + i, 0] = torque[i] / J[i]


def box():
    """The problem: one rotation matrix and one angular velocity."""
    moments = np.diag(free_body.BOX.matrix).reshape(1, 3).copy()
    mechanism = moments, np.zeros((0, 0))  # of the same type as in methods.ball_joints, so that methods compile once
    blocks, n_states, n_rates = manifold.block_table([(manifold.ROTATION, 3), (manifold.REAL, 3)])

    def address_for(scalar, work):
        state = BorrowedType(scalar)
        return address(rates, types.void(typeof(mechanism), float64, state, typeof(work), state))

    return SecondOrderODE(
        layout=SimpleNamespace(),
        mechanism=mechanism,
        blocks=blocks,
        n_states=n_states,
        n_rates=n_rates,
        initial=np.concatenate((np.eye(3).ravel(), free_body.ANGULAR_VELOCITY)).reshape(-1, 1),
        work=np.zeros((1, 1)),
        rates=address_for(float64, np.zeros((1, 1))),
        report=0,
        derived=lambda: Derived(address_for(dual, Duals(1, 1)), mechanism, Duals(1, 1)),
    )


def solve(method, problem, t_end, *, step=None, tolerance=1e-9, outputs=None, project=False, **options):
    """The solution of a problem by a method, with its other options at their defaults, and without projection."""
    chosen = {name: options.get(name, option.default) for name, option in method.options.items()}
    asked = None if outputs is None else np.asarray(outputs)
    return method.prepare(problem, chosen).solve(Controls(t_end, step, tolerance, tolerance, asked, project))


def rotations(solution):
    """The matrices of all recorded states."""
    return solution.states[:, :9].reshape(-1, 3, 3)


def error(solution):
    """The largest error of an entry of R, against the closed form."""
    return np.abs(rotations(solution) - free_body.motion(solution.times)[0]).max()


def departure(solution):
    """The largest entry of RᵀR - 1."""
    R = rotations(solution)
    return np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max()
