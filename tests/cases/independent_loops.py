"""Cases with closed loops solved without the engine: in one or six coordinates, closed forms, published equations.

Nothing here knows Poinsot's kernels, trees or constraint equations.
"""

import numpy as np
from cases.independent import G, cross, integrate, quaternion_rate, rotation
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk


def five_bar(t):
    """θ and θ' of a crank of the five-bar linkage: a pendulum from rest, in Jacobi elliptic functions."""
    rate, k = np.sqrt(5.5 / 5.0 * G / 0.3), np.sin(np.pi / 6.0)
    sn, cn, dn, _ = ellipj(rate * np.asarray(t) + ellipk(k * k), k * k)
    return 2.0 * np.arctan2(k * sn, dn), 2.0 * k * rate * cn


def four_bars(loops, t):
    """The end of a crank of the four-bars, (sin θ, cos θ): a pendulum thrown over, in Jacobi elliptic functions."""
    inertia, weight = (loops + 1) / 3.0 + loops, (loops + 1) / 2.0 + loops
    square = weight * G / inertia
    m = square / (square + 0.25)  # half the speed at the top is 0.5 rad/s
    sn, cn, _, _ = ellipj(np.sqrt(square + 0.25) * np.asarray(t) - ellipk(m), m)
    return np.stack([-2.0 * sn * cn, 2.0 * sn * sn - 1.0], axis=-1)


def slider_crank(t):
    """θ and θ' of the crank, and where the piston is, by the equation of motion in θ."""
    r, rod, width = 0.2, 0.5, 0.04
    J_crank = (r**2 + width**2) / 12.0 + r**2 / 4.0
    J_rod = 2.0 * (rod**2 + width**2) / 12.0

    def inertia(theta):
        s, c = np.sin(theta), np.cos(theta)
        lean = np.arcsin(r * s / rod)
        turning = r * c / (rod * np.cos(lean))  # of the lean, per unit of θ'
        piston = -r * s - rod * np.sin(lean) * turning
        x, y = -r * s - 0.5 * rod * np.sin(lean) * turning, 0.5 * r * c
        return J_crank + J_rod * turning**2 + 2.0 * (x**2 + y**2) + 1.5 * piston**2

    def rates(_, y):
        slope = inertia(y[0] + 1e-30j).imag / 1e-30
        torque = -(0.5 + 1.0) * G * r * np.cos(y[0])
        return [y[1], (torque - 0.5 * slope * y[1] ** 2) / inertia(y[0])]

    theta, speed = integrate(rates, [np.pi / 3.0, 10.0], t)
    return theta, speed, r * np.cos(theta) + np.sqrt(rod**2 - (r * np.sin(theta)) ** 2)


class Bricard:
    """The chain of five rods with both of its angles: it closes where cos(θ/2) cos(φ/2) = 1/2.

    Joints 0, 2, 4 turn by π/2 - θ, joints 1, 3, 5 by π/2 - φ. The motion is one along the closed curve of all such
    (θ, φ), at the speed σ: J σ' + J' σ²/2 = -V', where a dash of J or V is a derivative along the curve.
    """

    points = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
    axes = np.eye(3)[[1, 2, 0, 1, 2, 0]]

    @staticmethod
    def tangent(theta, phi):
        return -np.cos(theta / 2) * np.sin(phi / 2), np.sin(theta / 2) * np.cos(phi / 2)

    def chain(self, theta, phi):
        """Joint points and axes, centres and turns of the rods, for each rod."""
        angles = np.pi / 2 - np.array([theta, phi, theta, phi, theta])
        R, point = np.eye(3), np.zeros(3)
        found = []
        for i in range(5):
            axis = R @ self.axes[i]
            R = R @ turned(self.axes[i], angles[i])
            arm = R @ (self.points[i + 1] - self.points[i])
            found.append((point, axis, point + 0.5 * arm, R))
            point = point + arm
        return found, point, R

    def balance(self, theta, phi):
        """J and V' at a point of the curve, each per unit of σ."""
        along = self.tangent(theta, phi)
        J, slope = 0.0, 0.0
        found, _, _ = self.chain(theta, phi)
        w, velocity, last = np.zeros(3), np.zeros(3), np.zeros(3)
        for i, (point, axis, center, R) in enumerate(found):
            velocity = velocity + cross(w, point - last)
            w = w - axis * along[i % 2]
            v = velocity + cross(w, center - point)
            own = R.T @ w
            rod = np.abs(self.points[i + 1] - self.points[i])  # along a coordinate axis
            moments = (0.02 * rod + 1.01 * (1.0 - rod)) / 12.0
            J, slope, last = J + v @ v + own @ (moments * own), slope + G * v[1], point
        return J, slope

    def rates(self, _, y):
        theta, phi, speed = y
        a, b = self.tangent(theta, phi)
        J, slope = self.balance(theta, phi)
        change = self.balance(theta + 1e-30j * a, phi + 1e-30j * b)[0].imag / 1e-30
        return [speed * a, speed * b, -(slope + 0.5 * change * speed**2) / J]

    def at(self, t):
        """P3 at time t."""
        theta, phi, _ = integrate(self.rates, [np.pi / 2, np.pi / 2, 0.0], t)
        return self.chain(theta, phi)[0][3][0]


def turned(axis, angle):
    """The rotation about an axis of unit length (Rodrigues)."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K


def andrews(t):
    """The seven angles and their rates: the index-1 equations of the Test Set, of the coordinates that it uses."""
    m = np.array([0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498])
    I = np.array([2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5])
    xc, yc, xb, yb = 0.014, 0.072, -0.03635, 0.03273
    d, da, e, ea, rr, ra, l0 = 28e-3, 115e-4, 2e-2, 1421e-5, 7e-3, 92e-5, 7785e-5
    ss, sa, sb, sc, sd, ta, tb = 35e-3, 1874e-5, 1043e-5, 18e-3, 2e-2, 2308e-5, 916e-5
    u, ua, ub, zf, zt, fa = 4e-2, 1228e-5, 449e-5, 2e-2, 4e-2, 1421e-5

    def jacobian(q):
        b, th, g, p, de, o, ep = q
        G = np.zeros((6, 7), np.asarray(q).dtype)
        for row, (first, second) in enumerate(
            [(-rr * np.sin(b) + d * np.sin(b + th), d * np.sin(b + th)),
             (rr * np.cos(b) - d * np.cos(b + th), -d * np.cos(b + th))] * 3
        ):  # fmt: skip
            G[row, 0], G[row, 1] = first, second
        G[0, 2], G[1, 2] = -ss * np.cos(g), -ss * np.sin(g)
        G[2, 3], G[2, 4] = -e * np.cos(p + de), -e * np.cos(p + de) + zt * np.sin(de)
        G[3, 3], G[3, 4] = -e * np.sin(p + de), -e * np.sin(p + de) - zt * np.cos(de)
        G[4, 5], G[4, 6] = zf * np.sin(o + ep), zf * np.sin(o + ep) - u * np.cos(ep)
        G[5, 5], G[5, 6] = -zf * np.cos(o + ep), -zf * np.cos(o + ep) - u * np.sin(ep)
        return G

    def rates(_, y):
        q, v = y[:7], y[7:]
        M = np.zeros((7, 7))
        M[0, 0] = m[0] * ra**2 + m[1] * (rr**2 - 2 * da * rr * np.cos(q[1]) + da**2) + I[0] + I[1]
        M[1, 0] = M[0, 1] = m[1] * (da**2 - da * rr * np.cos(q[1])) + I[1]
        M[1, 1] = m[1] * da**2 + I[1]
        M[2, 2] = m[2] * (sa**2 + sb**2) + I[2]
        s4, s6 = zt * (e - ea) * np.sin(q[3]), u * (zf - fa) * np.sin(q[5])
        M[3, 3] = m[3] * (e - ea) ** 2 + I[3]
        M[4, 3] = M[3, 4] = M[3, 3] + m[3] * s4
        M[4, 4] = m[3] * (zt**2 + 2 * s4 + (e - ea) ** 2) + m[4] * (ta**2 + tb**2) + I[3] + I[4]
        M[5, 5] = m[5] * (zf - fa) ** 2 + I[5]
        M[6, 5] = M[5, 6] = M[5, 5] - m[5] * s6
        M[6, 6] = m[5] * ((zf - fa) ** 2 - 2 * s6 + u**2) + m[6] * (ua**2 + ub**2) + I[5] + I[6]
        x, y_ = sd * np.cos(q[2]) + sc * np.sin(q[2]) + xb, sd * np.sin(q[2]) - sc * np.cos(q[2]) + yb
        length = np.hypot(x - xc, y_ - yc)
        pull = -4530.0 * (length - l0) / length
        f = np.array([
            0.033 - m[1] * da * rr * v[1] * (v[1] + 2 * v[0]) * np.sin(q[1]),
            m[1] * da * rr * v[0] ** 2 * np.sin(q[1]),
            pull * ((x - xc) * (sc * np.cos(q[2]) - sd * np.sin(q[2]))
                    + (y_ - yc) * (sd * np.cos(q[2]) + sc * np.sin(q[2]))),
            m[3] * zt * (e - ea) * v[4] ** 2 * np.cos(q[3]),
            -m[3] * zt * (e - ea) * v[3] * (v[3] + 2 * v[4]) * np.cos(q[3]),
            -m[5] * u * (zf - fa) * v[6] ** 2 * np.cos(q[5]),
            m[5] * u * (zf - fa) * v[5] * (v[5] + 2 * v[6]) * np.cos(q[5]),
        ])  # fmt: skip
        G = jacobian(q)
        xi = -(jacobian(q + 1e-30j * v).imag / 1e-30) @ v
        full = np.block([[M, G.T], [G, np.zeros((6, 6))]])
        return np.concatenate([v, np.linalg.solve(full, np.concatenate([f, xi]))[:7]])

    start = [
        -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
        -0.222668390165885885, 1.23054744454982119,
    ]  # fmt: skip
    y = integrate(rates, np.concatenate([start, np.zeros(7)]), t)
    return y[:7], y[7:]


def flyball_governor(t):
    """θ of both arms, the slider's height, the speed of the shaft, of three coordinates by symmetry; one is cyclic."""
    bar, slider, ball = 3000.0 * 1e-4, 3000.0 * 1e-3, 5.0
    pivot, width, l0, K, C = 0.05, 0.01, 0.5, 8e5, 4e4
    about_pivot = bar * (1.0 + width**2) / 12.0 + bar * 0.25 + ball
    still = bar * 2.0 * width**2 / 12.0 + slider * 0.01 / 6.0

    def spin_inertia(theta):
        """About the shaft, and its derivative: points at the distance u along an arm are at pivot + u cos θ from it."""
        c, s = np.cos(theta), np.sin(theta)
        first, second = bar * 0.5 + ball, bar / 3.0 + ball
        arm = (bar + ball) * pivot**2 + 2.0 * pivot * first * c + second * c * c
        arm += bar * width**2 / 12.0 * (1.0 + s * s)  # the bar's width, and its thickness
        slope = -2.0 * pivot * first * s - 2.0 * second * c * s + bar * width**2 / 6.0 * s * c
        return still + 2.0 * arm, 2.0 * slope

    momentum = spin_inertia(np.pi / 6)[0] * 2.0 * np.pi

    def rates(_, y):
        theta, height, dtheta, speed = y
        c, s = np.cos(theta), np.sin(theta)
        inertia, slope = spin_inertia(theta)
        across, above = 0.5 * c, 1.0 - 0.5 * s - height  # from the slider's corner to the middle of the arm
        length = np.hypot(across, above)
        rate = (across * (-0.5 * s * dtheta) + above * (-0.5 * c * dtheta - speed)) / length
        pull = K * (length - l0) + C * rate
        torque = 0.5 * (momentum / inertia) ** 2 * slope + 2.0 * G * (bar * 0.5 + ball) * c
        torque -= 2.0 * pull * (across * -0.5 * s + above * -0.5 * c) / length
        force = 2.0 * pull * above / length - slider * G
        return [dtheta, speed, torque / (2.0 * about_pivot), force / slider]

    start = [np.pi / 6, 0.5, 0.0, 0.0]
    solution = solve_ivp(rates, (0.0, t), start, method="Radau", rtol=1e-11, atol=1e-13)
    theta, height = solution.y[:2, -1]
    return theta, height, momentum / spin_inertia(theta)[0]


class Stewart:
    """The platform in the six velocities of its plate: a leg follows from the plate, by its universal joint.

    A leg's z axis points from the foot to the ball, its x axis is at right angles to z and to the first axis of the
    universal joint. Equations of motion are projected on the plate's velocities; what their change adds is found by a
    complex step.
    """

    def __init__(self, actuated=True):
        degrees = np.radians([-10.0, 10.0, 110.0, 130.0, 230.0, 250.0])
        self.feet = np.stack([np.cos(degrees), np.sin(degrees), 0.0 * degrees], axis=1)
        degrees = np.radians([-50.0, 50.0, 70.0, 170.0, 190.0, 290.0])
        self.balls = 0.6 * np.stack([np.cos(degrees), np.sin(degrees), 0.0 * degrees], axis=1)
        reach = self.balls + np.array([0.0, 0.0, 1.0]) - self.feet
        self.lengths = np.linalg.norm(reach, axis=1) + 0.02
        self.first = np.cross(np.cross([0.0, 0.0, 1.0], reach), [0.0, 0.0, 1.0])
        self.force = 100.0 if actuated else 0.0

    def legs(self, p, R):
        """Arms of the balls, axes and lengths of the legs, and their angular velocities per velocity of the plate."""
        arms = self.balls @ R.T
        reach = p + arms - self.feet
        length = np.sqrt(np.sum(reach * reach, axis=1))
        z = reach / length[:, None]
        x = np.cross(self.first, z)
        x = x / np.sqrt(np.sum(x * x, axis=1))[:, None]
        y = np.cross(z, x)
        eye = np.broadcast_to(np.eye(3), (6, 3, 3))
        ball = np.concatenate([eye, -hat(arms)], axis=2)
        across = hat(z) @ ball / length[:, None, None]
        # The second axis x stays at right angles to the first: (w × x)·first = 0.
        spin = -np.einsum("li,lij->lj", np.cross(x, self.first), across)
        spin = spin / np.sum(np.cross(x, self.first) * z, axis=1)[:, None]
        return ball, across + z[:, :, None] * spin[:, None, :], z, np.stack([x, y, z], axis=2), length

    def moving(self, p, R):
        """Of the plate, tubes and pistons: velocities and angular velocities per velocity of the plate."""
        ball, turning, z, axes, length = self.legs(p, R)
        tube = -0.3 * hat(z) @ turning
        piston = ball + 0.3 * hat(z) @ turning
        return ball, turning, tube, piston, z, axes, length

    def accelerations(self, t, p, R, u):
        """Of the plate: of its centre, and angular, in world axes."""
        ball, turning, tube, piston, z, axes, length = self.moving(p, R)
        h = 1e-30
        swing = self.moving(p + 1j * h * u[:3], R + 1j * h * hat(u[3:]) @ R)
        change = [part.imag @ u / h for part in swing[1:4]]
        M, f = np.zeros((6, 6)), np.zeros(6)
        J = R @ np.diag([40 * (3 * 0.36 + 0.0025) / 12] * 2 + [40 * 0.18]) @ R.T
        M[:3, :3], M[3:, 3:] = 40.0 * np.eye(3), J
        f[2], f[3:] = -40.0 * G, -cross(u[3:], J @ u[3:])
        down = np.array([0.0, 0.0, -G])
        for mass, radius, jacobian, bias in ((5.0, 0.05, tube, change[1]), (3.0, 0.03, piston, change[2])):
            moments = np.diag([mass * (3 * radius**2 + 0.36) / 12] * 2 + [mass * radius**2 / 2])
            for leg in range(6):
                J = axes[leg] @ moments @ axes[leg].T
                w = turning[leg] @ u
                M += mass * jacobian[leg].T @ jacobian[leg] + turning[leg].T @ J @ turning[leg]
                f += mass * jacobian[leg].T @ (down - bias[leg])
                f -= turning[leg].T @ (J @ change[0][leg] + cross(w, J @ w))
        push = 5000.0 * (self.lengths - length) + self.force * np.sin(2 * np.pi * t * (1 + np.arange(1, 7) / 10))
        f += np.einsum("l,li,lij->j", push, z, ball)
        return np.linalg.solve(M, f)

    def rates(self, t, y):
        q = y[3:7]
        R = rotation(q)
        return np.concatenate([
            y[7:10], quaternion_rate(q, R.T @ y[10:]), self.accelerations(t, y[:3], R, y[7:])
        ])  # fmt: skip

    def at(self, t):
        """Centre and rotation matrix of the plate at time t, from rest."""
        y = integrate(self.rates, np.array([0.0, 0.0, 1.0, 1.0] + [0.0] * 9), t)
        return y[:3], rotation(y[3:7])


def hat(v):
    """The matrices of cross products, of vectors in rows."""
    x, y, z = np.moveaxis(np.asarray(v), -1, 0)
    none = 0.0 * x
    return np.moveaxis(np.array([[none, -z, y], [z, none, -x], [-y, x, none]]), (0, 1), (-2, -1))
