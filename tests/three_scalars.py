"""Runs one function on float64, Pack and Dual, compiled or in plain Python."""

import functools

import numba
import numpy as np

from poinsot.scalars import WIDTH, Duals, Packs, floats


@functools.cache
def loop(function, arity, results):
    """A kernel that applies `function` to every row of a view."""
    if arity == 1 and results == 1:

        def rows(arguments, out):
            for i in range(arguments.shape[0]):
                out[i, 0] = function(arguments[i, 0])

    elif arity == 1:

        def rows(arguments, out):
            for i in range(arguments.shape[0]):
                out[i, 0], out[i, 1] = function(arguments[i, 0])

    else:

        def rows(arguments, out):
            for i in range(arguments.shape[0]):
                out[i, 0] = function(arguments[i, 0], arguments[i, 1])

    return numba.njit(rows, error_model="numpy")


def on_floats(function, *arguments, results=1):
    """The results for arrays of arguments, one row each."""
    given, out = floats(len(arguments[0]), len(arguments)), floats(len(arguments[0]), results)
    given[:] = np.transpose(arguments)
    loop(function, len(arguments), results)(given, out)
    return out[:, 0] if results == 1 else out


def on_packs(function, *arguments):
    """The same; lane j holds the arguments shifted by j places, and is shifted back."""
    given, out = Packs(len(arguments[0]), len(arguments)), Packs(len(arguments[0]), 1)
    for column, values in enumerate(arguments):
        for lane in range(WIDTH):
            given.data[:, column, lane] = np.roll(values, lane)
    loop(function, len(arguments), 1)(given, out)
    return np.stack([np.roll(out.data[:, 0, lane], -lane) for lane in range(WIDTH)])


def on_duals(function, *arguments):
    """Values and partial derivatives (row, argument)."""
    given, out = Duals(len(arguments[0]), len(arguments)), Duals(len(arguments[0]), 1)
    for column, values in enumerate(arguments):
        given.data[:, column, 0] = values
        given.data[:, column, 1 + column] = 1.0
    loop(function, len(arguments), 1)(given, out)
    return out.data[:, 0, 0], out.data[:, 0, 1 : 1 + len(arguments)]
