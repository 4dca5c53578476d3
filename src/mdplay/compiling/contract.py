"""What the annotations of a game promise, and the checks that hold a game to them.  No numba in here.

``check_shape`` reads the class; ``checked`` makes a double of a game whose methods check what they return, so
that a value which would wrap or be cut in compiled code raises in plain Python.
"""

from __future__ import annotations

import dataclasses
import inspect
import traceback
import typing
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import cached_property, wraps
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from mdplay.bits import MAX_MASK_WORDS, U64, WORD, Mask
from mdplay.compiling.digest import code_names, refresh
from mdplay.errors import GameError, MdplayError, short
from mdplay.game import NEVER_COMPILED, REMEMBERED, Between, Bounds, Compiled, Game

C = TypeVar("C", bound=Compiled)
Hint = Any  # an annotation: a class, or what ``typing`` makes of classes
SCALARS = (int, float, bool, U64, Mask)
MASKS = ("legal", "outcomes")
NEEDED = ("initial", "legal", "step")
CONSTANTS = {"endless": "int", "key_bits": "int", "max_moves": "int", "view": "str"}
MEANT = (*NEEDED, "player", "reward", "result", "outcomes", "outcome", "probability")
TOGETHER = {
    "outcomes": ("outcome",),
    "outcome": ("outcomes",),
    "image": ("symmetries",),
    "size": ("index", "state"),
}
CHANCE = "a rule gives the same answer every time, and chance belongs in outcomes, outcome and probability"
CLOCK = "a rule gives the same answer every time, and knows no clock"
FICKLE = {"random": CHANCE, "secrets": CHANCE, "numpy.random": CHANCE, "time": CLOCK, "datetime": CLOCK}
PACKAGE = Path(__file__).parents[1]
_LOOKED_AT: WeakSet[type] = WeakSet()  # classes without a name that the contract has taken
_HINTS: WeakKeyDictionary[Any, dict[str, Hint]] = WeakKeyDictionary()  # reading them takes longer than a rule


def where(function: FunctionType) -> str:
    """Return a function's name, file and line."""
    code = function.__code__
    return f"{function.__qualname__} ({Path(code.co_filename).name}, line {code.co_firstlineno})"


# ---------------------------------------------------------------- annotations
def hints_of(thing: Any) -> dict[str, Hint]:
    """Return the resolved annotations of a function or NamedTuple, or raise GameError naming the unknown."""
    if thing not in _HINTS:
        _HINTS[thing] = _read_hints(thing)
    return _HINTS[thing]


def _read_hints(thing: Any) -> dict[str, Hint]:
    try:
        return typing.get_type_hints(thing)
    except (NameError, TypeError) as error:
        place = where(thing) if isinstance(thing, FunctionType) else thing.__qualname__
        raise GameError(f"{place}: an annotation cannot be read ({error})") from None


def method_hints(cls: type, function: Any) -> dict[str, Hint]:
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


def is_named_tuple(annotation: Hint) -> bool:
    """Return whether an annotation is a NamedTuple class."""
    return isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields")


def is_mask_class(annotation: Hint) -> bool:
    """Return whether an annotation is a class of masks of several words, such as Wide."""
    if not is_named_tuple(annotation) or not 1 <= len(annotation._fields) <= MAX_MASK_WORDS:
        return False
    return all(hint is U64 for hint in hints_of(annotation).values())


def mask_class(cls: type) -> Any:
    """Return the class of a game's masks of several words, the longest one; None if a word holds them all."""
    found: list[Any] = [hints_of(getattr(cls, name)).get("return") for name in MASKS]
    return max(filter(is_mask_class, found), key=lambda mask: len(mask._fields), default=None)


def mask_size(game: Game[Any]) -> int:
    """Return how many actions, or outcomes of chance, a mask of the game may hold."""
    found = mask_class(type(game))
    return 64 if found is None else 64 * len(found._fields)


def rules(cls: type) -> Iterator[tuple[str, FunctionType]]:
    """Yield the methods that are held to be rules: all of the user's own but words for people and ``_names``."""
    for name in dir(cls):
        function = getattr(cls, name)
        own = isinstance(function, FunctionType) and function.__module__ != Game.__module__
        if own and not name.startswith("_") and name not in NEVER_COMPILED:
            yield name, function


# ---------------------------------------------------------------- the shape of a class
def need_game(game: object) -> None:
    """Raise GameError unless this is a game, and notice rules that have changed in this process.

    Verbs ask this; ``check_is_game`` is the first half, which costs nothing.
    """
    check_is_game(game)
    refresh(typing.cast(Compiled, game))


def check_is_game(game: object) -> None:
    """Raise GameError unless this is a game: not its class, nor its name, nor something else."""
    if isinstance(game, Game):
        return
    if isinstance(game, type) and issubclass(game, Game):
        raise GameError(f"{game.__name__} is a class, not a game: write {game.__name__}()")
    cls = type(game)
    what = _shown(game) if cls.__module__ == "builtins" else cls.__name__
    by_name = f"mdplay.make({game!r:.40}) makes one by its name"
    instead = by_name if isinstance(game, str) else "derive it from mdplay.Game"
    raise GameError(f"{what} is not a game: {instead}")


def check_shape(game: Any) -> None:
    """Raise GameError unless the game is a frozen dataclass with the needed, annotated methods."""
    need_game(game)
    cls = type(game)
    parameters = getattr(cls, "__dataclass_params__", None)
    if "__dataclass_params__" not in vars(cls) or parameters is None or not parameters.frozen:
        raise GameError(f"{cls.__name__} is not a frozen dataclass: write @dataclass(frozen=True) above the class")
    for name in NEEDED:
        if getattr(cls, name) is getattr(Game, name):
            raise GameError(f"{cls.__name__} has no method {name}; a game needs initial, legal and step")
    for name in (field.name for field in dataclasses.fields(cls)):
        if isinstance(getattr(Game, name, None), FunctionType):
            raise GameError(f"the parameter {name} of {cls.__name__} hides the method {name} of games; rename it")
    try:
        hash(game)
    except TypeError as error:
        raise GameError(f"the parameters of {cls.__name__} must be plain values ({error})") from None
    _check_ranges(game)
    _check_state_class(cls)
    _check_reserved(cls)
    for name, others in TOGETHER.items():
        if _writes(cls, name) and (missing := [other for other in others if not _writes(cls, other)]):
            taken = "" if name in MEANT else f"; if you mean something else: {_taken(name, getattr(cls, name))}"
            raise GameError(f"{cls.__name__} has a method {name} and no {missing[0]}; write both{taken}")
    _check_own(cls)
    for name, function in rules(cls):
        _check_method(cls, name, function)


def _check_ranges(game: Any) -> None:
    """Raise GameError for a parameter outside the range of its annotation, as the command line does."""
    hints = typing.get_type_hints(type(game), include_extras=True)
    for name in (field.name for field in dataclasses.fields(game)):
        for span in (note for note in getattr(hints[name], "__metadata__", ()) if isinstance(note, Between)):
            if not span.low <= getattr(game, name) <= span.high:
                raise GameError(f"{name}={getattr(game, name)} is out of range; {span.low} to {span.high}")


def _writes(cls: type, name: str) -> bool:
    return getattr(cls, name) is not getattr(Game, name)


def _check_state_class(cls: type) -> None:
    state = state_class(cls)
    for name, hint in hints_of(state).items():
        if hint not in (int, bool, U64):
            known = f"a state's fields are int, bool or U64{_instead(hint)}"
            raise GameError(f"{state.__name__}.{name} is annotated {_name(hint)}; {known}")
    if not state._fields:
        raise GameError(f"{state.__name__} has no fields")


def _instead(hint: Any) -> str:
    """Return a replacement for an annotation that rules do not support, or an empty text."""
    if type(None) in typing.get_args(hint):
        return "; annotate int, with a number for nothing, such as -1"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return "; annotate int, which an IntEnum is"
    if (typing.get_origin(hint) or hint) in (list, set, dict, tuple, frozenset):
        return "; use the bits of an int, or several fields"
    return ""


def _is_table(hint: Any) -> bool:
    return (typing.get_origin(hint) or hint) is tuple


# ---------------------------------------------------------------- names that the contract has taken
def _check_reserved(cls: type) -> None:
    """Raise GameError for a member with the name of an optional one of the contract and another kind or signature.

    What everybody means by ``legal`` or ``result`` (``MEANT``) is a mistake in the rule, which others report.
    """
    if cls in _LOOKED_AT:
        return
    for name in sorted({*dir(Game), *CONSTANTS}):
        found, expected = inspect.getattr_static(cls, name, None), inspect.getattr_static(Game, name, None)
        if name.startswith(("_", "has_")) or name in MEANT or found is expected:
            continue
        if not _is_like(cls, found, expected):
            raise GameError(_taken(name, found))
    _LOOKED_AT.add(cls)


def _is_like(cls: type, found: Any, expected: Any) -> bool:
    """Return whether a member is of the kind of the contract's, with its parameters and what it returns."""
    if not isinstance(expected, FunctionType):  # a constant or a property: a value in either case
        return not isinstance(found, FunctionType | staticmethod | classmethod)
    function = inspect.unwrap(found) if isinstance(found, FunctionType) else found
    if not isinstance(function, FunctionType):
        return False
    names, wanted = (list(inspect.signature(one).parameters)[1:] for one in (function, expected))
    if names != wanted + ["past"] * (len(names) - len(wanted)) and len(names) != len(wanted):
        return False
    state, given, hints = state_class(cls), hints_of(function), hints_of(expected)
    pairs = [*zip(names, wanted, strict=False), ("return", "return")]
    return all(_fits(given[name], hints[want], state) for name, want in pairs if name in given)


def _fits(hint: Hint, expected: Hint, state: type) -> bool:
    """Return whether an annotation may stand where the contract has another one."""
    if isinstance(expected, typing.TypeVar):
        return hint is state or isinstance(hint, typing.TypeVar) or hint is Any
    if expected in (int, float, bool, U64, Mask):
        return hint in SCALARS or (expected is Mask and is_mask_class(hint))
    return hint is expected or expected not in (str, Bounds)


def _taken(name: str, found: Any) -> str:
    """Return the sentence for a name that belongs to the contract."""
    inner = getattr(found, "__func__", getattr(found, "fget", getattr(found, "func", found)))
    place = f"{where(inner)}: " if isinstance(inner, FunctionType) else ""
    what = "method" if isinstance(found, FunctionType | staticmethod | classmethod) else "attribute"
    return f"{place}`{name}` is part of the contract of a game ({_signature(name)}); rename your {what}"


def _signature(name: str) -> str:
    """Return how the contract writes one of its members."""
    member = inspect.getattr_static(Game, name, None)
    if isinstance(member, property):
        return f"{name}: {_name(hints_of(member.fget)['return'])}, a property"
    if not isinstance(member, FunctionType):
        return f"{name}: {CONSTANTS[name]}, a constant of the class"
    hint = hints_of(member)["return"]
    result = "State" if isinstance(hint, typing.TypeVar) else "int" if hint is Mask else _name(hint)
    return f"{name}({', '.join(inspect.signature(member).parameters)}) -> {result}"


def _check_own(cls: type) -> None:
    """Check that what the contract knows, and what rules call of the class, are plain methods."""
    contract = {name for name in dir(Game) if isinstance(getattr(Game, name), FunctionType)} - set(NEVER_COMPILED)
    called: set[str] = set().union(*(function.__code__.co_names for _, function in rules(cls)))
    for name in dir(cls):
        found = inspect.getattr_static(cls, name)
        if name.startswith("__") or found is inspect.getattr_static(Game, name, None):
            continue
        if name in contract or (name in called and isinstance(found, staticmethod | classmethod)):
            _check_plain(cls, name, found)


def _check_plain(cls: type, name: str, found: Any) -> None:
    """Raise GameError if a rule is no plain method: decorated, or without self."""
    if isinstance(found, staticmethod | classmethod):
        instead = "write a method with self, or a function above the class"
        raise GameError(f"{cls.__name__}.{name} is a @{type(found).__name__}; {instead}")
    own = getattr(cls, "_is_checked", False)  # the double that checks wraps every rule itself
    if not isinstance(found, FunctionType) or (hasattr(found, "__wrapped__") and not own):
        what = "a property" if isinstance(found, property | cached_property) else "wrapped by a decorator"
        raise GameError(f"{cls.__name__}.{name} is {what}; a rule is a plain method")


def _check_pure(function: FunctionType) -> None:
    """Raise GameError if a rule uses a module whose answers differ from call to call."""
    for name in code_names(function.__code__):
        thing = function.__globals__.get(name)
        module = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
        if module in FICKLE:
            raise GameError(f"{where(function)} uses {name}: {FICKLE[module]}")


def _check_method(cls: type, name: str, function: FunctionType) -> None:
    _check_pure(function)
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
    if not names and _is_table(hints["return"]):
        raise GameError(
            f"{where(function)}: a table is a @cached_property; write that above it, and leave out the ()"
        )
    for n in (*names, "return"):
        if hints[n] not in SCALARS and not is_named_tuple(hints[n]):
            aside = "" if hasattr(Game, name) else f"; if no rule calls it, name it _{name}"
            known = f"int, float, bool, U64 or a NamedTuple{_instead(hints[n])}{aside}"
            raise GameError(f"{where(function)}: {n} is annotated {_name(hints[n])}; rules use {known}")
    if name in MASKS and hints["return"] not in (int, U64, Mask) and not is_mask_class(hints["return"]):
        known = f"an int, a U64, a Wide or a NamedTuple of up to {MAX_MASK_WORDS} U64 words"
        raise GameError(f"{where(function)}: a mask is {known}, not {_name(hints['return'])}")


# ---------------------------------------------------------------- whose exception it is
def rule_error(error: BaseException, called: Iterable[object] = ()) -> GameError | None:
    """Return the GameError for an exception that a rule of a user's game raised; None for any other exception.

    The traceback decides: a rule was at work if a method of a user's game or selector is in it.  Compiled rules
    leave no such trace: where machine code was called, ``called`` are its arguments.
    """
    frames = list(traceback.walk_tb(error.__traceback__))
    rules = [(place, owner) for place, (frame, _) in enumerate(frames) if (owner := _owner(frame))]
    if rules:
        place, owner = rules[0]
        return GameError(f"{owner.__name__} raised {blame(error, place)}")
    owners = [_class_of(one) for one in called if is_users(one)]
    if owners and all("__name__" not in frame.f_globals for frame, _ in frames[1:]):
        tells = "; mdplay check names the line" if len(frames) == 1 else ""
        return GameError(f"{owners[0].__name__} raised {blame(error, 1)}{tells}")
    return None


@contextmanager
def wrap_rule_errors() -> Iterator[None]:
    """Turn an exception that a rule of a game raised into a GameError; any other one passes unchanged."""
    try:
        yield
    except (MdplayError, MemoryError):
        raise
    except Exception as error:
        translated = rule_error(error)
        if translated is None:
            raise
        raise translated from error


def is_users(thing: object) -> bool:
    """Return whether this is a game or selector that a user wrote: not one of mdplay's own."""
    return isinstance(thing, Compiled) and not _class_of(thing).__module__.startswith("mdplay.")


def _class_of(thing: object) -> type:
    """Return the class of a game; of a double that checks, the class that it was made of."""
    cls = type(thing)
    return cls.__mro__[1] if getattr(cls, "_is_checked", False) else cls


def _owner(frame: FrameType) -> type | None:
    """Return the user's class whose method runs in a frame; None if the frame runs anything else."""
    code = frame.f_code
    first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    if not is_users(first) or not (_is_of_game(code.co_filename) or code in _codes(type(first))):
        return None
    return _class_of(first) if code.co_varnames[0] == "self" or code in _codes(type(first)) else None


def _codes(cls: type) -> list[object]:
    """Return the code of every method of a class, whatever it is called there."""
    return [getattr(inspect.getattr_static(cls, name), "__code__", None) for name in dir(cls)]


def blame(error: BaseException, first: int = 0) -> str:
    """Return the error with the file and line where it arose; generated code has no lines to show.

    The line named is the last one in the game's own code, if there is one; the checks call it from below.
    """
    lines = [frame for frame in traceback.extract_tb(error.__traceback__)[first:] if frame.line]
    last = [frame for frame in lines if _is_of_game(frame.filename)][-1:] or lines[-1:]
    place = "".join(f" ({Path(frame.filename).name}, line {frame.lineno}: {frame.line})" for frame in last)
    name, said = type(error).__name__, f": {error}" if str(error) else ""
    return f"{name}{said}{place}{_way_out(error)}"


def _is_of_game(file: str) -> bool:
    """Return whether a file is of a game, a user's or one of ours, and not of what asks it."""
    path = Path(file)
    return PACKAGE not in path.parents or PACKAGE / "games" in path.parents or path == PACKAGE / "game.py"


def _way_out(error: BaseException) -> str:
    """Return what to do about an error that authors of rules often meet."""
    if isinstance(error, RecursionError):
        return "; rules do not call themselves, write a loop"
    if isinstance(error, AttributeError) and "set attribute" in str(error):
        return "; nothing changes in a rule, return a new state"
    return ""


# ---------------------------------------------------------------- a double that checks
def checked(instance: C, before: Callable[[], None] | None = None) -> C:
    """Return a double of a game or selector whose methods call ``before`` first, and check what they return."""
    cls = type(instance)
    if getattr(cls, "_is_checked", False):
        return instance
    body = {name: _checking(cls, name, function, before) for name, function in rules(cls)}
    flags = {name: value for name, value in vars(cls).items() if name.startswith("has_")}
    double: C = object.__new__(type(cls.__name__, (cls,), {**body, **flags, "_is_checked": True}))
    vars(double).update({k: v for k, v in vars(instance).items() if k not in REMEMBERED})
    return double


def _checking(
    cls: type, name: str, function: FunctionType, before: Callable[[], None] | None
) -> Callable[..., Any]:
    annotation = method_hints(cls, function).get("return")
    is_mask = name in MASKS
    obviously_fits = _quick_check(annotation, is_mask)

    @wraps(function)
    def call(self: Any, *args: Any) -> Any:
        if before is not None:
            before()
        value = function(self, *args)
        if not obviously_fits(value):
            check_fits(value, annotation, function, is_mask)
        return value

    return call


def _quick_check(annotation: Hint, is_mask: bool) -> Callable[[Any], bool]:
    """Return a function that knows most values which fit an annotation, in a fraction of the time."""
    if is_named_tuple(annotation) and all(hints_of(annotation)[name] is int for name in annotation._fields):
        low, high = _range(int, False)
        ints = {int}
        return lambda value: (
            type(value) is annotation
            and set(map(type, value)) == ints
            and low <= min(value)
            and max(value) <= high
        )
    if annotation in (int, U64):
        low, high = _range(annotation, is_mask)
        return lambda value: type(value) is int and low <= value <= high
    return lambda value: False


def check_fits(value: Any, annotation: Hint, function: FunctionType, is_mask: bool = False) -> None:
    """Raise GameError if a value is not what the annotation promises."""
    if is_named_tuple(annotation):
        _check_tuple(value, annotation, function, is_mask)
    elif annotation is float:
        if not isinstance(value, (int, float)):
            raise GameError(f"{where(function)} returned {_shown(value)}, not a number")
    elif not isinstance(value, int):
        raise GameError(f"{where(function)} returned {_shown(value)}, not the annotated {_name(annotation)}")
    else:
        low, high = _range(annotation, is_mask)
        if not low <= value <= high:
            what = (
                f"{where(function)} returned {_shown(value)}, which does not fit the annotated {_name(annotation)}"
            )
            wider = "; U64 is a mask of 64 actions, Wide of 128, a NamedTuple of U64 words of more"
            raise GameError(what + (wider if is_mask and value > 0 else ""))


def _check_tuple(value: Any, annotation: Hint, function: FunctionType, is_mask: bool) -> None:
    if is_mask and isinstance(value, int):
        return  # a small mask among wide ones
    if type(value) is not annotation:
        raise GameError(f"{where(function)} returned {_shown(value)}, not the annotated {annotation.__name__}")
    hints = hints_of(annotation)
    for name in annotation._fields:
        check_fits(getattr(value, name), hints[name], function)


def _range(annotation: Hint, is_mask: bool) -> tuple[int, int]:
    if annotation is U64:  # a complement has its upper bits set: as a mask that is harmless
        return (-WORD - 1 if is_mask else 0), WORD
    return (0 if is_mask else -(1 << 63)), (1 << 63) - 1


def _shown(value: object) -> str:
    """Return a value in a few words; Python refuses to write out numbers of thousands of digits."""
    try:
        return short(value) if isinstance(value, int) else short(repr(value))
    except Exception as error:  # a user's own __repr__ may raise anything
        return f"a {type(value).__name__} that cannot be shown ({type(error).__name__})"


def _name(annotation: Hint) -> str:
    return getattr(annotation, "__name__", str(annotation))
