"""One source, three scalars: lanes agree with float64, and derivatives with differences of float64."""

import numpy as np
import pytest
from mechanism.trees import KINDS, WIDTH, Tree, random_tree

TREES = [
    *(pytest.param(random_tree(seed, bodies=8, loads=seed % 2 == 1), id=f"tree {seed}") for seed in range(8)),
    *(pytest.param(random_tree(1, bodies=5, kinds=(kind,), floating=0.0), id=f"{kind} only") for kind in KINDS[1:]),
]


@pytest.fixture(params=TREES, scope="module")
def tree(request):
    return Tree(request.param)


def close(found, wanted, tolerance):
    return np.abs(found - wanted).max(initial=0.0) <= tolerance * np.abs(wanted).max(initial=1.0)


def test_every_lane_agrees_with_float64(tree):
    states = np.hstack([tree.random_state(seed) for seed in range(WIDTH)])
    found = tree.forward_packs(states, 0.3)
    for lane in range(WIDTH):
        alone = tree.forward(states[:, [lane]].copy(), 0.3)[:, 0]
        condition = np.linalg.cond(tree.mass(states[:, [lane]].copy())) if tree.n else 1.0
        # Fused multiply-adds round otherwise, and an ill-conditioned mass matrix shows it.
        assert close(found[:, lane], alone, 1e-13 * max(1.0, 1e-2 * condition)), lane


def test_lanes_do_not_touch_each_other(tree):
    states = np.hstack([tree.random_state(seed) for seed in range(WIDTH)])
    found = tree.forward_packs(states, 0.3)
    states[:, 0] = np.nan
    spoilt = tree.forward_packs(states, 0.3)
    assert np.array_equal(spoilt[:, 1:], found[:, 1:])
    assert np.isnan(spoilt[tree.n :, 0]).all()


def test_derivatives_agree_with_differences(tree):
    state, time, step = tree.random_state(4, turn=1.0), 0.3, 1e-3
    directions = np.random.default_rng(6).normal(size=(tree.n_states, WIDTH))
    directions /= np.abs(directions).max(initial=1.0)
    values, partials = tree.forward_duals(state, directions, time)
    assert close(values, tree.forward(state, time)[:, 0], 1e-13)

    def difference(lane, h):
        ahead, behind = (tree.forward(state + s * h * directions[:, [lane]], time) for s in (1.0, -1.0))
        return (ahead - behind)[:, 0] / (2.0 * h)

    for lane in range(WIDTH):
        coarse, middle, fine = (difference(lane, step / 2**k) for k in range(3))  # Richardson's extrapolation
        first, second = (4.0 * middle - coarse) / 3.0, (4.0 * fine - middle) / 3.0
        assert close(partials[:, lane], (16.0 * second - first) / 15.0, 1e-8), lane
