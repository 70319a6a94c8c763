"""The plan of `qtz`: where its kernels find everything in the mechanism's tables.

`loops` holds scalars that carry derivatives where the state does, `chart` plain numbers that stay as they are from one
decomposition of the Jacobian to the next. A chart is a choice of independent equations and of independent velocities:
the first columns of P, and Q2. There are two, one that the motion is described in, and one of the moment that is
reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.formulations.closure import CLOSED_TO, GYRATION, ROUNDING_OF_ONE
from poinsot.formulations.plan import way_of
from poinsot.mechanism import tables as t
from poinsot.mechanism.absolute import MOTION
from poinsot.mechanism.build import Layout, full
from poinsot.mechanism.constraints import EQUATION_OUTPUTS
from poinsot.scalars import WIDTH

Array = NDArray[np.float64]

# Two charts: of the motion, and of a moment that is reported.
MOVING, REPORTED = range(2)
# How far below its usual value the rank may be where it is reported, in a singular position.
LOST = 6

# The head of `plan`: numbers of velocities, of equations, of independent ones, of freedoms in the motion and in the
# chart that was factorised last, of rows of the state; the variant; whether positions are brought back after a step.
# Where lists begin: of the independent equations of both charts, their numbers, the order of the last decomposition,
# where the ends of each equation begin, the counted angles (and how many). In `loops`: where bodies are in the chart,
# the matrix in factors, right-hand sides, momenta, the reduced inertia, which rows the elimination exchanges and where
# that puts them, the status. In `chart`: bodies, B of both charts, scales of equations, the decomposition with room
# beside, Q2, a column, accelerations of two moments, settings.
(
    VELOCITIES, EQUATIONS, RANK, FREE, FREED, STATES, VARIANT, PROJECTS,
    CHOSEN, RANKS, ORDER, FIRST_END, COUNTERS, COUNTED,
    PLACES, UPPER, LOWER, SOLUTIONS, RIGHT, MOMENTA, REDUCED, PIVOTS, STATUS,
    BASES, FREEDOMS, SCALES, DECOMPOSED, SPARE, KERNEL, COLUMN, KEPT, SETTINGS, HEAD,
) = range(33)  # fmt: skip
# Of each end of an equation: the link of the body, its number, which term, whether it is b (1) or a (-1).
END = 4
# Columns of a body's row in `chart`: where it was at the last decomposition, and the roots of what makes its turning
# and its motion comparable, inverted.
ORIENTATION, CENTER, PER_TURN, PER_MOTION = 0, 9, 12, 13
BASE_COLUMNS = 14
# Rows of scales of the equations: in the metric of the masses, one of each chart, by what they exert in their
# joints, and the largest |Φ| that is rounding.
IN_JOINTS, ROUNDED = 2, 3
# Columns of the settings in `chart`: which decomposition it is, the largest |Φ| that counts as closed, the mechanism's
# size, the rate of return, the least pivot of the elimination right after the decomposition, the largest that the last
# pivot of a decomposition has been, whether the last decomposition was refused, whether a singular
# position is near, the times at which accelerations were kept, whether a new decomposition
# is wanted, the largest that the least pivot right after a decomposition has been.
NUMBER, CLOSED, SIZE, RETURN, USUAL, LAST_PIVOT, DECLINED, SINGULAR_NEAR, BEFORE, LATEST, WORN, LARGEST = range(12)
# Columns of the status in `loops`: for which decomposition the elimination was last made, its least pivot, and for
# which decomposition its order of rows is known.
FACTORED_FOR, LEAST, ORDERED_FOR = range(3)
# The column of an equation's row in `loops` that holds its multiplier.
MULTIPLIER = EQUATION_OUTPUTS

VARIANTS = ("minimal", "independent-accelerations", "reduced")
MINIMAL, ACCELERATIONS, WHOLE = range(3)


def with_plan(
    layout: Layout,
    mechanism: t.Mechanism,
    rank: int,
    counters: Sequence[tuple[int, int]],
    n_states: int,
    chosen: Mapping[str, Any],
    size: float,
) -> t.Mechanism:
    """The mechanism with its plan and tables, laid out for so many independent equations."""
    bodies, rows = len(layout.bodies), len(layout.equations)
    n, variant = MOTION * bodies, VARIANTS.index(chosen.get("qtz", VARIANTS[0]))
    free = n - rank
    body_of_link = {int(link): b for b, link in enumerate(mechanism.bodies[:, 0])}

    table = [0] * HEAD
    table[VELOCITIES], table[EQUATIONS], table[RANK], table[FREE] = n, rows, rank, free
    table[STATES], table[VARIANT] = n_states, variant
    table[PROJECTS] = int(chosen.get("stabilize", "projection") == "projection")
    for place, length in ((CHOSEN, 2 * rank), (RANKS, 2), (ORDER, rows)):
        table[place] = len(table)
        table += [0] * length
    table[table[RANKS] + MOVING] = rank
    table[FIRST_END] = len(table)
    table += [0] * (rows + 1)
    for e in range(rows):
        table[table[FIRST_END] + e] = len(table)
        for link, term, end in way_of(mechanism, e).ends:
            if link in body_of_link:
                table += [link, body_of_link[link], term, 2 * end - 1]
    table[table[FIRST_END] + rows] = len(table)
    table[COUNTERS], table[COUNTED] = len(table), len(counters)
    table += [number for pair in counters for number in pair]

    freest = free + min(LOST, rank)
    height = rows
    for place, length in (
        (PLACES, bodies), (UPPER, n), (LOWER, n), (SOLUTIONS, n), (RIGHT, n), (MOMENTA, n), (REDUCED, freest),
        (PIVOTS, 2), (STATUS, 1),
    ):  # fmt: skip
        table[place], height = height, height + length
    loops = np.zeros((height, padded(max(n, freest + 1, MULTIPLIER + 1))))
    loops[table[STATUS], [FACTORED_FOR, ORDERED_FOR]] = -1.0
    height = 0
    for place, length in (
        (BASES, bodies), (FREEDOMS, 2 * freest), (SCALES, 4), (DECOMPOSED, n), (SPARE, 2), (KERNEL, n),
        (COLUMN, max(n, rows)), (KEPT, 2), (SETTINGS, 1),
    ):  # fmt: skip
        table[place], height = height, height + length
    chart = np.zeros((height, padded(max(n, rows, BASE_COLUMNS))))
    for base, body in zip(chart[:bodies], mechanism.body_frames, strict=True):
        mass, moments = body[t.BODY_MASS], np.trace(full(body[t.BODY_INERTIA : t.BODY_INERTIA + 6])) / 3.0
        base[PER_TURN] = (moments if moments > 0.0 else mass * (GYRATION * size) ** 2) ** -0.5
        base[PER_MOTION] = mass**-0.5
    units = [1.0 if word.turns else size for word in layout.equations]
    chart[table[SCALES] + ROUNDED, :rows] = ROUNDING_OF_ONE * np.array(units)
    settings = chart[table[SETTINGS]]
    settings[BEFORE] = settings[LATEST] = -1.0
    settings[CLOSED], settings[SIZE] = CLOSED_TO * size, size
    if chosen.get("stabilize") == "baumgarte":
        settings[RETURN] = chosen["rate_of_return"]
    return mechanism._replace(plan=np.array(table, np.int64)[:, None], loops=loops, chart=chart)


def padded(columns: int) -> int:
    """So many columns that rows are whole Packs."""
    return -(-columns // WIDTH) * WIDTH
