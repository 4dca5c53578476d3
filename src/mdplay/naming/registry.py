"""Games by name: ``connect-four:rows=5,cols=5``, a user's ``file.py:Class``, an installed entry point.

A name stands for a *maker*: a frozen dataclass or a function whose annotated parameters are the game's.  A
parameter annotated ``Annotated[int, Between(1, 9)]`` has a range.  Packages offer games by an entry point in
the group ``mdplay.games``.

What installed packages add: entry points in the groups mdplay.games, .agents, .selectors and .solvers.

    [project.entry-points."mdplay.games"]
    nim = "my_package.nim:Nim"

A package that cannot be loaded causes one warning; requested by its name, it is an error.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from mdplay.compiling.contract import check_shape
from mdplay.errors import GameError, MdplayError, UnknownName, unknown
from mdplay.game import Game
from mdplay.naming.about import built_in_games
from mdplay.naming.specs import load_module, parameters, read_parameters, read_spec

_told: set[str] = set()  # warnings are given once


def plugin_points(kind: str) -> dict[str, EntryPoint]:
    """Return the entry points of a kind (game, agent, selector, solver) by name; nothing is imported."""
    return dict(_points(kind, tuple(map(_last_change, sys.path))))


@lru_cache(maxsize=16)
def _points(kind: str, folders: tuple[tuple[str, int], ...]) -> dict[str, EntryPoint]:
    """Read the entry points of a kind, again only where the folders have changed: it takes milliseconds."""
    return {point.name: point for point in sorted(entry_points(group=f"mdplay.{kind}s"), key=_place, reverse=True)}


def _last_change(folder: str) -> tuple[str, int]:
    """Return a folder in which packages lie, and when one was added or removed last."""
    try:
        return folder, Path(folder).stat().st_mtime_ns
    except OSError:
        return folder, 0


def _place(point: EntryPoint) -> tuple[str, str]:
    return source_of(point), point.value


def source_of(point: EntryPoint) -> str:
    """Return the package that an entry point comes from, with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown package"


def load_plugin(kind: str, point: EntryPoint) -> Any:
    """Return what an entry point names, or raise GameError."""
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        words = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise GameError(f"the {kind} {point.name} of {source_of(point)} cannot be loaded: {words}") from None


def plugins(kind: str) -> dict[str, Any]:
    """Return all that packages add of a kind; what cannot be loaded is left out with a warning, given once."""
    found = {}
    for name, point in plugin_points(kind).items():
        try:
            found[name] = load_plugin(kind, point)
        except MdplayError as error:
            warn_once(str(error))
    return found


def warn_once(sentence: str) -> None:
    """Give a warning, unless it was given before."""
    if sentence not in _told:
        _told.add(sentence)
        warnings.warn(sentence, stacklevel=3)


Maker = Callable[..., Game[Any]]


def names() -> list[str]:
    """Return the names of all games, those of installed packages included."""
    return all_names("game", built_in_games())


def make(text: str) -> Game[Any]:
    """Return the game that a text names, with its parameters; raise MdplayError if there is none.

    >>> make("connect-four:rows=5,cols=5")
    ConnectFour(rows=5, cols=5)
    """
    spec = read_spec(text)
    found = _maker_named(spec.name) if spec.file is None else _maker_of_file(spec.file, spec.name)
    return _made(found, read_parameters(parameters(found), spec.options), text)


def _maker_named(name: str) -> Maker:
    """Return the maker behind a registered name; suggest ``name.py`` if such a file exists."""
    try:
        return maker(name)
    except UnknownName:
        if name in {path.stem for path in Path().glob("*.py")}:
            raise UnknownName(f"no game {name!r}; for your file write {name}.py") from None
        raise


def from_data(name: str, given: Mapping[str, Any]) -> Game[Any]:
    """Return the game that data names, with its parameters; raise MdplayError if there is none.

    Data come from a file and are not trusted.  Only registered names count, never a path, and no file is
    opened on their word.

    >>> from_data("connect-four", {"rows": 5, "cols": 5})
    ConnectFour(rows=5, cols=5)
    """
    found = maker(name[:80])  # a text of a megabyte is no name, and is not told whole
    known = {parameter.name: parameter for parameter in parameters(found)}
    for word in given:
        if word not in known:
            raise unknown("parameter", word[:40], known)
    return _made(found, {word: known[word].accept(value) for word, value in given.items()}, name)


def from_text(text: str) -> Game[Any]:
    """Return the registered game that a text of data names with its parameters; no file is opened on its word."""
    name, _, options = text.partition(":")
    found = maker(name[:80])
    return _made(found, read_parameters(parameters(found), options), text)


def _made(maker: Maker, given: dict[str, Any], text: str) -> Game[Any]:
    try:
        game = maker(**given)
    except MdplayError as error:
        raise type(error)(f"{text}: {error}") from None
    except Exception as error:
        raise GameError(f"{text}: making the game raised {type(error).__name__}: {error}") from None
    check_shape(game)
    return game


@cache
def name_of(game: Game[Any]) -> tuple[str, dict[str, Any]]:
    """Return the shortest registered name and parameters that make the game again.

    A game of a user's file is called ``file.py:Class``.

    >>> name_of(make("anti-tic-tac-toe"))
    ('anti-tic-tac-toe', {'rows': 3, 'cols': 3, 'length': 3})
    """
    fields = {field.name: getattr(game, field.name) for field in dataclasses.fields(cast(Any, game))}
    makers = {**plugins("game"), **{name: maker(name) for name in built_in_games()}}
    found = [(name, given) for name in makers if (given := _given_by(makers[name], game, fields)) is not None]
    if found:
        return min(found, key=lambda pair: len(pair[1]))
    return f"{Path(inspect.getfile(type(game))).name}:{type(game).__qualname__}", fields


def text_of(game: Game[Any]) -> str:
    """Return the name of a game with its parameters.

    >>> text_of(make("connect-four:rows=5"))
    'connect-four:rows=5,cols=7'
    """
    name, given = name_of(game)
    return ":".join(filter(None, (name, ",".join(f"{key}={value}" for key, value in given.items()))))


def _given_by(maker: Maker, game: Game[Any], fields: dict[str, Any]) -> dict[str, Any] | None:
    """Return the parameters with which the maker makes the game, if it does."""
    try:
        wanted = [parameter.name for parameter in parameters(maker)]
    except (TypeError, ValueError, NameError):  # another package's, and no maker
        return None
    if not set(wanted) <= set(fields):
        return None
    given = {name: fields[name] for name in wanted}
    try:
        return given if maker(**given) == game else None
    except Exception:  # another package's maker may raise anything
        return None


def maker(name: str) -> Maker:
    """Return the maker behind a registered name."""
    found: Maker = load_named("game", name, built_in_games())
    return found


def load_named(kind: str, name: str, table: Mapping[str, str]) -> Any:
    """Return what a name stands for: by a table of ``module:attribute``, or as an entry point of a package."""
    if name in table:
        return load_attribute(table[name])
    if point := plugin_points(kind).get(name):
        return load_plugin(kind, point)
    raise unknown(kind, name, all_names(kind, table))


def load_attribute(place: str) -> Any:
    """Return what ``module:attribute`` names."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


def all_names(kind: str, table: Mapping[str, str]) -> list[str]:
    """Return the names of a table and those that installed packages add."""
    return sorted({*table, *plugin_points(kind)})


# ---------------------------------------------------------------- what games bring
_BROUGHT: dict[type, dict[str, dict[str, Any]]] = {}
FORMER_KINDS = {"advisers": "evaluators"}


def register_extras(game: type, **extras: Mapping[str, Any]) -> None:
    """Register what a game brings beside its rules, each thing by a name: itself, or its place as a text.

    ``agents``      players of this game only; one called "perfect" is the agent ``perfect``
    ``evaluators``  makers of evaluators (mdplay.playing.evaluators): the first that returns one is used;
                    also called ``advisers``, its former name
    ``solvers``     ways to solve it (mdplay.solving.solvers)
    ``objectives``  makers of the game in which something else is played for: ``maker(game, aim)``
    ``learners``    ways to learn it (mdplay.learning.learners); the first is the one that is taken by itself
    ``networks``    files of networks that were learned before (mdplay.learning.shipped), each for its parameters
    ``formats``     texts of games as others write them (mdplay.playing.formats)
    ``proofs``      a proof of the game's result and its checker
    ``views``       the game in the form that is quickest to prove
    """
    for name, things in extras.items():
        kind = FORMER_KINDS.get(name, name)
        _BROUGHT.setdefault(game, {}).setdefault(kind, {}).update(things)


def extras_of(game: Game[Any], kind: str) -> dict[str, Any]:
    """Return what a game brings of a kind, by name; a class brings what its base classes bring."""
    found: dict[str, Any] = {}
    for cls in reversed(type(game).__mro__):
        found |= _BROUGHT.get(cls, {}).get(kind, {})
    return {name: load_attribute(thing) if isinstance(thing, str) else thing for name, thing in found.items()}


def extra_names(game: Game[Any], kind: str) -> list[str]:
    """Return the names of what a game brings of a kind, and import none of it."""
    return [name for cls in reversed(type(game).__mro__) for name in _BROUGHT.get(cls, {}).get(kind, {})]


def games_with_extras(kind: str) -> list[str]:
    """Return the names of the built-in games that bring something of a kind."""
    makers = {name: maker(name) for name in built_in_games()}
    return [name for name, one in makers.items() if isinstance(one, type) and kind in _BROUGHT.get(one, {})]


# ---------------------------------------------------------------- a user's file
def _maker_of_file(path: Path, class_name: str) -> Maker:
    module = load_module(path)
    games = {name: value for name, value in vars(module).items() if _is_game_of(value, module)}
    if not class_name:
        return _only_game(games, path)
    if class_name in games:
        found: Maker = games[class_name]
        return found
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


def _is_game_of(value: object, module: ModuleType) -> bool:
    return inspect.isclass(value) and issubclass(value, Game) and value.__module__ == module.__name__
