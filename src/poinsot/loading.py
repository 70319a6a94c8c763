"""`poinsot.load`: a finished run from its file, or a load from a user's function."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, overload

from poinsot.model.user_load import UserLaw
from poinsot.model.user_load import load as load_of_user
from poinsot.run import Run, load_run


@overload
def load(what: Callable[..., Any]) -> UserLaw: ...


@overload
def load(what: str | os.PathLike[str]) -> Run: ...


def load(what: Callable[..., Any] | str | os.PathLike[str]) -> UserLaw | Run:
    """Read a run from the file that `run.save` wrote; or, as a decorator, make a load of a Python function."""
    return load_run(what) if isinstance(what, str | os.PathLike) else load_of_user(what)
