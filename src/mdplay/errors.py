"""The errors that mdplay raises on purpose; each message is one sentence for a person.

    MdplayError
    ├── GameError          a game breaks the contract or cannot be compiled
    ├── UnknownName        no such game, parameter, agent, method ...; near names are suggested
    ├── PositionError      a text that is not a position of the game
    ├── IllegalMove        a move that the position does not allow
    ├── AgentError         an agent that raises or chooses what is not legal
    ├── FormatError        a file or text with a fault; names the file and the line
    └── LimitError         the work would not fit: memory, size, time

The command line prints the message after ``mdplay:`` and exits with code 2, never with a traceback.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class MdplayError(Exception):
    """The root of all errors that mdplay raises on purpose."""


class GameError(MdplayError, TypeError):
    """The game breaks the contract or cannot be compiled; the message says where."""


class UnknownName(MdplayError, LookupError):
    """A name that nobody registered."""


class PositionError(MdplayError, ValueError):
    """A text that is not a position of the game."""


class IllegalMove(MdplayError, ValueError):
    """A move that the position does not allow."""


class AgentError(MdplayError, RuntimeError):
    """An agent that cannot be made, raises or chooses what is not legal; ``agent`` is its name."""

    def __init__(self, message: str, agent: str = "") -> None:
        super().__init__(message)
        self.agent = agent


class FormatError(MdplayError, ValueError):
    """A file or text that cannot be read; the message names the file and the line."""


class LimitError(MdplayError, RuntimeError):
    """Work that would not fit into memory, size or time."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """Return the error for a name that is not among the known ones, with the nearest of them."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(names)}"
    return UnknownName(f"no {kind} {name!r}; {hint}")
