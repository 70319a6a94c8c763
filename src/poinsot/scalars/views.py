"""Views: `view[i, k]` reads and writes one scalar, whichever of the three types it is.

floats(rows, columns)   a float64 array      one system
Packs(rows, columns)    data (.., WIDTH)     WIDTH systems, one per lane
Duals(rows, columns)    data (.., 1 + WIDTH) one system: the value, then WIDTH partial derivatives
"""

import operator
from typing import Self

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import (
    NativeValue,
    make_attribute_wrapper,
    models,
    overload_attribute,
    register_model,
    typeof_impl,
    unbox,
)

from poinsot._jit import WIDTH
from poinsot.scalars import native, plain
from poinsot.scalars.native import DualType, PackType


def floats(rows: int, columns: int) -> np.ndarray:
    """A float64 view: an array of zeros."""
    return np.zeros((rows, columns))


class Packs:
    """A view of Packs; `data[i, k]` holds the lanes of `view[i, k]`."""

    scalar, depth = native.pack, WIDTH
    __slots__ = ("_data",)

    def __init__(self, rows: int, columns: int) -> None:
        self._data = np.zeros((rows, columns, self.depth))

    @classmethod
    def over(cls, data: np.ndarray) -> Self:
        """A view of doubles that are there already."""
        view = cls(0, 0)
        view._data = data
        return view

    @property
    def data(self) -> np.ndarray:
        """The doubles behind the scalars; kernels rely on the array itself being this one, contiguous."""
        return self._data

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.data.shape[:2]

    def __getitem__(self, place):
        return plain.Pack(self.data[place])

    def __setitem__(self, place, x):
        self.data[place] = plain.Pack(x).lanes


class Duals(Packs):
    """A view of Duals; `data[i, k]` holds the value of `view[i, k]` and then its partial derivatives."""

    scalar, depth = native.dual, 1 + WIDTH
    __slots__ = ()

    def __getitem__(self, place):
        return plain.Dual(self.data[place][0], self.data[place][1:])

    def __setitem__(self, place, x):
        value, partials = plain.value_and_partials(x)
        self.data[place][0], self.data[place][1:] = value, partials.lanes


# ------------------------------------------------------------------------------------------ compiled

ARRAY = types.Array(types.float64, 3, "C")


class ViewType(types.Type):
    """The Numba type of Packs and Duals."""

    def __init__(self, scalar: types.Type) -> None:
        self.scalar = scalar
        super().__init__(name=f"View[{scalar}]")


packs, duals = ViewType(native.pack), ViewType(native.dual)


@register_model(ViewType)
class _ViewModel(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("data", ARRAY)])


make_attribute_wrapper(ViewType, "data", "data")


@overload_attribute(ViewType, "shape")
def _shape(view):
    return lambda view: (view.data.shape[0], view.data.shape[1])


@typeof_impl.register(Packs)
def _typeof_view(value, context):
    return ViewType(value.scalar)


@unbox(ViewType)
def _unbox_view(kind, view, c):
    array = c.pyapi.object_getattr_string(view, "data")
    unboxed = c.unbox(ARRAY, array)
    struct = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    struct.data = unboxed.value
    c.pyapi.decref(array)
    return NativeValue(struct._getvalue(), is_error=unboxed.is_error)


def _place(context, builder, signature, values):
    """Pointer to the first double of `view[i, k]`."""
    kind, indices = signature.args[0], signature.args[1]
    struct = cgutils.create_struct_proxy(kind)(context, builder, value=values[0])
    array = context.make_array(ARRAY)(context, builder, struct.data)
    row, column = (context.cast(builder, builder.extract_value(values[1], n), indices[n], types.intp) for n in range(2))
    columns = builder.extract_value(array.shape, 1)
    depth = columns.type(WIDTH if isinstance(kind.scalar, PackType) else 1 + WIDTH)
    return builder.gep(array.data, [builder.mul(builder.add(builder.mul(row, columns), column), depth)])


def _lanes(builder, place):
    return builder.bitcast(place, native.VECTOR.as_pointer())


def _after_value(builder, place):
    return _lanes(builder, builder.gep(place, [native.INDEX(1)]))


def _get(context, builder, signature, values):
    place = _place(context, builder, signature, values)
    if isinstance(signature.return_type, PackType):
        return builder.load(_lanes(builder, place), align=8)
    partials = builder.load(_after_value(builder, place), align=8)
    return native.make_dual(context, builder, builder.load(place), partials)


def _set(context, builder, signature, values):
    view, given = signature.args[0], signature.args[2]
    place = _place(context, builder, signature, values)
    x = native.as_scalar(context, builder, given, values[2], view.scalar)
    if isinstance(view.scalar, PackType):
        builder.store(x, _lanes(builder, place), align=8)
    else:
        builder.store(builder.extract_value(x, 0), place)
        builder.store(builder.extract_value(x, 1), _after_value(builder, place), align=8)
    return context.get_dummy_value()


def _is_place(view, place) -> bool:
    pair = isinstance(view, ViewType) and isinstance(place, types.BaseTuple) and len(place) == 2
    return pair and all(isinstance(index, types.Integer) for index in place)


def _get_rule(view, place):
    return view.scalar if _is_place(view, place) else None


def _set_rule(view, place, x):
    return types.void if _is_place(view, place) and native.joined(view.scalar, x) == view.scalar else None


native.teach(operator.getitem, _get_rule, _get, (ViewType, types.BaseTuple))
native.teach(
    operator.setitem,
    _set_rule,
    _set,
    *((ViewType, types.BaseTuple, kind) for kind in (PackType, DualType, types.Float, types.Integer)),
)
