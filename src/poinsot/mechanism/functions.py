"""Functions of time that a user gave as a number, an expression or a Python function, evaluated in kernels.

An expression is a postfix program run on a small stack in the last row of `work`: it needs no compilation, so that a
model file starts at once. A Python function is called through its address.
"""

from numba import float64, int64, types

from poinsot._jit import kernel, pointer_call, routine
from poinsot.scalars import (
    BorrowedType,
    absolute,
    acos,
    asin,
    atan,
    atan2,
    cos,
    exp,
    log,
    power,
    select,
    sin,
    sqrt,
    tan,
)

# Columns of `functions`: the kind; the first row of its program in `function_values` and its length; the address of a
# Python function, or of `run_program`, which only models with expressions compile.
FUNCTION_KIND, START, STEPS, ADDRESS = range(4)
FUNCTION_COLUMNS = 4
CONSTANT, EXPRESSION, POINTER, VECTOR_POINTER = range(4)
# Columns of `function_values`: one row per operation of a program.
OPERATION, OPERAND = range(2)

OPERATIONS = (
    "number", "t", "position", "velocity", "add", "sub", "mul", "div", "neg", "power", "sin", "cos", "tan", "asin",
    "acos", "atan", "atan2", "exp", "log", "sqrt", "abs", "lt", "le", "gt", "ge", "eq", "ne", "where", "min", "max",
)  # fmt: skip
(
    NUMBER, T, POSITION, VELOCITY, ADD, SUB, MUL, DIV, NEG, POWER, SIN, COS, TAN, ASIN,
    ACOS, ATAN, ATAN2, EXP, LOG, SQRT, ABS, LT, LE, GT, GE, EQ, NE, WHERE, MIN, MAX,
) = range(30)  # fmt: skip


def program_signature(scalar):
    """The signature of `run_program` where the mechanism's scalar is this one."""
    return scalar(
        BorrowedType(float64), int64, int64, float64, scalar, scalar, BorrowedType(scalar)
    )  # values, first, steps, t, position, velocity, work


_call = pointer_call(float64(float64))
_run = pointer_call(lambda values, first, steps, t, position, *rest: program_signature(position))
_call_vector = pointer_call(types.UniTuple(float64, 3)(float64))


@kernel
def function_value(mechanism, index, t, position, velocity, work):
    """The value at time t; position and velocity are those of the joint that the function belongs to."""
    functions = mechanism.functions
    kind = functions[index, FUNCTION_KIND]
    zero = 0.0 * position
    if kind == CONSTANT:
        return zero + mechanism.function_values[functions[index, START], OPERAND]
    if kind == POINTER:
        return zero + _call(functions[index, ADDRESS], t)
    first, steps = functions[index, START], functions[index, STEPS]
    values = mechanism.function_values
    return _run(functions[index, ADDRESS], values, first, steps, t, position, velocity, work)


@kernel
def vector_value(mechanism, index, t, work):
    """A vector at time t: one Python function that returns three numbers, or three functions in a row."""
    still = 0.0 * work[0, 0]
    if mechanism.functions[index, FUNCTION_KIND] == VECTOR_POINTER:
        value = _call_vector(mechanism.functions[index, ADDRESS], t)
        return still + value[0], still + value[1], still + value[2]
    return (
        function_value(mechanism, index, t, still, still, work),
        function_value(mechanism, index + 1, t, still, still, work),
        function_value(mechanism, index + 2, t, still, still, work),
    )


@routine
def run_program(values, first, steps, t, position, velocity, work):
    """Run a postfix program; `top` is the stack's next free column."""
    last, top = work.shape[0] - 1, 0
    for row in range(first, first + steps):
        operation = int(values[row, OPERATION])
        if operation <= VELOCITY:
            if operation == NUMBER:
                work[last, top] = values[row, OPERAND]
            elif operation == T:
                work[last, top] = t
            elif operation == POSITION:
                work[last, top] = position
            else:
                work[last, top] = velocity
            top += 1
        elif operation in (NEG, SIN, COS, TAN, ASIN, ACOS, ATAN, EXP, LOG, SQRT, ABS):
            work[last, top - 1] = unary(operation, work[last, top - 1])
        elif operation == WHERE:
            top -= 2
            chosen = select(work[last, top - 1] != 0.0, work[last, top], work[last, top + 1])
            work[last, top - 1] = chosen
        else:
            top -= 1
            work[last, top - 1] = binary(operation, work[last, top - 1], work[last, top])
    return work[last, 0]


@kernel
def unary(operation, x):
    """An operation on the top of the stack."""
    if operation == NEG:
        return -x
    if operation == SIN:
        return sin(x)
    if operation == COS:
        return cos(x)
    if operation == TAN:
        return tan(x)
    if operation == ASIN:
        return asin(x)
    if operation == ACOS:
        return acos(x)
    if operation == ATAN:
        return atan(x)
    if operation == EXP:
        return exp(x)
    if operation == LOG:
        return log(x)
    if operation == SQRT:
        return sqrt(x)
    return absolute(x)


@kernel
def binary(operation, x, y):
    """An operation on the two topmost entries of the stack; comparisons give 1 or 0."""
    if operation == ADD:
        return x + y
    if operation == SUB:
        return x - y
    if operation == MUL:
        return x * y
    if operation == DIV:
        return x / y
    if operation == POWER:
        return power(x, y)
    if operation == ATAN2:
        return atan2(x, y)
    zero = 0.0 * x
    if operation == LT:
        return select(x < y, zero + 1.0, zero)
    if operation == LE:
        return select(x <= y, zero + 1.0, zero)
    if operation == GT:
        return select(x > y, zero + 1.0, zero)
    if operation == GE:
        return select(x >= y, zero + 1.0, zero)
    if operation == EQ:
        return select(x == y, zero + 1.0, zero)
    if operation == NE:
        return select(x != y, zero + 1.0, zero)
    if operation == MIN:
        return select(x < y, x, y)
    return select(x > y, x, y)
