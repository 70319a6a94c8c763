"""Butcher tableaus of the explicit methods, with the weights of their error estimates and dense outputs.

Each method ends with the derivative at the new point, which is the next step's first stage; stages after that one are
evaluated only where a step is interpolated. The numbers of dopri5 and dop853 are those of Hairer, Nørsett and Wanner,
Solving Ordinary Differential Equations I, II.5 and II.6; tests check their order conditions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method.

    `errors` has one row per error estimate, none where steps are fixed. `dense[i, k]` is the coefficient of
    theta^(k + 1) in the weight of stage i at the fraction theta of a step.
    """

    a: Array
    c: Array
    stages: int  # up to and with the one at the new point
    order: int
    errors: Array
    error_order: int
    dense: Array


def _matrix(rows: list[list[float]], columns: int) -> Array:
    matrix = np.zeros((len(rows), columns))
    for i, row in enumerate(rows):
        matrix[i, : len(row)] = row
    return matrix


def _tableau(
    rows: list[list[float]], stages: int, order: int, errors: list[list[float]], error_order: int, dense: Array
) -> Tableau:
    a = _matrix(rows, len(rows))
    return Tableau(a, a.sum(axis=1), stages, order, _matrix(errors, len(rows)), error_order, dense)


def _weights(polynomials: list[Polynomial], degree: int) -> Array:
    """The coefficients of theta ... theta^degree of each stage's weight."""
    return np.array([np.pad(p.coef, (0, degree + 1 - p.coef.size))[1:] for p in polynomials])


_THETA = Polynomial([0.0, 1.0])


def _hermite(b: list[float]) -> Array:
    """The cubic through both ends of a step with their slopes: stage 0 is at the old, the last at the new point."""
    weights = [weight * (3.0 * _THETA**2 - 2.0 * _THETA**3) for weight in [*b, 0.0]]
    weights[0] += _THETA - 2.0 * _THETA**2 + _THETA**3
    weights[-1] += _THETA**3 - _THETA**2
    return _weights(weights, 3)


_RK4_WEIGHTS = [1 / 6, 1 / 3, 1 / 3, 1 / 6]
RK4 = _tableau([[], [1 / 2], [0.0, 1 / 2], [0.0, 0.0, 1.0], _RK4_WEIGHTS], 5, 4, [], 0, _hermite(_RK4_WEIGHTS))

_DOPRI5_WEIGHTS = [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
_DOPRI5_ROWS = [
    [],
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    _DOPRI5_WEIGHTS,
]
_DOPRI5_ERROR = [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]
# The quartic of II.6: the Hermite cubic and this multiple of theta^2 (1 - theta)^2.
_DOPRI5_QUARTIC = [
    -12715105075 / 11282082432,
    0.0,
    87487479700 / 32700410799,
    -10690763975 / 1880347072,
    701980252875 / 199316789632,
    -1453857185 / 822651844,
    69997945 / 29380423,
]


def _dopri5_dense() -> Array:
    quartic = [weight * _THETA**2 * (1.0 - _THETA) ** 2 for weight in _DOPRI5_QUARTIC]
    return np.pad(_hermite(_DOPRI5_WEIGHTS), ((0, 0), (0, 1))) + _weights(quartic, 4)


DOPRI5 = _tableau(_DOPRI5_ROWS, 7, 5, [_DOPRI5_ERROR], 4, _dopri5_dense())

_DOP853_ROWS: list[list[float]] = [
    [],
    [
        0.05260015195876773,
    ],
    [
        0.0197250569845379,
        0.0591751709536137,
    ],
    [
        0.02958758547680685,
        0.0,
        0.08876275643042054,
    ],
    [
        0.2413651341592667,
        0.0,
        -0.8845494793282861,
        0.924834003261792,
    ],
    [
        0.037037037037037035,
        0.0,
        0.0,
        0.17082860872947386,
        0.12546768756682242,
    ],
    [
        0.037109375,
        0.0,
        0.0,
        0.17025221101954405,
        0.06021653898045596,
        -0.017578125,
    ],
    [
        0.03709200011850479,
        0.0,
        0.0,
        0.17038392571223998,
        0.10726203044637328,
        -0.015319437748624402,
        0.008273789163814023,
    ],
    [
        0.6241109587160757,
        0.0,
        0.0,
        -3.3608926294469414,
        -0.868219346841726,
        27.59209969944671,
        20.154067550477894,
        -43.48988418106996,
    ],
    [
        0.47766253643826434,
        0.0,
        0.0,
        -2.4881146199716677,
        -0.590290826836843,
        21.230051448181193,
        15.279233632882423,
        -33.28821096898486,
        -0.020331201708508627,
    ],
    [
        -0.9371424300859873,
        0.0,
        0.0,
        5.186372428844064,
        1.0914373489967295,
        -8.149787010746927,
        -18.52006565999696,
        22.739487099350505,
        2.4936055526796523,
        -3.0467644718982196,
    ],
    [
        2.273310147516538,
        0.0,
        0.0,
        -10.53449546673725,
        -2.0008720582248625,
        -17.9589318631188,
        27.94888452941996,
        -2.8589982771350235,
        -8.87285693353063,
        12.360567175794303,
        0.6433927460157636,
    ],
    [
        0.054293734116568765,
        0.0,
        0.0,
        0.0,
        0.0,
        4.450312892752409,
        1.8915178993145003,
        -5.801203960010585,
        0.3111643669578199,
        -0.1521609496625161,
        0.20136540080403034,
        0.04471061572777259,
    ],
    [
        0.056167502283047954,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.25350021021662483,
        -0.2462390374708025,
        -0.12419142326381637,
        0.15329179827876568,
        0.00820105229563469,
        0.007567897660545699,
        -0.008298,
    ],
    [
        0.03183464816350214,
        0.0,
        0.0,
        0.0,
        0.0,
        0.028300909672366776,
        0.053541988307438566,
        -0.05492374857139099,
        0.0,
        0.0,
        -0.00010834732869724932,
        0.0003825710908356584,
        -0.00034046500868740456,
        0.1413124436746325,
    ],
    [
        -0.42889630158379194,
        0.0,
        0.0,
        0.0,
        0.0,
        -4.697621415361164,
        7.683421196062599,
        4.06898981839711,
        0.3567271874552811,
        0.0,
        0.0,
        0.0,
        -0.0013990241651590145,
        2.9475147891527724,
        -9.15095847217987,
    ],
]
# The estimates of order 5 and of order 3, which are used together.
_DOP853_ERRORS = [
    [
        0.01312004499419488,
        0.0,
        0.0,
        0.0,
        0.0,
        -1.2251564463762044,
        -0.4957589496572502,
        1.6643771824549864,
        -0.35032884874997366,
        0.3341791187130175,
        0.08192320648511571,
        -0.022355307863886294,
        0.0,
    ],
    [
        -0.18980075407240762,
        0.0,
        0.0,
        0.0,
        0.0,
        4.450312892752409,
        1.8915178993145003,
        -5.801203960010585,
        -0.4226823213237919,
        -0.1521609496625161,
        0.20136540080403034,
        0.02265179219836082,
        0.0,
    ],
]
_DOP853_DENSE = [
    [
        -8.428938276109013,
        0.0,
        0.0,
        0.0,
        0.0,
        0.5667149535193777,
        -3.0689499459498917,
        2.38466765651207,
        2.117034582445028,
        -0.871391583777973,
        2.2404374302607883,
        0.6315787787694688,
        -0.08899033645133331,
        18.148505520854727,
        -9.194632392478356,
        -4.436036387594894,
    ],
    [
        10.427508642579134,
        0.0,
        0.0,
        0.0,
        0.0,
        242.28349177525817,
        165.20045171727028,
        -374.5467547226902,
        -22.113666853125306,
        7.733432668472264,
        -30.674084731089398,
        -9.332130526430229,
        15.697238121770845,
        -31.139403219565178,
        -9.35292435884448,
        35.81684148639408,
    ],
    [
        19.985053242002433,
        0.0,
        0.0,
        0.0,
        0.0,
        -387.0373087493518,
        -189.17813819516758,
        527.8081592054236,
        -11.57390253995963,
        6.8812326946963,
        -1.0006050966910838,
        0.7777137798053443,
        -2.778205752353508,
        -60.19669523126412,
        84.32040550667716,
        11.99229113618279,
    ],
    [
        -25.69393346270375,
        0.0,
        0.0,
        0.0,
        0.0,
        -154.18974869023643,
        -231.5293791760455,
        357.6391179106141,
        93.40532418362432,
        -37.45832313645163,
        104.0996495089623,
        29.8402934266605,
        -43.53345659001114,
        96.32455395918828,
        -39.17726167561544,
        -149.72683625798564,
    ],
]


def _dop853_dense() -> Array:
    """The polynomial of degree 7 of II.6, nested in theta and 1 - theta, in powers of theta."""
    size, b, rest = len(_DOP853_ROWS), _DOP853_ROWS[12], 1.0 - _THETA
    start, end = np.eye(size)[0], np.eye(size)[12]
    step = np.pad(b, (0, size - len(b)))
    levels = [step, start - step, 2.0 * step - start - end, *_matrix(_DOP853_DENSE, size)]
    factors = [_THETA, rest] * 4
    weights: list[Polynomial] = []
    for stage in range(size):
        weight, product = Polynomial([0.0]), Polynomial([1.0])
        for level, factor in zip(levels, factors, strict=False):
            product = product * factor
            weight = weight + float(level[stage]) * product
        weights.append(weight)
    return _weights(weights, 7)


DOP853 = _tableau(_DOP853_ROWS, 13, 8, _DOP853_ERRORS, 7, _dop853_dense())
