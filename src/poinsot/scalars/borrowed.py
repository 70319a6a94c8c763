"""Views without references: what a hot kernel makes of its arguments before it begins.

Numba counts references to the memory of every array that a kernel touches, and a table that travels through inlined
kernels is counted again and again: 80 calls in forward dynamics, 0.3 µs. `borrow(view)` is the same memory as a bare
pointer with its shape, and costs nothing; the caller holds the array meanwhile. `lend(tables)` is the same for Python:
what it makes of a tuple of views arrives in kernels as borrowed ones, through any number of calls by address.
`point(tables)` hands over one pointer to all of them.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    overload,
    overload_attribute,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.numpy_support import from_dtype

from poinsot._jit import DISABLED, WIDTH
from poinsot.scalars import native
from poinsot.scalars.native import DualType, PackType
from poinsot.scalars.views import ARRAY, Packs, ViewType


class BorrowedType(types.Type):
    """A bare pointer to a view's memory, with its rows and columns."""

    def __init__(self, scalar: types.Type) -> None:
        self.scalar = scalar
        super().__init__(name=f"Borrowed[{scalar}]")


class PointedType(types.Type):
    """A pointer to a named tuple of borrowed views, integers and further such pointers."""

    def __init__(self, parts: types.NamedTuple) -> None:
        self.parts = parts
        super().__init__(name=f"Pointed[{parts}]")

    @property
    def key(self) -> Any:
        """What types are told apart by: the class of the tuple, whose names of parts are not in the name."""
        return PointedType, self.parts


register_model(PointedType)(models.OpaqueModel)

_POINTER = types.CPointer(types.float64)


@register_model(BorrowedType)
class _BorrowedModel(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("data", _POINTER), ("rows", types.intp), ("columns", types.intp)])


@intrinsic
def _borrowed(typing_context, view):
    array = ARRAY if isinstance(view, ViewType) else view
    scalar = view.scalar if isinstance(view, ViewType) else view.dtype

    def codegen(context, builder, signature, values):
        value = values[0]
        if isinstance(view, ViewType):
            value = cgutils.create_struct_proxy(view)(context, builder, value=value).data
        native_array = context.make_array(array)(context, builder, value)
        borrowed = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        borrowed.data = builder.bitcast(native_array.data, native.DOUBLE.as_pointer())
        borrowed.rows = builder.extract_value(native_array.shape, 0)
        borrowed.columns = builder.extract_value(native_array.shape, 1)
        return borrowed._getvalue()

    return BorrowedType(scalar)(view), codegen


def borrow(view):
    """The same view without references, in kernels; valid as long as the caller's."""
    return view


@overload(borrow, jit_options={"forceinline": True})
def _borrow(view):
    if isinstance(view, ViewType) or (isinstance(view, types.Array) and view.ndim == 2 and view.layout == "C"):
        return lambda view: _borrowed(view)
    return (lambda view: view) if isinstance(view, BorrowedType) else None


@intrinsic
def _widened(typing_context, view):
    def codegen(context, builder, signature, values):
        narrow = cgutils.create_struct_proxy(view)(context, builder, value=values[0])
        wide = cgutils.create_struct_proxy(signature.return_type)(context, builder)
        wide.data, wide.rows = narrow.data, narrow.rows
        wide.columns = builder.sdiv(narrow.columns, narrow.columns.type(WIDTH))
        return wide._getvalue()

    return BorrowedType(native.pack)(view), codegen


def widen(view):
    """The same memory with WIDTH numbers of a row as one Pack, so that rows are added in few instructions.

    The columns of the view must be a multiple of WIDTH. A view of Duals, which carry as many numbers each, stays as it
    is: what is written for rows of a wide view serves both, with `view.shape[1] // wide.shape[1]` columns in each of
    its entries.
    """
    return Packs.over(view.reshape(len(view), view.shape[1] // WIDTH, WIDTH)) if isinstance(view, np.ndarray) else view


@overload(widen, jit_options={"forceinline": True})
def _widen(view):
    if isinstance(view, BorrowedType):
        return (lambda view: _widened(view)) if view.scalar == types.float64 else (lambda view: view)
    return None


@intrinsic
def _part(typing_context, view, first, rows):
    def codegen(context, builder, signature, values):
        whole = cgutils.create_struct_proxy(view)(context, builder, value=values[0])
        part = cgutils.create_struct_proxy(view)(context, builder)
        begin, count = (context.cast(builder, values[n], signature.args[n], types.intp) for n in (1, 2))
        doubles = builder.mul(builder.mul(begin, whole.columns), begin.type(_depth(view.scalar)))
        part.data = builder.gep(whole.data, [doubles])
        part.rows, part.columns = count, whole.columns
        return part._getvalue()

    return view(view, first, rows), codegen


def part(view, first, rows):
    """So many rows of a borrowed view, from one on, as a view of their own."""
    rows_of_it = slice(first, first + rows)
    return type(view).over(view.data[rows_of_it]) if isinstance(view, Packs) else view[rows_of_it]


@overload(part, jit_options={"forceinline": True})
def _part_of_view(view, first, rows):
    return (lambda view, first, rows: _part(view, first, rows)) if isinstance(view, BorrowedType) else None


class Lent:
    """A view as Python hands it to kernels that borrow; it holds the memory."""

    __slots__ = ("kind", "view")

    def __init__(self, view: Any) -> None:
        self.view = view
        self.kind = BorrowedType(view.scalar if isinstance(view, Packs) else from_dtype(view.dtype))


class LentTable:
    """A named tuple of lent views and integers as one pointer to all of them; Python reads its parts by name, too.

    A tuple travels word by word through every call by address, some 60 of them for a mechanism: rk4's step of the heavy
    top takes 0.83 µs so, and 0.43 with pointers.
    """

    __slots__ = ("address", "kind", "parts", "words")

    def __init__(self, parts: Any) -> None:
        self.parts = parts
        self.kind = PointedType(typeof(parts))
        self.words = np.array([word for part in parts for word in _words(part)], np.int64)
        self.address = self.words.ctypes.data

    def __getattr__(self, name: str) -> Any:
        return getattr(self.parts, name)

    def __iter__(self) -> Any:
        return iter(self.parts)


def _words(part: Any) -> tuple[int, ...]:
    """What stands for a part of a table in memory."""
    if isinstance(part, Lent):
        array = part.view.data if isinstance(part.view, Packs) else part.view
        return array.ctypes.data, array.shape[0], array.shape[1]
    return (part.address,) if isinstance(part, LentTable) else (operator.index(part),)


def lend(value: Any) -> Any:
    """A view, or a tuple of views and of tuples, for kernels that borrow; what is no view stays as it is."""
    if DISABLED:
        return value
    if isinstance(value, tuple):
        parts = [lend(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, Packs) or (isinstance(value, np.ndarray) and value.ndim == 2):
        return Lent(value)
    return value


def point(value: Any) -> Any:
    """A named tuple of views and whole numbers, lent as one pointer: kernels read its parts by name."""
    return value if DISABLED else LentTable(lend(value))


@typeof_impl.register(Lent)
@typeof_impl.register(LentTable)
def _typeof_lent(value, context):
    return value.kind


@unbox(PointedType)
def _unbox_table(kind, lent, c):
    number = c.pyapi.object_getattr_string(lent, "address")
    pointer = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(pointer, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _PointedAttributes(AttributeTemplate):
    key = PointedType

    def generic_resolve(self, kind, name):
        return kind.parts[kind.parts.fields.index(name)] if name in kind.parts.fields else None


@lower_getattr_generic(PointedType)
def _part_of_table(context, builder, kind, value, name):
    place = kind.parts.fields.index(name)
    part = kind.parts[place]
    first = sum(3 if isinstance(before, BorrowedType) else 1 for before in kind.parts.types[:place])
    words = builder.bitcast(value, ir.IntType(64).as_pointer())

    def word(n):
        loaded = builder.load(builder.gep(words, [ir.Constant(ir.IntType(64), first + n)]))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if isinstance(part, BorrowedType):
        struct = cgutils.create_struct_proxy(part)(context, builder)
        struct.data = builder.inttoptr(word(0), native.DOUBLE.as_pointer())
        struct.rows, struct.columns = word(1), word(2)
        return struct._getvalue()
    return builder.inttoptr(word(0), cgutils.voidptr_t) if isinstance(part, PointedType) else word(0)


@unbox(BorrowedType)
def _unbox_lent(kind, lent, c):
    view = c.pyapi.object_getattr_string(lent, "view")
    if isinstance(kind.scalar, PackType | DualType):
        array_type = ARRAY
        array = c.pyapi.object_getattr_string(view, "data")
        c.pyapi.decref(view)
    else:
        array_type, array = types.Array(kind.scalar, 2, "C"), view
    unboxed = c.unbox(array_type, array)
    native_array = c.context.make_array(array_type)(c.context, c.builder, unboxed.value)
    borrowed = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    borrowed.data = c.builder.bitcast(native_array.data, native.DOUBLE.as_pointer())
    borrowed.rows = c.builder.extract_value(native_array.shape, 0)
    borrowed.columns = c.builder.extract_value(native_array.shape, 1)
    c.context.nrt.decref(c.builder, array_type, unboxed.value)  # the Lent holds the memory
    c.pyapi.decref(array)
    return NativeValue(borrowed._getvalue(), is_error=unboxed.is_error)


@overload_attribute(BorrowedType, "shape", jit_options={"forceinline": True})
def _shape(view):
    return lambda view: _shape_of(view)


@intrinsic
def _shape_of(typing_context, view):
    def codegen(context, builder, signature, values):
        struct = cgutils.create_struct_proxy(view)(context, builder, value=values[0])
        return cgutils.pack_array(builder, [struct.rows, struct.columns])

    return types.UniTuple(types.intp, 2)(view), codegen


def _depth(scalar) -> int:
    return WIDTH if isinstance(scalar, PackType) else 1 + WIDTH if isinstance(scalar, DualType) else 1


def _place(context, builder, signature, values):
    view, indices = signature.args[0], signature.args[1]
    struct = cgutils.create_struct_proxy(view)(context, builder, value=values[0])
    row, column = (context.cast(builder, builder.extract_value(values[1], n), indices[n], types.intp) for n in range(2))
    entry = builder.add(builder.mul(row, struct.columns), column)
    place = builder.gep(struct.data, [builder.mul(entry, entry.type(_depth(view.scalar)))])
    if isinstance(view.scalar, PackType):
        return builder.bitcast(place, native.VECTOR.as_pointer())
    return builder.bitcast(place, ir.IntType(64).as_pointer()) if isinstance(view.scalar, types.Integer) else place


def _partials(builder, place):
    return builder.bitcast(builder.gep(place, [native.INDEX(1)]), native.VECTOR.as_pointer())


def _get(context, builder, signature, values):
    place = _place(context, builder, signature, values)
    if isinstance(signature.return_type, DualType):
        partials = builder.load(_partials(builder, place), align=8)
        return native.make_dual(context, builder, builder.load(place), partials)
    return builder.load(place, align=8)


def _set(context, builder, signature, values):
    view, place = signature.args[0], _place(context, builder, signature, values)
    if isinstance(view.scalar, types.Integer):
        builder.store(context.cast(builder, values[2], signature.args[2], view.scalar), place, align=8)
        return context.get_dummy_value()
    x = native.as_scalar(context, builder, signature.args[2], values[2], view.scalar)
    if isinstance(view.scalar, DualType):
        builder.store(builder.extract_value(x, 0), place)
        builder.store(builder.extract_value(x, 1), _partials(builder, place), align=8)
    else:
        builder.store(x, place, align=8)
    return context.get_dummy_value()


def _is_place(view, place) -> bool:
    pair = isinstance(view, BorrowedType) and isinstance(place, types.BaseTuple) and len(place) == 2
    return pair and all(isinstance(index, types.Integer) for index in place)


def _get_rule(view, place):
    return view.scalar if _is_place(view, place) else None


def _set_rule(view, place, x):
    if not _is_place(view, place):
        return None
    if isinstance(view.scalar, types.Integer):
        return types.void if isinstance(x, types.Integer) else None
    return types.void if native.joined(view.scalar, x) == view.scalar else None


native.teach(operator.getitem, _get_rule, _get, (BorrowedType, types.BaseTuple))
native.teach(
    operator.setitem,
    _set_rule,
    _set,
    *((BorrowedType, types.BaseTuple, kind) for kind in (PackType, DualType, types.Float, types.Integer)),
)
