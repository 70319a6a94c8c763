"""Long chains in random configuration, where an elimination that rounds carelessly loses all digits."""

import numpy as np
import pytest
from mechanism.trees import Tree

import poinsot as ps


@pytest.mark.parametrize("links", [4, 64, 200])
def test_backward_error_of_a_spherical_chain(links):
    tree = Tree(ps.case(f"chain-{links}"))
    still = np.zeros((tree.n_rates, 1))
    for seed in range(3):
        state = tree.random_state(seed)
        residual = np.abs(tree.inverse(state, tree.forward(state))).max()
        assert residual <= 1e-13 * np.abs(tree.inverse(state, still)).max()


@pytest.mark.parametrize("kind", ["revolute", "universal", "cylindrical"])
def test_backward_error_of_other_chains(kind):
    model, rng = ps.Model(f"{kind} chain"), np.random.default_rng(3)
    above, axes = model.ground, np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    for i in range(64):
        link = model.body(f"link {i:02}", ps.Inertia.box(mass=5.0, size=(0.1, 0.2, 1.0)), (0, 0, -i - 0.5))
        axis = axes[i % 3] if kind != "universal" else (axes[i % 3], axes[(i + 1) % 3])
        getattr(model, kind)(f"joint {i:02}", above, link, at=(0, 0, -i), axis=axis)
        above = link
    tree = Tree(model)
    for _ in range(3):
        state = tree.random_state(rng.integers(1000))
        bias = np.abs(tree.inverse(state, np.zeros((tree.n_rates, 1)))).max()
        assert np.abs(tree.inverse(state, tree.forward(state))).max() <= 1e-12 * bias
