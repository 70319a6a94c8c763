"""Dense output where a method has none of its own: Hermite's polynomials for the increment of a step.

The increment u(θ), with the state at θ equal to state exp(u), is known at both ends with its slopes: that makes a
cubic, of order 4. Two more slopes within the step make a quintic; they come from the cubic, and then from the quintic
that these make, each round being one order better: order 6.
"""

import numpy as np

from poinsot._jit import kernel
from poinsot.algebra.manifold import dexp_inv, difference, retract
from poinsot.methods.stepping import DENSE, EVALUATIONS, TIME, rates_of

# Where the inner slopes are.
_FIRST, _SECOND = 0.3, 0.7


def _weights(inner: tuple[float, ...]) -> np.ndarray:
    """Coefficients of θ, θ² ... of the polynomials that belong to u(1), u'(0), u'(1) and the inner slopes."""
    powers = np.arange(1, 4 + len(inner))
    slopes = [powers * theta ** (powers - 1.0) for theta in (0.0, 1.0, *inner)]
    return np.ascontiguousarray(np.linalg.inv(np.array([powers**0.0, *slopes])).T)


CUBIC, QUINTIC = _weights(()), _weights((_FIRST, _SECOND))


@kernel
def put_slope(system, memory, time, column, point, h):
    """The slope of the increment at a point of the step; the increment is in `memory.increment`."""
    rates_of(system, time, point, memory.stage_rates)
    keep_slope(system, memory, column, h)


@kernel
def keep_slope(system, memory, column, h):
    """The slope of the increment from the velocity in `memory.stage_rates`."""
    dexp_inv(system.blocks, memory.increment, memory.stage_rates, memory.stage_rates, 0)
    for i in range(memory.stage_rates.shape[0]):
        memory.slopes[i, column] = h * memory.stage_rates[i, 0]


@kernel
def put_ends(system, memory):
    """The increment of the whole step."""
    difference(system.blocks, memory.state, memory.new, memory.increment)
    for i in range(memory.increment.shape[0]):
        memory.slopes[i, 0] = memory.increment[i, 0]


@kernel
def polynomial(system, memory, weights, theta, out):
    """The state at a fraction of the step."""
    for i in range(memory.increment.shape[0]):
        total = 0.0
        for k in range(weights.shape[0]):
            value = 0.0
            for power in range(weights.shape[1] - 1, -1, -1):
                value = (value + weights[k, power]) * theta
            total += value * memory.slopes[i, k]
        memory.increment[i, 0] = total
    retract(system.blocks, memory.state, memory.increment, out)


@kernel
def interpolate(system, memory, cubic, weights, clock, counts, h, theta):
    """The state at a fraction of the step into `between`, by the cubic or, if `weights` has more rows, the quintic."""
    if counts[DENSE] == 0:
        time = clock[TIME]
        put_ends(system, memory)
        put_slope(system, memory, time + h, 2, memory.new, h)
        for i in range(memory.increment.shape[0]):
            memory.increment[i, 0] = 0.0
        put_slope(system, memory, time, 1, memory.state, h)
        counts[EVALUATIONS] += 2
        if weights.shape[0] > 3:
            for improvement in range(2):
                known = cubic if improvement == 0 else weights
                put_inner(system, memory, known, time, h)
            counts[EVALUATIONS] += 4
        counts[DENSE] = 1
    polynomial(system, memory, weights, theta, memory.between)


@kernel
def put_inner(system, memory, known, time, h):
    """Both inner slopes, at the points of the polynomial that is known."""
    polynomial(system, memory, known, _FIRST, memory.between)
    put_slope(system, memory, time + _FIRST * h, 5, memory.between, h)
    polynomial(system, memory, known, _SECOND, memory.between)
    put_slope(system, memory, time + _SECOND * h, 4, memory.between, h)
    for i in range(memory.slopes.shape[0]):
        memory.slopes[i, 3] = memory.slopes[i, 5]
