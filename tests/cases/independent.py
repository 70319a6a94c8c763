"""The cases solved without the engine: closed forms, and the classical equations integrated at tight tolerance.

Nothing here knows Poinsot's kernels; the cases' reference numbers come from here, or are checked by it.
"""

import mpmath
import numpy as np
from scipy.integrate import solve_ivp

G = 9.81


def cross(a, b):
    """np.cross, ten times as fast for one pair."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def integrate(rates, start, t):
    """The state at time t, by DOP853 at the tightest tolerance that it takes."""
    solution = solve_ivp(rates, (0.0, t), start, method="DOP853", rtol=1e-13, atol=1e-15)
    assert solution.success
    return solution.y[:, -1]


def double_pendulum(t):
    """φ and ψ by equation (26) of Dumitriu and Mărgăritescu."""
    m, width, a = 0.108, 0.20, 0.02
    C = m * (width**2 + a**2) / 12.0

    def rates(_, y):
        phi, psi, dphi, dpsi = y
        c, s, ml2 = np.cos(phi - psi), np.sin(phi - psi), m * width**2
        M = [[C + 1.25 * ml2, 0.5 * ml2 * c], [0.5 * ml2 * c, C + 0.25 * ml2]]
        f = [
            -0.5 * ml2 * s * dpsi**2 - 1.5 * m * G * width * np.sin(phi),
            0.5 * ml2 * s * dphi**2 - 0.5 * m * G * width * np.sin(psi),
        ]
        return [dphi, dpsi, *np.linalg.solve(M, f)]

    return integrate(rates, [np.pi / 9, np.pi / 18, 0.0, 0.0], t)[:2]


def chain(links, t):
    """Angles of the links from the vertical: the planar pendulum of many links, by Lagrange's equations."""
    m, length, width, start = 50.0, 2.0, 0.2, 0.1
    J = m * (length**2 + width**2) / 12.0
    i = np.arange(links)
    beyond = links - 1.0 - np.maximum.outer(i, i)
    arms = m * length**2 * (beyond + np.where(np.equal.outer(i, i), 0.25, 0.5))
    weights = m * G * length * (links - i - 0.5)

    def rates(_, y):
        angle, speed = y[:links], y[links:]
        difference = np.subtract.outer(angle, angle)
        M = arms * np.cos(difference) + J * np.eye(links)
        f = -(arms * np.sin(difference)) @ speed**2 - weights * np.sin(angle)
        return np.concatenate([speed, np.linalg.solve(M, f)])

    return integrate(rates, np.concatenate([np.full(links, start), np.zeros(links)]), t)[:links]


@mpmath.workdps(30)
def pendulum_period():
    """The period of the chain of one link, by the complete elliptic integral."""
    m, length, width, start = 50.0, 2.0, 0.2, 0.1
    J = m * (length**2 + width**2) / 12.0 + m * (length / 2) ** 2
    rate = mpmath.sqrt(m * G * length / 2 / J)
    return float(4 * mpmath.ellipk(mpmath.sin(mpmath.mpf(start) / 2) ** 2) / rate)


@mpmath.workdps(30)
def heavy_top(t):
    """Nutation (lowest angle, period) and the centre of mass at t, by elliptic functions and one quadrature."""
    rod, disc = mpmath.pi, 8 * mpmath.pi
    mass = rod + disc
    h = (rod * mpmath.mpf("0.2") + disc * mpmath.mpf("0.425")) / mass
    across_rod = rod * (3 * mpmath.mpf("0.05") ** 2 + mpmath.mpf("0.4") ** 2) / 12 + rod * mpmath.mpf("0.2") ** 2
    across_disc = disc * (3 * mpmath.mpf("0.4") ** 2 + mpmath.mpf("0.05") ** 2) / 12 + disc * mpmath.mpf("0.425") ** 2
    I1, I3 = across_rod + across_disc, (rod * mpmath.mpf("0.05") ** 2 + disc * mpmath.mpf("0.4") ** 2) / 2
    u0, a = mpmath.cos(mpmath.mpf("0.3")), I3 * 40 / I1
    beta = 2 * mass * mpmath.mpf("9.81") * h / I1
    root = mpmath.sqrt(a**4 - 4 * beta * (a**2 * u0 - beta))
    u1, u3 = (a**2 - root) / (2 * beta), (a**2 + root) / (2 * beta)
    rate, m = mpmath.sqrt(beta * (u3 - u1)) / 2, (u0 - u1) / (u3 - u1)

    def u(time):
        return u1 + (u0 - u1) * mpmath.ellipfun("cd", rate * time, m=m) ** 2

    period = 2 * mpmath.ellipk(m) / rate
    laps = mpmath.linspace(0, t, int(4 * t / period) + 2)
    turned = mpmath.quad(lambda time: a * (u0 - u(time)) / (1 - u(time) ** 2), laps)
    tilt, azimuth = mpmath.acos(u(t)), turned - mpmath.pi / 2
    center = (
        h * mpmath.sin(tilt) * mpmath.cos(azimuth),
        h * mpmath.sin(tilt) * mpmath.sin(azimuth),
        h * mpmath.cos(tilt),
    )
    return float(mpmath.acos(u1)), float(period), tuple(float(x) for x in center)


def quaternion_rate(q, w):
    """q' = q (0, w)/2 for an angular velocity in body axes."""
    v = q[1:]
    return 0.5 * np.concatenate([[-v @ w], q[0] * w + cross(v, w)])


def rotation(q):
    """The rotation matrix of a quaternion of any length."""
    w, v = q[0], q[1:]
    hat = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2.0 / (q @ q) * (w * hat + hat @ hat)


def satellite_across(t):
    """ω of the rotor across its axis, as a complex number: closed form for the torque in body axes."""
    across = 175.0 + 43.75 + 300.0 * 100.0 / 400.0 * 1.75**2
    kappa = 1.0 - (150.0 * 1.0 + 50.0 * 0.1) / across
    return (100.0 + 200.0j) / (1j * kappa * across) * (1.0 - np.exp(-1j * kappa * t))


def satellite(t, height=1.75, frame="body"):
    """ω of the rotor (its own axes) and both centres: the transverse momentum balance, and R' = R ω~."""
    across = 175.0 + 43.75 + 300.0 * 100.0 / 400.0 * height**2

    def rates(_, y):
        q, w = y[:4], y[4:]
        torque = np.array([100.0, 200.0, 0.0])
        if frame == "world":
            torque = rotation(q).T @ torque
        swing = w[2] - (150.0 * w[2] + 50.0 * 0.1) / across
        return [
            *quaternion_rate(q, w),
            torque[0] / across + swing * w[1],
            torque[1] / across - swing * w[0],
            torque[2] / 150.0,
        ]

    y = integrate(rates, [1.0, 0, 0, 0, 0, 0, 1.0], t)
    R, center = rotation(y[:4]), np.array([0.0, 0.0, height / 4.0])
    return y[4:7], center - R @ center, center + 3.0 * R @ center


def flywheel_pendulum(t):
    """The wheel's centre, ω of the rod (its axes) and the wheel's whole spin about the axis, from jump to jump.

    The rod and the wheel are one gyrostat that turns about the ball joint, in the rod's axes H' = H x ω + M; only the
    torque about the axis changes the wheel's spin.
    """
    rod, wheel, length = 2.71944, 4.89499, 0.5
    across = 0.05708 + rod * (0.5 * length) ** 2 + 0.02779 + wheel * length**2
    along_rod, along_wheel = 0.0008498, 0.05507
    weight = G * (0.5 * rod + wheel) * length
    axis = np.array([0.0, 0.0, 1.0])

    def under(torque):
        def rates(_, y):
            q, w, spin = y[:4], y[4:7], y[7]
            H = np.array([across * w[0], across * w[1], along_rod * w[2] + along_wheel * spin])
            # Without the torque about the axis, which the rod does not feel.
            balance = cross(H, w) + weight * cross(axis, rotation(q)[2])
            return [*quaternion_rate(q, w), *(balance / [across, across, along_rod]), torque / along_wheel]

        return rates

    y = np.array([np.cos(np.pi / 12.0), np.sin(np.pi / 12.0), 0.0, 0.0, 0.0, 0.5, 0.0, 0.0])
    for begin, end, torque in ((0.0, 1.5, 0.0), (1.5, 4.5, 2.0), (4.5, np.inf, 0.0)):
        if t > begin:
            y = integrate(under(torque), y, min(t, end) - begin)
    return -length * rotation(y[:4])[:, 2], y[4:7], y[7]


def three_axis_table(t):
    """θ, θ' and the angular momentum about the vertical through the base, by projected Newton-Euler equations."""
    masses = (0.87, 0.66, 3.5)
    moments = ((6.55e-4, 7.10e-4, 11.3e-4), (1.79e-4, 4.45e-4, 4.6e-4), (1.46e-2, 2.09e-2, 3.29e-2))
    centers = ((-28.5e-3, -1e-3, -7.2e-3), (27e-3, -0.3e-3, 1.3e-3), (34e-3, -0.48e-3, 5.5e-3))
    offsets = ((0.0, 0.0, 0.0), (0.0, 0.0, 78.5e-3), (81.5e-3, 0.0, 0.0))
    axes = np.eye(3)[[2, 1, 0]]
    upward = np.array([0.0, 0.0, G])

    def turn(axis, angle):
        hat = np.cross(np.eye(3), axis)
        return np.eye(3) + np.sin(angle) * hat + (1.0 - np.cos(angle)) * hat @ hat

    def balance(theta, speed):
        """Mass matrix, force without accelerations, momentum about the vertical."""
        R, w, alpha, origin, velocity, acceleration = np.eye(3), *np.zeros((5, 3))
        lever, hinge = [], []
        M, f, momentum = np.zeros((3, 3)), np.zeros(3), np.zeros(3)
        for i in range(3):
            arm = R @ offsets[i]
            origin = origin + arm
            velocity = velocity + cross(w, arm)
            acceleration = acceleration + cross(alpha, arm) + cross(w, cross(w, arm))
            axis = R @ axes[i]
            alpha = alpha + cross(w, axis * speed[i])
            w = w + axis * speed[i]
            R = R @ turn(axes[i], theta[i])
            lever.append(axis)
            hinge.append(origin)
            s = R @ centers[i]
            J = R @ np.diag(moments[i]) @ R.T
            v = velocity + cross(w, s)
            a = acceleration + cross(alpha, s) + cross(w, cross(w, s))
            turning, moving = np.zeros((3, 3)), np.zeros((3, 3))
            for k in range(i + 1):
                turning[:, k] = lever[k]
                moving[:, k] = cross(lever[k], origin + s - hinge[k])
            M += masses[i] * moving.T @ moving + turning.T @ J @ turning
            f -= moving.T @ (masses[i] * (a + upward)) + turning.T @ (J @ alpha + cross(w, J @ w))
            momentum += cross(origin + s, masses[i] * v) + J @ w
        return M, f, momentum[2]

    def rates(_, y):
        M, f, _ = balance(y[:3], y[3:])
        return np.concatenate([y[3:], np.linalg.solve(M, f)])

    start = np.array([np.pi, np.pi / 3, np.pi / 3])
    y = integrate(rates, np.concatenate([start, start]), t)
    return y[:3], y[3:], balance(y[:3], y[3:])[2]


def free_body(t):
    """ω and the rotation matrix of the tumbling box by Euler's equations, in 30-digit arithmetic."""
    with mpmath.workdps(30):
        I1, I2, I3 = mpmath.mpf("0.005"), mpmath.mpf("0.01"), mpmath.mpf("0.013")

        def rates(_, y):
            q0, q1, q2, q3, w1, w2, w3 = y
            return [
                (-q1 * w1 - q2 * w2 - q3 * w3) / 2,
                (q0 * w1 + q2 * w3 - q3 * w2) / 2,
                (q0 * w2 + q3 * w1 - q1 * w3) / 2,
                (q0 * w3 + q1 * w2 - q2 * w1) / 2,
                (I2 - I3) / I1 * w2 * w3,
                (I3 - I1) / I2 * w3 * w1,
                (I1 - I2) / I3 * w1 * w2,
            ]

        y = mpmath.odefun(rates, 0, [1, 0, 0, 0, 0, 2 * mpmath.pi, mpmath.mpf("0.5")])(t)
        y = np.array([float(x) for x in y])
    return y[4:], rotation(y[:4])
