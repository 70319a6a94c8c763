"""Energies and momenta of the bodies, as every formulation leaves them in the shared columns of `work`."""

from poinsot._jit import kernel
from poinsot.algebra.matrix import symmetric_times, times
from poinsot.algebra.memory import add3, get3, get6, get9
from poinsot.algebra.vector import add, cross, dot, norm, scale, sub
from poinsot.mechanism.loads import attachment
from poinsot.mechanism.tables import (
    ANGULAR_MOMENTUM,
    ANGULAR_VELOCITY,
    AT_A,
    AT_B,
    BODY_INERTIA,
    BODY_MASS,
    ENERGY,
    JOINT_POSITION,
    JOINT_SPRING,
    KINETIC_ENERGY,
    LENGTH,
    LINEAR_MOMENTUM,
    LOAD_A,
    LOAD_B,
    LOAD_KIND,
    POSITION,
    POTENTIAL_ENERGY,
    ROTATION,
    SPRING,
    STIFFNESS,
    VELOCITY,
)


@kernel
def put_energies(mechanism, work, joints, totals, row):
    """Energies, linear momentum and angular momentum (about the world origin) into a row of `totals`."""
    kinetic, potential, gravity = 0.0 * work[0, POSITION], 0.0 * work[0, POSITION], get3(mechanism.gravity, 0, 0)
    for b in range(mechanism.bodies.shape[0]):
        i, mass = mechanism.bodies[b, 0], mechanism.body_frames[b, BODY_MASS]
        x, v, w = get3(work, i, POSITION), get3(work, i, VELOCITY), get3(work, i, ANGULAR_VELOCITY)
        spin = symmetric_times(get6(mechanism.body_frames, b, BODY_INERTIA), w)
        kinetic += 0.5 * (mass * dot(v, v) + dot(w, spin))
        potential -= mass * dot(gravity, x)
        add3(totals, row, LINEAR_MOMENTUM, scale(mass, v))
        add3(totals, row, ANGULAR_MOMENTUM, add(times(get9(work, i, ROTATION), spin), scale(mass, cross(x, v))))
    potential += spring_energy(mechanism, work, joints)
    totals[row, KINETIC_ENERGY] = kinetic
    totals[row, POTENTIAL_ENERGY] = potential
    totals[row, ENERGY] = kinetic + potential


@kernel
def spring_energy(mechanism, work, joints):
    """Energy in springs between points and about joints; `joints` holds the readings, one row per joint."""
    loads, values, energy = mechanism.loads, mechanism.load_values, 0.0 * work[0, POSITION]
    for n in range(loads.shape[0]):
        kind, a, b = loads[n, LOAD_KIND], loads[n, LOAD_A], loads[n, LOAD_B]
        if kind == SPRING:
            _, point_a, _ = attachment(work, a, get3(values, n, AT_A))
            _, point_b, _ = attachment(work, b, get3(values, n, AT_B))
            stretch = norm(sub(point_b, point_a)) - values[n, LENGTH]
            energy += 0.5 * values[n, STIFFNESS] * stretch * stretch
        elif kind == JOINT_SPRING:
            stretch = joints[b, JOINT_POSITION] - values[n, LENGTH]
            energy += 0.5 * values[n, STIFFNESS] * stretch * stretch
    return energy
