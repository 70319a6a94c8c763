"""The one file that tells Numba how kernels compile, when their caches expire, and how one calls another by address.

Numba expires a cached kernel when *its own* file changes, so an edit of so3.py would leave every caller stale. Ours
expire when any kernel-bearing source of the package changes, the user's own loads included.

A kernel that is handed to another kernel travels as an address: Numba does not cache a function that receives a jitted
one, but it caches one that receives an integer. Calls by address keep Numba's convention, so exceptions propagate.
"""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import binding
from numba import types
from numba.core import cgutils, errors
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.serialize import dumps
from numba.core.typing import Signature
from numba.extending import intrinsic

from poinsot.errors import PoinsotError

DISABLED = bool(numba.config.DISABLE_JIT)  # kernels run as plain Python
if DISABLED:
    np.seterr(all="ignore")  # as in compiled kernels, 1 / 0 is inf and no event

KERNEL_ROOMS = ("_jit.py", "scalars", "algebra", "mechanism", "formulations", "methods")


def _native_width() -> int:
    """Doubles in one SIMD register of this machine: 8 with AVX-512, 4 with AVX2, else 2; POINSOT_WIDTH overrides."""
    asked = os.environ.get("POINSOT_WIDTH")
    if asked is not None:
        if asked not in ("2", "4", "8", "16"):
            raise PoinsotError(f'POINSOT_WIDTH is "{asked}", which is no width of a Pack; set it to 2, 4, 8 or 16')
        return int(asked)
    features = binding.get_host_cpu_features()
    return 8 if features.get("avx512f") else 4 if features.get("avx2") else 2


WIDTH = _native_width()


def _digest_of_kernels() -> str:
    here = Path(__file__).resolve().parent
    digest = hashlib.sha256(f"width {WIDTH}".encode())
    sources = [path for room in KERNEL_ROOMS for path in (here / room, *sorted((here / room).rglob("*.py")))]
    for source in filter(Path.is_file, sources):
        digest.update(source.relative_to(here).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()


DIGEST = _digest_of_kernels()


def constants(function: Any) -> tuple[Any, ...]:
    """What a user's function reads and Numba compiles in: names and numbers in its text, cells, globals at this moment.

    Numba's cache tells functions apart by place and bytecode, in which few of them show: of three lambdas on one line
    it would run the first thrice, and a global amplitude would keep the value of the first run.
    """
    if is_ours(function) and function.__closure__ is None:
        return ()  # its source is in the digest
    return _read_by(function, [])


def _read_by(function: Any, seen: list[Any]) -> tuple[Any, ...]:
    seen.append(function)
    code, scope = function.__code__, function.__globals__
    names = names_in(code)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    read = [scope[name] for name in names if name in scope]
    values = (*code.co_consts, *(function.__defaults__ or ()), *cells, *read)
    return code.co_code, names, *(_described(value, names, seen) for value in values)


def names_in(code: CodeType) -> tuple[str, ...]:
    """The globals and attributes that a function names, also within its comprehensions and inner functions."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return *code.co_names, *(name for part in inner for name in names_in(part))


def _described(value: Any, names: tuple[str, ...], seen: list[Any]) -> Any:
    """A value as a key that is the same in every process; of a module, what may be read there under these names."""
    value = getattr(value, "py_func", value)
    if isinstance(value, tuple | list):
        return tuple(_described(entry, names, seen) for entry in value)
    if isinstance(value, ModuleType):
        known = value.__name__.partition(".")[0] in ("math", "numpy", "poinsot")
        found = [getattr(value, name) for name in names if not known and hasattr(value, name)]
        return value.__name__, *(_described(entry, names, seen) for entry in found)
    if isinstance(value, FunctionType):
        return value.__qualname__ if is_ours(value) or value in seen else _read_by(value, seen)
    try:
        return dumps(value)
    except Exception:  # what cannot be pickled cannot be compiled in either
        return type(value).__name__


def is_ours(function: Any) -> bool:
    return function.__globals__.get("__name__", "").startswith("poinsot.")


class _KernelFile(IndexDataCacheFile):
    """Numba's index and data of one function, each datum under the stamp and key that it was compiled for.

    The index is written before the data, under names that are numbers: where two processes compile at once, or one is
    ended in between, the index may point at data of another key or of an older source.
    """

    def save(self, key: Any, data: Any) -> None:
        super().save(key, (self._source_stamp, key, data))

    def load(self, key: Any) -> Any:
        entry = super().load(key)
        return entry[2] if entry is not None and entry[:2] == (self._source_stamp, key) else None

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (AttributeError, ImportError):  # its keys name types that an older version had
            return {}


class _KernelCache(FunctionCache):
    """Numba's cache of one function, whose stamp is the digest of all kernels beside the function's own file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp(), DIGEST
        self._cache_file = _KernelFile(self._cache_path, self._impl.filename_base, stamp)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        return sig, codegen.magic_tuple(), constants(self._py_func)


Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile `function` on first use for each combination of argument types, and keep the result on disk.

    It is inlined into the kernels that call it: forward dynamics of 64 spherical links takes 4.1 µs so, and 5.7 µs
    where LLVM decides for itself, because tables that travel through calls are not free.
    """
    return _cached(numba.njit(function, error_model="numpy", forceinline=True))


def routine(function: Function) -> Function:
    """A kernel that stands by itself and is called: for what is large, or rarely runs."""
    return _cached(numba.njit(function, error_model="numpy"))


def _cached(dispatcher: Any) -> Any:
    if not DISABLED:
        # Numba would compile a kernel anew for every constant it is called with: the first run takes a fifth longer.
        resolve = dispatcher.get_call_template
        dispatcher.get_call_template = lambda args, kws: resolve(tuple(map(types.unliteral, args)), kws)
        with suppress(RuntimeError):  # typed at a prompt, it has no file whose content could be compared
            dispatcher._cache = _KernelCache(dispatcher.py_func)
    return dispatcher


_addressed: list[Any] = [None]  # keeps native code alive; in plain Python the place in this list is the address


def address(function: Callable[..., Any], signature: Any) -> int:
    """The address by which other kernels call the kernel `function` with the types of `signature`; valid until exit."""
    if function not in _addressed:
        _addressed.append(function)
    if DISABLED:
        return _addressed.index(function)
    result = cast(Any, function).get_compile_result(signature)
    return result.library.get_pointer_to_function(result.fndesc.llvm_func_name)


def pointer_call(rule: Any) -> Callable[..., Any]:
    """A function `call(address, *arguments)` for use in kernels.

    `rule` is the signature of what stands at the address, or a function that makes it from the arguments' types.
    """
    if DISABLED:
        return lambda address, *arguments: _addressed[address](*arguments)

    @intrinsic
    def call(typing_context, address, *arguments):
        given = tuple(types.unliteral(argument) for argument in arguments)
        wanted = rule if isinstance(rule, Signature) else rule(*given)
        _check_arguments(typing_context, given, wanted)

        def codegen(context, builder, signature, values):
            convention = context.call_conv
            native = convention.get_function_type(wanted.return_type, wanted.args).as_pointer()
            there = builder.inttoptr(values[0], native)
            unpacked = cgutils.unpack_tuple(builder, values[1], len(wanted.args))
            status, result = convention.call_function(builder, there, wanted.return_type, wanted.args, unpacked)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return result

        return wanted.return_type(types.intp, types.BaseTuple.from_types(wanted.args)), codegen

    return call


def _check_arguments(typing_context: Any, given: tuple[types.Type, ...], wanted: Any) -> None:
    if len(given) != len(wanted.args):
        raise errors.TypingError(f"call by address: {len(given)} arguments, but the signature is {wanted}")
    for place, (have, want) in enumerate(zip(given, wanted.args, strict=True)):
        if typing_context.can_convert(have, want) is None:
            raise errors.TypingError(f"call by address: argument {place} is {have}, but the signature has {want}")
