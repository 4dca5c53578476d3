"""What a game and an agent are, for whatever is kept: solutions, books, checkpoints, results, records.

A name does not tell: rules are edited, files are replaced, and two files may have one name.  An identity is a hash
of the content, the same under any version of Python and in any folder.

    game_identity    the rules: code as its syntax tree, parameters, the values of tables
    (``mdplay.compiling.digest``);
                     not the words for people, and of mdplay's own helpers the names only
    cells_identity   how its board is seen as cells, which is no part of the rules
    agent_identity   its text, the content of the files that its options name, and for a user's agent the code of
                     its file and of the users' files that it imports, wherever they are, with the data they read
"""

from __future__ import annotations

import hashlib
import inspect
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mdplay.compiling.digest import DIGITS, Digest, Unhashable, in_toolchain, reach, reach_and_watch, roots
from mdplay.compiling.sources import Untold, data_files, feed_source, file_text, source_files
from mdplay.errors import FormatError, GameError
from mdplay.game import CELLS, Game

OURS = "mdplay"
UNKNOWN = "?"  # an identity that begins so is like no other one


def game_identity(game: Game[Any]) -> str:
    """Return the hash of a game's rules, parameters and tables.

    Raise GameError if a rule depends on something that has no hash.
    """
    memory = vars(game)
    if "_rules" not in memory:
        try:
            memory["_rules"] = reach_and_watch(game, _begin, _own_rules(game)).text
        except Unhashable as error:
            raise GameError(
                f"nothing can be kept of {type(game).__name__}, as its rules cannot be told from others: {error}; "
                "rules use numbers and tuples of numbers"
            ) from None
    return str(memory["_rules"])


def _own_rules(game: Game[Any]) -> set[str]:
    """Return the attributes of the contract that are the game's own: a new one of the contract changes no game."""
    cls = type(game)
    own = {name for name in roots(game) if getattr(cls, name, None) is not getattr(Game, name, game)}
    return {name for name in own if not name.startswith("has_")} - set(CELLS)


def cells_identity(game: Game[Any]) -> str:
    """Return the hash of how a game's board is seen as cells: networks depend on it beside the rules."""
    try:
        return reach(game, _begin, CELLS if game.has_cell else ()).text
    except Unhashable as error:
        raise GameError(
            f"nothing can be kept of {type(game).__name__}, as its cells have no hash: {error}"
        ) from None


def check_rules(path: str | Path, kept: Any, game: Game[Any], instead: str) -> None:
    """Raise FormatError unless a file was made with a game's present rules; ``kept`` is the identity in it."""
    if kept is None:
        raise FormatError(f"{path} does not say with which rules of {type(game).__name__} it was made; {instead}")
    if kept != game_identity(game):
        since = f"have changed since {path} was made, or it is of another game"
        raise FormatError(f"the rules of {type(game).__name__} {since}; {instead}")


def agent_identity(agent: Any, maker: Any = None, options: Mapping[str, Any] | None = None) -> str:
    """Return the hash of an agent: of a text, what it names; of an object, its class and what it holds.

    ``maker`` and ``options`` are what the text stands for.  An agent that has no hash, since its code reads what
    its source does not name, is like no other one: its identity begins with ``UNKNOWN``.
    """
    digest, given = _begin(), options or {}
    try:
        if isinstance(agent, str):
            digest.tag(agent)
            _feed_code_of(digest, maker, given, None)
            _feed_files(digest, given)
        else:
            _feed_code_of(digest, type(agent), given, type(agent).__name__)
            digest.feed(vars(agent) if hasattr(agent, "__dict__") else agent)
    except (Unhashable, Untold, RecursionError):
        return f"{UNKNOWN}{secrets.token_hex(DIGITS // 2)}"
    return digest.text()


def _feed_code_of(digest: Digest, maker: Any, options: Mapping[str, Any], within: str | None) -> None:
    """Add the code of a class or function that a user wrote, and the data files that it reads.

    Ours and installed ones are known by their names.  The class of an object may stand in a program that reads
    much else: then only what the class ``within`` reads counts.
    """
    module = getattr(maker, "__module__", None) or OURS
    digest.tag(f"{getattr(maker, '__qualname__', '')}")
    if in_toolchain(module) or _is_ours(module):
        return
    try:
        own = Path(inspect.getfile(maker))
        for file in source_files(own):
            digest.tag(file_text(file))
            if within is None or file == own.resolve():
                digest.tag(*(file_hash(data) for data in data_files(file, options, within)))
    except (OSError, TypeError, SyntaxError, ValueError):  # a program typed in: it has no file
        digest.feed(maker)


def _feed_files(digest: Digest, options: Mapping[str, Any]) -> None:
    """Add the content of every file that an option names, also as a word of a command, with what it imports."""
    for name, value in sorted(options.items()):
        for word in dict.fromkeys([value, *value.split()]) if isinstance(value, str) else ():
            if (path := Path(word).expanduser()).is_file():
                digest.tag(name, file_hash(path))
                digest.tag(*(file_hash(file) for file in _beside(path)))


def _beside(path: Path) -> list[Path]:
    """Return the files of users that a Python program imports, without itself."""
    try:
        return [file for file in source_files(path) if file != path.resolve()] if path.suffix == ".py" else []
    except (OSError, SyntaxError, ValueError):
        return []


def file_hash(path: Path) -> str:
    """Return the sha256 of a file's content."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FormatError(f"cannot read {path}: {error.strerror or error}") from None


def _begin() -> Digest:
    return Digest(feed_source, lambda module: in_toolchain(module) or _is_ours(module))


def _is_ours(module: str) -> bool:
    """Tell whether a module is a part of mdplay whose meaning is fixed; the games are rules like any other."""
    return module.partition(".")[0] == OURS and not module.startswith(f"{OURS}.games.")
