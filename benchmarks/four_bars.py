"""Rows of four-bar linkages through their singular positions (benchmark A02): time, error and energy beside two peers.

    python benchmarks/four_bars.py

Errors are the largest distance (m) of the first crank's end from the closed form, every 0.1 s over 10 s. Pinocchio's
`constraintDynamics` is called from Python and stepped with rk4, with the gains of Baumgarte's stabilisation and the
steps tried that stand in GAINS and STEPS; Poinsot has no gain. The longest step, or the loosest tolerance, that reaches
the error asked for counts; these are then timed in turns, and the least time of each is printed, without compilation.
Exudyn runs generalized-alpha with h = 1e-3 and its dense solver, which may ignore the redundant equations. All in one
process and one thread, whose time on the processor is taken, so that others on the machine disturb little; Exudyn runs
once. Peers come with the extra [bench].
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.special import ellipj, ellipk

import poinsot as ps

T_END, OUTPUT, G = 10.0, 0.1, 9.81
ERROR = 1e-8
# Fixed steps, as how many there are in an output; gains of Pinocchio (1/s), with Kp = gain², Kd = 2 gain.
STEPS = (20, 25, 30, 35, 40, 50, 60, 80, 100)
GAINS = (10.0, 50.0, 100.0, 200.0)
TOLERANCES = (3e-9, 1e-9, 3e-10, 1e-10, 3e-11, 1e-11)
ROUNDS = 30


@dataclass
class Result:
    """What one way reached: its error (m), relative change of energy, and time (s)."""

    how: str
    error: float
    energy: float
    seconds: float
    again: Callable[[], float] | None = None

    def line(self) -> str:
        """One row of the table."""
        return f"{self.how:58s} {self.error:9.1e} {self.energy:9.1e} {1e3 * self.seconds:11.2f}"


def exact(loops: int, times: np.ndarray) -> np.ndarray:
    """The end of a crank on the parallelogram's branch: a pendulum thrown over, in elliptic functions."""
    square = ((loops + 1) / 2.0 + loops) * G / ((loops + 1) / 3.0 + loops)
    m = square / (square + 0.25)
    sn, cn, _, _ = ellipj(np.sqrt(square + 0.25) * times - ellipk(m), m)
    return np.stack([-2.0 * sn * cn, 2.0 * sn * sn - 1.0], axis=-1)


def energy_change(loops: int, ends: np.ndarray, speeds: np.ndarray) -> float:
    """The largest change of energy over the largest kinetic energy, of a crank's end and angular speed."""
    inertia, weight = (loops + 1) / 3.0 + loops, ((loops + 1) / 2.0 + loops) * G
    energy = 0.5 * inertia * speeds**2 + weight * ends[:, 1]
    largest = 0.5 * inertia + weight * (1.0 - ends[:, 1].min())
    return float(np.abs(energy - energy[0]).max() / largest)


def poinsot(loops: int, how: str, **arguments: Any) -> Result:
    """Simulate with `recursive`; the time is that of a simulation that records its end, once kernels are compiled."""
    model = ps.case(f"four-bars-{loops}")
    run = ps.simulate(model, T_END, output_step=OUTPUT, **arguments)
    error = np.abs(2.0 * run.arrays["position"][:, 0, :2] - exact(loops, run.time)).max()

    def seconds() -> float:
        with patch("time.perf_counter", time.process_time):  # which `stats.seconds` is measured by
            return ps.simulate(model, T_END, output_step=T_END, **arguments).stats.seconds

    return Result(how, float(error), float(run.energy_drift), seconds(), seconds)


class Pinocchio:
    """The same in Pinocchio: a tree of cranks and couplers, each coupler's right end held to the next crank."""

    def __init__(self, loops: int, gain: float, mu: float = 1e-8) -> None:
        import pinocchio as pin

        self.loops, model = loops, pin.Model()
        model.gravity.linear = np.array([0.0, -G, 0.0])
        bar = pin.Inertia(1.0, np.array([0.5, 0.0, 0.0]), np.diag([0.01 / 6.0, 1.0 / 12.0, 1.0 / 12.0]))
        end = pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
        self.cranks: list[int] = []
        couplers: list[int] = []
        for i in range(loops + 1):
            foot = pin.SE3(np.eye(3), np.array([float(i), 0.0, 0.0]))
            self.cranks.append(model.addJoint(0, pin.JointModelRZ(), foot, f"crank {i}"))
            if i < loops:
                couplers.append(model.addJoint(self.cranks[-1], pin.JointModelRZ(), end, f"coupler {i}"))
        for joint in (*self.cranks, *couplers):
            model.appendBodyToJoint(joint, bar, pin.SE3.Identity())
        self.constraints = pin.StdVec_RigidConstraintModel()
        for i in range(loops):
            point = pin.ContactType.CONTACT_3D
            held = pin.RigidConstraintModel(point, model, couplers[i], end, self.cranks[i + 1], end)
            held.m_baumgarte_parameters.Kp, held.m_baumgarte_parameters.Kd = gain * gain, 2.0 * gain
            self.constraints.append(held)
        self.held = pin.StdVec_RigidConstraintData()
        for constraint in self.constraints:
            self.held.append(constraint.createData())
        self.model, self.data = model, model.createData()
        pin.initConstraintDynamics(model, self.data, self.constraints, self.held)
        self.settings = pin.ProximalSettings(1e-14, mu, 10)
        self.first = model.joints[self.cranks[0]].idx_q
        self.start = np.full(model.nq, -0.5 * np.pi)
        self.start[[model.joints[joint].idx_q for joint in self.cranks]] = 0.5 * np.pi
        self.speed = np.full(model.nv, 1.0)
        self.speed[[model.joints[joint].idx_v for joint in self.cranks]] = -1.0
        self.constraint_dynamics = pin.constraintDynamics

    def rk4(self, per_output: int) -> tuple[np.ndarray, np.ndarray]:
        """Angle and rate of the first crank at the outputs."""
        arguments = np.zeros(self.model.nv), self.constraints, self.held, self.settings
        model, data, call = self.model, self.data, self.constraint_dynamics
        q, v, h = self.start, self.speed, OUTPUT / per_output
        rows = [(q[self.first], v[self.first])]
        for step in range(1, round(T_END / OUTPUT) * per_output + 1):
            a1 = call(model, data, q, v, *arguments).copy()
            v2 = v + 0.5 * h * a1
            a2 = call(model, data, q + 0.5 * h * v, v2, *arguments).copy()
            v3 = v + 0.5 * h * a2
            a3 = call(model, data, q + 0.5 * h * v2, v3, *arguments).copy()
            v4 = v + h * a3
            a4 = call(model, data, q + h * v3, v4, *arguments)
            q = q + h / 6.0 * (v + 2.0 * (v2 + v3) + v4)
            v = v + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4)
            if step % per_output == 0:
                rows.append((q[self.first], v[self.first]))
        angle, rate = np.array(rows).T
        return angle, rate

    def result(self, per_output: int, how: str) -> Result:
        """Error, energy and time of a run."""

        def seconds() -> float:
            began = time.process_time()
            self.rk4(per_output)
            return time.process_time() - began

        angle, rate = self.rk4(per_output)
        ends = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        error = np.abs(ends - exact(self.loops, OUTPUT * np.arange(len(ends)))).max()
        return Result(how, float(error), energy_change(self.loops, ends, rate), seconds(), seconds)


def exudyn(loops: int) -> Result:
    """The same mechanism in Exudyn: rigid bodies in redundant coordinates with revolute joints in space."""
    import exudyn as exu
    import exudyn.utilities as eu

    warnings.simplefilter("ignore", DeprecationWarning)
    system = exu.SystemContainer().AddSystem()
    ground = system.CreateGround()
    inertia = eu.RigidBodyInertia(mass=1.0, inertiaTensor=np.diag([0.01 / 6.0, 1.0 / 12.0, 1.0 / 12.0]))
    common = {"inertia": inertia, "gravity": [0.0, -G, 0.0]}
    cranks = [
        system.CreateRigidBody(
            referencePosition=[i, 0.5, 0.0],
            referenceRotationMatrix=eu.RotationMatrixZ(0.5 * np.pi),
            initialVelocity=[0.5, 0.0, 0.0],
            initialAngularVelocity=[0.0, 0.0, -1.0],
            **common,
        )
        for i in range(loops + 1)
    ]
    joints = [(ground, crank, (i, 0.0)) for i, crank in enumerate(cranks)]
    for i in range(loops):
        coupler = system.CreateRigidBody(
            referencePosition=[i + 0.5, 1.0, 0.0], initialVelocity=[1.0, 0.0, 0.0], **common
        )
        joints += [(cranks[i], coupler, (i, 1.0)), (coupler, cranks[i + 1], (i + 1, 1.0))]
    for a, b, (x, y) in joints:
        system.CreateRevoluteJoint(itemNumbers=[a, b], position=[x, y, 0.0], axis=[0.0, 0.0, 1.0], useGlobalFrame=True)

    def sensor(variable: Any, point: list[float]) -> Any:
        return system.AddSensor(
            eu.SensorBody(bodyNumber=cranks[0], storeInternal=True, localPosition=point, outputVariableType=variable)
        )

    end = sensor(exu.OutputVariableType.Position, [0.5, 0.0, 0.0])
    spin = sensor(exu.OutputVariableType.AngularVelocity, [0.0, 0.0, 0.0])
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(T_END / 1e-3)
    settings.timeIntegration.endTime = T_END
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = OUTPUT
    settings.linearSolverType = exu.LinearSolverType.EigenDense
    settings.linearSolverSettings.ignoreSingularJacobian = True
    began = time.process_time()
    system.SolveDynamic(settings)
    seconds = time.process_time() - began
    ends, speeds = system.GetSensorStoredData(end), system.GetSensorStoredData(spin)
    error = np.abs(ends[:, 1:3] - exact(loops, ends[:, 0])).max()
    energy = energy_change(loops, ends[:, 1:3], speeds[:, 3])
    return Result("Exudyn, generalized-alpha, h = 1e-3", float(error), energy, seconds)


def first(ways: Iterable[Result], asked: float) -> Result:
    """The first that reaches an error; where none does, the most exact."""
    results: list[Result] = []
    for result in ways:
        results.append(result)
        if result.error <= asked:
            return result
    return min(results, key=lambda result: result.error)


def poinsot_fixed(loops: int, asked: float) -> Result:
    """Poinsot with rk4, as few steps as do."""
    steps = (OUTPUT / n for n in (2, 3, 4, 6, 8, 12, *STEPS))
    return first((poinsot(loops, f"Poinsot, rk4, h = {h:.4f}", step=h, method="rk4") for h in steps), asked)


def poinsot_best(loops: int, asked: float) -> Result:
    """Poinsot with dop853, with the loosest tolerance that does."""
    tolerances = (1e-5, 1e-6, 1e-7, *TOLERANCES)
    return first((poinsot(loops, f"Poinsot, dop853, rtol = {rtol:.0e}", rtol=rtol) for rtol in tolerances), asked)


def pinocchio_best(loops: int, asked: float) -> Result:
    """Pinocchio with rk4, as few steps as do, with the gain that serves it best."""

    def runs() -> Iterator[Result]:
        for n in STEPS:
            for gain in GAINS:
                yield Pinocchio(loops, gain).result(n, f"Pinocchio, rk4, h = {OUTPUT / n:.4f}, gain = {gain:g} 1/s")

    return first(runs(), asked)


def time_in_turns(results: list[Result]) -> None:
    """Repeat the runs in turns, and keep the least time of each."""
    for _ in range(ROUNDS):
        for result in results:
            if result.again is not None:
                result.seconds = min(result.seconds, result.again())


def main() -> None:
    """Print the tables."""
    poinsot(1, "", step=OUTPUT, method="rk4"), poinsot(1, "", rtol=1e-8)  # compile
    print(f"{'':58s} {'error (m)':>9s} {'energy':>9s} {'time (ms)':>11s}")
    print(f"2 loops, error at most {ERROR:g} m")
    peer, fixed, best = pinocchio_best(2, ERROR), poinsot_fixed(2, ERROR), poinsot_best(2, ERROR)
    time_in_turns([peer, fixed, best])
    for result in (peer, fixed, best):
        print(result.line())
    ratios = peer.seconds / fixed.seconds, peer.seconds / best.seconds
    print(f"Pinocchio / Poinsot: {ratios[0]:.1f} with rk4, {ratios[1]:.0f} with dop853")
    print("Pinocchio without stabilisation, and at mu = 0:")
    print(Pinocchio(2, 0.0).result(50, "Pinocchio, rk4, h = 0.0020, gain = 0").line())
    print(Pinocchio(2, 100.0, 0.0).result(50, "Pinocchio, rk4, h = 0.0020, gain = 100 1/s, mu = 0").line())

    print("\nEqual steps: rk4, h = 0.002")
    results = [poinsot(loops, f"Poinsot, N = {loops}", step=0.002, method="rk4") for loops in (1, 2, 10, 40)]
    time_in_turns(results)
    for loops, result in zip((1, 2, 10, 40), results, strict=True):
        per_bar = 1e6 * result.seconds / (T_END / 0.002) / (2 * loops + 1)
        print(f"{result.line()}   {per_bar:.2f} µs per step and bar")

    print("\n10 loops, at the error of Exudyn")
    peer = exudyn(10)
    fixed, best = poinsot_fixed(10, peer.error), poinsot_best(10, peer.error)
    time_in_turns([fixed, best])
    for result in (peer, fixed, best):
        print(result.line())
    print(
        f"Exudyn / Poinsot: {peer.seconds / fixed.seconds:.0f} with rk4, {peer.seconds / best.seconds:.0f} with dop853"
    )


if __name__ == "__main__":
    main()
