"""Networks that come with a game: files beside its rules, registered by ``bring(Game, networks={"6x7": path})``.

A file tells the rules and cells that it was learned with, so that a game whose rules were edited, or another one
of the same class, never gets it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mdplay.compiling.identity import cells_identity, game_identity
from mdplay.errors import FormatError
from mdplay.game import Game
from mdplay.naming.registry import extras_of
from mdplay.storage.arrays import Stored, load

SHIPPED = "shipped"  # the name of the network that comes with a game, where a file could be named


def shipped_file(game: Game[Any], kind: str | None = None) -> Path | None:
    """Return the file of the network that comes with a game, of any kind or of this one, if it is of its rules."""
    paths: list[Path] = list(extras_of(game, "networks").values())
    return next((path for path in paths if _belongs(load(path, kind=None), game, kind)), None)


def need_shipped(game: Game[Any], kind: str | None = None) -> Path:
    """Return the file of the network that comes with a game, or raise FormatError if there is none."""
    if (found := shipped_file(game, kind)) is None:
        raise FormatError(f"no network comes with {game!r}; learn one (mdplay learn) and name its file")
    return found


def _belongs(stored: Stored, game: Game[Any], kind: str | None) -> bool:
    """Return whether a file is of a kind, and names the rules and the cells of a game."""
    told = stored.meta.get("rules"), stored.meta.get("cells")
    return kind in (None, stored.kind) and told == (game_identity(game), cells_identity(game))
