"""Without compilation everything runs, slowly, and gives the same numbers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import short_runs

import poinsot


@pytest.fixture(scope="module")
def plain():
    path = os.pathsep.join([str(Path(poinsot.__file__).parents[1]), str(Path(__file__).parent)])
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    command = [sys.executable, short_runs.__file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_plain_python_gives_what_compiled_kernels_give(plain):
    compiled = short_runs.results()
    assert set(plain) == set(compiled)
    for name, run in compiled.items():
        for what, values in run.items():
            expected = np.array(values)
            scale = np.nanmax(np.abs(expected), initial=1.0)
            label = f"{what} of {name}"
            np.testing.assert_allclose(np.array(plain[name][what]), expected, rtol=0, atol=1e-12 * scale, err_msg=label)
