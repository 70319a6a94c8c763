"""One source, three scalars: lanes agree with float64, derivatives with differences, plain Python with compiled."""

import os
import subprocess
import sys
from math import pi
from pathlib import Path

import numpy as np
import pytest
from algebra import every_kernel
from algebra.groups import ANGLES

from poinsot._jit import WIDTH

NAMES = ["rotations", "poses"]
BELOW_PI = [angle for angle in ANGLES if angle < pi]


def close(a, b, tolerance):
    return np.max(np.abs(a - b) / (1.0 + np.abs(b))) <= tolerance


@pytest.mark.parametrize("angle", [*BELOW_PI, 1.0, 2.3])
def test_lanes_and_values_agree_with_float64(angle):
    values, directions = every_kernel.inputs(angle)
    found = every_kernel.results(values, directions)
    for lane in range(WIDTH):
        alone = every_kernel.results(np.roll(values, -lane, axis=1), directions)
        for name in NAMES:
            assert close(found[name][1][:, lane], alone[name][0], 1e-13), name
    for name in NAMES:
        assert close(found[name][2][:, 0], found[name][0], 1e-13), name


def differences(values, directions, step=2e-3):
    """Central differences of order 6 of the float64 results along each direction."""
    slopes = {name: 0.0 for name in NAMES}
    for place, weight in ((1, 45 / 60), (2, -9 / 60), (3, 1 / 60)):
        for sign in (1, -1):
            for lane in range(WIDTH):
                moved = values.copy()
                moved[:, 0] += sign * place * step * directions[:, lane]
                found = every_kernel.results(moved, directions)
                for name in NAMES:
                    column = np.zeros((len(found[name][0]), WIDTH))
                    column[:, lane] = sign * weight / step * found[name][0]
                    slopes[name] = slopes[name] + column
    return slopes


@pytest.mark.parametrize("angle", [angle for angle in BELOW_PI if angle < 3.0] + [1.0, 2.3])
def test_derivatives_agree_with_differences(angle):
    values, directions = every_kernel.inputs(angle)
    found, slopes = every_kernel.results(values, directions), differences(values, directions)
    for name in NAMES:
        assert close(found[name][2][:, 1:], slopes[name], 1e-8), name


@pytest.mark.parametrize("angle", BELOW_PI)
def test_derivative_of_log_of_exp_is_one(angle):
    values, directions = every_kernel.inputs(angle)
    found = every_kernel.results(values, directions)
    assert close(found["rotations"][2][9:12, 1:], directions[:3], 1e-12)
    assert close(found["rotations"][2][43:46, 1:], directions[:3], 1e-12)
    assert close(found["poses"][2][12:15, 1:], directions[:3], 1e-12)
    assert close(found["poses"][2][15:18, 1:], directions[6:9], 1e-11)


@pytest.mark.parametrize("angle", ANGLES)
def test_derivative_of_exp_is_dexp(angle):
    values, directions = every_kernel.inputs(angle)
    values[3:6, 0] = directions[3:6, 0] = directions[:3, 0]  # the kernels' own w is the first direction
    rotations = every_kernel.results(values, directions)["rotations"][2]
    rate, R = rotations[:9, 1].reshape(3, 3), rotations[:9, 0].reshape(3, 3)
    velocity = rate @ R.T
    assert close(np.array([velocity[2, 1], velocity[0, 2], velocity[1, 0]]), rotations[12:15, 0], 1e-14)
    assert np.max(np.abs(velocity + velocity.T)) <= 1e-14
    rate, R = rotations[21:30, 1].reshape(3, 3), rotations[21:30, 0].reshape(3, 3)
    velocity = rate @ R.T
    assert close(np.array([velocity[2, 1], velocity[0, 2], velocity[1, 0]]), rotations[33:36, 0], 1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-7, 2.0])
def test_plain_python_gives_the_same(angle, tmp_path):
    subprocess.run(
        [sys.executable, every_kernel.__file__, str(angle), str(tmp_path / "plain.npz")],
        env={
            **os.environ,
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONPATH": os.pathsep.join(["src", os.environ.get("PYTHONPATH", "")]),
        },
        cwd=Path(__file__).parents[2],
        check=True,
        timeout=60,
    )
    plain, compiled = np.load(tmp_path / "plain.npz"), every_kernel.results(*every_kernel.inputs(angle))
    for name in NAMES:
        for kind in range(3):
            assert close(plain[f"{name} {kind}"], compiled[name][kind], 1e-12), (name, kind)
