"""Which equations of the loops are imposed: as many as are independent, found by rank in the metric of the masses.

The rows of the Jacobian in joint velocities are divided by what each equation would have between free bodies (its
scale), which makes them numbers without units; where the masses' metric leaves less than RANK_TOLERANCE of a row, the
equation says nothing new. Rank is lost in singular positions, so that some near the given one are looked at, too. All
decisions about rank are made here: those of a run, and those of `model.check()`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from poinsot._jit import routine
from poinsot.algebra.manifold import retract
from poinsot.errors import PoinsotError
from poinsot.formulations.elimination import COLUMNS
from poinsot.formulations.loops import (
    CHOSEN,
    CLOSED,
    FLOOR,
    INVERSE,
    LOOP_COLUMNS,
    ONCE,
    REDUNDANT,
    RETURN,
    ROUNDING,
    USUAL,
    closing_jacobian,
    find_pivots,
)
from poinsot.formulations.plan import lay_out
from poinsot.mechanism import tables as t
from poinsot.mechanism.build import Layout, full
from poinsot.mechanism.constraints import GRADIENT, RATE_OF_VALUE, VALUE
from poinsot.mechanism.dynamics import mass_matrix
from poinsot.mechanism.equations import Equation
from poinsot.mechanism.initial import given_motions, state_blocks
from poinsot.mechanism.kinematics import tree_workspace
from poinsot.scalars import floats

Array = NDArray[np.float64]

# Singular values of the scaled rows below this are rounding.
RANK_TOLERANCE = REDUNDANT**0.5
# Directions in which singular values are below this may be free: as much is left so near to a singular position.
NEARLY_FREE = 1e-4
# How far the positions near the given one are (radians, or sizes of the mechanism), how many are looked at, in how
# many directions they are sought, and by which factor they may be nearer or farther.
NEAR, NEIGHBOURS, DIRECTIONS, AS_FAR = 0.02, 3, 32, 10.0
# The radius of gyration, over the mechanism's size, that a body without inertia about some axis has where only its
# motion counts.
GYRATION = 0.1
# The longest step of a closing iteration (radians, or sizes of the mechanism), and how many there are; what may stay
# open (in the same); its damping at first, and at the least, as parts of what is open. It is given up where a number
# of steps leave more than half.
LONGEST, MOST_STEPS, SHUT = 0.5, 60, 1e-11
DAMPING, LEAST_DAMPING, PATIENCE = 0.1, 1e-3, 8
# Residuals at t = 0 up to this part of the mechanism's size are rounding in what the user gave, and are removed.
OPEN = 1e-6
# The largest residual after a projection, relative to the same; and what is rounding (four units of it).
CLOSED_TO, ROUNDING_OF_ONE = 1e-9, 1e-15
# So far below its usual value a pivot, the square of a distance from a singular position, leaves only noise.
NOISE = 1e-10
# Where a method fails and less than this part of what is usual is left of an imposed row, a singular position is near.
WEAK = 0.3


@routine
def move(blocks, state, turn, out):
    """The state moved by an increment."""
    retract(blocks, state, turn, out)


@dataclass
class Closure:
    """The loops of a mechanism in joint coordinates; `rows` are the equations that its tree does not fulfil."""

    layout: Layout
    mechanism: t.Mechanism
    rows: tuple[int, ...]
    size: float
    projects: bool = False
    once: bool = False
    rate_of_return: float = 0.0
    chosen: tuple[int, ...] = ()
    usual_least: float = 0.0  # the smallest part of an imposed row that the others lack, away from singular positions

    @classmethod
    def of(cls, layout: Layout, chosen: Mapping[str, Any]) -> Closure:
        """The closure of a layout; without loops and drives the mechanism stays as it is."""
        closing = {joint.name for joint in layout.topology.closing}
        words = enumerate(layout.equations)
        rows = tuple(e for e, word in words if word.is_drive or word.owner in closing)
        size = layout.size
        if not rows:
            return cls(layout, layout.mechanism, rows, size)
        table, height = lay_out(layout.mechanism, rows, len(layout.equations))
        mechanism = layout.mechanism._replace(
            plan=np.zeros((2 * len(table), 1), np.int64), loops=np.zeros((2 * height, LOOP_COLUMNS))
        )
        stabilize = chosen.get("stabilize", "projection")
        projects, once = stabilize in ("projection", "rotation-vector"), stabilize == "rotation-vector"
        rate_of_return = float(chosen["rate_of_return"]) if stabilize == "baumgarte" else 0.0
        return cls(layout, mechanism, rows, size, projects, once, rate_of_return)

    def __post_init__(self) -> None:
        self.massive = _with_inertia(self.mechanism, self.size)
        self.inertia = {
            int(link): (body[t.BODY_MASS], np.linalg.inv(full(body[t.BODY_INERTIA : t.BODY_INERTIA + 6])))
            for body, (link,) in zip(self.massive.body_frames, self.mechanism.bodies, strict=True)
        }
        self.work = tree_workspace(self.mechanism, COLUMNS, floats)
        self.blocks = state_blocks(self.layout)[0]
        self.units = _units(self.mechanism, self.layout.n_velocities, self.size)
        self.units_of_rows = np.array([1.0 if self.layout.equations[e].turns else self.size for e in self.rows])

    # -------------------------------------------------------------------------------------- at one state

    def equations_at(self, time: float, state: Array) -> tuple[Array, Array, Array]:
        """Φ and Φ' of all rows, and their Jacobian in joint velocities."""
        listed = np.array(self.rows, np.int64)[:, None]
        jacobian = np.zeros((len(self.rows), self.layout.n_velocities))
        mechanism = self.mechanism._replace(loops=np.zeros((len(self.rows), LOOP_COLUMNS)))
        closing_jacobian(mechanism, time, state, self.work, listed, len(self.rows), jacobian)
        self.gradients = mechanism.loops
        return mechanism.loops[:, VALUE].copy(), mechanism.loops[:, RATE_OF_VALUE].copy(), jacobian

    def metric(self, state: Array) -> Array:
        """The Cholesky factor L of the mass matrix."""
        n = self.layout.n_velocities
        matrix = np.zeros((n, n))
        mass_matrix(self.massive, state, self.work, matrix)
        return np.linalg.cholesky(matrix)

    def scales(self) -> Array:
        """What each row would have between free bodies, from the gradients of the last `equations_at`."""
        mechanism = self.mechanism
        result = np.zeros(len(self.rows))
        for q, e in enumerate(self.rows):
            first, count = mechanism.equations[e, [t.FIRST_TERM, t.EQUATION_TERMS]]
            for n in range(count):
                joint = mechanism.joints[mechanism.terms[first + n, t.TERM_JOINT]]
                gradient = self.gradients[q, GRADIENT * n : GRADIENT * (n + 1)]
                for link in joint[[t.BODY_A, t.BODY_B]]:
                    if link > 0:
                        result[q] += self.answer(self.work, int(link), gradient)
        return result

    def answer(self, work: Array, link: int, gradient: Array) -> float:
        """The acceleration that a free body answers to a unit of an equation's multiplier with, along the equation."""
        force, torque, place = gradient[:3], gradient[3:6], gradient[6:9]
        (x, y, z), (u, v, w) = place - work[link, t.POSITION : t.POSITION + 3], force
        moment = torque + np.array((y * w - z * v, z * u - x * w, x * v - y * u))
        own = moment @ work[link, t.ROTATION : t.ROTATION + 9].reshape(3, 3)
        mass, inverse = self.inertia[link]
        return float(force @ force / mass + own @ inverse @ own)

    def spread(self, time: float, state: Array) -> tuple[Array, Array, Array]:
        """The columns whose rank counts, one for each row: L⁻¹ Kᵀ D^-½; and D, and L."""
        _, _, jacobian = self.equations_at(time, state)
        scales, L = self.scales(), self.metric(state)
        rows = jacobian / np.sqrt(np.where(scales > 0.0, scales, 1.0))[:, None]
        return scipy.linalg.solve_triangular(L, rows.T, lower=True), scales, L

    def independent(self, time: float, state: Array, most: int | None = None) -> tuple[list[int], Array]:
        """The rows that are independent at a state, the best first but drives last, and the scales of all.

        No more than `most` of them are of joints.
        """
        spread, scales, _ = self.spread(time, state)
        joints = [n for n, row in enumerate(self.rows) if not self.layout.equations[row].is_drive]
        drives = [n for n in range(len(self.rows)) if n not in joints]
        picked, basis = _independent_columns(spread[:, joints], most)
        others, _ = _independent_columns(spread[:, drives] - basis @ (basis.T @ spread[:, drives]))
        return [*(joints[n] for n in picked), *(drives[n] for n in others)], scales

    @property
    def tied(self) -> Closure:
        """The same without drives."""
        joints = tuple(row for row in self.rows if not self.layout.equations[row].is_drive)
        return self if joints == self.rows else replace(self, rows=joints)

    def near(self, time: float, state: Array) -> tuple[list[Array], int]:
        """Closed positions a little away from a state, and how many displacements the joints leave free up to there.

        Where branches of motion meet, only the square of a distance is open in directions that are free at first order,
        so that an iteration falls back to where they meet, as near as rounding lets it, and finds no position of any
        branch. So displacements are given along such directions, and kept: as many as can be, since there is one
        position then, and all that can move has moved.
        """
        free = self.tied.free(time, state, NEARLY_FREE)
        random, best = np.random.default_rng(1), ([], 0)
        too_many, count = free.shape[1] + 1, free.shape[1]
        while count > best[1]:
            found = self._moved_by(time, state, free, count, random)
            if found:
                best = found, count
            else:
                too_many = count
            count = (best[1] + too_many) // 2
        return best

    def _moved_by(self, time: float, state: Array, free: Array, count: int, random: np.random.Generator) -> list[Array]:
        """Closed positions a little away from a state, so many displacements of each given at random."""
        tied = self.tied
        found: list[Array] = []
        for _ in range(DIRECTIONS):
            kept = free @ np.linalg.qr(random.normal(size=(free.shape[1], count)))[0]
            start = kept @ random.normal(size=count)
            start *= NEAR / np.abs(start).max()
            closed = tied.closed(time, self.moved(state, start), kept)
            if closed is not None and 1.0 / AS_FAR < self.distance(time, state, closed) / NEAR < AS_FAR:
                found.append(closed)
            if len(found) == NEIGHBOURS:
                break
        return found

    def free(self, time: float, state: Array, tolerance: float = RANK_TOLERANCE) -> Array:
        """An orthonormal basis of the displacements that the rows leave free at first order (as `moved` takes them)."""
        spread, _, L = self.spread(time, state)
        U, values, _ = np.linalg.svd(spread)
        free = scipy.linalg.solve_triangular(L.T, U[:, np.count_nonzero(values > tolerance) :])
        return np.linalg.qr(free / self.units[:, None])[0]

    def distance(self, time: float, state: Array, other: Array) -> float:
        """How far bodies are moved or turned at the most between two states (sizes of the mechanism, or radians)."""
        poses: list[Array] = []
        for each in (state, other):
            self.equations_at(time, each)
            poses.append(self.work[self.mechanism.bodies[:, 0], t.POSITION : t.POSITION + 12].copy())
        apart = poses[1] - poses[0]
        apart[:, :3] /= self.size
        return float(np.abs(apart).max(initial=0.0))

    def moved(self, state: Array, step: Array) -> Array:
        """A state with its positions moved by small joint displacements (radians, or sizes of the mechanism)."""
        turn, moved = np.zeros((2 * self.layout.n_velocities, 1)), state.copy()
        turn[: len(step), 0] = self.units * step
        move(self.blocks, state, turn, moved)
        return moved

    def closed(self, time: float, state: Array, kept: Array | None = None) -> Array | None:
        """A state near this one whose positions fulfil all rows, if an iteration finds one.

        Steps are those of Levenberg and Marquardt, damped as much as is open: where rows depend on each other, what is
        open goes with the square of a distance as the damping then does, so that the iteration takes the same course at
        any distance. Where displacements along the columns of `kept` are to stay, it goes on as far as rounding allows.
        """
        allowed = np.eye(self.layout.n_velocities) if kept is None else scipy.linalg.null_space(kept.T)
        gap, jacobian = self._open(time, state)
        left, damping = [float(np.linalg.norm(gap))], DAMPING
        while True:
            shut = np.abs(gap).max(initial=0.0) <= SHUT
            if shut and (kept is None or left[-1] >= 0.5 * left[-2:][0]):
                return state
            if len(left) > MOST_STEPS or (len(left) > PATIENCE and left[-1] > 0.5 * left[-1 - PATIENCE]):
                return None
            damped = np.vstack((jacobian @ allowed, np.sqrt(damping * left[-1]) * np.eye(allowed.shape[1])))
            step = allowed @ np.linalg.lstsq(damped, np.pad(-gap, (0, allowed.shape[1])))[0]
            step *= min(1.0, LONGEST / max(float(np.abs(step).max(initial=0.0)), 1e-300))
            moved = self.moved(state, step)
            new_gap, new_jacobian = self._open(time, moved)
            if np.linalg.norm(new_gap) < left[-1]:
                state, gap, jacobian, damping = moved, new_gap, new_jacobian, max(LEAST_DAMPING, 0.25 * damping)
            else:
                damping *= 8.0
            left.append(float(np.linalg.norm(gap)))

    def _open(self, time: float, state: Array) -> tuple[Array, Array]:
        """Φ of all rows, and their Jacobian, where lengths are in sizes of the mechanism."""
        gap, _, jacobian = self.equations_at(time, state)
        rows = self.units_of_rows
        return gap / rows, jacobian * self.units / rows[:, None]

    def generic(self, time: float, state: Array) -> tuple[list[int], Array, Array]:
        """The rows that are independent at a state, or near it where it is singular; the scales, and where that is.

        Rank is never less near a position than in it, so that neighbours decide, which rounding cannot take for better
        than they are. Where joints hold what seems free at first order, even all of it, what such displacements open
        is rank, too, and positions that are not closed show it.
        """
        here = *self.independent(time, state), state
        if len(here[0]) == len(self.rows):  # no other position can have more than all
            return here
        near, freedoms = self.near(time, state)
        places = [(other, None) for other in near]
        for other in near or [state]:
            held = self.tied.free(time, other)
            if held.shape[1] > freedoms:
                opened = self.moved(other, NEAR * held.sum(axis=1) / np.abs(held.sum(axis=1)).max())
                places.append((opened, self.layout.n_velocities - freedoms))
        found = [(*self.independent(time, other, most), other) for other, most in places]
        best = max(found, key=lambda each: len(each[0]), default=here)
        return here if len(best[0]) == len(here[0]) else best

    # -------------------------------------------------------------------------------------- the choice

    def choose(self, time: float, state: Array) -> None:
        """Impose the rows that are independent at a state, or near it where it is singular."""
        picked, scales, usual = self.generic(time, state)
        self.chosen = tuple(sorted(self.rows[n] for n in picked))
        self.usual_least = max(self.usual_least, self._weakest(time, usual)[0])
        table, _ = lay_out(self.layout.mechanism, self.chosen, len(self.layout.equations))
        plan, loops = self.mechanism.plan, self.mechanism.loops
        plan[: len(table), 0] = table
        loops[list(self.rows), RETURN] = self.rate_of_return
        loops[list(self.rows), ROUNDING] = ROUNDING_OF_ONE * self.units_of_rows
        settings = loops[-1]
        settings[CLOSED], settings[ONCE] = CLOSED_TO * self.size, float(self.once)
        loops[list(self.rows), FLOOR] = REDUNDANT * scales
        self._know_usual_pivots(time, usual)
        self._know_usual_pivots(time, state)
        loops[list(self.rows), FLOOR] = np.maximum(REDUNDANT * scales, NOISE * loops[list(self.rows), USUAL])

    @property
    def redundant(self) -> tuple[int, ...]:
        """The rows that say nothing new, after `choose`."""
        return tuple(row for row in self.rows if row not in self.chosen)

    @property
    def mobility(self) -> int:
        """The degrees of freedom that the joints leave, after `choose`; drives are not counted."""
        drives = sum(self.layout.equations[row].is_drive for row in self.chosen)
        return self.layout.n_velocities - len(self.chosen) + drives

    def _know_usual_pivots(self, time: float, state: Array) -> None:
        """Keep the largest pivot of each imposed equation, and see whether a singular position is near."""
        loops, state = self.mechanism.loops, state.copy()
        find_pivots(self.mechanism, time, state, self.work, np.zeros((2 * self.layout.n_velocities, 1)))
        listed = self.mechanism.plan[self.mechanism.plan[CHOSEN, 0] :, 0][: len(self.chosen)]
        inverse = loops[: len(listed), INVERSE]
        pivots = np.divide(1.0, inverse, out=np.zeros(len(listed)), where=inverse > 0.0)
        loops[listed, USUAL] = np.maximum(loops[listed, USUAL], pivots)

    def _weakest(self, time: float, state: Array) -> tuple[float, int]:
        """How much of an imposed row the others lack at the least, and which one that is."""
        if not self.chosen:
            return 1.0, 0
        spread, _, _ = replace(self, rows=self.chosen).spread(time, state)
        R, order = scipy.linalg.qr(spread, mode="r", pivoting=True)
        pivots = np.abs(np.diag(R))
        return float(pivots[-1]), self.chosen[order[len(pivots) - 1]]

    def suspect(self, time: float, state: Array) -> str | None:
        """What is singular at a state in which a method fails, if anything is."""
        if not (self.chosen and np.isfinite(state).all()):
            return None
        least, row = self._weakest(time, state)
        if least > WEAK * self.usual_least:
            return None
        return depends(self.layout.equations[row])

    # -------------------------------------------------------------------------------------- the start

    def consistent(self, state: Array) -> Array:
        """The initial state with velocities that all equations allow, as near as can be to those given."""
        if not self.rows:
            return state
        gap, _, _ = self.equations_at(0.0, state)
        worst = int(np.argmax(np.abs(gap)))
        if abs(gap[worst]) > OPEN * self.size:
            word = self.layout.equations[self.rows[worst]]
            raise PoinsotError(
                f'{"drive" if word.is_drive else "joint"} "{word.owner}": it is open by {abs(gap[worst]):.3g} '
                f"{'rad' if word.turns else 'm'} ({word.direction}) at t = 0; give positions that fit, or close the "
                "mechanism with model.assemble()"
            )
        self._refuse_contradicting_drives(state)
        state, missed, fastest = self.completed(state)
        if missed.max(initial=0.0) > 1e-6 * max(fastest, 1e-12):
            raise PoinsotError(self._contradiction(missed, given_motions(self.layout)))
        self.choose(0.0, state)
        return state

    def _refuse_contradicting_drives(self, state: Array) -> None:
        """An error where no velocities at all are those that the drives ask for at t = 0."""
        rates = state[-self.layout.n_velocities :, 0]
        _, speed, jacobian = self.equations_at(0.0, state)
        targets = jacobian @ rates - speed
        missed = np.abs(jacobian @ np.linalg.lstsq(jacobian, targets, rcond=1e-10)[0] - targets)
        if missed.max(initial=0.0) <= 1e-6 * np.abs(targets).max(initial=0.0):
            return
        words = [self.layout.equations[row] for row in self.rows]
        worst = max((n for n, word in enumerate(words) if word.is_drive), key=lambda n: missed[n])
        freedoms = self.layout.n_velocities - len(self.tied.generic(0.0, state)[0])
        raise PoinsotError(
            f'drive "{words[worst].owner}": at t = 0 it asks for a velocity that joints and other drives do not allow, '
            f"by {missed[worst]:.3g} {'rad/s' if words[worst].turns else 'm/s'}; the joints leave "
            f"{freedoms or 'no'} degree{'' if freedoms == 1 else 's'} of freedom, and as many drives may be chosen"
        )

    def completed(self, state: Array) -> tuple[Array, Array, float]:
        """The state with velocities nearest to what rows and user ask for; what each misses, and the fastest of all."""
        n = self.layout.n_velocities
        _, speed, jacobian = self.equations_at(0.0, state)
        given = given_motions(self.layout)
        rows = np.vstack([jacobian, *(J for _, J, _ in given)])
        rates = state[-n:, 0]
        targets = np.concatenate([jacobian @ rates - speed, *(target for *_, target in given)])
        rates = rates + np.linalg.lstsq(rows, targets - rows @ rates, rcond=1e-10)[0]
        missed = np.abs(rows @ rates - targets)
        fastest = max(float(np.abs(targets).max(initial=0.0)), float(np.abs(rates).max(initial=0.0)))
        state = state.copy()
        state[-n:, 0] = rates
        return state, missed, fastest

    def _contradiction(self, missed: Array, given: Any) -> str:
        worst, count = int(np.argmax(missed)), len(self.rows)
        if worst < count:
            word = self.layout.equations[self.rows[worst]]
            return (
                f'{"drive" if word.is_drive else "joint"} "{word.owner}": the initial velocities contradict it by '
                f"{missed[worst]:.3g} ({word.direction}); give velocities that fit, or fewer of them"
            )
        bodies = [body.name for body, J, _ in given for _ in range(len(J))]
        return (
            f'body "{bodies[worst - count]}": its initial velocity contradicts the joints by {missed[worst]:.3g} '
            "(m/s or rad/s); leave out what follows from the joints, or give velocities that fit them"
        )

    def diagnose(self, time: float, state: Array) -> str:
        """Why positions cannot be closed."""
        gaps, _, _ = self.equations_at(time, state)
        return blame(self.layout, self.rows, self.redundant, gaps, time)


def depends(word: Equation) -> str:
    """What a singular position that is near has to do with this equation."""
    return (
        f'a singular position is near, where {"drive" if word.is_drive else "joint"} "{word.owner}" '
        f"({word.direction}) depends on the other equations: look for a dead centre or a locked drive"
    )


def blame(layout: Layout, rows: Sequence[int], redundant: Sequence[int], gaps: Array, time: float) -> str:
    """Why positions cannot be closed, by the equation that is violated most; gaps are those of some rows."""
    worst = int(np.argmax(np.abs(gaps)))
    word = layout.equations[rows[worst]]
    if rows[worst] in redundant:
        drives = [layout.equations[row].owner for row in redundant if layout.equations[row].is_drive]
        blamed = f'drive "{drives[0]}" contradicts' if drives else f'joint "{word.owner}" comes to contradict'
        return (
            f"{blamed} the other joints and drives, by {abs(gaps[worst]):.3g} {'rad' if word.turns else 'm'} at "
            f"t = {time:.9g} s: it said nothing new before; leave it out, or make it fit"
        )
    return (
        f'{"drive" if word.is_drive else "joint"} "{word.owner}" cannot be kept closed ({word.direction}): the '
        "mechanism has reached a position that it cannot move on from, or in which its motion is not determined; "
        "look for a dead centre, a locked drive, or take a smaller step"
    )


def _independent_columns(columns: Array, most: int | None = None) -> tuple[list[int], Array]:
    """Which columns, `most` at the most, are independent, the best first; an orthonormal basis of what they span."""
    if not columns.size:
        return [], columns[:, :0]
    Q, R, order = scipy.linalg.qr(columns, mode="economic", pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(R)) > RANK_TOLERANCE))
    return [int(n) for n in order[:rank][:most]], Q[:, :rank][:, :most]


def _units(mechanism: t.Mechanism, n_velocities: int, size: float) -> Array:
    """What a displacement of each joint coordinate is measured by: 1 where it turns, the size where it slides."""
    units = np.ones(n_velocities)
    for link, frame in zip(mechanism.links[1:], mechanism.frames[1:], strict=True):
        first = link[t.MOTION]
        if link[t.KIND] == t.FREE:
            units[first + 3 : first + 6] = size
        elif link[t.KIND] == t.ONE_AXIS and frame[t.TURN] == 0.0:
            units[first] = size
    return units


def _with_inertia(mechanism: t.Mechanism, size: float) -> t.Mechanism:
    """The same mechanism, its points and thin rods with some inertia about every axis, so that only rank counts."""
    bodies, frames = mechanism.body_frames.copy(), mechanism.frames.copy()
    for body, (link,) in zip(bodies, mechanism.bodies, strict=True):
        least, _, most = np.linalg.eigvalsh(full(body[t.BODY_INERTIA : t.BODY_INERTIA + 6]))
        if least <= 1e-9 * most:
            for table, column in ((body, t.BODY_INERTIA), (frames[link], t.INERTIA)):
                table[column : column + 3] += body[t.BODY_MASS] * (GYRATION * size) ** 2
    return mechanism._replace(body_frames=bodies, frames=frames)
