"""Expressions that users write as strings: functions of time, such as "100*sin(2*t)", and of outputs, for events.

The string is parsed, never evaluated as Python: what is not on the short list below is an error that shows where.
The result is a postfix program, a tuple of (operation, operand), which kernels run on any scalar type.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from poinsot.errors import PoinsotError, nearest
from poinsot.model import quantities
from poinsot.model.quantities import Quantities

Program = tuple[tuple[str, float | None], ...]

LONGEST_TEXT = 1000
DEEPEST_NESTING = 50
LONGEST_PROGRAM = 2000
# How many intermediate results kernels keep room for.
DEEPEST_STACK = 48
LARGEST_EXPONENT = 100.0

CONSTANTS = {"pi": math.pi, "e": math.e}
ARITHMETIC: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "power",
}
COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
# Functions and how many arguments they take; min and max take two or more.
FUNCTIONS = {
    "sin": 1,
    "cos": 1,
    "tan": 1,
    "asin": 1,
    "acos": 1,
    "atan": 1,
    "atan2": 2,
    "exp": 1,
    "log": 1,
    "sqrt": 1,
    "abs": 1,
    "min": 2,
    "max": 2,
    "where": 3,
}
_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "power": np.power,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "where": np.where,
}


def parse(where: str, text: str, variables: tuple[str, ...] = ("t",), outputs: Quantities | None = None) -> Program:
    """Return the postfix program of an expression in the given variables and, where there are any, outputs.

    Conditions (comparisons, `and`, `or`, `not`) stand only in the first argument of `where`. They are the numbers
    1 and 0, so that `and` is a product, `or` a maximum, and `not` a comparison with 0.
    """
    text = text.strip()
    if not text:
        raise PoinsotError(f'{where}: the expression is empty; give one, such as "2*sin(t)", or a number')
    if len(text) > LONGEST_TEXT:
        raise PoinsotError(
            f"{where}: the expression has {len(text)} characters, more than {LONGEST_TEXT}; "
            "write a Python function of t instead"
        )
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        # Where the text ends too early, Python gives no column.
        column = error.offset if isinstance(error, SyntaxError) and error.offset else len(text)
        raise PoinsotError(
            f'{where}: "{text}" is not an expression (column {column}: "{text[column - 1 :][:20]}"); '
            f"{_remedy(text, variables)}"
        ) from None
    writer = _Writer(where, text, variables, outputs)
    writer.value(tree, 0)
    return tuple(writer.program)


def evaluate(
    program: Program, t: float, position: float = 0.0, velocity: float = 0.0, outputs: Sequence[float] = ()
) -> float:
    """Return the value of a program: what kernels compute, in plain Python (1/0 is inf, sqrt(-1) is nan)."""
    variables = {"t": t, "position": position, "velocity": velocity}
    stack: list[np.float64] = []
    with np.errstate(all="ignore"):
        for operation, operand in program:
            if operation == "number":
                stack.append(np.float64(cast("float", operand)))
            elif operation == "output":
                stack.append(np.float64(outputs[int(cast("float", operand))]))
            elif operation in variables:
                stack.append(np.float64(variables[operation]))
            else:
                count = arguments(operation)
                stack[-count:] = [np.float64(_OPERATIONS[operation](*stack[-count:]))]
    return float(stack[0])


def arguments(operation: str) -> int:
    """How many entries of the stack an operation takes."""
    if operation in ("number", "output", "t", "position", "velocity"):
        return 0
    if operation in ("add", "sub", "mul", "div", "power", *COMPARISONS.values()):
        return 2
    return FUNCTIONS.get(operation, 1)


def _remedy(text: str, variables: tuple[str, ...]) -> str:
    return f"write it as in Python, in {_join(variables)}, with ** for powers" + (" (not ^)" if "^" in text else "")


def _allowed(name: str, known: tuple[str, ...]) -> str:
    everything = ", ".join(known)
    near = nearest(name, known)
    return f"{near} (allowed: {everything})" if near else f"allowed: {everything}"


def _join(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


class _Writer:
    """Walks an expression's tree and writes its program."""

    def __init__(self, where: str, text: str, variables: tuple[str, ...], outputs: Quantities | None) -> None:
        self.where = where
        self.text = text
        self.variables = variables
        self.outputs = outputs
        self.program: list[tuple[str, float | None]] = []
        self.height = 0

    def emit(self, operation: str, operand: float | None = None) -> None:
        self.height += 1 - arguments(operation)
        if self.height > DEEPEST_STACK or len(self.program) == LONGEST_PROGRAM:
            raise PoinsotError(f"{self.where}: the expression is too complicated; write a Python function of t instead")
        self.program.append((operation, operand))

    def error(self, node: ast.expr, what: str, remedy: str) -> PoinsotError:
        line = self.text.splitlines()[node.lineno - 1]
        column = len(line.encode()[: node.col_offset].decode()) + 1
        part = ast.get_source_segment(self.text, node) or ""
        return PoinsotError(f'{self.where}: in "{self.text}", column {column}: "{part}" {what}; {remedy}')

    def descend(self, node: ast.expr, depth: int) -> int:
        if depth == DEEPEST_NESTING:
            raise self.error(
                node, f"is nested more than {DEEPEST_NESTING} deep", "write a Python function of t instead"
            )
        return depth + 1

    def value(self, node: ast.expr, depth: int) -> None:
        """Write a number-valued expression."""
        depth = self.descend(node, depth)
        if self.outputs is not None and (place := self.outputs.place(node, self.error)) is not None:
            self.emit("output", float(place))
            return
        match node:
            case ast.Constant(value=bool() | complex() | str() | bytes() | None):
                raise self.error(node, "is not a real number", "write real numbers only")
            case ast.Constant(value=int() | float() as number):
                self.number(node, number)
            case ast.Name(id=name):
                self.name(node, name)
            case ast.BinOp():
                self.arithmetic(node, depth)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                self.value(operand, depth)
                self.emit("neg")
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                self.value(operand, depth)
            case ast.Call():
                self.call(node, depth)
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                raise self.error(node, "is a condition, not a number", "put it into where(condition, value, other)")
            case ast.IfExp():
                raise self.error(node, "is not allowed", "write where(condition, value, other)")
            case ast.Attribute(attr=name):
                raise self.error(node, "is not allowed", f'write "{name}" alone')
            case _:
                raise self.error(node, "is not allowed", _remedy(self.text, self.variables))

    def number(self, node: ast.expr, number: float) -> None:
        try:
            value = float(number)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise self.error(node, "is too large", "numbers go up to 1.8e308")
        self.emit("number", value)

    def name(self, node: ast.expr, name: str) -> None:
        if name in self.variables:
            self.emit(name)
        elif name in CONSTANTS:
            self.emit("number", CONSTANTS[name])
        elif name in FUNCTIONS:
            raise self.error(node, "is a function without arguments", f"write {name}(...)")
        else:
            outputs = () if self.outputs is None else quantities.NAMES
            raise self.error(node, "is not known", _allowed(name, (*self.variables, *outputs, *CONSTANTS, *FUNCTIONS)))

    def arithmetic(self, node: ast.BinOp, depth: int) -> None:
        # Sums and products lean to the left: a loop there, so that only real nesting counts as depth.
        first: ast.expr = node
        pending: list[tuple[ast.BinOp, str]] = []
        while isinstance(first, ast.BinOp):
            operation = ARITHMETIC.get(type(first.op))
            if operation is None:
                raise self.error(first, "has an operator that is not allowed", _remedy(self.text, self.variables))
            pending.append((first, operation))
            first = first.left
        self.value(first, depth)
        for step, operation in reversed(pending):
            self.value(step.right, depth)
            if operation == "power":
                self.check_exponent(step.right)
            self.emit(operation)

    def check_exponent(self, node: ast.expr) -> None:
        if isinstance(node, ast.UnaryOp):
            node = node.operand
        if isinstance(node, ast.Constant) and abs(float(node.value)) > LARGEST_EXPONENT:  # pyright: ignore
            raise self.error(
                node, "is too large an exponent", f"exponents go from -{LARGEST_EXPONENT:g} to {LARGEST_EXPONENT:g}"
            )

    def call(self, node: ast.Call, depth: int) -> None:
        if not isinstance(node.func, ast.Name):
            tail = node.func.attr if isinstance(node.func, ast.Attribute) else "f"
            raise self.error(node.func, "is not allowed", f"call functions by their names alone: {tail}(...)")
        name = node.func.id
        if name not in FUNCTIONS:
            raise self.error(node.func, "is not a known function", _allowed(name, tuple(FUNCTIONS)))
        count = FUNCTIONS[name]
        enough = len(node.args) >= 2 if name in ("min", "max") else len(node.args) == count
        if not enough or node.keywords:
            form = "two or more arguments" if name in ("min", "max") else f"{count} argument{'s' * (count > 1)}"
            raise self.error(node, "has the wrong arguments", f"{name} takes {form}")
        if name == "where":
            self.condition(node.args[0], depth)
            self.value(node.args[1], depth)
            self.value(node.args[2], depth)
            self.emit("where")
            return
        self.value(node.args[0], depth)
        for argument in node.args[1:]:
            self.value(argument, depth)
            if count == 2:
                self.emit(name)
        if count == 1:
            self.emit(name)

    def condition(self, node: ast.expr, depth: int) -> None:
        """Write a condition: a comparison, possibly chained, or a combination of conditions."""
        depth = self.descend(node, depth)
        match node:
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                self.comparison(node, [left, *comparators], ops, depth)
            case ast.BoolOp(op=op, values=values):
                self.condition(values[0], depth)
                for value in values[1:]:
                    self.condition(value, depth)
                    self.emit("mul" if isinstance(op, ast.And) else "max")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.condition(operand, depth)
                self.emit("number", 0.0)
                self.emit("eq")
            case _:
                raise self.error(node, "is not a condition", "compare two numbers, as in where(t < 1, 5, 0)")

    def comparison(self, node: ast.Compare, operands: list[ast.expr], ops: list[ast.cmpop], depth: int) -> None:
        for i, op in enumerate(ops):
            operation = COMPARISONS.get(type(op))
            if operation is None:
                raise self.error(node, "has a comparison that is not allowed", "use < <= > >= == !=")
            self.value(operands[i], depth)
            self.value(operands[i + 1], depth)
            self.emit(operation)
            if i > 0:
                self.emit("mul")
