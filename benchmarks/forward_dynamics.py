"""Forward dynamics beside Pinocchio's `aba`: one system, per system in a Pack, WIDTH derivatives, backward error.

    python benchmarks/forward_dynamics.py

Both start from joint angles and quaternions, trigonometry included, and their results are compared before they are
timed. Pinocchio is called from Python once per evaluation, as its users do; Poinsot runs in a compiled loop, as it
does when it simulates. Pinocchio comes with the extra [peers].
"""

from __future__ import annotations

import numpy as np
from mechanisms import InPinocchio, humanoid, revolute_chain, spherical_chain
from timing import best

import poinsot as ps
from poinsot._jit import routine
from poinsot.formulations.elimination import COLUMNS, tree_dynamics
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import build
from poinsot.mechanism.dynamics import inverse_dynamics
from poinsot.mechanism.kinematics import tree_workspace
from poinsot.scalars import WIDTH, Duals, Packs, floats

CASES = {
    "4 spherical": lambda: spherical_chain(4),
    "16 spherical": lambda: spherical_chain(16),
    "64 spherical": lambda: spherical_chain(64),
    "200 spherical": lambda: spherical_chain(200),
    "256 spherical": lambda: spherical_chain(256),
    "7 revolute": lambda: revolute_chain(7),
    "32 revolute": lambda: revolute_chain(32),
    "64 revolute": lambda: revolute_chain(64),
    "humanoid, 38": humanoid,
}
# At least so many times faster than Pinocchio: one system, per system in a Pack.
ASKED = {"spherical": (4, 20), "revolute": (3, 15), "humanoid": (2, 10)}


@routine
def repeat(count, mechanism, state, work, rate):
    """Evaluate many times."""
    for _ in range(count):
        tree_dynamics(mechanism, 0.0, state, work, rate)


def random_states(layout, rng: np.random.Generator, count: int) -> np.ndarray:
    """Random joint coordinates and velocities, quaternions of unit length."""
    states = rng.normal(size=(count, layout.n_positions + layout.n_velocities))
    for link in layout.mechanism.links[1:]:
        if link[t.KIND] in (t.SPHERICAL, t.FREE):
            q = states[:, link[t.READING] : link[t.READING] + 4]
            q /= np.linalg.norm(q, axis=1, keepdims=True)
    return states


def measure(name: str, model: ps.Model) -> dict[str, float]:
    """Microseconds and errors of one mechanism."""
    layout = build(model)
    mechanism, n = layout.mechanism, layout.n_velocities
    states = random_states(layout, np.random.default_rng(0), WIDTH)
    rows, count = states.shape[1], max(20, 30000 // len(mechanism.links))
    one = (mechanism, states[0][:, None].copy(), tree_workspace(mechanism, COLUMNS, floats), floats(2 * n, 1))
    packs = (mechanism, Packs(rows, 1), tree_workspace(mechanism, COLUMNS, Packs), Packs(2 * n, 1))
    packs[1].data[:, 0] = states.T
    duals = (mechanism, Duals(rows, 1), tree_workspace(mechanism, COLUMNS, Duals), Duals(2 * n, 1))
    duals[1].data[:, 0, 0] = states[0]
    duals[1].data[rows - WIDTH + np.arange(WIDTH), 0, 1 + np.arange(WIDTH)] = 1.0
    for arguments in (one, packs, duals):
        repeat(1, *arguments)
    rate = one[3][:, 0]
    bias, residual, still = floats(n, 1), floats(n, 1), floats(2 * n, 1)
    inverse_dynamics(mechanism, 0.0, one[1], still, one[2], bias)
    inverse_dynamics(mechanism, 0.0, one[1], one[3], one[2], residual)
    row = {
        "one": best(lambda: repeat(count, *one), count),
        "pack": best(lambda: repeat(count, *packs), count * WIDTH),
        "derivatives": best(lambda: repeat(count, *duals), count),
        "residual": float(np.abs(residual).max() / np.abs(bias).max()),
        "lanes": float(np.abs(packs[3].data[:, 0, 0] - rate).max() / np.abs(rate).max()),
    }
    return row | beside_pinocchio(layout, states[0], rate, count)


def beside_pinocchio(layout, state: np.ndarray, rate: np.ndarray, count: int) -> dict[str, float]:
    """The same in Pinocchio, if it is installed; its Data takes 10 GB at 600 degrees of freedom."""
    if layout.n_velocities > 200:
        return {}
    try:
        peer = InPinocchio(layout)
    except ImportError:
        return {}
    pin, model, data = peer.pin, peer.model, peer.data
    q, v = peer.state(state)
    zero = np.zeros(model.nv)
    theirs, ours = pin.aba(model, data, q, v, zero).copy(), peer.accelerations(state, rate)
    bias = np.abs(pin.nle(model, data, q, v)).max()

    def aba() -> None:
        for _ in range(count):
            pin.aba(model, data, q, v, zero)

    return {
        "pinocchio": best(aba, count),
        "by their rnea": float(np.abs(pin.rnea(model, data, q, v, ours)).max() / bias),
        "their residual": float(np.abs(pin.rnea(model, data, q, v, theirs)).max() / bias),
    }


def main() -> None:
    """Print one line per mechanism, and the growth with the number of links."""
    print(f"WIDTH = {WIDTH}; microseconds, best of nine; residuals are those of inverse dynamics over the bias force")
    print(f"{'':14s}{'one':>8s}{'pack':>8s}{f'{WIDTH} deriv.':>10s}{'pinocchio':>11s}{'ratios':>14s}{'asked':>9s}"
          f"{'residual':>10s}{'theirs':>9s}{'by rnea':>9s}")  # fmt: skip
    single: dict[str, float] = {}
    for name, make in CASES.items():
        row = measure(name, make())
        single[name] = row["one"]
        assert row["lanes"] < 1e-9, f"{name}: lanes differ by {row['lanes']:.1e}"
        line = f"{name:14s}{row['one']:8.2f}{row['pack']:8.3f}{row['derivatives']:10.2f}"
        residual = f"{row['residual']:10.0e}"
        if "pinocchio" in row:
            asked = next(value for kind, value in ASKED.items() if kind in name)
            ratios = f"{row['pinocchio'] / row['one']:.1f} / {row['pinocchio'] / row['pack']:.1f}"
            line += f"{row['pinocchio']:11.2f}{ratios:>14s}{asked[0]:>6d}/{asked[1]}"
            print(line + residual + f"{row['their residual']:9.0e}{row['by their rnea']:9.0e}")
        else:
            print(line + " " * 34 + residual)
    print(f"256 links cost {single['256 spherical'] / single['64 spherical']:.2f} times 64 (asked: at most 4.4)")


if __name__ == "__main__":
    main()
