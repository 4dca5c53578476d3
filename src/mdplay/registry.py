"""Games by name: ``connect-four:rows=5,cols=5``, a user's ``file.py:Class``, an installed entry point.

A name stands for a *maker*: a frozen dataclass or a function whose annotated parameters are the game's.  A
parameter annotated ``Annotated[int, Between(1, 9)]`` has a range.  Packages offer games by an entry point in
the group ``mdplay.games``.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import re
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, cast

from mdplay.contract import check_shape
from mdplay.errors import GameError, MdplayError, UnknownName, unknown
from mdplay.game import Between, Game

Maker = Callable[..., Game[Any]]

COMMA = re.compile(r",(?![^(]*\))")  # not between brackets: selector=ucb1(c=1,d=2) is one parameter
BUILT_IN = {
    "2048": "mdplay.games.twenty48:Twenty48",
    "anti-tic-tac-toe": "mdplay.games.tic_tac_toe:anti_tic_tac_toe",
    "connect-four": "mdplay.games.connect_four:ConnectFour",
    "dots-and-boxes": "mdplay.games.dots_and_boxes:DotsAndBoxes",
    "qubic": "mdplay.games.qubic:Qubic",
    "tic-tac-toe": "mdplay.games.tic_tac_toe:TicTacToe",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a game: its type, its default and, if it has one, its range."""

    name: str
    kind: type
    default: Any
    between: Between | None

    def parse(self, text: str) -> Any:
        """Return the value that a text means, or raise UnknownName or GameError."""
        try:
            value = _READERS[self.kind](text)
        except (KeyError, ValueError):
            raise GameError(f"{self.name}={text} is not {_KINDS.get(self.kind, 'readable')}") from None
        if self.between is not None and not self.between.low <= value <= self.between.high:
            raise GameError(f"{self.name}={text} is out of range; {self.between.low} to {self.between.high}")
        return value

    def __str__(self) -> str:
        span = f" ({self.between.low}..{self.between.high})" if self.between else ""
        return f"{self.name}={self.default}{span}"


_READERS: dict[type, Callable[[str], Any]] = {
    int: lambda text: int(text, 0),
    float: float,
    bool: lambda text: {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
        text.lower()
    ],
    str: str,
}
_KINDS = {int: "a whole number", float: "a number", bool: "true or false"}


def names() -> list[str]:
    """Return the names of all games, those of installed packages included."""
    return all_names("game", BUILT_IN)


def make(text: str) -> Game[Any]:
    """Return the game that a text names, with its parameters; raise MdplayError if there is none.

    >>> make("connect-four:rows=5,cols=5")
    ConnectFour(rows=5, cols=5)
    """
    maker, rest = _maker_of_file(text) if ".py" in text else _maker_of_name(text)
    given = read_parameters(parameters(maker), rest)
    try:
        game = maker(**given)
    except MdplayError as error:
        raise type(error)(f"{text}: {error}") from None
    except Exception as error:
        raise GameError(f"{text}: making the game raised {type(error).__name__}: {error}") from None
    check_shape(game)
    return game


def parameters(maker: Callable[..., Any]) -> list[Parameter]:
    """Return the parameters of a maker of games, agents or selectors, in order."""
    hints = typing.get_type_hints(maker if inspect.isfunction(maker) else maker.__init__, include_extras=True)
    found = []
    for name, parameter in inspect.signature(maker).parameters.items():
        hint = hints.get(name, str)
        kind, *notes = typing.get_args(hint) if typing.get_origin(hint) is typing.Annotated else (hint,)
        between = next((note for note in notes if isinstance(note, Between)), None)
        found.append(Parameter(name, _without_none(kind), parameter.default, between))
    return found


def _without_none(kind: Any) -> Any:
    """Return the X of ``X | None``: nobody writes None in a text."""
    kinds = [choice for choice in typing.get_args(kind) if choice is not type(None)]
    return kinds[0] if isinstance(kind, UnionType) and len(kinds) == 1 else kind


@cache
def name_of(game: Game[Any]) -> tuple[str, dict[str, Any]]:
    """Return the shortest registered name and parameters that make the game again.

    A game of a user's file is called ``file.py:Class``.

    >>> name_of(make("anti-tic-tac-toe"))
    ('anti-tic-tac-toe', {'rows': 3, 'cols': 3, 'length': 3})
    """
    fields = {field.name: getattr(game, field.name) for field in dataclasses.fields(cast(Any, game))}
    makers = {name: maker(name) for name in names()}
    found = [(name, given) for name in makers if (given := _given_by(makers[name], game, fields)) is not None]
    if found:
        return min(found, key=lambda pair: len(pair[1]))
    return f"{Path(inspect.getfile(type(game))).name}:{type(game).__qualname__}", fields


def _given_by(maker: Maker, game: Game[Any], fields: dict[str, Any]) -> dict[str, Any] | None:
    """Return the parameters with which the maker makes the game, if it does."""
    wanted = [parameter.name for parameter in parameters(maker)]
    if not set(wanted) <= set(fields):
        return None
    given = {name: fields[name] for name in wanted}
    try:
        return given if maker(**given) == game else None
    except MdplayError:
        return None


def maker(name: str) -> Maker:
    """Return the maker behind a registered name."""
    found: Maker = load_named("game", name, BUILT_IN)
    return found


def load_named(kind: str, name: str, table: Mapping[str, str]) -> Any:
    """Return what a name stands for: by a table of ``module:attribute``, or as an entry point of a package."""
    if name in table:
        return load_attribute(table[name])
    for point in entry_points(group=f"mdplay.{kind}s"):
        if point.name == name:
            return point.load()
    raise unknown(kind, name, all_names(kind, table))


def load_attribute(place: str) -> Any:
    """Return what ``module:attribute`` names."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


def all_names(kind: str, table: Mapping[str, str]) -> list[str]:
    """Return the names of a table and those that installed packages add."""
    return sorted({*table, *(point.name for point in entry_points(group=f"mdplay.{kind}s"))})


def _maker_of_name(text: str) -> tuple[Maker, str]:
    name, _, rest = text.partition(":")
    return maker(name.strip()), rest


def read_parameters(known: list[Parameter], text: str) -> dict[str, Any]:
    """Return the values that ``name=value,...`` gives to known parameters, or raise MdplayError.

    A comma inside parentheses is part of a value: ``selector=ucb1(c=1),form=report``.
    """
    by_name = {parameter.name: parameter for parameter in known}
    given = {}
    for item in filter(None, (item.strip() for item in COMMA.split(text))):
        name, equals, value = item.partition("=")
        if not equals:
            raise UnknownName(f"{item!r} is not a parameter; write name=value, with {_listed(by_name)}")
        if name not in by_name:
            raise (
                unknown("parameter", name, by_name)
                if by_name
                else UnknownName(f"no parameters here, not {name!r}")
            )
        given[name] = by_name[name].parse(value)
    return given


def _listed(known: dict[str, Parameter]) -> str:
    return ", ".join(map(str, known.values())) or "no parameters at all"


# ---------------------------------------------------------------- a user's file
def _maker_of_file(text: str) -> tuple[Maker, str]:
    path_text, dot_py, rest = text.partition(".py")
    path = Path(path_text + dot_py).expanduser()
    class_name, _, given = rest.removeprefix(":").partition(":")
    if "=" in class_name:
        class_name, given = "", class_name
    module = load_module(path)
    games = {name: value for name, value in vars(module).items() if _is_game_of(value, module)}
    if not class_name:
        return _only_game(games, path), given
    if class_name in games:
        return games[class_name], given
    if hasattr(module, class_name):
        raise GameError(f"{class_name} in {path.name} is not a game: derive it from mdplay.Game")
    raise (
        unknown(f"class in {path.name}:", class_name, games)
        if games
        else GameError(f"{path.name} has no game class")
    )


def _only_game(games: dict[str, Any], path: Path) -> Maker:
    if not games:
        raise GameError(f"there is no game in {path.name}: derive a class from mdplay.Game")
    if len(games) > 1:
        found = ", ".join(sorted(games))
        raise GameError(f"name the class, as in {path.name}:Class; games in {path.name}: {found}")
    found_maker: Maker = next(iter(games.values()))
    return found_maker


def _is_game_of(value: Any, module: ModuleType) -> bool:
    return inspect.isclass(value) and issubclass(value, Game) and value.__module__ == module.__name__


def load_module(path: Path) -> ModuleType:
    """Import a Python file of a user, with its folder on the path; raise GameError in one sentence."""
    if not path.is_file():
        raise GameError(f"there is no file {path}")
    name = path.stem
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    present = sys.modules.get(name)
    if present is not None and getattr(present, "__file__", None) == str(path.resolve()):
        return present
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise GameError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        sys.modules.pop(name)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise GameError(f"{path.name} cannot be imported: {_blame(error, path)}") from None
    return module


def _blame(error: BaseException, path: Path) -> str:
    """Return the error and the last line of the user's file on the way to it."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path.resolve():
            line = trace.tb_lineno
        trace = trace.tb_next
    place = f" (line {line})" if line else ""
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    if isinstance(error, ImportError) and error.path:
        message = message.replace(f" ({error.path})", "")
    return f"{type(error).__name__}: {message}{place}"
