"""How one function serves the three scalars, under its own name and under those of math and NumPy."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from poinsot.scalars.native import DualType, NestedType, PackType, joined
from poinsot.scalars.plain import NUMBERS, Dual, twins, ufuncs

DERIVED = (DualType, NestedType)


def scalar_function(chain_rule: Callable[..., Any], *synonyms: Any, whole: Any = None, inline: bool = False) -> Any:
    """Let the decorated function of float64 and Pack serve Dual by `chain_rule`, and user code under the `synonyms`.

    `whole` is the kernel, for any scalar, that replaces both where the last argument is an integer. With `inline` the
    instructions stand in the kernel that calls, which suits the short and the frequent.
    """
    options = {"error_model": "numpy", "forceinline": inline}

    def decorate(function):
        @functools.wraps(function)
        def serve(*arguments):
            with np.errstate(all="ignore"):
                if whole is not None and isinstance(arguments[-1], int | np.integer):
                    return whole(*arguments)
                if any(isinstance(x, Dual) for x in arguments):
                    return chain_rule(*arguments)
                return function(*(np.float64(x) if isinstance(x, NUMBERS) else x for x in arguments))

        def implementation(*kinds):
            kind = joined(*kinds)
            if kind is not None and whole is not None and isinstance(kinds[-1], types.Integer):
                return getattr(whole, "py_func", whole)
            return None if kind is None else chain_rule if isinstance(kind, DERIVED) else function

        def implementation_of_ours(*kinds):
            return implementation(*kinds) if isinstance(joined(*kinds), (PackType, *DERIVED)) else None

        overload(serve, jit_options=options, strict=False)(implementation)
        for synonym in synonyms:
            overload(synonym, jit_options=options, strict=False)(implementation_of_ours)
            if isinstance(synonym, np.ufunc):
                ufuncs[synonym] = serve
            elif synonym.__module__ == "math":
                twins[synonym] = serve
        return serve

    return decorate
