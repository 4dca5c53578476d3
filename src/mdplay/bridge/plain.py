"""The plain path: the same kernels without the compiler, on a checked double of the game.

Compiled integers wrap at 64 bits; Python's do not.  The double checks every value that a method returns
against its annotation, so that what would wrap or be cut in compiled code raises here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from numba import config

from mdplay.bits import U64, WORD
from mdplay.bridge.methods import where
from mdplay.bridge.native import MASKS, hints_of, method_hints
from mdplay.errors import GameError
from mdplay.game import WORDS_FOR_PEOPLE, Compiled, Game

C = TypeVar("C", bound=Compiled)


def native(instance: C) -> C:
    """Return what a kernel is to get: the game itself, or its checked double when the compiler is off."""
    return checked(instance) if config.DISABLE_JIT else instance


def checked(instance: C) -> C:
    """Return a double of a game or selector whose methods check what they return."""
    cls = type(instance)
    if getattr(cls, "_is_checked", False):
        return instance
    body = {name: _checking(cls, function) for name, function in rules(cls)}
    flags = {name: value for name, value in vars(cls).items() if name.startswith("has_")}
    double: C = object.__new__(type(cls.__name__, (cls,), {**body, **flags, "_is_checked": True}))
    vars(double).update({k: v for k, v in vars(instance).items() if k != "_identity"})
    return double


def rules(cls: type) -> Iterator[tuple[str, FunctionType]]:
    """Yield the methods that kernels may call: all of the user's own that are not words for people."""
    for name in dir(cls):
        function = getattr(cls, name)
        own = isinstance(function, FunctionType) and function.__module__ != Game.__module__
        if own and not name.startswith("_") and name not in WORDS_FOR_PEOPLE:
            yield name, function


def _checking(cls: type, function: FunctionType) -> Callable[..., Any]:
    annotation = method_hints(cls, function).get("return")
    is_mask = function.__name__ in MASKS

    @wraps(function)
    def call(self: Any, *args: Any) -> Any:
        value = function(self, *args)
        check_fits(value, annotation, function, is_mask)
        return value

    return call


def check_fits(value: Any, annotation: Any, function: FunctionType, is_mask: bool = False) -> None:
    """Raise GameError or OverflowError if a value is not what the annotation promises."""
    if hasattr(annotation, "_fields"):
        if is_mask and isinstance(value, int):
            return
        if type(value) is not annotation:
            raise GameError(f"{where(function)} returned {value!r}, not the annotated {annotation.__name__}")
        hints = hints_of(annotation)
        for name in annotation._fields:
            check_fits(getattr(value, name), hints[name], function)
    elif annotation is float:
        if not isinstance(value, (int, float)):
            raise GameError(f"{where(function)} returned {value!r}, not a number")
    elif not _is_whole(value):
        raise GameError(f"{where(function)} returned {value!r}, not the annotated {_name(annotation)}")
    else:
        low, high = (0 if not is_mask else -WORD - 1, WORD) if annotation is U64 else (-(1 << 63), (1 << 63) - 1)
        if not low <= value <= high:
            raise OverflowError(f"{where(function)} returned {value!r}, which does not fit {_name(annotation)}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) or (hasattr(value, "dtype") and value.dtype.kind in "iub")


def _name(annotation: Any) -> str:
    return getattr(annotation, "__name__", str(annotation))
