"""Adaptive methods reach the error that is asked for within a factor of 10, over a time that is natural to the motion.

`benchmarks/tolerance.py` prints more tolerances, and longer and shorter motions.
"""

import numpy as np
import pytest

import poinsot as ps
from poinsot.methods import methods

# One swing, one turn of the transverse angular velocity, one nutation, one turn of the body; seconds.
NATURAL = {"double-pendulum": 1.05, "chain-4": 4.7, "dual-spin-satellite": 9.6, "heavy-top": 0.56, "free-body": 1.0}
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)


@pytest.mark.parametrize("case", NATURAL)
def test_errors_are_within_a_factor_of_10_of_the_tolerance(case):
    adaptive = [method.name for method in methods() if method.adaptive]
    found = ps.analysis.work_precision(
        ps.case(case), adaptive, TOLERANCES, t_end=NATURAL[case], quantities=("rotation", "position")
    )
    for curve in found.curves:
        assert curve.counted.all()
        np.testing.assert_array_less(curve.errors, 10.0 * curve.asked, err_msg=curve.method)
        np.testing.assert_array_less(0.1 * curve.asked, curve.errors, err_msg=curve.method)
