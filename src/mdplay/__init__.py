"""Write a game once, in plain Python; solve it, search it, learn it, play it, at the speed of C++.

Everything public is listed in ``__all__``; what needs the compiler is imported on first use only.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mdplay.bits import U64, Wide
from mdplay.check import check_game
from mdplay.errors import (
    FormatError,
    GameError,
    IllegalMove,
    LimitError,
    MdplayError,
    PositionError,
    UnknownName,
)
from mdplay.game import Between, Compiled, Game, find_action, parse_position
from mdplay.position import Position
from mdplay.registry import make

if TYPE_CHECKING:
    from mdplay.searching.playouts import Playouts, playouts
    from mdplay.solving.perft import Ply, perft

__version__ = "0.1.0"

__all__ = [
    "U64",
    "Between",
    "Compiled",
    "FormatError",
    "Game",
    "GameError",
    "IllegalMove",
    "LimitError",
    "MdplayError",
    "Playouts",
    "Ply",
    "Position",
    "PositionError",
    "UnknownName",
    "Wide",
    "check_game",
    "find_action",
    "make",
    "parse_position",
    "perft",
    "playouts",
]

_LAZY = {
    "Playouts": "mdplay.searching.playouts",
    "Ply": "mdplay.solving.perft",
    "perft": "mdplay.solving.perft",
    "playouts": "mdplay.searching.playouts",
}


def __getattr__(name: str) -> Any:
    """Import what needs the compiler when it is first asked for (PEP 562)."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'mdplay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
