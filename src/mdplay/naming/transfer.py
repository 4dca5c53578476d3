"""Games that go to another process: by what makes them again, never by their memory.

A game carries kernels and tables that belong to one process.  Its recipe is where its class is, and its
parameters; the other side imports the class and makes sure that its rules are the same.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast

from mdplay.compiling.identity import game_identity
from mdplay.errors import GameError
from mdplay.game import Game
from mdplay.naming.specs import load_module


class GameSpec(NamedTuple):
    """What makes a game again."""

    module: str
    file: str
    name: str
    fields: tuple[tuple[str, Any], ...]
    identity: str


def recipe_of(game: Game[Any]) -> GameSpec:
    """Return the recipe of a game; raise GameError if another process could not follow it."""
    cls = type(game)
    try:
        file = str(Path(inspect.getfile(cls)).resolve())
    except (OSError, TypeError):
        raise GameError(f"{cls.__name__} is in no file, so no other process can make it; save it in one") from None
    if "<" in cls.__qualname__:
        raise GameError(f"{cls.__qualname__} is inside a function, so no other process can make it")
    fields = dataclasses.fields(cast(Any, game))
    given = tuple((field.name, getattr(game, field.name)) for field in fields if field.init)
    return GameSpec(cls.__module__, file, cls.__qualname__, given, game_identity(game))


@lru_cache(maxsize=8)  # a worker plays many games of few rules, and a game keeps its kernels
def rebuild(recipe: GameSpec) -> Game[Any]:
    """Return the game of a recipe; raise GameError if its rules are others here."""
    found: Any = _module(recipe)
    for name in recipe.name.split("."):
        found = getattr(found, name, None)
    if not callable(found):
        raise GameError(f"a worker finds no {recipe.name} in {recipe.file}; each machine needs the same files")
    game = cast(Game[Any], found(**dict(recipe.fields)))
    if game_identity(game) != recipe.identity:
        raise GameError(f"a worker has other rules of {recipe.name}; each machine needs the same files")
    return game


def _module(recipe: GameSpec) -> ModuleType:
    """Return the module of a class: one of a package by its name, a user's file by its path."""
    if "." not in recipe.module:
        return load_module(Path(recipe.file))
    try:
        return importlib.import_module(recipe.module)
    except ModuleNotFoundError:
        root = str(Path(recipe.file).parents[recipe.module.count(".")])
        sys.path.append(root)
        return importlib.import_module(recipe.module)
