"""What the annotations of a game promise, and the checks that hold a game to them.  No numba in here.

``check_shape`` reads the class; ``checked`` makes a double of a game whose methods check what they return, so
that a value which would wrap or be cut in compiled code raises in plain Python.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from mdplay.bits import U64, WORD, Mask, Wide
from mdplay.errors import GameError
from mdplay.game import NEVER_COMPILED, Compiled, Game

C = TypeVar("C", bound=Compiled)
SCALARS = (int, float, bool, U64, Mask)
MASKS = ("legal", "outcomes")
NEEDED = ("initial", "legal", "step")


def where(function: Any) -> str:
    """Return a function's name, file and line."""
    code = function.__code__
    return f"{function.__qualname__} ({Path(code.co_filename).name}, line {code.co_firstlineno})"


# ---------------------------------------------------------------- annotations
def hints_of(thing: Any) -> dict[str, Any]:
    """Return the resolved annotations of a function or NamedTuple, or raise GameError naming the unknown."""
    try:
        return typing.get_type_hints(thing)
    except (NameError, TypeError) as error:
        place = where(thing) if isinstance(thing, FunctionType) else thing.__qualname__
        raise GameError(f"{place}: an annotation cannot be read ({error})") from None


def method_hints(cls: type, function: Any) -> dict[str, Any]:
    """Return the annotations of a method; the S of an inherited one is the game's own state."""
    hints = hints_of(function)
    if any(isinstance(hint, typing.TypeVar) for hint in hints.values()):
        state = state_class(cls)
        hints = {name: state if isinstance(hint, typing.TypeVar) else hint for name, hint in hints.items()}
    return hints


def state_class(cls: type) -> Any:
    """Return the NamedTuple class of a game's states: what ``initial`` is annotated to return."""
    function = cls.initial  # type: ignore[attr-defined]
    found = hints_of(function).get("return")
    if not is_named_tuple(found):
        raise GameError(f"{where(function)}: annotate the result with the NamedTuple class of the states")
    return found


def is_named_tuple(annotation: Any) -> bool:
    """Tell whether an annotation is a NamedTuple class."""
    return isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields")


def rules(cls: type) -> Iterator[tuple[str, FunctionType]]:
    """Yield the methods that kernels may call: all of the user's own except those never compiled."""
    for name in dir(cls):
        function = getattr(cls, name)
        own = isinstance(function, FunctionType) and function.__module__ != Game.__module__
        if own and not name.startswith("_") and name not in NEVER_COMPILED:
            yield name, function


# ---------------------------------------------------------------- the shape of a class
def check_shape(game: Any) -> None:
    """Raise GameError unless the game is a frozen dataclass with the needed, annotated methods."""
    cls = type(game)
    if not isinstance(game, Game):
        raise GameError(f"{cls.__name__} is not a game: derive it from mdplay.Game")
    parameters = getattr(cls, "__dataclass_params__", None)
    if "__dataclass_params__" not in vars(cls) or parameters is None or not parameters.frozen:
        raise GameError(f"{cls.__name__} is not a frozen dataclass: write @dataclass(frozen=True) above the class")
    for name in NEEDED:
        if getattr(cls, name) is getattr(Game, name):
            raise GameError(f"{cls.__name__} has no method {name}; a game needs initial, legal and step")
    try:
        hash(game)
    except TypeError as error:
        raise GameError(f"the parameters of {cls.__name__} must be plain values ({error})") from None
    _check_state_class(cls)
    for name, function in rules(cls):
        _check_method(cls, name, function)


def _check_state_class(cls: type) -> None:
    state = state_class(cls)
    for name, hint in hints_of(state).items():
        if hint not in (int, bool, U64):
            raise GameError(
                f"{state.__name__}.{name} is annotated {_name(hint)}; a state's fields are int, bool or U64"
            )
    if not state._fields:
        raise GameError(f"{state.__name__} has no fields")


def _check_method(cls: type, name: str, function: FunctionType) -> None:
    hints = method_hints(cls, function)
    names = list(inspect.signature(function).parameters)[1:]
    if missing := [n for n in (*names, "return") if n not in hints]:
        raise GameError(f"{where(function)}: annotate {', '.join(missing)}")
    if hasattr(Game, name):
        expected = list(inspect.signature(getattr(Game, name)).parameters)[1:]
        if len(expected) != len(names):
            raise GameError(
                f"{where(function)} takes ({', '.join(names)}); the contract says ({', '.join(expected)})"
            )
    for n in (*names, "return"):
        if hints[n] not in SCALARS and not is_named_tuple(hints[n]):
            known = "int, float, bool, U64 or a NamedTuple"
            raise GameError(f"{where(function)}: {n} is annotated {_name(hints[n])}; rules use {known}")
    if name in MASKS and hints["return"] not in (int, U64, Wide, Mask):
        raise GameError(f"{where(function)}: a mask is an int, a U64 or a Wide, not {_name(hints['return'])}")


# ---------------------------------------------------------------- a double that checks
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
    """Raise GameError if a value is not what the annotation promises."""
    if is_named_tuple(annotation):
        _check_tuple(value, annotation, function, is_mask)
    elif annotation is float:
        if not isinstance(value, (int, float)):
            raise GameError(f"{where(function)} returned {value!r}, not a number")
    elif not isinstance(value, int):
        raise GameError(f"{where(function)} returned {value!r}, not the annotated {_name(annotation)}")
    else:
        low, high = _range(annotation, is_mask)
        if not low <= value <= high:
            raise GameError(
                f"{where(function)} returned {value}, which does not fit the annotated {_name(annotation)}"
            )


def _check_tuple(value: Any, annotation: Any, function: FunctionType, is_mask: bool) -> None:
    if is_mask and isinstance(value, int):
        return  # a small mask among wide ones
    if type(value) is not annotation:
        raise GameError(f"{where(function)} returned {value!r}, not the annotated {annotation.__name__}")
    hints = hints_of(annotation)
    for name in annotation._fields:
        check_fits(getattr(value, name), hints[name], function)


def _range(annotation: Any, is_mask: bool) -> tuple[int, int]:
    if annotation is U64:  # a complement has its upper bits set: as a mask that is harmless
        return (-WORD - 1 if is_mask else 0), WORD
    return -(1 << 63), (1 << 63) - 1


def _name(annotation: Any) -> str:
    return getattr(annotation, "__name__", str(annotation))
