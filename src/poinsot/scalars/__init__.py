"""The scalars of the kernels: float64 (one system), Pack (WIDTH systems), Dual (one system and WIDTH derivatives).

A kernel reads and writes its state through `view[i, k]` and does plain arithmetic; the view that it is handed decides
the scalar. The functions here, and those of math and NumPy in user code, accept all three, and `Pack(x)` and
`Dual(value, partials)` make them; `slope` and `curvature` differentiate functions of one number. Greatest errors in
units in the last place: sqrt 0.5; sin, cos, exp, log 1; atan2, atan, power 2; tan, asin, acos 2.5; hyperbolic
functions 3.
"""

from poinsot._jit import WIDTH
from poinsot.scalars.borrowed import BorrowedType, borrow, lend, part, point, widen
from poinsot.scalars.comparisons import absolute, floor, maximum, minimum, sign
from poinsot.scalars.derivatives import curvature, slope
from poinsot.scalars.native import DualType, MaskType, PackType, dual, mask, pack
from poinsot.scalars.plain import Dual, Mask, Pack
from poinsot.scalars.powers import cosh, exp, expm1, log, power, sinh, sqrt, tanh
from poinsot.scalars.primitives import partials_of, select, value_of
from poinsot.scalars.trigonometry import acos, asin, atan, atan2, cos, sin, sin_cos, tan
from poinsot.scalars.views import Duals, Packs, ViewType, duals, floats, packs

__all__ = [
    "WIDTH",
    "BorrowedType",
    "Dual",
    "DualType",
    "Duals",
    "Mask",
    "MaskType",
    "Pack",
    "PackType",
    "Packs",
    "ViewType",
    "absolute",
    "acos",
    "asin",
    "atan",
    "atan2",
    "borrow",
    "cos",
    "cosh",
    "curvature",
    "dual",
    "duals",
    "exp",
    "expm1",
    "floats",
    "floor",
    "lend",
    "log",
    "mask",
    "maximum",
    "minimum",
    "pack",
    "packs",
    "part",
    "partials_of",
    "point",
    "power",
    "select",
    "sign",
    "sin",
    "sin_cos",
    "sinh",
    "slope",
    "sqrt",
    "tan",
    "tanh",
    "value_of",
    "widen",
]
