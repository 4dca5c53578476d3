"""The errors that mdplay raises on purpose; each message is one sentence for a person.

    MdplayError
    ├── GameError          a game breaks the contract or cannot be compiled
    │   └── CycleError     the game has cycles, which the method does not support
    ├── UnknownName        no such game, parameter, agent, method ...; similar names are suggested
    ├── ArgumentError      an argument of the wrong kind, such as a function where a network is asked for
    ├── PositionError      a text that is not a position of the game
    ├── IllegalMove        a move that the position does not allow
    ├── AgentError         an agent that raises or chooses what is not legal
    │   └── Forfeit        it has a limit of time or is an engine: it loses the game, and the match goes on
    ├── FormatError        a file or text with a fault; names the file and the line
    ├── LimitError         the work would not fit: memory, size, time
    └── NotCompiled        a kernel is missing where nothing is to be compiled (``mdplay.runtime.threads``)

The command line prints the message after ``mdplay:`` and exits with code 2, never with a traceback.

Numbers with a noun, for messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLURALS = {"ply": "plies", "table entry": "table entries"}


def pluralize(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 state``, ``2 states``, ``1,000 random games``."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return what several are called; of some words the last one changes."""
    return _PLURALS.get(noun, f"{noun}s")


ITEM, PATH, MESSAGE = 80, 240, 500  # characters of a name, a path and a whole message that are repeated
QUOTED = re.compile(r"'[^'\n]{80,}'|\"[^\"\n]{80,}\"|\S{80,}")


class MdplayError(Exception):
    """The root of all errors that mdplay raises on purpose."""


class GameError(MdplayError, TypeError):
    """The game breaks the contract or cannot be compiled; the message says where."""


class CycleError(GameError):
    """The game has cycles, and the method supports only games without cycles."""


class UnknownName(MdplayError, LookupError):
    """A name that is not registered."""


class ArgumentError(MdplayError, TypeError):
    """An argument of the wrong kind; the message names the argument and says what to give instead."""


class PositionError(MdplayError, ValueError):
    """A text that is not a position of the game."""


class IllegalMove(MdplayError, ValueError):
    """A move that the position does not allow."""


class AgentError(MdplayError, RuntimeError):
    """An agent that cannot be made, raises or chooses what is not legal; ``agent`` is its name."""

    def __init__(self, message: str, agent: str = "") -> None:
        super().__init__(message)
        self.agent = agent


class Forfeit(AgentError):
    """An agent that is not trusted, an engine or one with a limit of time, has failed: it loses the game."""


class FormatError(MdplayError, ValueError):
    """A file or text that cannot be read; the message names the file and the line."""


class LimitError(MdplayError, RuntimeError):
    """Work that would not fit into memory, size or time."""


class NotCompiled(MdplayError, RuntimeError):
    """A kernel that no cache has, in a process that leaves compiling to another one."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """Return the error for a name that is not among the known ones, with the nearest of them."""
    from difflib import get_close_matches  # late: it is needed only here, and start-up is not free

    names = sorted(known)
    alike = get_close_matches(name, names, n=1) if len(name) <= ITEM else []
    hint = f"did you mean {alike[0]!r}?" if alike else f"choose from {', '.join(names)}"
    return UnknownName(f"no {kind} {short(name)!r}; {hint}")


# ---------------------------------------------------------------- numbers that callers give
def check_integer(name: str, value: object, least: int = 1) -> None:
    """Raise LimitError unless a value is a whole number, at least so large."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise LimitError(f"{name}={short(repr(value))} is not a whole number")
    if value.__index__() < least:
        raise LimitError(f"{name}={short(value)} must be at least {least}")


def check_seconds(seconds: object) -> None:
    """Raise LimitError unless a time is None or a number of seconds above 0."""
    if seconds is None:
        return
    if isinstance(seconds, bool) or not hasattr(seconds, "__float__"):
        raise LimitError(f"seconds={short(repr(seconds))} is not a number")
    if not seconds.__float__() > 0:
        raise LimitError(f"seconds={short(seconds)} must be more than 0")


def check_kind(name: str, value: object, kind: type, instead: str) -> None:
    """Raise ArgumentError unless a value is None or of a kind; ``instead`` says how to get one of that kind."""
    if value is not None and not isinstance(value, kind):
        raise ArgumentError(f"{name}={short(repr(value))} is not a {kind.__name__}; {instead}")


# ---------------------------------------------------------------- messages that stay readable
def short(thing: object, most: int = ITEM) -> str:
    """Return the text of a thing; the middle of a long one is left out.

    >>> short("1" * 1000, 11)
    '11111...111'
    """
    if isinstance(thing, int) and abs(thing) > 1 << 4096:
        return f"a number of {thing.bit_length()} bits"  # Python refuses to write it out
    text = str(thing)
    if len(text) <= most:
        return text
    return f"{text[: most - 6]}...{text[-3:]}"


def sentence(message: str) -> str:
    """Return a message fit for a terminal: long names cut, control characters shown, not too long as a whole."""
    cut = QUOTED.sub(lambda found: short(found[0], PATH if "/" in found[0] else ITEM), message)
    shown = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in cut)
    return short(shown, MESSAGE)
