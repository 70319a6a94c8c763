"""Forward and inverse dynamics, mass matrix, energy and momenta against Pinocchio, on random trees."""

import numpy as np
import pytest
from mechanism.trees import GRAVITY, Tree, random_tree

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed; pip install 'poinsot[peers]'")
pytestmark = pytest.mark.peers

KINDS = ("revolute", "prismatic", "spherical", "free", "fixed", "revolute")


def joint_model(kind, branch):
    """Pinocchio's joint from the parent to the child: where that is from b to a, the axis points the other way."""
    if kind in ("spherical", "free"):
        return pin.JointModelSpherical() if kind == "spherical" else pin.JointModelFreeFlyer()
    axis = -branch.joint.axis if branch.reversed else np.array(branch.joint.axis)
    return pin.JointModelRevoluteUnaligned(axis) if kind == "revolute" else pin.JointModelPrismaticUnaligned(axis)


class Peer:
    """The same tree for Pinocchio, with every joint frame along the world's axes at t = 0."""

    def __init__(self, tree):
        self.tree, self.model, self.parts = tree, pin.Model(), []
        self.model.gravity.linear = np.array(GRAVITY)
        # Per body: Pinocchio's joint that carries it, and where that joint's frame was at t = 0.
        carried = {"ground": (0, np.zeros(3))}
        for branch in tree.layout.topology.branches:
            parent, there = carried[branch.parent.name]
            joint, body = branch.joint, branch.child
            kind = "free" if joint is None else joint.kind
            at = body.position if joint is None else joint.at
            if kind == "fixed":
                carried[body.name] = parent, there
            else:
                index = self.model.addJoint(
                    parent, joint_model(kind, branch), pin.SE3(np.eye(3), at - there), body.name
                )
                carried[body.name] = index, at
                self.parts.append((kind, tree.layout.row[body.name], joint))
            index, origin = carried[body.name]
            inertia = body.rotation @ body.inertia.matrix @ body.rotation.T
            of_body = pin.Inertia(body.inertia.mass, body.position - origin, inertia)
            self.model.appendBodyToJoint(index, of_body, pin.SE3.Identity())
        # What is welded to the ground has no part in Pinocchio's totals.
        self.moving = [body for name, body in tree.model.bodies.items() if carried[name][0] > 0]
        self.data = self.model.createData()

    def translated(self, state, acceleration=None):
        """Pinocchio's q, v, and (T, b) with v = T v_ours and a = T a_ours + b."""
        tree, n = self.tree, self.tree.n
        q, T, b = [], np.zeros((n, n)), np.zeros(n)
        speeds, column = state[tree.n_states - n :, 0], 0
        for kind, i, joint in self.parts:
            _, _, reading, _, motion = tree.mechanism.links[i]
            if kind in ("revolute", "prismatic"):
                q.append(state[reading, 0] - joint.position[0])
                T[column, motion] = 1.0
                column += 1
                continue
            W = tree.layout.start_axes[i]
            w, v = state[reading, 0], W @ state[reading + 1 : reading + 4, 0]
            if kind == "free":
                R = pin.Quaternion(w, *v).toRotationMatrix()
                parent = tree.layout.start_axes[tree.mechanism.links[i, 0]]
                q.extend(parent @ state[reading + 4 : reading + 7, 0])
                T[column : column + 3, motion + 3 : motion + 6] = R.T @ parent
                speed = R.T @ parent @ speeds[motion + 3 : motion + 6]
                b[column : column + 3] = -np.cross(W @ speeds[motion : motion + 3], speed)
                column += 3
            q.extend((*v, w))
            T[column : column + 3, motion : motion + 3] = W
            column += 3
        return np.array(q), T @ speeds, T, b


def floating(seed):
    return random_tree(seed, bodies=6 + 2 * seed, kinds=KINDS, floating=0.2)


@pytest.fixture(params=range(10), scope="module")
def pair(request):
    tree = Tree(floating(request.param))
    return tree, Peer(tree)


def close(found, wanted, tolerance=1e-10):
    assert np.abs(found - wanted).max(initial=0.0) <= tolerance * np.abs(wanted).max(initial=1.0)


@pytest.mark.parametrize("seed", range(3))
def test_forward_and_inverse_dynamics(pair, seed):
    tree, peer = pair
    state = tree.random_state(seed)
    forces = 10.0 * np.random.default_rng(seed).normal(size=(tree.n, 1))
    q, v, T, b = peer.translated(state)
    rate = tree.forward_under(state, forces)
    theirs = pin.aba(peer.model, peer.data, q, v, np.linalg.solve(T.T, forces[:, 0]))
    close(T @ rate[tree.n :, 0] + b, theirs)
    wanted = T.T @ pin.rnea(peer.model, peer.data, q, v, T @ rate[tree.n :, 0] + b)
    close(tree.inverse(state, rate)[:, 0], wanted)


@pytest.mark.parametrize("seed", range(3))
def test_mass_matrix_energy_and_momenta(pair, seed):
    tree, peer = pair
    state = tree.random_state(seed)
    q, v, T, _ = peer.translated(state)
    upper = np.triu(pin.crba(peer.model, peer.data, q))
    theirs = upper + np.triu(upper, 1).T
    close(tree.mass(state), T.T @ theirs @ T)
    instant, mass = tree.instant(state), sum(body.inertia.mass for body in peer.moving)
    weighted = sum(body.inertia.mass * instant.position[body.name] for body in peer.moving)
    close(instant.kinetic, pin.computeKineticEnergy(peer.model, peer.data, q, v))
    welded = [body for body in tree.model.bodies.values() if body not in peer.moving]
    potential = instant.potential + sum(body.inertia.mass * np.array(GRAVITY) @ body.position for body in welded)
    close(potential, pin.computePotentialEnergy(peer.model, peer.data, q))
    pin.centerOfMass(peer.model, peer.data, q, v)
    center, speed = peer.data.com[0].copy(), peer.data.vcom[0].copy()
    close(weighted / mass, center)
    close(instant.linear_momentum / mass, speed)
    about_center = pin.computeCentroidalMomentum(peer.model, peer.data, q, v).angular
    close(instant.angular_momentum, about_center + np.cross(center, mass * speed))
