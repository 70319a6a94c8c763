"""Every method converges with its order where bodies turn far in space, and follows the tolerance it is given."""

import numpy as np
import pytest
from convergence.motions import chain_error, free_body_error, slope, spatial_chain

import poinsot as ps
from poinsot.methods import methods

ORDERS = {method.name: method.order for method in methods()}
# Numbers of steps within 2 s of the free body, and 1 s of the chain, between the first asymptotic one and rounding.
FREE_BODY = {
    "rk4": (100, 140, 200, 280, 400), "dopri5": (100, 140, 200, 280, 400), "dop853": (25, 32, 40, 50, 64),
    "rkmk4": (100, 140, 200, 280, 400), "rkmk5": (100, 140, 200, 280, 400),
    "gauss1": (200, 280, 400, 560), "gauss2": (70, 100, 140, 200), "gauss3": (40, 50, 64, 80),
    "radau5": (70, 100, 140, 200), "generalized-alpha": (400, 560, 800, 1120),
}  # fmt: skip
CHAIN = {
    "rk4": (800, 1120, 1600, 2240), "dopri5": (1600, 2240, 3200, 4480), "dop853": (120, 150, 180, 210, 250, 300),
    "rkmk4": (800, 1120, 1600, 2240), "rkmk5": (1600, 2240, 3200, 4480),
    "gauss1": (1600, 2240, 3200, 4480), "gauss2": (560, 800, 1120, 1600), "gauss3": (180, 250, 350, 480),
    "radau5": (280, 400, 560, 800), "generalized-alpha": (1600, 2240, 3200, 4480),
}  # fmt: skip
# The same for the chain's bodies and their constraints.
CONSTRAINED = CHAIN | {"dopri5": (800, 1120, 1600, 2240)}
# Lengths of one step from which an interpolant is measured, and the order of its error within a step.
WITHIN = {
    "rk4": ((0.02, 0.01, 0.005, 0.0025), 4), "dopri5": ((0.02, 0.015, 0.01, 0.007, 0.005), 5),
    "dop853": ((0.06, 0.05, 0.04, 0.03, 0.02), 8), "rkmk4": ((0.02, 0.01, 0.005, 0.0025), 4),
    "rkmk5": ((0.02, 0.015, 0.01, 0.007, 0.005), 5), "gauss1": ((0.02, 0.01, 0.005, 0.0025), 3),
    "gauss2": ((0.02, 0.01, 0.005, 0.0025), 4), "gauss3": ((0.03, 0.02, 0.015, 0.01, 0.007), 6),
    "radau5": ((0.04, 0.03, 0.02, 0.015), 6), "generalized-alpha": ((0.02, 0.01, 0.005, 0.0025), 3),
}  # fmt: skip
TOLERANCES = 10.0 ** -np.arange(5, 13)

every_method = pytest.mark.parametrize("method", ORDERS)
# Outputs at 0.37 of a step come from the interpolant, all but one in a hundred.
with_and_without_interpolation = pytest.mark.parametrize("spacing", [None, 0.37])


def test_the_chain_turns_far():
    R = ps.simulate(spatial_chain(), 1.0, output_step=0.01).arrays["rotation"]
    cosine = (np.einsum("tbij,bij->tb", R, R[0]) - 1.0) / 2.0
    assert (np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).max(axis=0) > 170.0).all()


@every_method
@with_and_without_interpolation
@pytest.mark.parametrize(
    ("error", "t_end", "counts"), [(free_body_error, 2.0, FREE_BODY), (chain_error, 1.0, CHAIN)], ids=["free", "chain"]
)
def test_order_in_fixed_steps(error, t_end, counts, method, spacing):
    steps = t_end / np.array(counts[method])
    errors = [error(t_end, step=h, method=method, output_step=spacing and spacing * h) for h in steps]
    assert min(errors) > 3e-13
    assert slope(steps, errors) == pytest.approx(ORDERS[method], abs=0.2)


@every_method
def test_order_with_constraints(method):
    steps = 1.0 / np.array(CONSTRAINED[method])
    errors = [chain_error(1.0, step=h, method=method, formulation="lie-dae") for h in steps]
    assert min(errors) > 3e-13
    assert slope(steps, errors) == pytest.approx(ORDERS[method], abs=0.2)


# Numbers of steps within 0.2 s of the chain: in coordinates of a chart, before it is centred at the end of some step.
CHART = {
    "rk4": (100, 140, 200, 280, 400), "dop853": (4, 5, 6, 7, 8), "rkmk4": (100, 140, 200, 280),
    "gauss2": (20, 28, 40, 56), "gauss3": (6, 8, 11, 16), "radau5": (20, 28, 40, 56),
    "generalized-alpha": (200, 280, 400, 560),
}  # fmt: skip
IN_A_CHART = [
    ("rk4", {}), ("dop853", {}), ("gauss2", {}), ("gauss3", {}), ("generalized-alpha", {}),
    ("gauss2", {"iteration": "newton"}), ("gauss3", {"iteration": "newton"}),
    ("rk4", {"qtz": "independent-accelerations"}), ("rkmk4", {"qtz": "independent-accelerations"}),
    ("radau5", {"qtz": "reduced"}), ("radau5", {"qtz": "reduced", "index": 1}),
    ("radau5", {"qtz": "reduced", "index": 3}), ("generalized-alpha", {"qtz": "reduced"}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "options"), IN_A_CHART)
def test_order_in_reduced_coordinates(method, options):
    steps = 0.2 / np.array(CHART[method])
    errors = [chain_error(0.2, step=h, method=method, formulation="qtz", **options) for h in steps]
    assert min(errors) > 3e-13
    assert slope(steps, errors) == pytest.approx(ORDERS[method], abs=0.2)


# Other ways to do the same, which have the same order.
VARIANTS = [
    ("rk4", {"group": True}), ("dopri5", {"group": True}), ("dop853", {"group": True}),
    ("dop853", {"group": True, "dexp_inv": "exact"}), ("rkmk4", {"dexp_inv": "exact"}),
    ("gauss2", {"group": True}), ("gauss3", {"group": True}), ("gauss3", {"group": True, "dexp_inv": "exact"}),
    ("gauss1", {"iteration": "newton"}), ("gauss2", {"iteration": "newton"}), ("gauss3", {"iteration": "newton"}),
    ("radau5", {"dexp_inv": "exact"}), ("radau5", {"iteration": "automatic"}),
    ("generalized-alpha", {"spectral_radius": 0.0}), ("generalized-alpha", {"spectral_radius": 1.0}),
    ("generalized-alpha", {"iteration": "fixed-point"}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "options"), VARIANTS)
@pytest.mark.parametrize(
    ("error", "t_end", "counts"), [(free_body_error, 2.0, FREE_BODY), (chain_error, 1.0, CHAIN)], ids=["free", "chain"]
)
def test_order_of_variants(error, t_end, counts, method, options):
    steps = t_end / np.array(counts[method])
    errors = [error(t_end, step=h, method=method, output_step=0.37 * h, **options) for h in steps]
    assert min(errors) > 3e-13
    assert slope(steps, errors) == pytest.approx(ORDERS[method], abs=0.2)


@every_method
def test_order_of_the_interpolant_within_a_step(method):
    steps, order = WITHIN[method]
    errors = []
    for h in steps:
        one_step = {"step": h, "method": method}, {"rtol": 1e-13, "atol": 1e-15}
        found, exact = (
            ps.simulate(spatial_chain(), h, output_step=0.37 * h, **settings).arrays["rotation"][1]
            for settings in one_step
        )
        errors.append(np.abs(found - exact).max())
    assert min(errors) > 1e-13
    assert slope(steps, errors) == pytest.approx(order, abs=0.2)


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
@pytest.mark.parametrize(("error", "t_end"), [(free_body_error, 10.0), (chain_error, 1.0)], ids=["free", "chain"])
def test_error_is_proportional_to_the_tolerance(error, t_end, method):
    errors = [error(t_end, rtol=x, atol=x, method=method, output_step=0.0137) for x in TOLERANCES]
    assert slope(TOLERANCES, errors) == pytest.approx(1.0, abs=0.25)
    assert (np.array(errors) < 200.0 * TOLERANCES).all()


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_fixed_and_adaptive_steps_agree(method):
    fixed = ps.simulate(spatial_chain(), 1.0, step=2.5e-4, method=method)
    adaptive = ps.simulate(spatial_chain(), 1.0, rtol=1e-12, atol=1e-12, method=method)
    for name in ("position", "velocity", "angular_velocity", "rotation"):
        last = fixed.arrays[name][-1]
        np.testing.assert_allclose(adaptive.arrays[name][-1], last, rtol=0, atol=1e-10 * np.abs(last).max())
